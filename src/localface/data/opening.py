"""Opening files, or saying why they cannot be opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from localface.errors import InputError, did_you_mean


def require_existing_path(path: str | Path) -> Path:
    """Make sure that a file exists, and suggest the one that was probably meant."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a folder: name a file in it")
    if not path.exists():
        folder = path.parent
        beside = sorted(one.name for one in folder.iterdir()) if folder.is_dir() else []
        raise InputError(f"there is no file {str(path)!r}{did_you_mean(path.name, beside)}")
    return path


def require_writable_path(path: str | Path) -> Path:
    """Make sure that a file could be written, before any work is done for it."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise InputError(
            f"there is no folder {str(path.parent)!r} to write {path.name!r} into: make it first"
        )
    return path


@contextmanager
def reraise_as(sentence: str, error_type: type[InputError]) -> Iterator[None]:
    """Turn whatever a reader raises inside the ``with`` block into one sentence."""
    try:
        yield
    except (InputError, OSError):
        raise
    except ModuleNotFoundError as error:
        raise error_type(
            f"{sentence}: {error.name!r} is not installed; install it first"
        ) from error
    except Exception as error:
        reason = str(error).strip().partition("\n")[0] or "no reason given"
        raise error_type(f"{sentence}: {reason} ({type(error).__name__})") from error
