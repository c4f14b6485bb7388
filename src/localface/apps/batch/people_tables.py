"""People out of tables of text, CSV or JSON: read whole, and handed out as parquet files are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import narwhals as nw

from localface.apps.files.tables import TABLE_SUFFIXES, read_table
from localface.data.opening import reraise_as
from localface.errors import DataError, needs_extra

with needs_extra("cluster", "explaining people in blocks"):
    import pyarrow as pa

TEXT_SUFFIXES = tuple(suffix for suffix in TABLE_SUFFIXES if suffix != ".parquet")


@dataclass(frozen=True, slots=True, eq=False)
class PeopleFile:
    """The people of one file, in memory, with what a fragment of a parquet dataset offers."""

    path: str
    people: Any

    def count_rows(self) -> int:
        """How many people there are."""
        return len(self.people)

    def to_batches(
        self, *, columns: Sequence[str], batch_size: int, **_of_parquet: object
    ) -> Iterator[Any]:
        """Some of the columns, piece by piece."""
        yield from self.people.select(columns).to_batches(max_chunksize=batch_size)

    def open(self) -> BinaryIO:
        """The bytes of the file."""
        return Path(self.path).open("rb")


def find_text_tables(source: str | Path) -> list[Path]:
    """Name the tables of text at a path, a file or a folder; none where there is parquet."""
    path = Path(source)
    if path.is_file():
        return [path] if path.name.lower().endswith(TEXT_SUFFIXES) else []
    inside = [one.relative_to(path) for one in path.rglob("*") if one.is_file()]
    shown = [one for one in inside if not any(part.startswith(("_", ".")) for part in one.parts)]
    tables = sorted(path / one for one in shown if one.name.lower().endswith(TEXT_SUFFIXES))
    if tables and len(tables) < len(shown):
        other = next(path / one for one in sorted(shown) if path / one not in tables)
        raise DataError(
            f"{str(source)!r} holds {tables[0].name!r} and {other.name!r}: put people into a "
            "folder with nothing else in it, all in files of one kind"
        )
    return tables


def read_text_tables(paths: Sequence[Path]) -> list[PeopleFile]:
    """Read files as ``--data`` is read; a column has the same type in all of them."""
    tables = [_as_arrow(path) for path in paths]
    with reraise_as("the people's files do not go together", DataError):
        whole = pa.concat_tables(tables, promote_options="permissive")
    files = []
    start = 0
    for path, table in zip(paths, tables, strict=True):
        files.append(PeopleFile(path.as_posix(), whole.slice(start, len(table))))
        start += len(table)
    return files


def _as_arrow(path: Path) -> Any:
    frame = nw.from_native(read_table(path), eager_only=True)
    with reraise_as(f"{str(path)!r} cannot be read as a table of people", DataError):
        return frame.to_arrow().replace_schema_metadata()
