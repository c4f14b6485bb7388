"""The rows that proposals are compared with, searched by plain blocks of distances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from localface.errors import DataError
from localface.types import Array, Ids

_BLOCK = 2**17  # distances computed at a time: as many as fit into the processor's cache
_MAX_BLOCK = 2**22  # distances in memory at a time, where a row count makes _BLOCK a few points
_MIN_POINTS = 64  # points that make reading all rows once worth while
_DECIMALS = 9  # decimals to which two equal points agree


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceRows:
    """The rows to compare with, as points; distances are computed here, not by the judged code."""

    points: Array
    _columns: Array = field(init=False)
    _squares: Array = field(init=False)
    _at: dict[bytes, list[int]] = field(init=False)

    def __post_init__(self) -> None:
        points = np.array(self.points, dtype=np.float64)
        if points.ndim != 2 or not len(points) or not np.isfinite(points).all():
            raise DataError(
                f"rows of shape {points.shape} cannot be compared with: "
                "give a table of finite points"
            )
        at: dict[bytes, list[int]] = {}
        for i, key in enumerate(_row_keys(points)):
            at.setdefault(key, []).append(i)
        points.setflags(write=False)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "_columns", np.ascontiguousarray(points.T))
        object.__setattr__(self, "_squares", (points * points).sum(axis=1))
        object.__setattr__(self, "_at", at)

    def __len__(self) -> int:
        return len(self.points)

    def rows_at(self, point: Array) -> list[int]:
        """The numbers of the rows that are equal to a point."""
        return self._at.get(_row_keys(point[None, :])[0], [])

    def squared_distances(self, points: Array) -> Array:
        """The squared distance from every point to every row: pass few points at a time."""
        squared = (-2.0 * points) @ self._columns
        squared += self._squares
        squared += (points * points).sum(axis=1)[:, None]
        return np.maximum(squared, 0.0, out=squared)

    def block_slices(self, points: Array) -> Iterator[slice]:
        """Slices of the points, each with no more distances than memory should hold."""
        in_memory = min(_MIN_POINTS, _MAX_BLOCK // len(self))
        step = max(1, in_memory, _BLOCK // len(self))
        for first in range(0, len(points), step):
            yield slice(first, first + step)

    def squared_distances_to_others_by_block(self, points: Array) -> Iterator[tuple[slice, Array]]:
        """Squared distances a block at a time; infinite to rows that equal the point itself."""
        for block in self.block_slices(points):
            squared = self.squared_distances(points[block])
            for i, point in enumerate(points[block]):
                squared[i, self.rows_at(point)] = np.inf
            yield block, squared

    def nearest(self, points: Array, k: int) -> tuple[Array, Ids]:
        """Distances and numbers of the k nearest other rows; infinite where there are fewer."""
        k = min(k, len(self))
        distances = np.empty((len(points), k))
        numbers = np.empty((len(points), k), dtype=np.int64)
        for block, squared in self.squared_distances_to_others_by_block(points):
            near = np.sort(np.argpartition(squared, k - 1, axis=1)[:, :k], axis=1)
            exact = np.sqrt(((self.points[near] - points[block, None]) ** 2).sum(axis=2))
            exact[np.isinf(np.take_along_axis(squared, near, axis=1))] = np.inf
            order = np.argsort(exact, axis=1, kind="stable")
            distances[block] = np.take_along_axis(exact, order, axis=1)
            numbers[block] = np.take_along_axis(near, order, axis=1)
        return distances, numbers


def distinct_rows(points: Array) -> ReferenceRows:
    """The different points among some, in canonical order."""
    return ReferenceRows(np.unique(np.asarray(points, dtype=np.float64) + 0.0, axis=0))


def evenly_spaced_numbers(n: int, most: int) -> Ids:
    """At most ``most`` of the numbers 0 to n - 1, evenly spaced: nothing is random."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))


def _row_keys(points: Array) -> list[bytes]:
    return [point.tobytes() for point in np.round(points, _DECIMALS) + 0.0]  # no negative zero
