"""Many rows in cells, of which a question scans the nearest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from localface.geometry.bounds import Bounds
from localface.geometry.segments import norms
from localface.sources.calibration import Calibration, calibrate_n_probe
from localface.sources.cell_rows import CellRows
from localface.sources.cell_states import CellStates
from localface.sources.nearest_states import answer_rows_and_states
from localface.sources.partition import (
    EPS,
    SAMPLE,
    Partition,
    cut_into_slices,
    nearest_centroids,
    row_hashes,
    smallest_hashes,
    stored_order,
    suitable_n_cells,
    train_centroids,
)
from localface.sources.protocol import Nearest, Neighbors
from localface.types import NO_ROWS, Array, Floats, Ids

PointsOf = Callable[[Array], Array]
Reopen = Callable[[Path, PointsOf], "Cells"]
_SPARE = 16  # rows fetched beyond k, so that rounding in float32 can misplace none
_SAMPLED_DISTANCES = 2048  # rough distances that an edge is read off
_ROWS_AT_ONCE = 1 << 16  # rows worked out exactly at once
_POINTS_AT_ONCE = 1 << 14  # rows that are points at once while cells are made: never all
_QUESTIONS_AT_ONCE = 256
_FIRST_CELLS = 64  # one cell in so many is scanned before the rest


class Cells:
    """Distinct rows in cells, of which the nearest ``n_probe`` are scanned.

    An id is a position in the stored order, which depends on what the rows hold alone: neither
    on the order of the user's rows nor on how often a row is repeated. Within the cells that
    are scanned an answer is exact; cells that a box does not meet are passed over, and more
    cells are scanned while rows are lacking.
    """

    def __init__(
        self,
        partition: Partition,
        rows: CellRows,
        *,
        points_of: PointsOf,
        n_rows: int,
        calibration: Calibration,
        reopen: Reopen | None = None,
    ) -> None:
        self._partition = partition
        self._rows = rows
        self._points_of = points_of
        self._n_rows = n_rows
        self._calibration = calibration
        self._reopen = reopen  # how a copy of rows on disk maps them again in its own process
        self._states = CellStates(partition, rows, points_of=points_of, n_probe=calibration.n_probe)
        self._rounding = (partition.width + 8) * EPS

    @classmethod
    def of(
        cls,
        records: Array | Floats,
        rows: Ids,
        *,
        points_of: PointsOf,
        n_rows: int,
        n_cells: int | None = None,
        n_probe: int | None = None,
    ) -> Cells:
        """Part rows that are in memory; both numbers of cells are worked out unless given."""
        hashes = row_hashes(records)
        sample = smallest_hashes(hashes, SAMPLE)
        n_cells = (
            suitable_n_cells(hashes[sample], SAMPLE)
            if n_cells is None
            else min(n_cells, len(sample))
        )
        sample_points = points_of(records[sample].astype(np.float64))
        centroids = train_centroids(sample_points, n_cells)
        cells = np.empty(len(records), dtype=np.int64)
        for block in cut_into_slices(len(records), _POINTS_AT_ONCE):
            points = points_of(records[block].astype(np.float64))
            cells[block] = nearest_centroids(points, centroids)
        order = stored_order(cells, hashes, records, rows)
        cell_rows = CellRows.of(records, rows, order, points_of=points_of)
        blocks = cut_into_slices(len(order), _POINTS_AT_ONCE)
        partition = Partition.of(
            (points_of(cell_rows.records_of(block)) for block in blocks), cells[order], centroids
        )
        calibration = calibrate_n_probe(partition, cell_rows.near, sample_points, n_probe=n_probe)
        return cls(
            partition, cell_rows, points_of=points_of, n_rows=n_rows, calibration=calibration
        )

    @property
    def n_rows(self) -> int:
        """How many rows there are, duplicates counted."""
        return self._n_rows

    @property
    def n_distinct(self) -> int:
        """How many different rows there are."""
        return len(self._rows.near)

    @property
    def width(self) -> int:
        """How many columns a point has."""
        return self._partition.width

    @property
    def n_probe(self) -> int:
        """How many cells a question scans, at least."""
        return self._calibration.n_probe

    @property
    def exact(self) -> bool:
        """Whether every cell is scanned."""
        return self.n_probe >= len(self._partition)

    @property
    def recall(self) -> float:
        """The measured share of the 50 nearest rows that is found; the lower of boxed and free."""
        return self._calibration.recall

    def nearest(self, questions: Sequence[Nearest]) -> list[Neighbors]:
        """Answer each question; see ``Source``."""
        return answer_rows_and_states(questions, self._nearest_rows, self._states.nearest)

    def records(self, ids: Ids) -> Array:
        """Return rows that were revealed, in the user's units."""
        return self._rows.records_of(ids)

    def row_numbers(self, ids: Ids) -> Ids:
        """Return the positions of these rows in the user's table."""
        return self._rows.row_numbers_of(ids)

    def list_rows(self, bounds: Bounds) -> Ids:
        """Return the ids of all rows within the bounds; see ``RowHolder``."""
        starts = self._partition.starts
        inside = self._partition.cells_inside(bounds)
        found = [NO_ROWS]
        for cell in np.flatnonzero(self._partition.cells_meeting(bounds)):
            ids = np.arange(starts[cell], starts[cell + 1])
            found.append(ids if inside[cell] else self._keep_allowed(ids, bounds))
        return np.concatenate(found)

    def points(self, ids: Ids) -> Array:
        """Return rows as points; see ``RowHolder``."""
        return self._points_of(self.records(ids))

    @cached_property
    def extremes(self) -> tuple[Array, Array]:
        """The lowest and the highest point of each column; see ``RowHolder``."""
        ends = []
        for block in cut_into_slices(self.n_distinct, _ROWS_AT_ONCE):
            points = self.points(np.arange(*block.indices(self.n_distinct)))
            ends.append([points.min(axis=0), points.max(axis=0)])
        lowest, highest = np.array(ends).swapaxes(0, 1)
        return lowest.min(axis=0), highest.max(axis=0)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._rows.folder is None or self._reopen is None:
            make = partial(
                Cells, points_of=self._points_of, n_rows=self._n_rows, calibration=self._calibration
            )
            return make, (self._partition, self._rows)
        return self._reopen, (self._rows.folder, self._points_of)

    def _nearest_rows(self, questions: Sequence[Nearest]) -> list[Neighbors]:
        """Answer questions for rows."""
        parts = (questions[block] for block in cut_into_slices(len(questions), _QUESTIONS_AT_ONCE))
        return [answer for part in parts for answer in self._answer_questions(part)]

    def _answer_questions(self, questions: Sequence[Nearest]) -> list[Neighbors]:
        """Find k rows for each question in its nearest cells, then nearer ones in the others."""
        orders = [
            self._partition.cells_by_distance(question.point, question.bounds)
            for question in questions
        ]
        found, rest = zip(*map(self._scan_nearest_cells, questions, orders), strict=True)
        limits = np.array(
            [self._rough_distance_limit(*each) for each in zip(questions, found, strict=True)]
        )
        points = np.stack([question.point for question in questions])
        more = self._rows.rows_within(self._partition, rest, points, limits)
        return [self._merge_nearest(*each) for each in zip(questions, found, more, strict=True)]

    def _scan_nearest_cells(self, question: Nearest, order: Ids) -> tuple[Neighbors, Ids]:
        """Scan the nearest cells until k rows are found; also return the cells left to scan."""
        n_probe = max(1, min(self.n_probe, len(self._partition) // _FIRST_CELLS + 4))
        while True:
            found = self._nearest_in_cells(order[:n_probe], question)
            if len(found.ids) == question.k or n_probe >= len(order):
                return found, order[n_probe : self.n_probe]
            n_probe *= 2

    def _rough_distance_limit(self, question: Nearest, found: Neighbors) -> float:
        """The rough distance that no row as near as the furthest one found exceeds."""
        furthest = min(float(found.distances.max(initial=0.0)), question.radius)
        square = float((question.point * question.point).sum())
        return (furthest**2 * (1 + 2 * self._rounding) - square * (1 - 3 * self._rounding)) / 2

    def _merge_nearest(self, question: Nearest, found: Neighbors, more: Ids) -> Neighbors:
        """Take the k nearest of all rows found, no further than the radius."""
        if len(more):
            more = more[
                self._rows.possibly_allowed_positions(
                    more, question.bounds, np.sort(question.exclude)
                )
            ]
            found = self._nearest_allowed(np.append(found.ids, more), question)
        near = found.distances <= question.radius
        if near.all():
            return found
        return Neighbors(found.ids[near], found.points[near], found.distances[near])

    def _nearest_in_cells(self, cells: Ids, question: Nearest) -> Neighbors:
        """Find the k nearest allowed rows of some cells by rough distance, then exactly.

        Whatever row is left out, its rough distance is at least ``edge``; the edge is widened
        until enough rows are found.
        """
        rough = self._rows.rough_distances(self._partition, cells, question.point)
        sampled = np.sort(rough[:: max(1, len(rough) // _SAMPLED_DISTANCES)])
        exclude = np.sort(question.exclude)
        wanted = question.k + _SPARE
        reach = 2 * wanted + len(exclude)
        while True:
            rank = reach * len(sampled) // max(1, len(rough)) + 1
            edge = float(sampled[rank]) if rank < len(sampled) else np.inf
            near = np.flatnonzero(rough < edge)
            ids = self._partition.ids_at_positions(cells, near)
            kept = self._rows.possibly_allowed_positions(ids, question.bounds, exclude)
            if len(kept) > wanted:
                first = np.argpartition(rough[near[kept]], wanted)
                edge = float(rough[near[kept[first[wanted]]]])
                kept = kept[first[:wanted]]
            if len(kept) == wanted or edge == np.inf:
                found = self._nearest_allowed(ids[kept], question)
                if edge == np.inf or self._is_complete(question, edge, found.distances):
                    return found
                wanted *= 4
            reach *= 4

    def _nearest_allowed(self, ids: Ids, question: Nearest) -> Neighbors:
        """Keep the k nearest of some rows that are allowed, both decided exactly, nearest first."""
        points = self.points(ids)
        inside = question.bounds.contain(points)
        ids = ids[inside]
        points = points[inside]
        distances = norms(points - question.point)
        order = np.lexsort((ids, distances))[: question.k]
        return Neighbors(ids[order], points[order], distances[order])

    def _is_complete(self, question: Nearest, edge: float, distances: Array) -> bool:
        """Tell whether k rows are found, and no row left out can be as near as the furthest.

        Rounding is at most r (|x|² + |q|²), and |x|² at most 2 |q|² + 2 |x - q|².
        """
        if len(distances) < question.k or question.k == 0:
            return question.k == 0
        square = float((question.point * question.point).sum())
        least = (2 * edge + square * (1 - 3 * self._rounding)) / (1 + 2 * self._rounding)
        return bool(least > float(distances[-1]) ** 2)

    def _keep_allowed(self, ids: Ids, bounds: Bounds) -> Ids:
        """Keep the rows that are allowed."""
        ids = ids[self._rows.possibly_allowed_positions(ids, bounds, NO_ROWS)]
        parts = (ids[block] for block in cut_into_slices(len(ids), _ROWS_AT_ONCE))
        kept = [part[bounds.contain(self.points(part))] for part in parts]
        return np.concatenate([NO_ROWS, *kept])
