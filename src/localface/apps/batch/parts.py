"""The folder that a run fills, part by part, so that what is done stays done."""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from localface.apps.batch.manifest import differences
from localface.apps.batch.worker import FAILED
from localface.data.opening import extra
from localface.errors import InputError

pq = extra("pyarrow.parquet", "explaining people in blocks", "cluster")

# Readers of parquet folders pass over names that begin with _ or a dot.
MANIFEST = "_manifest.json"
ACCOUNT = "_finished.jsonl"


@dataclass(frozen=True, slots=True)
class Tally:
    """How many people, how many of them with a path, and how many about whom nothing could be said."""

    people: int = 0
    found: int = 0
    errors: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.people + other.people, self.found + other.found, self.errors + other.errors
        )


def tally_of(answers: Any) -> Tally:
    """Count the answers of a block."""
    statuses = answers["status"].to_pylist()
    return Tally(len(statuses), statuses.count("FOUND"), statuses.count(FAILED))


def packed(answers: Any) -> bytes:
    """A block's answers as the bytes of a parquet file."""
    file = io.BytesIO()
    short = [
        name for name in answers.column_names if name != "answer"
    ]  # the least and the greatest would be copied
    pq.write_table(answers, file, compression="zstd", write_statistics=short)
    return file.getvalue()


@dataclass(frozen=True, slots=True)
class Folder:
    """Where the parts of one run lie, and the account of which are finished."""

    path: Path

    def part(self, number: int) -> Path:
        """Where a block's answers lie once they are there."""
        return self.path / f"part-{number:05d}.parquet"

    def keep(self, number: int, data: bytes, tally: Tally) -> None:
        """Write a part so that it is there whole and accounted for, or not at all, whatever happens."""
        entry = {"block": number, "digest": _digest(data), **asdict(tally)}
        with (
            _whole(self.part(number), data),
            (self.path / ACCOUNT).open("a", encoding="utf-8") as account,
        ):
            account.write(
                f"\n{json.dumps(entry)}"
            )  # a line that was cut off ends here at the latest
            account.flush()
            os.fsync(account.fileno())

    def finished(self) -> dict[int, Tally]:
        """What came of each finished block; a part that is not what the account says is not finished."""
        entries = self._account()
        return {
            number: Tally(entry["people"], entry["found"], entry["errors"])
            for number, entry in sorted(entries.items())
            if self.part(number).is_file()
            and _digest(self.part(number).read_bytes()) == entry["digest"]
        }

    def _account(self) -> dict[int, Any]:
        """The last entry for each block."""
        path = self.path / ACCOUNT
        lines = path.read_bytes().splitlines() if path.exists() else []
        return {entry["block"]: entry for line in lines if (entry := _entry(line)) is not None}

    def tidy(self) -> None:
        """Remove what an earlier run was writing when it was stopped."""
        for path in (*self.path.glob(".part-*.tmp"), *self.path.glob("._manifest*.tmp")):
            path.unlink(missing_ok=True)


def open_folder(out: str | Path, manifest: Mapping[str, Any]) -> Folder:
    """Begin a run in a new or empty folder, or go on with the same run; anything else is refused."""
    path = Path(out)
    if path.exists() and not path.is_dir():
        raise InputError(f"{str(path)!r} is a file: name a folder for the answers")
    path.mkdir(parents=True, exist_ok=True)
    written = path / MANIFEST
    if written.exists():
        _refuse_another(path, _read(written), manifest)
    elif any(not one.name.startswith(".") for one in path.iterdir()):
        raise InputError(
            f"{str(path)!r} holds other things already: name a new or empty folder for the answers"
        )
    else:
        with _whole(written, json.dumps(manifest, indent=2).encode()):
            pass
    return Folder(path)


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise InputError(
            f"{str(path)!r} is damaged: name another folder for the answers, or remove this one"
        ) from None


def _refuse_another(path: Path, there: Any, here: Mapping[str, Any]) -> None:
    same = json.loads(json.dumps(here))
    if there == same:
        return
    apart = list(differences(there, same)) if isinstance(there, dict) else ["everything"]
    raise InputError(
        f"{str(path)!r} holds the answers of another run, which differs in {', '.join(apart[:6])}"
        f"{' and more' if len(apart) > 6 else ''}: name another folder, or ask for what was asked there"
    )


@contextmanager
def _whole(path: Path, data: bytes) -> Iterator[None]:
    """Write under another name, make sure that it is on the disk, and give it its name when all else is done."""
    hidden = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with hidden.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    yield
    hidden.replace(path)
    if os.name == "posix":  # elsewhere a folder cannot be opened, nor need be
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _entry(line: bytes) -> dict[str, Any] | None:
    """Read a line of the account; None where it was cut off."""
    try:
        entry = json.loads(line)
        return entry if {"block", "digest", "people", "found", "errors"} <= entry.keys() else None
    except (ValueError, AttributeError):
        return None
