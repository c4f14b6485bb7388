"""Rows in cells, searched for states that a person may take over from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from localface.geometry.projection import Projection
from localface.sources.cell_rows import CellRows
from localface.sources.nearest_states import (
    furthest_of_interest,
    gather_nearest_states,
    no_states,
    projection_of,
)
from localface.sources.partition import EPS, Floats, Partition
from localface.sources.protocol import Nearest, Neighbors
from localface.types import Array, Ids, Mask

_ROWS_AT_ONCE = 1 << 16  # rows whose states are compared at once
_FIRST_CELLS = 64  # one cell in so many is scanned before the rest
_SLACK = 1 - 1e-9  # what rounding may add to the distance of a cell


class CellStates:
    """Rows in cells as states of whoever asks.

    Cells are scanned by the distance of what their centroids come to. Within the cells that are
    scanned an answer is exact; cells are passed over that can hold nothing near enough.
    """

    def __init__(
        self,
        partition: Partition,
        rows: CellRows,
        *,
        points_of: Callable[[Array], Array],
        n_probe: int,
    ) -> None:
        self._partition = partition
        self._rows = rows
        self._points_of = points_of
        self._n_probe = n_probe

    def nearest(self, questions: Sequence[Nearest]) -> list[Neighbors]:
        """Answer each question, all of which have a projection; see ``Source``."""
        return [self._answer_question(question) for question in questions]

    def _answer_question(self, question: Nearest) -> Neighbors:
        """Scan cells until k states are found, and as many as are to be probed at least."""
        cells, least = self._cells_by_distance(question)
        anywhere = replace(question, radius=np.inf)
        found = no_states(question)
        scanned = 0
        for block in self._blocks_of_cells(cells):
            if scanned >= self._n_probe and len(found.ids) == question.k:
                break
            limit = min(furthest_of_interest(anywhere, found), question.radius)
            near = cells[block][least[block] * _SLACK <= limit]
            found = self._scan_cells(anywhere, found, near)
            scanned = block.stop
        close = found.distances <= question.radius
        return Neighbors(found.ids[close], found.points[close], found.distances[close])

    def _blocks_of_cells(self, cells: Ids) -> Iterator[slice]:
        """Cut cells into blocks: few of them first, then as many as have not too many rows."""
        sizes = self._partition.starts[cells + 1] - self._partition.starts[cells]
        most = len(self._partition) // _FIRST_CELLS + 4
        first = 0
        while first < len(cells):
            rows = np.cumsum(sizes[first : first + most])
            last = first + max(1, int(np.searchsorted(rows, _ROWS_AT_ONCE, side="right")))
            if first < self._n_probe < last:
                last = self._n_probe
            yield slice(first, last)
            first = last
            most *= 2

    def _cells_by_distance(self, question: Nearest) -> tuple[Ids, Array]:
        """Return the cells that may hold allowed states, in order, with the least distances there.

        Columns that are taken over together or not at all may hold what the person has: they
        bring nothing nearer, and keep nothing away. No sum goes through BLAS: see ``Partition``.
        """
        projection = projection_of(question)
        point = question.point[:, None]
        alone = _columns_alone(projection)[:, None]
        lower = projection.bounds.lower[:, None]
        upper = projection.bounds.upper[:, None]
        low = np.clip(self._partition.lower, lower, upper)
        high = np.clip(self._partition.upper, lower, upper)
        gaps = np.where(alone, np.maximum(np.maximum(low - point, point - high), 0.0), 0.0)
        least = np.sqrt((gaps * gaps).sum(axis=0))
        away = np.clip(self._partition.centroids, lower, upper) - point
        inside = (high >= question.bounds.lower[:, None]) & (low <= question.bounds.upper[:, None])
        cells = np.flatnonzero((inside | ~alone).all(axis=0))
        cells = cells[np.argsort((away * away).sum(axis=0)[cells], kind="stable")]
        return cells, least[cells]

    def _scan_cells(self, question: Nearest, found: Neighbors, cells: Ids) -> Neighbors:
        """Add to the states found what the rows of some cells have."""
        if len(cells) == 0:
            return found
        starts = self._partition.starts
        ranges = [np.arange(starts[cell], starts[cell + 1]) for cell in cells]
        ids = np.concatenate(ranges)
        near = np.concatenate([self._rows.near[one[0] : one[-1] + 1, :-1] for one in ranges])
        rough = _rough_distances(question, near)
        if len(question.exclude):
            rough[np.isin(ids, question.exclude)] = np.inf
        length = float(np.sqrt((question.point * question.point).sum()))

        def rows_at(positions: Ids) -> tuple[Ids, Array]:
            chosen = ids[positions]
            return chosen, self._points_of(np.asarray(self._rows.records[chosen]))

        def rough_reach(distance: float) -> float:
            """No column is off by more than its values are, and neither is the sum."""
            return (distance + EPS * (2 * length + distance)) * (1 + (len(near.T) + 8) * EPS)

        return gather_nearest_states(
            question, found, rough, rows_at=rows_at, rough_reach=rough_reach
        )


def _rough_distances(question: Nearest, near: Floats) -> Array:
    """Return the distance to the state of each row but for rounding, or less than that.

    Rounding to float32 keeps the order of numbers: what is cut short is cut at the rounded
    limit. Rows that are out of bounds for sure are infinitely far.
    """
    projection = projection_of(question)
    with np.errstate(over="ignore"):
        lower = projection.bounds.lower.astype(np.float32)
        upper = projection.bounds.upper.astype(np.float32)
        least = question.bounds.lower.astype(np.float32)
        most = question.bounds.upper.astype(np.float32)
    states = np.clip(near, lower, upper)
    outside = ((states < least) | (states > most)) & _columns_alone(projection)
    point = question.point.astype(np.float32)
    squares = (states - point) ** 2
    for columns in projection.taken_together:
        squares[:, columns] = 0.0
        squares[:, columns[0]] = _squared_distances_of_group(question, columns, near[:, columns])
    rough: Array = np.sqrt(squares.sum(axis=1)).astype(np.float64)
    rough[outside.any(axis=1)] = np.inf
    return rough


def _squared_distances_of_group(question: Nearest, columns: Ids, near: Floats) -> Floats:
    """Squared distances over columns that are taken over together or not at all.

    A value on a rounded limit may be within the limit or just beyond: then it is the lesser of
    both. Nothing but 0 is rounded to 0.
    """
    projection = projection_of(question)
    lower = projection.bounds.lower[columns].astype(np.float32)
    upper = projection.bounds.upper[columns].astype(np.float32)
    point = question.point[columns].astype(np.float32)
    stays = ((near < lower) | (near > upper)).any(axis=1)
    unsure = (((near == lower) | (near == upper)) & (near != 0)).any(axis=1)
    taken = ((near - point) ** 2).sum(axis=1)
    kept = ((projection.kept[columns].astype(np.float32) - point) ** 2).sum()
    taken[unsure] = np.minimum(taken[unsure], kept)
    taken[stays] = kept
    return np.asarray(taken)


def _columns_alone(projection: Projection) -> Mask:
    """Which columns go as far as their limits, whatever others do."""
    alone = np.ones(len(projection.kept), dtype=bool)
    for columns in projection.taken_together:
        alone[columns] = False
    return alone
