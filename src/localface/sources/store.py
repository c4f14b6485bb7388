"""A table of any size in a folder: rows in cells, written once, mapped into memory."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import numpy as np

from localface.data.schema import Schema
from localface.data.space import Space
from localface.data.value_scales import absences_from_plain
from localface.errors import DataError
from localface.sources.calibration import Calibration
from localface.sources.cell_rows import CellRows, with_half_squares
from localface.sources.cells import Cells, PointsOf
from localface.sources.partition import SAMPLE, Partition
from localface.sources.store_files import PARTS, map_file, read_store_facts
from localface.sources.store_writer import Blocks, Progress, StoreWriter
from localface.types import Array

_ROWS_CHECKED = 64  # rows that a space is tried on


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """A folder that ``write_store`` wrote: a schema, a sample of distinct rows, all rows."""

    folder: Path
    schema: Schema
    sample: Array
    n_rows: int
    n_distinct: int
    partition: Partition
    calibration: Calibration
    absences: tuple[tuple[float, ...], ...] = ()

    @classmethod
    def open(cls, folder: str | Path) -> Store:
        """Open a folder; its rows stay on disk until they are looked at."""
        folder = Path(folder).absolute()
        about = read_store_facts(folder)
        with np.load(folder / PARTS, allow_pickle=False) as parts:
            sample = parts["sample"]
            partition = Partition(
                parts["centroids"], parts["starts"], parts["lower"], parts["upper"]
            )
        return cls(
            folder=folder,
            schema=Schema.from_dict(about["schema"]),
            sample=sample,
            n_rows=about["n_rows"],
            n_distinct=about["n_distinct"],
            partition=partition,
            calibration=Calibration(about["n_probe"], about["recall"]),
            absences=absences_from_plain(about.get("absences", [])),
        )

    @property
    def space(self) -> Space:
        """The space that the rows were parted in, fitted on the sample."""
        return Space.fit(self.schema, self.sample, absences=self.absences)

    def as_source(self, points_of: PointsOf | None = None) -> Cells:
        """Return the rows as a source, mapped read-only; ``points_of`` may replace the space's."""
        points_of = points_of or self.space.points
        width = self.partition.width
        rows = CellRows(
            near=np.asarray(map_file(self.folder, "near", (self.n_distinct, width + 1))),
            records=np.asarray(
                map_file(self.folder, "records", (self.n_distinct, len(self.schema)))
            ),
            rows=np.asarray(map_file(self.folder, "rows", (self.n_distinct,))),
            folder=self.folder,
        )
        self._check_points(points_of, rows)
        return Cells(
            self.partition,
            rows,
            points_of=points_of,
            n_rows=self.n_rows,
            calibration=self.calibration,
            reopen=reopen_source,
        )

    def _check_points(self, points_of: PointsOf, rows: CellRows) -> None:
        """Try on some rows whether their points are those that were written."""
        ids = np.linspace(0, self.n_distinct - 1, _ROWS_CHECKED).astype(np.int64)
        points = with_half_squares(points_of(rows.records_of(ids)), np.arange(len(ids)))
        if not np.array_equal(points, rows.near[ids]):
            raise DataError(
                f"the rows of {str(self.folder)!r} were parted in another space: take the schema "
                "and the space of the store, or write it again"
            )


def reopen_source(folder: Path, points_of: PointsOf) -> Cells:
    """Map the rows of a folder in the process where the copy of a source arrives."""
    return Store.open(folder).as_source(points_of)


def write_store(
    folder: str | Path,
    blocks: Blocks,
    schema: Schema,
    *,
    sample: int = SAMPLE,
    progress: Progress | None = None,
) -> Store:
    """Write a table into a new folder, block by block, and open it.

    ``blocks`` is called for each of three passes, and gives the same blocks of records every
    time (see ``localface.sources.blocks``). ``progress`` is told the pass, the rows done, and
    the rows in all, 0 while that is not known. The folder appears under its name when it is
    complete, or not at all.
    """
    folder = Path(folder).absolute()
    if folder.exists():
        raise DataError(f"{str(folder)!r} exists already: give another name, or remove it first")
    draft = folder.with_name(f"{folder.name}.draft-{uuid4().hex[:8]}")
    draft.mkdir(parents=True)
    try:
        StoreWriter(draft, blocks, schema, progress or _report_nothing).write(sample)
        draft.rename(folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return Store.open(folder)


def _report_nothing(what: str, done: int, total: int) -> None:
    """Report nothing."""
