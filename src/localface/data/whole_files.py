"""Files that are there whole or not at all, with checksums that tell whether they still are."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from localface.errors import InputError

CHECKSUM = "checksum"  # the field of a JSON object that vouches for all others
_REMEDIES = {
    errno.ENOSPC: "make room on the disk, and do it again",
    errno.EDQUOT: "make room within your quota, and do it again",
    errno.EFBIG: "write it to a disk that takes files of this size",
    errno.EROFS: "it cannot be written to: name a folder on another disk",
    errno.EACCES: "name a folder that you may write to, or have the permission given",
    errno.EPERM: "name a folder that you may write to, or have the permission given",
    errno.ENOTDIR: "a part of the name is a file: name a folder",
    errno.ENAMETOOLONG: "give it a shorter name",
}


def write_whole(path: Path, data: bytes | str) -> None:
    """Write a file to the side and rename it: readers see the old one or the new one, no half."""
    with write_whole_on_success(path, data.encode() if isinstance(data, str) else data):
        pass


@contextmanager
def write_whole_on_success(path: Path, data: bytes) -> Iterator[None]:
    """Write a temporary file, renamed to ``path`` when the ``with`` body ends without error."""
    if path.exists() and not path.is_file():  # a pipe, or /dev/stdout: nothing to rename onto
        yield
        path.write_bytes(data)
        return
    target = path.resolve()  # what a link points to is replaced, not the link
    hidden = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with hidden.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield
        hidden.replace(target)
    except BaseException as error:
        with suppress(OSError):
            hidden.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename == str(hidden):
            error.filename = str(path)  # what the user has named
        raise
    settle_folder(target.parent)


def settle_folder(folder: Path) -> None:
    """Have the names in a folder on the disk, so that a power cut loses none of them."""
    if os.name != "posix":  # elsewhere a folder cannot be opened, nor need be
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


@contextmanager
def explain_os_errors(what: str, *, kept: str = "") -> Iterator[None]:
    """Turn what the system refuses inside the ``with`` block into a sentence: why, what to do."""
    try:
        yield
    except InputError:
        raise
    except OSError as error:
        reason = error.strerror or type(error).__name__
        remedy = _REMEDIES.get(error.errno or 0, "see to that, and do it again")
        where = f" ({str(error.filename)!r})" if error.filename else ""
        raise InputError(f"{what}: {reason.lower()}{where}; {remedy}{kept}") from error


@contextmanager
def hold_folder(folder: Path) -> Iterator[bool]:
    """Hold a folder against other writers; False where another one holds it.

    The system lets go of it when the process ends, however it ends. Where folders cannot be
    held (Windows, some network disks) everybody may write.
    """
    try:
        import fcntl
    except ImportError:
        yield True
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held = True
        except BlockingIOError:
            held = False
        except OSError:
            held = True
        yield held
    finally:
        os.close(opened)


def with_checksum(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON object with one more field, which vouches for all the others."""
    return {**document, CHECKSUM: _checksum_of_values(document)}


def has_right_checksum(document: Mapping[str, Any]) -> bool:
    """Tell whether a JSON object is as ``with_checksum`` returned it."""
    others = {name: value for name, value in document.items() if name != CHECKSUM}
    return document.get(CHECKSUM) == _checksum_of_values(others)


def checksum_of_bytes(data: bytes) -> str:
    """Return the checksum of what a file holds."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _checksum_of_values(document: Mapping[str, Any]) -> str:
    """The same however the text is set: numbers in JSON come back as they were."""
    text = json.dumps(document, sort_keys=True, default=str)
    return checksum_of_bytes(text.encode("utf-8", "surrogatepass"))
