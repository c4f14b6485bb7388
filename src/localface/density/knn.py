"""A k-NN density: how near the k-th other person is, swept exactly along steps."""

from __future__ import annotations

import numpy as np

from localface.density.protocol import (
    TOLERANCE,
    DensityScale,
    Floor,
    Hole,
    SegmentDensities,
    judged,
)
from localface.geometry.point_set import PointSet
from localface.geometry.segments import legs, loneliest, norms
from localface.types import Array, Ids, Mask

_SAMPLES = 65  # places at which the mean is sampled; there is no closed form
_HALVINGS = 48


class KNN:
    """log p(x) = -d log r_k(x), up to a constant, with r_k the distance to the k-th nearest other row.

    The strict rule on this density is the cover rule: every place on the step has at
    least k people within the radius that belongs to the floor. The sweep decides it
    exactly and looks at near rows only.
    """

    certified = True

    def __init__(
        self, crowd: PointSet, discrete: Mask, *, k: int, known: Array, reach: float
    ) -> None:
        self._point_set = crowd
        self._points = crowd.points
        self._discrete = discrete
        self._known = known  # leave-one-out log-densities of the rows, where they were worked out
        self._reach = reach
        self.k = k
        self.scale = DensityScale(np.sort(known[~np.isnan(known)]))

    def radius(self, log_density: float) -> float:
        """The radius within which there are k people where the log-density is this."""
        return float(np.exp(-log_density / self._points.shape[1]))

    def levels(self, ids: Ids) -> Array:
        """Return the leave-one-out log-densities of rows."""
        found = self._known[ids]
        unknown = np.isnan(found)
        if unknown.any():
            places = self._points[ids[unknown]]
            found[unknown] = self.lowest(places, places, None).values
        return np.asarray(found)

    def count_near(self, points: Array) -> Ids:
        """Count the people near each place: as near as the tenth nearest is to an ordinary person."""
        return self._point_set.within(points, self._reach)

    def lowest(self, starts: Array, ends: Array, floor: Floor) -> SegmentDensities:
        """Return the lowest log-density along each step: exact, by the cover sweep.

        With a floor, only the verdict is worked out; a step is refused with the hole it runs into.
        """
        steps = list(zip(starts, ends, strict=True))
        if floor is None:
            return judged(np.array([self._lowest(a, b) for a, b in steps]), None)
        floors = np.broadcast_to(floor, len(steps))
        found = [
            self._verdict(*step, self.radius(low - TOLERANCE))
            for step, low in zip(steps, floors, strict=True)
        ]
        passes = np.array([fine for fine, _ in found])
        holes = tuple((i, hole) for i, (_, hole) in enumerate(found) if hole is not None)
        return SegmentDensities(np.where(passes, floor, -np.inf), passes, holes)

    def mean(self, starts: Array, ends: Array, floor: Floor) -> SegmentDensities:
        """Return the logarithm of the mean density along each step, sampled."""
        values = np.array([self._mean(a, b) for a, b in zip(starts, ends, strict=True)])
        return judged(values, floor)

    def _others(self, start: Array, end: Array) -> Array:
        own = (self._points == start).all(axis=1) | (self._points == end).all(axis=1)
        return np.asarray(self._points[~own])

    def _lowest(self, start: Array, end: Array) -> float:
        others = self._others(start, end)
        if len(others) < self.k:
            return -np.inf
        widest = max(self._widest(a, b, others) for a, b in legs(start, end, self._discrete))
        return float(-self._points.shape[1] * np.log(max(widest, np.finfo(float).tiny)))

    def _widest(self, start: Array, end: Array, others: Array) -> float:
        """The largest distance to the k-th person anywhere on a leg, by halving with the sweep."""
        length = float(norms(end - start))
        low, high = 0.0, float(np.partition(norms(others - start), self.k - 1)[self.k - 1]) + length
        near = others[norms(others - start) <= high + length]
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (
                (low, middle)
                if loneliest(start, end, near, middle)[0] >= self.k
                else (middle, high)
            )
        return high

    def _verdict(self, start: Array, end: Array, eps: float) -> tuple[bool, Hole | None]:
        """Whether k others are within ``eps`` of every place; where not, the hole around the loneliest one."""
        others = self._others(start, end)
        for a, b in legs(start, end, self._discrete):
            near = others[norms(others - (a + b) / 2) <= eps + float(norms(b - a)) / 2]
            count, place = loneliest(a, b, near, eps)
            if count < self.k:
                return False, self._hole(place, eps)
        return True, None

    def _hole(self, place: Array, eps: float) -> Hole | None:
        """The distance to the k-th person changes no faster than one moves: how far it stays above ``eps``."""
        if len(self._points) < self.k:
            return None
        apart = float(np.partition(norms(self._points - place), self.k - 1)[self.k - 1])
        return Hole(place, apart - eps) if apart > eps else None

    def _mean(self, start: Array, end: Array) -> float:
        others = self._others(start, end)
        if len(others) < self.k:
            return -np.inf
        logs = []
        for a, b in legs(start, end, self._discrete):
            places = a + np.linspace(0, 1, _SAMPLES)[:, None] * (b - a)
            apart = np.stack(
                [np.partition(norms(others - place), self.k - 1)[self.k - 1] for place in places]
            )
            logs.append(-self._points.shape[1] * np.log(apart))
        every = np.concatenate(logs)
        top = every.max()
        return float(top + np.log(np.exp(every - top).mean()))
