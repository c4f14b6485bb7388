"""All rows, laid out so that one BLAS product finds how far they are from any number of places."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from localface.geometry.segments import norms
from localface.types import Array, Ids

_QUARTERS = 512


class PointSet:
    """Distinct rows: each one's point, and the columns side by side in memory for scanning.

    Distances by product are quick, and rounded differently in batches of different
    sizes. ``rounding`` says by how much, so that whoever decides by them can settle
    what is too close to call on the points themselves.
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

    def products(self, places: Array) -> Array:
        """The product of every place with every row."""
        return np.asarray(places @ self.columns)

    def squared(self, places: Array) -> Array:
        """The squared distance from every place to every row, up to rounding."""
        return self.apart(places, self.products(places))

    def apart(self, places: Array, products: Array) -> Array:
        """The squared distances that belong to products, which they replace."""
        products *= -2
        products += self.squares
        products += (places * places).sum(axis=1)[:, None]
        return products

    def rounding(self, size: Array | float) -> Array:
        """How far a squared distance by product may be off, given the squared norms of place and row together."""
        return np.asarray(8.0 * (self.width + 4) * float(np.finfo(float).eps) * size)

    def within(self, places: Array, radius: float) -> Ids:
        """Count the rows within a radius of each place, exactly."""
        counts = np.zeros(len(places), dtype=np.int64)
        unsure = self.rounding(radius * radius + 2 * (self.largest + (places * places).sum(axis=1)))
        step = max(1, 2**22 // len(self))
        for first in range(0, len(places), step):
            some = slice(first, first + step)
            apart = self.squared(places[some]) - radius * radius
            counts[some] = (apart < -unsure[some, None]).sum(axis=1)
            for i, row in zip(*np.nonzero(np.abs(apart) <= unsure[some, None]), strict=True):
                counts[first + i] += norms(self.points[row] - places[first + i]) <= radius
        return counts

    def near(self, places: Array, most: int) -> tuple[Ids, Ids]:
        """Some of the rows nearest to each place, about as many as asked for: those of the quarters around it.

        Returns the place and the row of each pair. They are the same whatever the batch: a
        product by BLAS might choose others.
        """
        centres, squares, firsts, order = self._quarters
        sizes = np.diff(firsts)
        by_distance = np.argsort(
            squares - 2 * np.einsum("ij,kj->ik", places, centres), axis=1, kind="stable"
        )
        before = np.cumsum(sizes[by_distance], axis=1) - sizes[by_distance]
        place, rank = np.nonzero(before < most)
        quarter = by_distance[place, rank]
        many = sizes[quarter]
        steps = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        return np.repeat(place, many), order[np.repeat(firsts[quarter], many) + steps]

    @cached_property
    def _quarters(self) -> tuple[Array, Array, Ids, Ids]:
        """Rows spread over the crowd, and who stands nearest to each: a rough map, for finding some near rows fast."""
        centres = self.points[:: max(1, len(self) // min(_QUARTERS, 1 + len(self) // 64))]
        squares = (centres * centres).sum(axis=1)
        parts = np.array_split(self.points, 1 + len(self) // 4096)
        home = np.concatenate([(squares - 2 * (part @ centres.T)).argmin(axis=1) for part in parts])
        sizes = np.bincount(home, minlength=len(centres))
        return centres, squares, np.cumsum([0, *sizes]), np.argsort(home, kind="stable")

    def own(self, starts: Array, ends: Array) -> Ids:
        """The rows that stand exactly at the two ends of steps; -1 where there is none."""
        return np.array(
            [[self.at(a), self.at(b)] for a, b in zip(starts, ends, strict=True)], dtype=np.int64
        )

    def at(self, place: Array) -> int:
        """The row that stands exactly at a place; -1 if there is none."""
        return self._by_place.get((place + 0.0).tobytes(), -1)

    @cached_property
    def _by_place(self) -> dict[bytes, int]:
        return {(point + 0.0).tobytes(): row for row, point in enumerate(self.points)}
