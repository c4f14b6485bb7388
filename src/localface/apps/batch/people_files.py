"""People out of files, in numbered blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localface.apps.batch.people_tables import TEXT_SUFFIXES, find_text_tables, read_text_tables
from localface.data.opening import reraise_as
from localface.errors import DataError, InputError, did_you_mean, list_names, needs_extra

with needs_extra("cluster", "explaining people in blocks"):
    import pyarrow as pa
    import pyarrow.dataset as ds

POSITION = "__place__"  # the column with a person's number, where no other says who they are


@dataclass(frozen=True, slots=True, eq=False)
class PeopleFiles:
    """People in files, in the order of the files' names, cut into blocks of ``block_size``."""

    schema: Any
    files: tuple[tuple[Any, int], ...]  # each with the number of people in it
    block_size: int

    @property
    def n_people(self) -> int:
        """How many there are."""
        return sum(n for _, n in self.files)

    @property
    def n_blocks(self) -> int:
        """How many blocks they make."""
        return -(-self.n_people // self.block_size)

    def block_span(self, number: int) -> tuple[int, int]:
        """The first person of a block, and the first one after it."""
        return number * self.block_size, min((number + 1) * self.block_size, self.n_people)

    def read_blocks(self, wanted: Set[int], columns: Sequence[str]) -> Iterator[tuple[int, Any]]:
        """Read some blocks as tables, each with its number; files without any are not opened."""
        pieces: list[Any] = []
        for start, batch in self._read_batches(wanted, columns):
            for number, piece in self._cut_at_blocks(start, batch):
                if number not in wanted:
                    continue
                pieces.append(piece)
                first, after = self.block_span(number)
                if sum(len(one) for one in pieces) == after - first:
                    yield number, pa.concat_tables(pieces).combine_chunks()
                    pieces = []

    def _read_batches(self, wanted: Set[int], columns: Sequence[str]) -> Iterator[tuple[int, Any]]:
        """What the files hold, with the number of its first person; no file is whole in memory."""
        start = 0
        for file, n in self.files:
            size = self.block_size
            if n and not wanted.isdisjoint(range(start // size, (start + n - 1) // size + 1)):
                first = start
                stream = file.to_batches(
                    schema=self.schema,
                    columns=list(columns),
                    batch_size=size,
                    use_threads=False,
                )
                for batch in stream:
                    yield first, pa.Table.from_batches([batch])
                    first += len(batch)
            start += n

    def _cut_at_blocks(self, start: int, batch: Any) -> Iterator[tuple[int, Any]]:
        """Cut a table where a block ends, with everyone's number as another column."""
        numbers = pa.array(range(start, start + len(batch)), pa.int64())
        batch = batch.append_column(POSITION, numbers)
        while len(batch):
            number = start // self.block_size
            n = min(len(batch), self.block_span(number)[1] - start)
            yield number, batch.slice(0, n)
            start += n
            batch = batch.slice(n)


def open_people(source: Any, *, block_size: int) -> PeopleFiles:
    """Open parquet, CSV or JSON, a folder of them, an address (``s3://...``) or a pyarrow dataset.

    Parquet is read piece by piece; CSV and JSON are read whole.
    """
    _check_block_size(block_size)
    tables = [] if isinstance(source, ds.Dataset) else find_text_tables(_existing(source))
    if tables:
        opened = read_text_tables(tables)
        files = tuple((one, one.count_rows()) for one in opened)
        people = PeopleFiles(opened[0].people.schema, files, block_size)
    else:
        people = _open_parquet(source, block_size)
    if people.n_people == 0:
        raise DataError(
            f"there is nobody in {source!s}: give a file, or a folder, with at least one person"
        )
    return people


def _open_parquet(source: Any, block_size: int) -> PeopleFiles:
    dataset = source if isinstance(source, ds.Dataset) else _open_dataset(source)
    with reraise_as("the people cannot be read as parquet", DataError):
        fragments = sorted(dataset.get_fragments(), key=lambda one: getattr(one, "path", ""))
        files = tuple((one, one.count_rows()) for one in fragments)
    return PeopleFiles(dataset.schema, files, block_size)


def _check_block_size(block_size: object) -> None:
    if isinstance(block_size, bool) or not isinstance(block_size, int) or block_size < 1:
        raise InputError(
            f"block_size={block_size!r}: a whole number of people, 1 or more, is wanted"
        )


def _existing(source: str | Path) -> str | Path:
    """Make sure that there is something at a path; addresses are left to pyarrow."""
    if "://" not in str(source) and not Path(source).exists():
        folder = Path(source).parent
        beside = sorted(one.name for one in folder.iterdir()) if folder.is_dir() else []
        raise InputError(
            f"there is no file or folder {str(source)!r}{did_you_mean(Path(source).name, beside)}"
        )
    return source


def _open_dataset(source: str | Path) -> Any:
    kinds = list_names(TEXT_SUFFIXES)
    sentence = f"{str(source)!r} cannot be read as parquet (of other files the name tells: {kinds})"
    with reraise_as(sentence, DataError):
        return ds.dataset(str(source), format="parquet")
