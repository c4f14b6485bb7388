"""A set of points with fast distances from all of them to any number of others."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from localface.types import Array, Ids

_MAX_REGIONS = 512


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

    def products_with_rows(self, queries: Array) -> Array:
        """Return the product of every query with every row."""
        return np.asarray(queries @ self.columns)

    def squared_distances(self, queries: Array) -> Array:
        """Return the squared distance from every query to every row, up to rounding."""
        return self.turn_into_squared_distances(queries, self.products_with_rows(queries))

    def turn_into_squared_distances(self, queries: Array, products: Array) -> Array:
        """Turn products into squared distances, in place."""
        products *= -2
        products += self.squares
        products += (queries * queries).sum(axis=1)[:, None]
        return products

    def rounding_error(self, squares: Array | float) -> Array:
        """Return how far off a squared distance may be, given both squared norms together."""
        return np.asarray(8.0 * (self.width + 4) * float(np.finfo(float).eps) * squares)

    def roughly_nearest_rows(self, queries: Array, most: int) -> tuple[Ids, Ids]:
        """Return about ``most`` rows near each query: all rows of the regions around it.

        Returns the query and the row of each pair. They are the same whatever the batch: a
        product by BLAS might choose others.
        """
        centres, squares, firsts, order = self._rough_regions
        sizes = np.diff(firsts)
        distances = squares - 2 * np.einsum("ij,kj->ik", queries, centres)
        by_distance = np.argsort(distances, axis=1, kind="stable")
        before = np.cumsum(sizes[by_distance], axis=1) - sizes[by_distance]
        query, rank = np.nonzero(before < most)
        region = by_distance[query, rank]
        many = sizes[region]
        steps = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        return np.repeat(query, many), order[np.repeat(firsts[region], many) + steps]

    @cached_property
    def _rough_regions(self) -> tuple[Array, Array, Ids, Ids]:
        """A rough map of the rows: some of them as centres, and the rows nearest to each.

        Returns the centres, their squared norms, where each region's rows begin, and all rows
        by region.
        """
        centres = self.points[:: max(1, len(self) // min(_MAX_REGIONS, 1 + len(self) // 64))]
        squares = (centres * centres).sum(axis=1)
        parts = np.array_split(self.points, 1 + len(self) // 4096)
        home = np.concatenate([(squares - 2 * (part @ centres.T)).argmin(axis=1) for part in parts])
        sizes = np.bincount(home, minlength=len(centres))
        return centres, squares, np.cumsum([0, *sizes]), np.argsort(home, kind="stable")

    def rows_at_ends(self, starts: Array, ends: Array) -> Ids:
        """Return the rows that lie exactly at the two ends of segments; -1 where there is none."""
        pairs = zip(starts, ends, strict=True)
        found = [[self.row_at(a), self.row_at(b)] for a, b in pairs]
        return np.array(found, dtype=np.int64).reshape(-1, 2)

    def row_at(self, point: Array) -> int:
        """Return the row that lies exactly at a point; -1 if there is none."""
        return self._row_by_bytes.get((point + 0.0).tobytes(), -1)

    @cached_property
    def _row_by_bytes(self) -> dict[bytes, int]:
        return {(point + 0.0).tobytes(): row for row, point in enumerate(self.points)}
