"""Promises, one behind the other in a file that is only ever appended to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, overload

from localface._version import __version__
from localface.analyses.promises.fingerprint import Fingerprint
from localface.analyses.promises.promise import Promise, promise_entry
from localface.answers.recourse import Recourse
from localface.answers.wording import format_count
from localface.data.chained_lines import ChainedFile, ChainedLine
from localface.data.whole_files import explain_os_errors
from localface.errors import InputError, did_you_mean
from localface.options import Ask

FILE = "promises.jsonl"
_START = "start"
_CLOSED = "closed-"


class Closing(NamedTuple):
    """When a promise was closed, and why."""

    time: str
    why: str


class Promises(Sequence[Promise]):
    """The promises of a folder, in the order in which they were given.

    They lie in one file of JSON lines, ``promises.jsonl``. Each entry has its own digest and
    that of the entry before, so that what is changed, taken out or moved is noticed when the
    folder is opened. What is cut off at the end, or all written anew, is only noticed against a
    ``head`` that was kept elsewhere. An entry is on the disk when ``add`` returns, and several
    processes may add to the same folder. What was added is never changed: ``close`` adds to it
    that a promise no longer stands.
    """

    __slots__ = ("_closed", "_digests", "_file", "_last", "_numbers", "_promised", "_start")

    def __init__(self, folder: Path) -> None:
        self._file = ChainedFile(folder / FILE)
        self._start: ChainedLine | None = None
        self._last: ChainedLine | None = None
        self._promised: list[ChainedLine] = []
        self._numbers: dict[str, int] = {}  # the place of each promise among them, by its id
        self._closed: dict[str, ChainedLine] = {}
        self._digests: set[str] = set()

    @classmethod
    def open(cls, path: str | Path, *, create: bool = True, head: str | None = None) -> Promises:
        """Open a folder of promises, and check every entry of it.

        Parameters
        ----------
        path
            The folder.
        create
            Whether to begin a new one where there is none.
        head
            The ``head`` that was kept when the folder was last seen: it must still be there.
        """
        folder = Path(path)
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{str(folder)!r} is a file: name the folder of the promises")
        if not (folder / FILE).exists():
            if not create:
                raise InputError(
                    f"there are no promises in {str(folder)!r}: name the folder that "
                    "localface promise wrote"
                )
            _begin(folder)
        return cls(folder)._read_everything(head)

    def verify(self, head: str | None = None) -> str:
        """Read every entry again and hold it against the digests; returns the head.

        ``DamagedFile`` names the first entry that was changed, removed or moved. With a ``head``
        that was kept elsewhere it also tells what was cut off at the end, or all written anew.
        """
        return Promises(self.path)._read_everything(head).head

    @property
    def head(self) -> str:
        """The digest of the last entry, which vouches for all before it: keep it elsewhere."""
        assert self._last is not None
        return self._last.digest

    @property
    def path(self) -> Path:
        """The folder."""
        return self._file.path.parent

    @property
    def active(self) -> tuple[Promise, ...]:
        """The promises that were not closed."""
        return tuple(self._promise(one) for one in self._promised if one.id not in self._closed)

    @property
    def closed(self) -> Mapping[str, Closing]:
        """When and why promises were closed, by their ids."""
        from localface.analyses.promises import document

        return {
            name: Closing(*self._read_entry(line, document.why_closed))
            for name, line in self._closed.items()
        }

    def add(
        self,
        recourse: Recourse,
        *,
        person: object = None,
        ask: Ask | None = None,
        target: object = None,
        fingerprint: Fingerprint | None = None,
    ) -> Promise:
        """Write an answer down; ``LocalFACE.promise`` also says what it rested on.

        The same answer to the same person is one promise, however often it is added.

        Parameters
        ----------
        recourse
            The answer, one that reaches its target.
        person
            Your own reference for the person, by which their progress is found later.
        ask
            What was asked beyond the defaults: a repair will keep to it.
        target
            What was to be reached, where that is not the explainer's own target.
        fingerprint
            What the answer rested on.
        """
        entry = promise_entry(
            recourse, person=person, ask=ask, target=target, fingerprint=fingerprint
        )
        (promise,) = self.add_entries([entry])
        return promise

    def add_entries(self, entries: Iterable[Mapping[str, Any]]) -> list[Promise]:
        """Write entries that ``promise_entry`` made, all at once; those there already stay."""
        entries = list(entries)
        self._append(entries)
        return [self[self._numbers[str(entry["id"])]] for entry in entries]

    def close(self, promise: Promise | str, why: str) -> None:
        """Write down that a promise no longer stands: it was kept, withdrawn or replaced."""
        name = promise if isinstance(promise, str) else promise.id
        if name not in self._numbers:
            raise InputError(f"there is no promise {name!r}{did_you_mean(name, self._numbers)}")
        self._append([{"id": f"{_CLOSED}{name}", "why": str(why)}])

    @overload
    def __getitem__(self, index: int) -> Promise: ...
    @overload
    def __getitem__(self, index: slice) -> list[Promise]: ...
    def __getitem__(self, index: int | slice) -> Promise | list[Promise]:
        found = self._promised[index]
        if isinstance(found, ChainedLine):
            return self._promise(found)
        return [self._promise(line) for line in found]

    def __len__(self) -> int:
        return len(self._promised)

    def __repr__(self) -> str:
        closed = f", {len(self._closed):,} closed" if self._closed else ""
        count = format_count(len(self), "promise", "promises")
        return f"<Promises: {count}{closed} in {str(self.path)!r}, head {self.head[:12]}>"

    def _promise(self, line: ChainedLine) -> Promise:
        from localface.analyses.promises import document

        promise: Promise = self._read_entry(line, document.promise_from_plain)
        return promise

    def _read_entry(self, line: ChainedLine, read: Any) -> Any:
        plain = self._file.read_line(line)
        try:
            return read(plain)
        except InputError:
            raise
        except (ValueError, TypeError) as error:
            raise self._file.damaged(f"entry {line.number} is none of ours ({error})") from None

    def _append(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Write the entries that are not there yet behind what others may have written."""
        with self._file.held():
            self._read_new_lines()
            new = {name: entry for entry in entries if not self._is_there(name := str(entry["id"]))}
            if new:
                assert self._last is not None
                now = {"time": _now()}
                self._file.append([{**entry, **now} for entry in new.values()], self._last)
                self._read_new_lines()

    def _read_everything(self, head: str | None) -> Promises:
        """Read and check all that there is."""
        from localface.analyses.promises import document  # only now: msgspec takes its time

        self._read_new_lines()
        if self._start is None:
            raise self._file.damaged("entry 0, with which it begins, is not there")
        self._read_entry(self._start, document.check_start)
        if head is not None and head not in self._digests:
            raise self._file.damaged(
                f"no entry has the digest {head[:16]}..., which was kept as its head: entries were "
                "removed at the end, or all was written anew"
            )
        return self

    def _read_new_lines(self) -> None:
        for line in self._file.read_after(self._last):
            if self._is_there(line.id):
                raise self._file.damaged(f"entry {line.number} is there twice")
            if line.number == 0:
                self._start = line if line.id == _START else None
            elif line.id.startswith(_CLOSED):
                self._closed[line.id.removeprefix(_CLOSED)] = line
            else:
                self._numbers[line.id] = len(self._promised)
                self._promised.append(line)
            self._digests.add(line.digest)
            self._last = line

    def _is_there(self, name: str) -> bool:
        if name.startswith(_CLOSED):
            return name.removeprefix(_CLOSED) in self._closed
        return name in self._numbers


