"""The folder that a run writes its answers into, block by block."""

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

from localface.apps.batch.manifest import manifest_differences
from localface.apps.batch.worker import FAILED
from localface.errors import InputError, needs_extra

with needs_extra("cluster", "explaining people in blocks"):
    import pyarrow.parquet as pq

# Readers of parquet folders pass over names that begin with _ or a dot.
MANIFEST = "_manifest.json"
FINISHED = "_finished.jsonl"


@dataclass(frozen=True, slots=True)
class PeopleCounts:
    """How many people, how many with a path, and how many with an error."""

    people: int = 0
    found: int = 0
    errors: int = 0

    def __add__(self, other: PeopleCounts) -> PeopleCounts:
        return PeopleCounts(
            self.people + other.people, self.found + other.found, self.errors + other.errors
        )


def count_answers(answers: Any) -> PeopleCounts:
    """Count the answers of a block."""
    statuses = answers["status"].to_pylist()
    return PeopleCounts(len(statuses), statuses.count("FOUND"), statuses.count(FAILED))


def parquet_bytes(answers: Any) -> bytes:
    """A block's answers as the bytes of a parquet file."""
    file = io.BytesIO()
    # statistics would copy the least and the greatest answer into the file
    short = [name for name in answers.column_names if name != "answer"]
    pq.write_table(answers, file, compression="zstd", write_statistics=short)
    return file.getvalue()


@dataclass(frozen=True, slots=True)
class AnswersFolder:
    """The parts of one run, and the list of those that are finished."""

    path: Path

    def part_path(self, number: int) -> Path:
        """Where a block's answers lie once they are there."""
        return self.path / f"part-{number:05d}.parquet"

    def write_part(self, number: int, data: bytes, counts: PeopleCounts) -> None:
        """Write a part so that it is there whole and listed, or not at all, whatever happens."""
        entry = {"block": number, "digest": _digest_of_bytes(data), **asdict(counts)}
        with (
            _write_whole_on_success(self.part_path(number), data),
            (self.path / FINISHED).open("a", encoding="utf-8") as finished,
        ):
            # the line break comes first: a line that was cut off ends here at the latest
            finished.write(f"\n{json.dumps(entry)}")
            finished.flush()
            os.fsync(finished.fileno())

    def counts_of_finished_blocks(self) -> dict[int, PeopleCounts]:
        """The counts of each finished block; a part that differs from its entry is not finished."""
        entries = self._last_entry_per_block()
        return {
            number: PeopleCounts(entry["people"], entry["found"], entry["errors"])
            for number, entry in sorted(entries.items())
            if self.part_path(number).is_file()
            and _digest_of_bytes(self.part_path(number).read_bytes()) == entry["digest"]
        }

    def _last_entry_per_block(self) -> dict[int, Any]:
        """The last entry for each block."""
        path = self.path / FINISHED
        lines = path.read_bytes().splitlines() if path.exists() else []
        return {
            entry["block"]: entry
            for line in lines
            if (entry := _parse_entry_line(line)) is not None
        }

    def remove_leftovers(self) -> None:
        """Remove what an earlier run was writing when it was stopped."""
        for path in (*self.path.glob(".part-*.tmp"), *self.path.glob("._manifest*.tmp")):
            path.unlink(missing_ok=True)


def open_answers_folder(out: str | Path, manifest: Mapping[str, Any]) -> AnswersFolder:
    """Begin a run in a new or empty folder, or go on with the same run."""
    path = Path(out)
    if path.exists() and not path.is_dir():
        raise InputError(f"{str(path)!r} is a file: name a folder for the answers")
    path.mkdir(parents=True, exist_ok=True)
    written = path / MANIFEST
    if written.exists():
        _refuse_other_run(path, _read_manifest(written), manifest)
    elif any(not one.name.startswith(".") for one in path.iterdir()):
        raise InputError(
            f"{str(path)!r} holds other things already: name a new or empty folder for the answers"
        )
    else:
        with _write_whole_on_success(written, json.dumps(manifest, indent=2).encode()):
            pass
    return AnswersFolder(path)


def _read_manifest(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise InputError(
            f"{str(path)!r} is damaged: name another folder for the answers, or remove this one"
        ) from None


def _refuse_other_run(path: Path, there: Any, here: Mapping[str, Any]) -> None:
    same = json.loads(json.dumps(here))
    if there == same:
        return
    apart = list(manifest_differences(there, same)) if isinstance(there, dict) else ["everything"]
    raise InputError(
        f"{str(path)!r} holds the answers of another run, which differs in {', '.join(apart[:6])}"
        f"{' and more' if len(apart) > 6 else ''}: "
        "name another folder, or ask for what was asked there"
    )


@contextmanager
def _write_whole_on_success(path: Path, data: bytes) -> Iterator[None]:
    """Write a temporary file, renamed to ``path`` when the ``with`` body ends without error."""
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


def _digest_of_bytes(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _parse_entry_line(line: bytes) -> dict[str, Any] | None:
    """Read a line of the list of finished blocks; None where it was cut off."""
    try:
        entry = json.loads(line)
        return entry if {"block", "digest", "people", "found", "errors"} <= entry.keys() else None
    except (ValueError, AttributeError):
        return None
