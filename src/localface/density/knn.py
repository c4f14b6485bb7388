"""A k-NN density: the distance to the k-th other person, swept exactly along segments."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from localface.density.protocol import (
    FLOOR_TOLERANCE,
    DensityScale,
    Hole,
    LogFloor,
    SegmentDensities,
    compare_with_floor,
)
from localface.geometry.point_set import PointSet
from localface.geometry.segments import emptiest_point, norms, split_at_flips
from localface.types import Array, Ids, Mask

_SAMPLES = 65  # points on each leg at which the mean is sampled; there is no closed form
_HALVINGS = 48  # of the interval in which the largest distance to the k-th person lies


class KNN:
    """log p(x) = -d log r_k(x), up to a constant, with r_k the distance to the k-th other row.

    The strict rule on this density is the cover rule: every point on the segment has at
    least k people within the radius that belongs to the floor. The sweep decides it
    exactly and looks at near rows only.

    Parameters
    ----------
    point_set : the rows
    discrete : the columns that flip half way along a segment
    k : how many other people are looked for
    row_log_densities : leave-one-out log-densities of the rows, NaN where not worked out
    """

    certified = True

    def __init__(
        self,
        point_set: PointSet,
        discrete: Mask,
        *,
        k: int,
        row_log_densities: Array,
    ) -> None:
        self._points = point_set.points
        self._discrete = discrete
        self._row_log_densities = row_log_densities
        self.k = k
        self.scale = DensityScale(np.sort(row_log_densities[~np.isnan(row_log_densities)]))

    def radius_at(self, log_density: float) -> float:
        """Return the radius within which there are k people where the log-density is this."""
        return float(np.exp(-log_density / self._points.shape[1]))

    def row_log_densities(self, ids: Ids) -> Array:
        """Return the leave-one-out log-densities of rows."""
        found = self._row_log_densities[ids]
        unknown = np.isnan(found)
        if unknown.any():
            points = self._points[ids[unknown]]
            found[unknown] = self.lowest_along(points, points, None).log_densities
        return np.asarray(found)

    def lowest_along(
        self, starts: Array, ends: Array, log_floor: LogFloor, *, askers: Array | None = None
    ) -> SegmentDensities:
        """Return the lowest log-density along each segment: exact, by the cover sweep.

        With a floor, only the verdict is worked out; a refusal comes with the hole.
        """
        segments = self._with_others(starts, ends, askers)
        if log_floor is None:
            return compare_with_floor(
                np.array([self._lowest_log_density(*one) for one in segments]), None
            )
        log_floors = np.broadcast_to(log_floor, len(starts))
        found = [
            self._passes_or_hole(*one, self.radius_at(floor - FLOOR_TOLERANCE))
            for one, floor in zip(segments, log_floors, strict=True)
        ]
        passes = np.array([passed for passed, _ in found])
        holes = tuple((i, hole) for i, (_, hole) in enumerate(found) if hole is not None)
        below = np.nextafter(log_floors, -np.inf)  # what is refused is no lower, for all we know
        return SegmentDensities(np.where(passes, log_floors, below), passes, holes)

    def mean_along(
        self, starts: Array, ends: Array, log_floor: LogFloor, *, askers: Array | None = None
    ) -> SegmentDensities:
        """Return the logarithm of the mean density along each segment, sampled."""
        segments = self._with_others(starts, ends, askers)
        means = np.array([self._log_mean_density(*one) for one in segments])
        return compare_with_floor(means, log_floor)

    def _with_others(
        self, starts: Array, ends: Array, askers: Array | None
    ) -> Iterator[tuple[Array, Array, Array]]:
        """Yield each segment with the rows that count: not those at its ends, or the asker's."""
        askers = starts if askers is None else askers
        for start, end, asker in zip(starts, ends, askers, strict=True):
            own = (self._points == start).all(axis=1) | (self._points == end).all(axis=1)
            if not own.any():
                own = (self._points == asker).all(axis=1)
            yield start, end, self._points[~own]

    def _lowest_log_density(self, start: Array, end: Array, others: Array) -> float:
        if len(others) < self.k:
            return -np.inf
        legs = split_at_flips(start, end, self._discrete)
        widest = max(self._largest_kth_distance(a, b, others) for a, b in legs)
        return float(-self._points.shape[1] * np.log(max(widest, np.finfo(float).tiny)))

    def _largest_kth_distance(self, start: Array, end: Array, others: Array) -> float:
        """Return the largest distance to the k-th person anywhere on a leg, by halving."""
        length = float(norms(end - start))
        low = 0.0
        high = self._kth_distance(others, start) + length
        near = others[norms(others - start) <= high + length]
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if emptiest_point(start, end, near, middle)[0] >= self.k:
                high = middle
            else:
                low = middle
        return high

    def _passes_or_hole(
        self, start: Array, end: Array, others: Array, eps: float
    ) -> tuple[bool, Hole | None]:
        """Tell whether k others are within ``eps`` of every point; if not, find the hole."""
        for a, b in split_at_flips(start, end, self._discrete):
            near = others[norms(others - (a + b) / 2) <= eps + float(norms(b - a)) / 2]
            count, point = emptiest_point(a, b, near, eps)
            if count < self.k:
                return False, self._hole_around(point, eps)
        return True, None

    def _hole_around(self, point: Array, eps: float) -> Hole | None:
        """Return the ball in which the k-th person is further off than ``eps``.

        The distance to the k-th person changes no faster than one moves.
        """
        if len(self._points) < self.k:
            return None
        distance = self._kth_distance(self._points, point)
        return Hole(point, distance - eps) if distance > eps else None

    def _log_mean_density(self, start: Array, end: Array, others: Array) -> float:
        if len(others) < self.k:
            return -np.inf
        parts = []
        for a, b in split_at_flips(start, end, self._discrete):
            points = a + np.linspace(0, 1, _SAMPLES)[:, None] * (b - a)
            distances = np.array([self._kth_distance(others, point) for point in points])
            parts.append(-self._points.shape[1] * np.log(distances))
        log_densities = np.concatenate(parts)
        top = log_densities.max()
        return float(top + np.log(np.exp(log_densities - top).mean()))

    def _kth_distance(self, rows: Array, point: Array) -> float:
        return float(np.partition(norms(rows - point), self.k - 1)[self.k - 1])
