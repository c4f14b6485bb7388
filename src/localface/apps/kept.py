"""Keeps what took long to work out in the user's cache folder, from one start to the next.

Nothing there is relied upon: what is damaged, made by other code, or in a file that somebody else
could have written is worked out anew.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import numpy as np
import scipy

import localface
from localface.geometry.compiled.library import load_library

Made = TypeVar("Made")
FOLDER_VARIABLE = "LOCALFACE_CACHE"
"""The environment variable that names the folder; where it is empty, nothing is kept."""

_DIGEST_BYTES = 32
_NOT_CODE = ("__pycache__", "static")  # folders


def kept_or_made(name: str, make: Callable[[], Made], kind: type[Made]) -> Made:
    """Return what was kept under a name; where there is nothing of use, make it and keep it."""
    path = _path_of(name)
    found = None if path is None else _read(path)
    if found is not None and isinstance(found, kind):
        return found
    made = make()
    if path is not None:
        with suppress(Exception):  # a folder that cannot be written, a full disk
            _write(path, made)
    return made


def cache_folder() -> Path | None:
    """Where things are kept; None where nothing is to be, or no folder is known."""
    named = os.environ.get(FOLDER_VARIABLE)
    if named is not None:
        return Path(named) if named else None
    try:
        if sys.platform == "win32":
            return Path(os.environ["LOCALAPPDATA"]) / "localface" / "cache"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "localface"
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "localface"
    except (KeyError, RuntimeError):  # nobody's home
        return None


def _path_of(name: str) -> Path | None:
    folder = cache_folder()
    return None if folder is None else folder / f"{name}-{_code_digest()}.pickle"


@lru_cache(maxsize=1)
def _code_digest() -> str:
    """What identifies the code that makes things: every file of the package, and its libraries."""
    here = Path(localface.__file__).parent
    versions = [localface.__version__, sys.version, np.__version__, scipy.__version__]
    machine = [platform.machine(), "NumPy" if load_library() is None else "compiled"]
    parts = [*versions, *machine, *_described_files(here)]
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=12).hexdigest()


def _described_files(folder: Path) -> Iterator[str]:
    """The files of a folder, each with its size and when it was last changed."""
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders).difference(_NOT_CODE))
        for name in sorted(names):
            found = Path(at, name).stat()
            yield f"{at}/{name} {found.st_size} {found.st_mtime_ns}"


def _read(path: Path) -> object | None:
    """What a file holds; None where it is not there, damaged, or not the user's own."""
    try:
        if not (_is_own(path.parent) and _is_own(path)):
            return None
        content = memoryview(path.read_bytes())
        if content[:_DIGEST_BYTES] != _digest(content[_DIGEST_BYTES:]):
            return None
        found: object = pickle.loads(content[_DIGEST_BYTES:])
        return found
    except Exception:  # whatever a pickle may raise
        return None


def _write(path: Path, value: object) -> None:
    """Write a file as a whole or not at all, and remove those of other code."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    pickled = pickle.dumps(value, protocol=5)
    descriptor, unfinished = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(_digest(pickled))
            stream.write(pickled)
        Path(unfinished).replace(path)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise
    for other in path.parent.glob("*.pickle"):
        if other != path and _name_of(other) == _name_of(path):
            other.unlink(missing_ok=True)


def _name_of(path: Path) -> str:
    return path.name.rpartition("-")[0]


def _digest(content: bytes | memoryview) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest()


def _is_own(path: Path) -> bool:
    """Whether only this user can have written there: loading a pickle runs what it says."""
    if not hasattr(os, "getuid"):
        return True
    found = path.stat()
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
