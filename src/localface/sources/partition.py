"""Rows parted into cells by their values.

Whatever is chosen here depends on what a row holds, never on its position in the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from localface.data.absence import same_codes
from localface.geometry.bounds import Bounds
from localface.geometry.segments import norms
from localface.types import Array, Floats, Ids, Mask

Hashes = npt.NDArray[np.uint64]

SAMPLE = 50_000  # distinct rows that cells, scales and densities are learnt from
_MAX_CELLS = 4096
_ROUNDS = 8  # of k-means; more change little
_DISTANCES_AT_ONCE = 1 << 21
_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(29))
EPS = float(np.finfo(np.float32).eps)


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """Cells of rows: their centroids, the id each begins with, and the box that its rows lie in.

    Centroids and boxes have a column a cell, so that one pass along a column of points
    looks at all cells.
    """

    centroids: Floats
    starts: Ids
    lower: Array
    upper: Array

    @classmethod
    def of(cls, points: Iterable[Array], cells: Ids, centroids: Floats) -> Partition:
        """Describe points that are sorted by cell, block by block; empty cells are left out."""
        filled, starts = np.unique(cells, return_index=True)
        lower = np.full((len(filled), centroids.shape[1]), np.inf)
        upper = np.full((len(filled), centroids.shape[1]), -np.inf)
        done = 0
        for block in points:
            numbers = np.searchsorted(filled, cells[done : done + len(block)])
            some, firsts = np.unique(numbers, return_index=True)
            lower[some] = np.minimum(lower[some], np.minimum.reduceat(block, firsts))
            upper[some] = np.maximum(upper[some], np.maximum.reduceat(block, firsts))
            done += len(block)
        ends = np.append(starts, len(cells)).astype(np.int64)
        return cls(centroids[filled].T.copy(), ends, lower.T.copy(), upper.T.copy())

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def width(self) -> int:
        """How many columns a point has."""
        return len(self.centroids)

    def cells_meeting(self, bounds: Bounds) -> Mask:
        """Tell which cells may hold allowed rows."""
        meets = np.ones(len(self), dtype=bool)
        for column in np.flatnonzero(bounds.lower > -np.inf):
            meets &= self.upper[column] >= bounds.lower[column]
        for column in np.flatnonzero(bounds.upper < np.inf):
            meets &= self.lower[column] <= bounds.upper[column]
        return meets

    def cells_inside(self, bounds: Bounds) -> Mask:
        """Tell which cells hold allowed rows only."""
        low = self.lower >= bounds.lower[:, None]
        return np.asarray((low & (self.upper <= bounds.upper[:, None])).all(axis=0))

    def cells_by_distance(self, point: Array, bounds: Bounds) -> Ids:
        """Return the cells that may hold allowed rows, nearest centroid first.

        The sums run over columns and not through BLAS: they are the same on every
        machine, and so is what is scanned.
        """
        away = self.centroids - point[:, None].astype(np.float32)
        away *= away
        cells = np.flatnonzero(self.cells_meeting(bounds))
        return np.asarray(cells[np.argsort(away.sum(axis=0)[cells], kind="stable")], dtype=np.int64)

    def ids_at_positions(self, cells: Ids, positions: Ids) -> Ids:
        """Turn positions among the rows of some cells, taken together, into ids."""
        ends = np.cumsum(self.starts[cells + 1] - self.starts[cells])
        which = np.searchsorted(ends, positions, side="right")
        return np.asarray(positions + (self.starts[cells + 1] - ends)[which], dtype=np.int64)


def row_hashes(records: Array | Floats) -> Hashes:
    """Hash each row by its values alone; -0 counts as 0, and float32 as the same in float64."""
    first, second, shift = _MIX
    hashes = np.full(len(records), first)
    for block in cut_into_slices(len(records), 1 << 14):
        mixed = hashes[block]
        for bits in _bits_by_column(records[block]):
            mixed ^= bits
            for factor in (second, first):
                mixed *= factor
                mixed ^= mixed >> shift
    return hashes


def _bits_by_column(records: Array | Floats) -> Hashes:
    values = np.add(records, 0.0, dtype=np.float64)
    return np.ascontiguousarray(values.T).view(np.uint64)


def smallest_hashes(hashes: Hashes, size: int) -> Ids:
    """Return the positions of the distinct rows with the smallest hashes, in that order."""
    if len(hashes) > 4 * size:
        edge = np.partition(hashes, 2 * size)[2 * size]
        few = np.flatnonzero(hashes <= edge)
        chosen = few[smallest_hashes(hashes[few], len(few))]
        if len(chosen) >= size:
            return np.asarray(chosen[:size])
    _, first = np.unique(hashes, return_index=True)
    return np.asarray(first[:size], dtype=np.int64)


def suitable_n_cells(hashes: Hashes, size: int) -> int:
    """Return how many cells suit a table: about the square root of its distinct rows.

    ``hashes`` are the smallest ones, in order, at most ``size`` of them. How many there
    are below the last tells how many there are in all, however often each is repeated.
    """
    distinct = float(len(hashes))
    if len(hashes) >= size:
        distinct = (size - 1) * (2.0**64 / (float(hashes[-1]) + 1.0))
    return int(np.clip(round(np.sqrt(distinct)), 1, min(_MAX_CELLS, len(hashes))))


def train_centroids(points: Array, n_cells: int) -> Floats:
    """Find centroids by k-means from the first points on."""
    centroids = points[:n_cells].astype(np.float32)
    for _ in range(_ROUNDS):
        cells = nearest_centroids(points, centroids)
        counts = np.bincount(cells, minlength=n_cells)[:, None]
        sums = np.stack(
            [np.bincount(cells, column, minlength=n_cells) for column in points.T], axis=1
        )
        means = (sums / np.maximum(counts, 1)).astype(np.float32)
        centroids = np.where(counts > 0, means, centroids)
    return centroids


def nearest_centroids(points: Array, centroids: Floats) -> Ids:
    """Return the nearest centroid of each point, the same whatever points come with it.

    One BLAS product rules most centroids out; where rounding leaves more than one, they
    are compared in exactly the same way for every block.
    """
    slack = (points.shape[1] + 8) * EPS
    sizes = (centroids.astype(np.float64) ** 2).sum(axis=1)
    halves = (sizes * (0.5 - slack)).astype(np.float32)
    cells = np.empty(len(points), dtype=np.int64)
    for block in cut_into_slices(len(points), max(1, _DISTANCES_AT_ONCE // len(centroids))):
        near = points[block].astype(np.float32)
        # half the squared distance, less what rounding may have added
        least = halves - near @ centroids.T
        best = least.argmin(axis=1)
        each = np.arange(len(near))
        edges = least[each, best] + 2 * slack * (sizes[best] + (points[block] ** 2).sum(axis=1))
        least[each, best] = np.inf
        unsure = np.flatnonzero(least.min(axis=1) <= edges)
        least[each, best] = -np.inf
        cells[block] = best
        cells[block.start + unsure] = _exactly_nearest(
            points[block][unsure], centroids, least[unsure] <= edges[unsure, None]
        )
    return cells


def _exactly_nearest(points: Array, centroids: Floats, possible: Mask) -> Ids:
    """Choose among the centroids that are possible for each point, the first of equals."""
    chosen = np.zeros(len(points), dtype=np.int64)
    shortest = np.full(len(points), np.inf)
    point, cells = np.nonzero(possible)
    for block in cut_into_slices(len(point), 1 << 16):
        away = norms(points[point[block]] - centroids[cells[block]])
        rank = np.lexsort((cells[block], away, point[block]))
        at, first = np.unique(point[block][rank], return_index=True)
        nearer = away[rank[first]] < shortest[at]
        chosen[at[nearer]] = cells[block][rank[first[nearer]]]
        shortest[at[nearer]] = away[rank[first[nearer]]]
    return chosen


def stored_order(cells: Ids, hashes: Hashes, records: Array | Floats, rows: Ids) -> Ids:
    """Return the distinct rows in the order they are stored: by cell, then by hash.

    Of repeated rows the one with the lowest number stays.
    """
    order = np.lexsort((rows, hashes, cells))
    alike = (hashes[order][1:] == hashes[order][:-1]) & (cells[order][1:] == cells[order][:-1])
    same = _equals_row_before(records, order, alike)
    if not np.array_equal(same, alike):  # two rows share a hash: fall back on all their values
        order = np.lexsort((rows, *(records + 0.0).T, cells))
        same = _equals_row_before(records, order, np.ones(len(order) - 1, dtype=bool))
    if len(order) == 0:
        return order
    return np.asarray(order[np.append(True, ~same)], dtype=np.int64)


def _equals_row_before(records: Array | Floats, order: Ids, alike: Mask) -> Mask:
    """Tell which rows equal the one before, looking only where they may."""
    same = np.zeros(len(alike), dtype=bool)
    maybe = np.flatnonzero(alike)
    same[maybe] = same_codes(records[order[maybe]], records[order[maybe + 1]]).all(axis=1)
    return same


def cut_into_slices(n: int, size: int) -> Iterator[slice]:
    """Cut ``n`` positions into slices of at most ``size``."""
    return (slice(first, min(first + size, n)) for first in range(0, n, size))
