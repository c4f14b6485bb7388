"""The folder that a run writes its answers into, block by block."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec

from localface.answers.many_columns import FAILED
from localface.apps.batch.manifest import manifest_differences
from localface.data.whole_files import (
    CHECKSUM,
    checksum_of_bytes,
    explain_os_errors,
    has_right_checksum,
    hold_folder,
    with_checksum,
    write_whole,
    write_whole_on_success,
)
from localface.errors import InputError, needs_extra

with needs_extra("cluster", "explaining people in blocks"):
    import pyarrow.parquet as pq

# Readers of parquet folders pass over names that begin with _ or a dot.
MANIFEST = "_manifest.json"
FINISHED = "_finished.jsonl"
_GO_ON = "; what is done is kept, and the same call again goes on"

_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class FinishedEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of the list of finished blocks."""

    block: _Count
    digest: str
    people: _Count
    found: _Count
    errors: _Count
    checksum: str

    @property
    def counts(self) -> PeopleCounts:
        """How many people are in the block."""
        return PeopleCounts(self.people, self.found, self.errors)


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
        entry = {"block": number, "digest": checksum_of_bytes(data), **asdict(counts)}
        with (
            explain_os_errors(f"block {number} cannot be written", kept=_GO_ON),
            write_whole_on_success(self.part_path(number), data),
            (self.path / FINISHED).open("a", encoding="utf-8") as finished,
        ):
            # the line break comes first: a line that was cut off ends here at the latest
            finished.write(f"\n{json.dumps(with_checksum(entry))}")
            finished.flush()
            os.fsync(finished.fileno())

    def counts_of_finished_blocks(self, n_blocks: int) -> dict[int, PeopleCounts]:
        """The counts of each finished block; a part that differs from its entry is not finished."""
        with explain_os_errors(f"what is done in {str(self.path)!r} cannot be read"):
            entries = self._last_entry_per_block()
            return {
                number: entry.counts
                for number, entry in sorted(entries.items())
                if number < n_blocks
                and self.part_path(number).is_file()
                and checksum_of_bytes(self.part_path(number).read_bytes()) == entry.digest
            }

    def _last_entry_per_block(self) -> dict[int, FinishedEntry]:
        """The last entry for each block."""
        path = self.path / FINISHED
        lines = path.read_bytes().splitlines() if path.exists() else []
        return {
            entry.block: entry for line in lines if (entry := _parse_entry_line(line)) is not None
        }

    def remove_leftovers(self) -> None:
        """Remove what an earlier run was writing when it was stopped."""
        for path in (*self.path.glob(".part-*.tmp"), *self.path.glob("._manifest*.tmp")):
            path.unlink(missing_ok=True)


@contextmanager
def open_answers_folder(out: str | Path, manifest: Mapping[str, Any]) -> Iterator[AnswersFolder]:
    """Begin a run in a new or empty folder, or go on with the same run; one run at a time."""
    path = Path(out)
    if path.exists() and not path.is_dir():
        raise InputError(f"{str(path)!r} is a file: name a folder for the answers")
    with explain_os_errors(f"the folder {str(path)!r} cannot be written to"):
        path.mkdir(parents=True, exist_ok=True)
    with hold_folder(path) as held:
        if not held:
            raise InputError(
                f"another run is writing its answers into {str(path)!r}: wait until it has ended, "
                "or name another folder"
            )
        with explain_os_errors(f"the folder {str(path)!r} cannot be written to"):
            _begin_or_go_on(path, manifest)
        folder = AnswersFolder(path)
        folder.remove_leftovers()
        yield folder


def _begin_or_go_on(path: Path, manifest: Mapping[str, Any]) -> None:
    written = path / MANIFEST
    if written.exists():
        _refuse_other_run(path, _read_manifest(written), manifest)
    elif any(not one.name.startswith(".") for one in path.iterdir()):
        raise InputError(
            f"{str(path)!r} holds other things already: name a new or empty folder for the answers"
        )
    else:
        plain = json.loads(json.dumps(manifest))
        write_whole(written, json.dumps(with_checksum(plain), indent=2))


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        manifest = None
    if isinstance(manifest, dict) and CHECKSUM not in manifest and "format" in manifest:
        return manifest  # of an earlier version: told by what differs
    if not isinstance(manifest, dict) or not has_right_checksum(manifest):
        raise InputError(
            f"{str(path)!r} is damaged: name another folder for the answers, or remove this one"
        )
    del manifest[CHECKSUM]
    return manifest


def _refuse_other_run(path: Path, there: dict[str, Any], here: Mapping[str, Any]) -> None:
    same = json.loads(json.dumps(here))
    if there == same:
        return
    apart = list(manifest_differences(there, same))
    raise InputError(
        f"{str(path)!r} holds the answers of another run, which differs in {', '.join(apart[:6])}"
        f"{' and more' if len(apart) > 6 else ''}: "
        "name another folder, or ask for what was asked there"
    )


def _parse_entry_line(line: bytes) -> FinishedEntry | None:
    """Read a line of the list of finished blocks; None where it was cut off or damaged."""
    try:
        plain = json.loads(line)
        return msgspec.convert(plain, FinishedEntry) if has_right_checksum(plain) else None
    except (ValueError, AttributeError, RecursionError):
        return None
