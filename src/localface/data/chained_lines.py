"""A file of JSON lines in which each carries its digest and that of the line before it.

A line is ``{"digest":"...","before":"...","number":3,"id":"...", ...}``. The digest is the
SHA-256 of everything behind it up to the closing brace, so that any tool can work it out again,
and ``before`` is the digest of the line before: what is changed, taken out or put elsewhere
breaks the chain at that place. A last line without its line break was never finished.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localface.data.whole_files import explain_os_errors, hold_folder, write_whole
from localface.errors import DamagedFile, InputError

NO_DIGEST = "0" * 64  # what stands before the first line
_HEAD = re.compile(
    rb'\{"digest":"([0-9a-f]{64})",("before":"([0-9a-f]{64})","number":(0|[1-9][0-9]{0,14}),'
    rb'"id":"([0-9a-z-]{1,64})"[,}])'
)
_AFTER_DIGEST = len('{"digest":"') + 64 + len('",')
_RESTORE = "; put back a copy of the file from before"
_PATIENCE = 60.0  # seconds to wait for another writer
_PAUSE = 0.005


@dataclass(frozen=True, slots=True)
class ChainedLine:
    """Where a line lies in its file, and what its head says."""

    start: int
    size: int
    number: int
    id: str
    digest: str


@dataclass(frozen=True, slots=True)
class ChainedFile:
    """One such file; it is only ever appended to."""

    path: Path

    def read_after(self, last: ChainedLine | None) -> Iterator[ChainedLine]:
        """Check the lines behind one that is known, or all, and yield them one by one.

        ``DamagedFile`` names the first that is not what was written.
        """
        with explain_os_errors(f"{str(self.path)!r} cannot be read"), self.path.open("rb") as file:
            start = 0 if last is None else last.start + last.size
            if os.fstat(file.fileno()).st_size < start:
                raise self.damaged(f"it ends before entry {last.number if last else 0}")
            file.seek(start)
            for line in file:
                if not line.endswith(b"\n"):
                    return  # the last one, which was never finished
                last = self._check_line(line, start, last)
                yield last
                start += len(line)

    def read_line(self, line: ChainedLine) -> dict[str, Any]:
        """Read what a line says; it is checked once more."""
        with explain_os_errors(f"{str(self.path)!r} cannot be read"), self.path.open("rb") as file:
            file.seek(line.start)
            text = file.read(line.size)
        if _digest_of(text) != line.digest:
            raise self.damaged(f"entry {line.number} was changed")
        try:
            plain = json.loads(text)
        except (ValueError, RecursionError):
            plain = None
        if not isinstance(plain, dict):
            raise self.damaged(f"entry {line.number} is no JSON object")
        return plain

    def start(self, entry: Mapping[str, Any]) -> None:
        """Make the file with its first line, whole or not at all; hold it before."""
        with explain_os_errors(f"{str(self.path)!r} cannot be written"):
            for left in self.path.parent.glob(f".{self.path.name}.*.tmp"):
                left.unlink(missing_ok=True)  # of somebody who was stopped at this
            write_whole(self.path, b"".join(_write_lines([entry], None)))

    def append(self, entries: Sequence[Mapping[str, Any]], last: ChainedLine) -> None:
        """Write entries behind the last line; hold the file before, and read what others wrote.

        They are on the disk when this returns. What an earlier writer did not finish goes.
        """
        end = last.start + last.size
        written = b"".join(_write_lines(entries, last))
        with explain_os_errors(f"{str(self.path)!r} cannot be written", kept="; nothing is lost"):
            opened = os.open(self.path, os.O_RDWR)
            try:
                self._refuse_other_writer(opened, end)
                _write_behind(opened, end, written)
            finally:
                os.close(opened)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the file against other writers, waiting for one that is at it."""
        until = time.monotonic() + _PATIENCE
        while True:
            with hold_folder(self.path.parent) as held:
                if held:
                    yield
                    return
            if time.monotonic() > until:
                raise InputError(
                    f"another process has been writing into {str(self.path.parent)!r} for "
                    f"{_PATIENCE:.0f} s: end that, or wait for it, and do it again"
                )
            time.sleep(_PAUSE)

    def damaged(self, what: str) -> DamagedFile:
        """Say what is not as it was written, and what to do."""
        return DamagedFile(f"{str(self.path)!r} is not what was written: {what}{_RESTORE}")

    def _refuse_other_writer(self, opened: int, end: int) -> None:
        """Write over no whole line: where files cannot be held, somebody else may be writing."""
        os.lseek(opened, end, os.SEEK_SET)
        while more := os.read(opened, 2**20):
            if b"\n" in more:
                raise InputError(
                    f"another process has just written to {str(self.path)!r}: do it again"
                )

    def _check_line(self, line: bytes, start: int, last: ChainedLine | None) -> ChainedLine:
        expected = 0 if last is None else last.number + 1
        head = _HEAD.match(line)
        if head is None or not line.endswith(b"}\n"):
            raise self.damaged(f"entry {expected} was changed")
        digest, _, before, digits, name = head.groups()
        number = int(digits)
        if number != expected:
            raise self.damaged(_what_is_out_of_place(number, expected))
        if _digest_of(line) != digest.decode():
            raise self.damaged(f"entry {expected} was changed")
        if before.decode() != (NO_DIGEST if last is None else last.digest):
            raise self.damaged(
                f"entry {max(expected - 1, 0)} was changed: the next one was written behind another"
            )
        return ChainedLine(start, len(line), number, name.decode(), digest.decode())


def _what_is_out_of_place(number: int, expected: int) -> str:
    if number > expected:
        return f"entry {expected} was removed, or is elsewhere: entry {number} follows"
    return f"entry {number} is where entry {expected} was: it was moved or written twice"


def _digest_of(line: bytes) -> str:
    return hashlib.sha256(line[_AFTER_DIGEST:].rstrip(b"\n")[:-1]).hexdigest()


def _write_lines(entries: Sequence[Mapping[str, Any]], last: ChainedLine | None) -> Iterator[bytes]:
    """The bytes of each entry; ``id`` comes with it, its number and the digests are added."""
    before = NO_DIGEST if last is None else last.digest
    number = 0 if last is None else last.number + 1
    for entry in entries:
        others = {name: value for name, value in entry.items() if name != "id"}
        placed = {"before": before, "number": number, "id": entry["id"], **others}
        body = json.dumps(placed, allow_nan=False, separators=(",", ":"))[1:-1].encode()
        before = hashlib.sha256(body).hexdigest()
        number += 1
        yield b'{"digest":"' + before.encode() + b'",' + body + b"}\n"


def _write_behind(opened: int, end: int, data: bytes) -> None:
    """Write behind ``end``, all of it or nothing, and have it on the disk."""
    os.ftruncate(opened, end)
    os.lseek(opened, end, os.SEEK_SET)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(opened, left) :]
        os.fsync(opened)
    except BaseException:
        with suppress(OSError):
            os.ftruncate(opened, end)
        raise
