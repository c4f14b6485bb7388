"""Rows sorted by cell, with rough distances to them in float32."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from localface.geometry.bounds import Bounds
from localface.sources.partition import Partition, cut_into_slices
from localface.sources.store_checks import BlockChecks
from localface.types import NO_ROWS, Array, Floats, Ids

_ROWS_AT_ONCE = 1 << 14  # rows turned into float32 at once


@dataclass(frozen=True, slots=True, eq=False)
class CellRows:
    """Distinct rows, sorted by cell.

    ``near`` holds points in float32 with half their squared length as the last column: its
    product with (-q, 1) is half the squared distance from q, but for a part that is the same
    for all rows. ``records`` are in float32 as well where that loses nothing. ``rows`` are row
    numbers in the user's table, ``folder`` is the store that the arrays are mapped from, if they
    are, and ``checks`` holds what is read there against its checksums.
    """

    near: Floats
    records: Array | Floats
    rows: Ids
    folder: Path | None = None
    checks: BlockChecks | None = None

    @classmethod
    def of(
        cls, records: Array | Floats, rows: Ids, order: Ids, *, points_of: Callable[[Array], Array]
    ) -> CellRows:
        """Take rows in the order they are stored in, a block at a time."""
        stored = records[order]
        width = points_of(records[:1].astype(np.float64)).shape[1]
        near = np.empty((len(order), width + 1), dtype=np.float32)
        for block in cut_into_slices(len(order), _ROWS_AT_ONCE):
            points = points_of(stored[block].astype(np.float64))
            near[block] = with_half_squares(points, np.arange(len(points)))
        return cls(near, stored, rows[order])

    def records_of(self, ids: Ids | slice) -> Array:
        """Return the records of some rows."""
        if self.checks is not None:
            self.checks.check_ids("records", ids)
        return np.asarray(self.records[ids], dtype=np.float64)

    def row_numbers_of(self, ids: Ids) -> Ids:
        """Return the numbers of some rows in the user's table."""
        if self.checks is not None:
            self.checks.check_ids("rows", ids)
        return np.asarray(self.rows[ids])

    def check_cells(self, partition: Partition, cells: Ids) -> None:
        """Hold the points of some cells against their checksums, before they are read."""
        if self.checks is not None:
            self.checks.check_ranges("near", partition.starts[cells], partition.starts[cells + 1])

    def rough_distances(self, partition: Partition, cells: Ids, point: Array) -> Floats:
        """Return half the squared distance, but for a constant, to each row of some cells."""
        self.check_cells(partition, cells)
        question = np.append(-point, 1.0).astype(np.float32)
        ends = zip(
            partition.starts[cells].tolist(), partition.starts[cells + 1].tolist(), strict=True
        )
        with np.errstate(invalid="ignore"):  # BLAS may load what lies behind a row
            parts = [self.near[first:last] @ question for first, last in ends]
        return np.concatenate([np.zeros(0, dtype=np.float32), *parts])

    def rows_within(
        self, partition: Partition, cells: Sequence[Ids], points: Array, limits: Array
    ) -> list[Ids]:
        """Return for each point the rows of its cells with a rough distance within its limit.

        Points that ask for the same cell share one product, so that its rows are read once.
        """
        edges = np.nextafter(limits.astype(np.float32), np.float32(np.inf))
        if len(points) == 1:
            close = np.flatnonzero(self.rough_distances(partition, cells[0], points[0]) <= edges[0])
            return [partition.ids_at_positions(cells[0], close)]
        self.check_cells(partition, np.unique(np.concatenate(cells)))
        questions = np.column_stack([-points, np.ones(len(points))]).astype(np.float32)
        question_of = [NO_ROWS]
        found = [NO_ROWS]
        for cell, askers in _questions_by_cell(cells):
            start = partition.starts[cell]
            rows = self.near[start : partition.starts[cell + 1]]
            close = (questions[askers] @ rows.T <= edges[askers, None]).reshape(-1).nonzero()[0]
            question_of.append(askers[close // len(rows)])
            found.append(start + close % len(rows))
        return _ids_per_question(np.concatenate(question_of), np.concatenate(found), len(points))

    def possibly_allowed_positions(self, ids: Ids, bounds: Bounds, exclude: Ids) -> Ids:
        """Return the positions of ids that may be inside the box and are not excluded (sorted).

        Rounding to float32 keeps the order of numbers, so that no row inside is dropped; one
        that is outside by less than float32 can tell may stay.
        """
        if self.checks is not None:
            self.checks.check_ids("near", ids)
        with np.errstate(over="ignore"):
            lower = bounds.lower.astype(np.float32)
            upper = bounds.upper.astype(np.float32)
        kept = np.arange(len(ids))
        for column in np.flatnonzero((lower > -np.inf) | (upper < np.inf)):
            values = self.near[ids[kept], column]
            kept = kept[(values >= lower[column]) & (values <= upper[column])]
        if len(exclude):
            at = np.minimum(np.searchsorted(exclude, ids[kept]), len(exclude) - 1)
            kept = kept[exclude[at] != ids[kept]]
        return kept


def make_compact(records: Array) -> Array | Floats:
    """Return records in float32 if each of them is the same in it, else as they are."""
    with np.errstate(over="ignore"):
        for block in cut_into_slices(len(records), _ROWS_AT_ONCE):
            some = records[block]
            if not np.array_equal(some.astype(np.float32), some, equal_nan=True):
                return records
    return records.astype(np.float32)


def with_half_squares(points: Array, order: Ids) -> Floats:
    """Return points in float32, in some order, with half their squared length as last column."""
    near = np.empty((len(order), points.shape[1] + 1), dtype=np.float32)
    for block in cut_into_slices(len(order), _ROWS_AT_ONCE):
        chosen = points[order[block]]
        near[block, :-1] = chosen
        near[block, -1] = (chosen * chosen).sum(axis=1) / 2
    return near


def _questions_by_cell(cells: Sequence[Ids]) -> Iterator[tuple[int, Ids]]:
    """Yield each cell with the questions that ask for it, given the cells of each question."""
    cell = np.concatenate(cells)
    if len(cell) == 0:
        return
    question = np.repeat(np.arange(len(cells)), [len(own) for own in cells])
    order = np.argsort(cell, kind="stable")
    turns = np.flatnonzero(np.diff(cell[order], prepend=-1, append=-1)).tolist()
    for first, last in pairwise(turns):
        yield int(cell[order[first]]), question[order[first:last]]


def _ids_per_question(question_of: Ids, ids: Ids, n: int) -> list[Ids]:
    """Give each of n questions the ids that are its own."""
    order = np.argsort(question_of, kind="stable")
    return np.split(ids[order], np.cumsum(np.bincount(question_of, minlength=n))[:-1])
