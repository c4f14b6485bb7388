"""Which rows are near a place, found by plain blocks of distances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from localface.errors import DataError
from localface.types import Array, Ids

_BLOCK = 2**17  # distances worked on at a time: as many as the processor keeps at hand
_MOST = (
    2**22
)  # distances held at a time, where there are so many rows that a block would be a few places
_PLACES = 64  # for which reading all rows once is worth while
_DECIMALS = 9  # to which two points agree that are one and the same


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The people to compare with, as points; none of the code under judgement measures a distance here."""

    points: Array
    _columns: Array = field(init=False)
    _squares: Array = field(init=False)
    _at: dict[bytes, list[int]] = field(init=False)

    def __post_init__(self) -> None:
        points = np.array(self.points, dtype=np.float64)
        if points.ndim != 2 or not len(points) or not np.isfinite(points).all():
            raise DataError(
                f"rows of shape {points.shape} cannot be compared with: give a table of finite points"
            )
        at: dict[bytes, list[int]] = {}
        for i, key in enumerate(_keys(points)):
            at.setdefault(key, []).append(i)
        points.setflags(write=False)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "_columns", np.ascontiguousarray(points.T))
        object.__setattr__(self, "_squares", (points * points).sum(axis=1))
        object.__setattr__(self, "_at", at)

    def __len__(self) -> int:
        return len(self.points)

    def at(self, place: Array) -> list[int]:
        """The rows that stand at a place themselves."""
        return self._at.get(_keys(place[None, :])[0], [])

    def squared(self, places: Array) -> Array:
        """The squared distance from every place to every row: a block of them, so pass few places at a time."""
        apart = (-2.0 * places) @ self._columns
        apart += self._squares
        apart += (places * places).sum(axis=1)[:, None]
        return np.maximum(apart, 0.0, out=apart)

    def blocks(self, places: Array) -> Iterator[slice]:
        """Parts of some places, each with no more distances than memory should hold."""
        step = max(1, min(_PLACES, _MOST // len(self)), _BLOCK // len(self))
        for first in range(0, len(places), step):
            yield slice(first, first + step)

    def others(self, places: Array) -> Iterator[tuple[slice, Array]]:
        """Squared distances a block at a time; infinite to rows that stand at the place itself."""
        for some in self.blocks(places):
            apart = self.squared(places[some])
            for i, place in enumerate(places[some]):
                apart[i, self.at(place)] = np.inf
            yield some, apart

    def nearest(self, places: Array, k: int) -> tuple[Array, Ids]:
        """Distances and numbers of the k nearest other rows, the nearest first; infinite where there are fewer."""
        k = min(k, len(self))
        distances, numbers = np.empty((len(places), k)), np.empty((len(places), k), dtype=np.int64)
        for some, apart in self.others(places):
            near = np.sort(np.argpartition(apart, k - 1, axis=1)[:, :k], axis=1)
            exact = np.sqrt(((self.points[near] - places[some, None]) ** 2).sum(axis=2))
            exact[np.isinf(np.take_along_axis(apart, near, axis=1))] = np.inf
            order = np.argsort(exact, axis=1, kind="stable")
            distances[some] = np.take_along_axis(exact, order, axis=1)
            numbers[some] = np.take_along_axis(near, order, axis=1)
        return distances, numbers


def distinct(points: Array) -> Rows:
    """The different points among some, in canonical order."""
    return Rows(np.unique(np.asarray(points, dtype=np.float64) + 0.0, axis=0))


def spread(n: int, most: int) -> Ids:
    """At most so many of n places, evenly spread: no chance in it."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))


def _keys(points: Array) -> list[bytes]:
    return [point.tobytes() for point in np.round(points, _DECIMALS) + 0.0]  # no negative zero