def open_promises(where: Promises | str | Path, *, create: bool = True) -> Promises:
    """Return promises that are open already, or open those of a folder."""
    return where if isinstance(where, Promises) else Promises.open(where, create=create)


def _begin(folder: Path) -> None:
    """Make the folder and its first entry, unless somebody else is quicker."""
    from localface.analyses.promises import document

    with explain_os_errors(f"the folder {str(folder)!r} cannot be written to"):
        folder.mkdir(parents=True, exist_ok=True)
        if any(not one.name.startswith(".") for one in folder.iterdir() if one.name != FILE):
            raise InputError(
                f"{str(folder)!r} holds other things already: name a new or empty folder for the "
                "promises"
            )
    file = ChainedFile(folder / FILE)
    with file.held():
        if not file.path.exists():
            file.start(
                {
                    "id": _START,
                    "time": _now(),
                    "format": document.PROMISES_FORMAT,
                    "version": document.PROMISES_VERSION,
                    "made_with": __version__,
                }
            )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def each_active(promises: Promises | Iterable[Promise] | str | Path) -> Iterator[Promise]:
    """The promises that stand: of a folder those that were not closed, else those given."""
    if isinstance(promises, str | Path):
        promises = Promises.open(promises, create=False)
    return iter(promises.active if isinstance(promises, Promises) else promises)
