"""A table of any size in a folder: rows in cells, written once, mapped into memory."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from localface.data.schema import Schema
from localface.data.space import Space
from localface.data.value_scales import absences_from_plain
from localface.errors import DataError, LocalFACEError
from localface.sources.calibration import Calibration
from localface.sources.cell_rows import CellRows, with_half_squares
from localface.sources.cells import Cells, PointsOf
from localface.sources.partition import SAMPLE, Partition
from localface.sources.store_checks import ROWS_OF_BLOCK, BlockChecks
from localface.sources.store_drafts import draft_of_store
from localface.sources.store_files import (
    ABOUT,
    FILE_DTYPES,
    PARTS,
    damaged_store_error,
    map_file,
    read_parts,
    read_store_facts,
    store_shapes,
)
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
    parts: dict[str, Any] = field(default_factory=dict, repr=False)
    checksum: str = ""

    @classmethod
    def open(cls, folder: str | Path) -> Store:
        """Open a folder; its rows stay on disk until they are looked at.

        Every file's size is checked here, and every byte but those of the rows: these are held
        against their checksums block by block, each when it is first read, or all of them by
        ``verify``. What is damaged is named by a ``DamagedFile``.
        """
        folder = Path(folder).absolute()
        about = read_store_facts(folder)
        try:
            schema = Schema.from_dict(about.schema)
            absences = absences_from_plain(about.absences)
        except (LocalFACEError, ValueError, TypeError, AttributeError, KeyError) as error:
            raise damaged_store_error(folder / ABOUT, str(error)) from error
        parts = read_parts(folder, about)
        _check_parts(folder, parts, n_distinct=about.n_distinct, n_features=len(schema))
        partition = Partition(parts["centroids"], parts["starts"], parts["lower"], parts["upper"])
        shapes = store_shapes(about.n_distinct, partition.width, len(schema))
        sizes = {
            name: math.prod(shape) * FILE_DTYPES[name].itemsize for name, shape in shapes.items()
        }
        if any(about.sizes[name] != size for name, size in sizes.items()):
            raise damaged_store_error(folder / ABOUT, "its files are not of the size of its rows")
        if absences and len(absences) != len(schema):
            raise damaged_store_error(folder / ABOUT, "its gaps are not those of its features")
        return cls(
            folder=folder,
            schema=schema,
            sample=parts["sample"],
            n_rows=about.n_rows,
            n_distinct=about.n_distinct,
            partition=partition,
            calibration=Calibration(min(about.n_probe, len(partition)), about.recall),
            absences=absences,
            parts=parts,
            checksum=about.checksum,
        )

    def verify(self) -> None:
        """Read every row and hold it against its checksum: nothing returned is nothing wrong."""
        self._checks(self._map_rows()).check_everything()

    @property
    def space(self) -> Space:
        """The space that the rows were parted in, fitted on the sample."""
        return Space.fit(self.schema, self.sample, absences=self.absences)

    def as_source(self, points_of: PointsOf | None = None) -> Cells:
        """Return the rows as a source, mapped read-only; ``points_of`` may replace the space's."""
        points_of = points_of or self.space.points
        mapped = self._map_rows()
        rows = CellRows(**mapped, folder=self.folder, checks=self._checks(mapped))
        self._check_points(points_of, rows)
        return Cells(
            self.partition,
            rows,
            points_of=points_of,
            n_rows=self.n_rows,
            calibration=self.calibration,
            reopen=partial(reopen_source, checksum=self.checksum),
        )

    def _map_rows(self) -> dict[str, Any]:
        shapes = store_shapes(self.n_distinct, self.partition.width, len(self.schema))
        return {
            name: np.asarray(map_file(self.folder, name, shape)) for name, shape in shapes.items()
        }

    def _checks(self, mapped: dict[str, Any]) -> BlockChecks:
        sums = {name: self.parts[f"sums_{name}"] for name in mapped}
        return BlockChecks(self.folder, mapped, sums)

    def _check_points(self, points_of: PointsOf, rows: CellRows) -> None:
        """Try on some rows whether their points are those that were written."""
        ids = np.linspace(0, self.n_distinct - 1, _ROWS_CHECKED).astype(np.int64)
        points = with_half_squares(points_of(rows.records_of(ids)), np.arange(len(ids)))
        if rows.checks is not None:  # what is sampled here is checked in all files
            for name in FILE_DTYPES:
                rows.checks.check_ids(name, ids)
        if not np.array_equal(points, rows.near[ids]):
            raise DataError(
                f"the rows of {str(self.folder)!r} were parted in another space: take the schema "
                "and the space of the store, or write it again"
            )


def reopen_source(folder: Path, points_of: PointsOf, *, checksum: str) -> Cells:
    """Map the rows of a folder in the process where the copy of a source arrives."""
    store = Store.open(folder)
    if store.checksum != checksum:
        raise DataError(
            f"{str(folder)!r} is another store than the one that was opened first: "
            "open it again, and begin anew"
        )
    return store.as_source(points_of)


def _check_parts(folder: Path, parts: dict[str, Any], *, n_distinct: int, n_features: int) -> None:
    """Check the small arrays: kinds, shapes, and that the cells hold every row once."""
    width, n_cells = np.shape(parts.get("centroids", ()))[:2] if _is_table(parts) else (0, 0)
    n_blocks = -(-n_distinct // ROWS_OF_BLOCK)
    wanted = {
        "centroids": ("f4", (width, n_cells)),
        "starts": ("i8", (n_cells + 1,)),
        "lower": ("f8", (width, n_cells)),
        "upper": ("f8", (width, n_cells)),
        "sample": ("f8", (len(parts.get("sample", ())), n_features)),
        **{f"sums_{name}": ("u4", (n_blocks,)) for name in FILE_DTYPES},
    }
    for name, (kind, shape) in wanted.items():
        found = parts.get(name)
        if found is None or found.shape != shape or found.dtype != np.dtype(kind) or not n_cells:
            raise damaged_store_error(folder / PARTS, f"its {name} are not what a store has")
    starts = parts["starts"]
    if starts[0] != 0 or starts[-1] != n_distinct or (np.diff(starts) < 1).any():
        raise damaged_store_error(folder / PARTS, "its cells do not hold every row once")


def _is_table(parts: dict[str, Any]) -> bool:
    return np.ndim(parts.get("centroids", ())) == 2


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
    with draft_of_store(folder) as draft:
        StoreWriter(draft, blocks, schema, progress or _report_nothing).write(sample)
    return Store.open(folder)


def _report_nothing(what: str, done: int, total: int) -> None:
    """Report nothing."""
