"""Rows in cells, searched for states that a person may take over from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from localface.geometry.compiled.rough_states import rough_state_squares
from localface.geometry.projection import Projection
from localface.sources.cell_rows import CellRows
from localface.sources.nearest_states import (
    furthest_of_interest,
    gather_nearest_states,
    no_states,
    projection_of,
)
from localface.sources.partition import EPS, Partition
from localface.sources.protocol import Nearest, Neighbors
from localface.types import Array, Floats, Ids, Mask

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
        low, high = self._projected_boxes(projection_of(question))
        n_probe = self._n_cells_to_probe(low, high)
        cells = self._cells_by_distance(question, low, high)
        least = _distances_of_boxes(question, low[:, cells], high[:, cells])
        anywhere = replace(question, radius=np.inf)
        found = no_states(question)
        for block in self._blocks_of_cells(cells, n_probe):
            if block.start >= n_probe and len(found.ids) == question.k:
                break
            limit = min(furthest_of_interest(anywhere, found), question.radius)
            near = cells[block][least[block] * _SLACK <= limit]
            found = self._scan_cells(anywhere, found, near)
        close = found.distances <= question.radius
        assert found.moved is not None
        return Neighbors(
            found.ids[close], found.points[close], found.distances[close], moved=found.moved[close]
        )

    def _projected_boxes(self, projection: Projection) -> tuple[Array, Array]:
        """Return the boxes of the cells as far as their columns may be taken over."""
        lower = projection.bounds.lower[:, None]
        upper = projection.bounds.upper[:, None]
        low = np.clip(self._partition.lower, lower, upper)
        return low, np.clip(self._partition.upper, lower, upper)

    def _n_cells_to_probe(self, low: Array, high: Array) -> int:
        """Return how many cells a question scans, at least.

        The fewer columns there are in which states differ, the more cells those near a point
        are spread over: such numbers of cells keep the recall of questions for rows.
        """
        n_varying = int((low.min(axis=1) < high.max(axis=1)).sum())
        return self._n_probe + self._n_probe * len(low) // max(1, n_varying)

    def _cells_by_distance(self, question: Nearest, low: Array, high: Array) -> Ids:
        """Return the cells that may hold allowed states, nearest projected centroid first.

        The distances of the boxes would be a worse order: most are 0 in many columns. No sum
        goes through BLAS: see ``Partition``.
        """
        projection = projection_of(question)
        bounds = projection.bounds
        centroids = np.clip(self._partition.centroids.T, bounds.lower, bounds.upper).T
        away = centroids - question.point[:, None]
        above = high >= question.bounds.lower[:, None]
        below = low <= question.bounds.upper[:, None]
        meets = (above & below) | ~_columns_alone(projection)[:, None]
        cells = np.flatnonzero(meets.all(axis=0))
        return np.asarray(cells[np.argsort((away * away).sum(axis=0)[cells], kind="stable")])

    def _blocks_of_cells(self, cells: Ids, n_probe: int) -> Iterator[slice]:
        """Cut cells into blocks: few of them first, then more, up to so many rows at once."""
        sizes = self._partition.starts[cells + 1] - self._partition.starts[cells]
        most = len(self._partition) // _FIRST_CELLS + 4
        first = 0
        while first < len(cells):
            rows = np.cumsum(sizes[first : first + most])
            last = first + max(1, int(np.searchsorted(rows, _ROWS_AT_ONCE, side="right")))
            if first < n_probe < last:
                last = n_probe
            yield slice(first, last)
            first = last
            most *= 2

    def _scan_cells(self, question: Nearest, found: Neighbors, cells: Ids) -> Neighbors:
        """Add to the states found what the rows of some cells have."""
        if len(cells) == 0:
            return found
        self._rows.check_cells(self._partition, cells)
        starts = self._partition.starts
        ranges = (starts[cells], starts[cells + 1])
        rough = _rough_distances(question, self._rows.near, ranges)
        if len(question.exclude):
            every = self._partition.ids_at_positions(cells, np.arange(len(rough)))
            rough[np.isin(every, question.exclude)] = np.inf
        length = float(np.sqrt((question.point * question.point).sum()))

        def rows_at(positions: Ids) -> tuple[Ids, Array]:
            chosen = self._partition.ids_at_positions(cells, positions)
            return chosen, self._points_of(self._rows.records_of(chosen))

        def rough_reach(distance: float) -> float:
            """No column is off by more than its values are, and neither is the sum."""
            return (distance + EPS * (2 * length + distance)) * (
                1 + (len(question.point) + 8) * EPS
            )

        return gather_nearest_states(
            question, found, rough, rows_at=rows_at, rough_reach=rough_reach
        )


def _distances_of_boxes(question: Nearest, low: Array, high: Array) -> Array:
    """Return the least distance that a state in each projected box can have.

    Columns that are taken over together or not at all may hold what the person keeps: they
    keep nothing away.
    """
    point = question.point[:, None]
    gaps = np.maximum(np.maximum(low - point, point - high), 0.0)
    gaps[~_columns_alone(projection_of(question))] = 0.0
    return np.asarray(np.sqrt((gaps * gaps).sum(axis=0)))


def _rough_distances(question: Nearest, near: Floats, ranges: tuple[Ids, Ids]) -> Array:
    """Return the distance to the state of each row but for rounding, or less than that.

    Rounding to float32 keeps the order of numbers: what is cut short is cut at the rounded
    limit. Rows that are out of bounds for sure are infinitely far.
    """
    projection = projection_of(question)
    limits = _limits_of_columns_alone(question)
    squares = rough_state_squares(near, ranges, limits)
    if squares is None:
        squares = _rough_squares(_rows_in(near[:, :-1], ranges), limits)
    for columns in projection.taken_together:
        values = _rows_in(near, ranges)[:, columns]
        squares += _squared_distances_of_group(question, columns, values)
    return np.sqrt(squares).astype(np.float64)


def _limits_of_columns_alone(question: Nearest) -> tuple[Floats, ...]:
    """Return limits and the point in single precision; columns in groups add nothing to a sum."""
    projection = projection_of(question)
    bounds = (projection.bounds, question.bounds)
    limits = [limit for one in bounds for limit in (one.lower, one.upper)]
    with np.errstate(over="ignore"):
        rounded = [one.astype(np.float32) for one in (*limits, question.point)]
    in_group = ~_columns_alone(projection)
    for limit, value in zip(rounded, (0.0, 0.0, -np.inf, np.inf, 0.0), strict=True):
        limit[in_group] = value
    return tuple(rounded)


def _rough_squares(near: Floats, limits: tuple[Floats, ...]) -> Floats:
    """Return squared distances to states; infinite for those that are left out."""
    lower, upper, least, most, point = limits
    states = np.clip(near, lower, upper)
    squares = np.asarray(((states - point) ** 2).sum(axis=1))
    squares[((states < least) | (states > most)).any(axis=1)] = np.inf
    return squares


def _rows_in(values: Floats, ranges: tuple[Ids, Ids]) -> Floats:
    """Return the lines of values in some ranges, one after the other."""
    ends = zip(*(one.tolist() for one in ranges), strict=True)
    return np.concatenate([values[first:last] for first, last in ends])


def _squared_distances_of_group(question: Nearest, columns: Ids, near: Floats) -> Floats:
    """Squared distances over columns that are taken over together or not at all.

    A value on a rounded limit may be within the limit or just beyond: then it is the lesser of
    both. Nothing but 0 is rounded to 0.
    """
    projection = projection_of(question)
    lower = projection.bounds.lower[columns].astype(np.float32)
    upper = projection.bounds.upper[columns].astype(np.float32)
    point = question.point[columns].astype(np.float32)
    decides = np.isin(columns, projection.deciding(columns))
    stays = (((near < lower) | (near > upper)) & decides).any(axis=1)
    unsure = (((near == lower) | (near == upper)) & (near != 0) & decides).any(axis=1)
    taken = ((np.clip(near, lower, upper) - point) ** 2).sum(axis=1)
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
