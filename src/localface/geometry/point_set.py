"""A set of points with fast distances from all of them to any number of others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from localface.geometry.compiled.row_index import RowIndex, first_of_equals
from localface.geometry.settling import rounding_of_products, settle_squared_distances
from localface.types import Array, Ids, Mask

_MAX_REGIONS = 512
_FEW_USED = 0.25  # of columns: copying these is quicker than a product with all


@dataclass(frozen=True, slots=True, eq=False)
class Regions:
    """A rough map of points: some of them as centres, and the points nearest to each.

    ``order`` has all points region by region, ``firsts`` where each region begins and, at the
    end, how many points there are.
    """

    centres: Array
    squares: Array  # squared lengths of the centres
    firsts: Ids
    order: Ids

    def radii(self, points: Array) -> Array:
        """Return how far the points of each region are from its centre at most."""
        sizes = np.diff(self.firsts)
        away = points[self.order] - np.repeat(self.centres, sizes, axis=0)
        distances = np.sqrt((away * away).sum(axis=1))
        found = np.zeros(len(sizes))
        np.maximum.at(found, np.repeat(np.arange(len(sizes)), sizes), distances)
        return found * (1 + 1e-9)


class PointSet:
    """Distinct rows as points, with their columns contiguous in memory for scanning.

    Distances by one BLAS product are quick, and rounded differently in batches of different
    sizes. ``rounding`` says by how much, so that whoever decides by them can settle what is
    too close to call on the points themselves.
    """

    def __init__(self, points: Array) -> None:
        self.points = points
        self.columns = np.ascontiguousarray(points.T)
        self.squares = (points * points).sum(axis=1)
        self.largest = float(self.squares.max())

    def __len__(self) -> int:
        return len(self.points)

    @property
    def width(self) -> int:
        """How many columns a point has."""
        return int(self.points.shape[1])

    @cached_property
    def extremes(self) -> tuple[Array, Array]:
        """The lowest and the highest value of each column."""
        return self.columns.min(axis=1), self.columns.max(axis=1)

    def products_with_rows(self, queries: Array) -> Array:
        """Return the product of every query with every row."""
        used = np.flatnonzero(queries.any(axis=0))
        if len(used) < _FEW_USED * self.width:  # categories that nobody who asks has
            return np.asarray(queries[:, used] @ self.columns[used])
        return np.asarray(queries @ self.columns)

    def squared_distances(self, queries: Array) -> Array:
        """Return the squared distance from every query to every row, up to rounding."""
        return self.turn_into_squared_distances(queries, self.products_with_rows(queries))

    def settled_squared_distances(self, queries: Array, resolution: float) -> Array:
        """Return squared distances of which those to near rows are off by no more than that."""
        squares = self.squared_distances(queries)
        return settle_squared_distances(squares, queries, self.points, resolution=resolution)

    def turn_into_squared_distances(self, queries: Array, products: Array) -> Array:
        """Turn products into squared distances, in place."""
        products *= -2
        products += self.squares
        products += (queries * queries).sum(axis=1)[:, None]
        return products

    def rounding_error(self, squares: Array | float) -> Array:
        """Return how far off a squared distance may be, given both squared norms together."""
        return rounding_of_products(squares, self.width)

    def roughly_nearest_rows(self, queries: Array, most: int) -> tuple[Ids, Ids]:
        """Return about ``most`` rows near each query: all rows of the regions around it.

        Returns the query and the row of each pair. They are the same whatever the batch: a
        product by BLAS might choose others.
        """
        regions = self.regions
        firsts = regions.firsts
        sizes = np.diff(firsts)
        distances = regions.squares - 2 * np.einsum("ij,kj->ik", queries, regions.centres)
        by_distance = np.argsort(distances, axis=1, kind="stable")
        before = np.cumsum(sizes[by_distance], axis=1) - sizes[by_distance]
        query, rank = np.nonzero(before < most)
        region = by_distance[query, rank]
        many = sizes[region]
        steps = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        return np.repeat(query, many), regions.order[np.repeat(firsts[region], many) + steps]

    @cached_property
    def regions(self) -> Regions:
        """A rough map of the rows."""
        centres = self.points[:: max(1, len(self) // min(_MAX_REGIONS, 1 + len(self) // 64))]
        squares = (centres * centres).sum(axis=1)
        parts = np.array_split(self.points, 1 + len(self) // 4096)
        home = np.concatenate([(squares - 2 * (part @ centres.T)).argmin(axis=1) for part in parts])
        sizes = np.bincount(home, minlength=len(centres))
        return Regions(centres, squares, np.cumsum([0, *sizes]), np.argsort(home, kind="stable"))

    def rows_at_ends(self, starts: Array, ends: Array) -> Ids:
        """Return the rows that lie exactly at the two ends of segments; -1 where there is none."""
        return np.column_stack([self.rows_at(starts), self.rows_at(ends)])

    def rows_left_out(
        self, starts: Array, ends: Array, askers: Array | None = None
    ) -> tuple[Ids, npt.NDArray[np.uint8]]:
        """Return the rows that say nothing of segments, two of each (-1: none), and what they are.

        They are those at the two ends; where nobody stands at either, that of the person who asks,
        who stands at ``askers``. What they are is added up: 1 for the start, 2 for the end (one
        that is both counts once), 4 for the asker.
        """
        rows = self.rows_at_ends(starts, ends)
        is_row = rows >= 0
        left_out = is_row[:, 0] + 2 * (is_row[:, 1] & (rows[:, 0] != rows[:, 1]))
        if askers is not None:
            some = np.flatnonzero(left_out == 0)
            rows[some, 0] = self.rows_at(askers[some])
            left_out[some] = 4 * (rows[some, 0] >= 0)
        return rows, left_out.astype(np.uint8)

    def rows_at(self, points: Array) -> Ids:
        """Return the rows that lie exactly at points; -1 where there is none."""
        if self.index is not None:
            return self.index.rows_at(points)
        known = self._row_by_bytes
        return np.array([known.get((one + 0.0).tobytes(), -1) for one in points], dtype=np.int64)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "index"}

    @cached_property
    def index(self) -> RowIndex | None:
        """The rows by their points, where that is compiled."""
        return RowIndex.or_none(self.points)

    @cached_property
    def _row_by_bytes(self) -> dict[bytes, int]:
        return {(point + 0.0).tobytes(): row for row, point in enumerate(self.points)}


def keys_of(points: Array) -> list[bytes]:
    """Return the bytes of each point, to look it up by."""
    size = points.shape[1] * points.itemsize
    every = points.tobytes()
    return [every[first : first + size] for first in range(0, len(every), size)]


def are_first_of_equals(points: Array) -> Mask:
    """Tell which points equal none before them."""
    found = first_of_equals(points)
    if found is not None:
        return found
    order = np.lexsort(points.T)
    ordered = points[order]
    found = np.ones(len(points), dtype=bool)
    found[order[1:]] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return found
