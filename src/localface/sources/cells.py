"""Many rows, parted into cells, of which a question looks at the nearest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from localface.geometry.bounds import Bounds
from localface.geometry.segments import norms
from localface.sources.calibration import Calibration, calibrated
from localface.sources.partition import (
    EPS,
    SAMPLE,
    Partition,
    assigned,
    blocks,
    canonical,
    cells_for,
    hashed,
    sampled,
    trained,
)
from localface.sources.protocol import Nearest, Neighbors
from localface.sources.stored import Stored, with_halves
from localface.types import NO_ROWS, Array, Ids

PointsOf = Callable[[Array], Array]
_SPARE = 16  # rows fetched beyond k, so that rounding in float32 can misplace none
_MARKS = 2048  # rough distances that an edge is read off
_BLOCK = 1 << 16  # rows worked out exactly at once
_TOGETHER = 256  # questions answered at once
_SHARE = 64  # one cell in so many is looked at before the rest


class Cells:
    """Distinct rows in cells, of which the nearest ``n_probe`` are scanned.

    An id is a place in the stored order, which depends on what the rows hold alone: neither
    on the order of the user's rows nor on how often a row is repeated. Within the cells that
    are scanned an answer is exact; cells that a box does not meet are passed over, and more
    cells are looked at while rows are lacking.
    """

    def __init__(
        self,
        partition: Partition,
        stored: Stored,
        *,
        points_of: PointsOf,
        n_rows: int,
        calibration: Calibration,
    ) -> None:
        self._partition = partition
        self._stored = stored
        self._points_of = points_of
        self._n_rows = n_rows
        self._calibration = calibration
        self._rounding = (partition.width + 8) * EPS

    @classmethod
    def of(
        cls,
        points: Array,
        records: Array,
        rows: Ids,
        *,
        points_of: PointsOf,
        n_rows: int,
        n_cells: int | None = None,
        n_probe: int | None = None,
    ) -> Cells:
        """Part rows that are in memory; how many cells, and how many to look at, is worked out unless given."""
        hashes = hashed(records)
        sample = sampled(hashes, SAMPLE)
        n_cells = (
            cells_for(hashes[sample], SAMPLE) if n_cells is None else min(n_cells, len(sample))
        )
        centroids = trained(points[sample], n_cells)
        cells = assigned(points, centroids)
        order = canonical(cells, hashes, records, rows)
        partition = Partition.of(points[order], cells[order], centroids)
        stored = Stored(with_halves(points, order), records[order], rows[order])
        calibration = calibrated(partition, stored.near, points[sample], n_probe=n_probe)
        return cls(partition, stored, points_of=points_of, n_rows=n_rows, calibration=calibration)

    @property
    def n_rows(self) -> int:
        """How many rows there are, duplicates counted."""
        return self._n_rows

    @property
    def n_distinct(self) -> int:
        """How many different rows there are."""
        return len(self._stored.near)

    @property
    def width(self) -> int:
        """How many columns a point has."""
        return self._partition.width

    @property
    def n_probe(self) -> int:
        """How many cells a question looks at, at least."""
        return self._calibration.n_probe

    @property
    def exact(self) -> bool:
        """Whether every cell is looked at."""
        return self.n_probe >= len(self._partition)

    @property
    def recall(self) -> float:
        """The share of the 50 nearest rows that was found when it was measured, in a box or without, the lower."""
        return self._calibration.recall

    def nearest(self, questions: Sequence[Nearest]) -> list[Neighbors]:
        """Answer each question; see ``Source``."""
        parts = (questions[block] for block in blocks(len(questions), _TOGETHER))
        return [answer for part in parts for answer in self._answers(part)]

    def records(self, ids: Ids) -> Array:
        """Return rows that were revealed, in the user's units."""
        return np.asarray(self._stored.records[ids])

    def row_numbers(self, ids: Ids) -> Ids:
        """Return where in the user's table these rows stand."""
        return np.asarray(self._stored.rows[ids])

    def list_rows(self, bounds: Bounds) -> Ids:
        """Return the ids of all rows within the bounds; see ``RowHolder``."""
        starts = self._partition.starts
        inside = self._partition.inside(bounds)
        found = [NO_ROWS]
        for cell in np.flatnonzero(self._partition.meeting(bounds)):
            ids = np.arange(starts[cell], starts[cell + 1])
            found.append(ids if inside[cell] else self._allowed(ids, bounds))
        return np.concatenate(found)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._stored.folder is None:
            make = partial(
                Cells, points_of=self._points_of, n_rows=self._n_rows, calibration=self._calibration
            )
            return make, (self._partition, self._stored)
        from localface.sources.store import (
            reopened,
        )  # a store is made of cells; only a copy looks back at it

        return reopened, (self._stored.folder, self._points_of)

    def _answers(self, questions: Sequence[Nearest]) -> list[Neighbors]:
        """Find k rows for each question in its very nearest cells, then whoever is nearer in the other ones."""
        orders = [self._partition.order(question.point, question.bounds) for question in questions]
        found, rest = zip(*map(self._first, questions, orders), strict=True)
        limits = np.array(
            [self._limit(question, one) for question, one in zip(questions, found, strict=True)]
        )
        points = np.stack([question.point for question in questions])
        more = self._stored.within(self._partition, rest, points, limits)
        return [self._closed(*each) for each in zip(questions, found, more, strict=True)]

    def _first(self, question: Nearest, order: Ids) -> tuple[Neighbors, Ids]:
        """Look at the very nearest cells until k rows are in hand, and tell which cells are left to look at."""
        n_probe = min(self.n_probe, len(self._partition) // _SHARE + 4)
        while True:
            found = self._among(order[:n_probe], question)
            if len(found.ids) == question.k or n_probe >= len(order):
                return found, order[n_probe : self.n_probe]
            n_probe *= 2

    def _limit(self, question: Nearest, found: Neighbors) -> float:
        """The rough distance that no row as near as the furthest one found can exceed; see ``_settled``."""
        furthest = min(float(found.distances.max(initial=0.0)), question.radius)
        square = float((question.point * question.point).sum())
        return (furthest**2 * (1 + 2 * self._rounding) - square * (1 - 3 * self._rounding)) / 2

    def _closed(self, question: Nearest, found: Neighbors, more: Ids) -> Neighbors:
        """Take the k nearest of all rows in hand, no further than the radius."""
        if len(more):
            more = more[self._stored.screened(more, question.bounds, np.sort(question.exclude))]
            found = self._ranked(np.append(found.ids, more), question)
        near = found.distances <= question.radius
        return (
            found
            if near.all()
            else Neighbors(found.ids[near], found.points[near], found.distances[near])
        )

    def _among(self, cells: Ids, question: Nearest) -> Neighbors:
        """Find the k nearest allowed rows of some cells: by rough distance, then exactly, and wider if need be.

        Whatever row is left out, its rough distance is at least ``edge``.
        """
        rough = self._stored.rough(self._partition, cells, question.point)
        marks = np.sort(rough[:: max(1, len(rough) // _MARKS)])
        exclude = np.sort(question.exclude)
        wanted = question.k + _SPARE
        reach = 2 * wanted + len(exclude)
        while True:
            mark = reach * len(marks) // max(1, len(rough)) + 1
            edge = float(marks[mark]) if mark < len(marks) else np.inf
            near = np.flatnonzero(rough < edge)
            ids = self._partition.ids(cells, near)
            kept = self._stored.screened(ids, question.bounds, exclude)
            if len(kept) > wanted:
                first = np.argpartition(rough[near[kept]], wanted)
                edge = float(rough[near[kept[first[wanted]]]])
                kept = kept[first[:wanted]]
            if len(kept) == wanted or edge == np.inf:
                found = self._ranked(ids[kept], question)
                if edge == np.inf or self._settled(question, edge, found.distances):
                    return found
                wanted *= 4
            reach *= 4

    def _ranked(self, ids: Ids, question: Nearest) -> Neighbors:
        """Keep the k nearest of some rows, nearest first; whether they are allowed is decided exactly."""
        points = self._points_of(self.records(ids))
        inside = question.bounds.contain(points)
        ids, points = ids[inside], points[inside]
        distances = norms(points - question.point)
        order = np.lexsort((ids, distances))[: question.k]
        return Neighbors(ids[order], points[order], distances[order])

    def _settled(self, question: Nearest, edge: float, distances: Array) -> bool:
        """Tell whether k rows are in hand, and no row left out can be as near as the furthest of them.

        Rounding is at most r (|x|² + |q|²), and |x|² at most 2 |q|² + 2 |x - q|².
        """
        if len(distances) < question.k or question.k == 0:
            return question.k == 0
        square = float((question.point * question.point).sum())
        least = (2 * edge + square * (1 - 3 * self._rounding)) / (1 + 2 * self._rounding)
        return bool(least > float(distances[-1]) ** 2)

    def _allowed(self, ids: Ids, bounds: Bounds) -> Ids:
        """Keep the rows that are allowed."""
        ids = ids[self._stored.screened(ids, bounds, NO_ROWS)]
        parts = (ids[block] for block in blocks(len(ids), _BLOCK))
        kept = [part[bounds.contain(self._points_of(self.records(part)))] for part in parts]
        return np.concatenate([NO_ROWS, *kept])
