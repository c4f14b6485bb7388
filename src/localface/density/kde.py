"""A Gaussian kernel density with exact means and certified minima along steps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from localface.density.kernel_sums import Kernels, Places, Steps, log_sums
from localface.density.protocol import (
    TOLERANCE,
    DensityScale,
    Floor,
    Hole,
    SegmentDensities,
    judged,
)
from localface.geometry.point_set import PointSet
from localface.types import Array, Ids, Mask

_AT_A_TIME = 2**18  # distances held at a time: as many as the processor keeps at hand
_STEPS = 512  # judged at a time
_SHALLOW = (
    0.5  # nats: whatever is refused by less is next to common ground, and no hole to speak of
)
_SMALLEST_HOLE = 0.25  # in bandwidths: smaller ones strike out too little to be worth finding


class KDE:
    """p(x) = (1/n) sum_i N(x; x_i, h^2 I) over distinct rows x_i.

    Sums always divide by n, whichever rows are left out, so that leaving out evidence
    can only lower a density.
    """

    certified = True

    def __init__(
        self, crowd: PointSet, discrete: Mask, *, bandwidth: float, known: Array, reach: float
    ) -> None:
        self._kernels = Kernels(crowd, discrete, bandwidth)
        self._known = known  # leave-one-out log-densities of the rows, where they were worked out
        self._reach = reach
        self.bandwidth = bandwidth
        self.scale = DensityScale(np.sort(known[~np.isnan(known)]))

    @property
    def _point_set(self) -> PointSet:
        return self._kernels.crowd

    @property
    def _offset(self) -> float:
        """What turns a log-sum of kernels exp(-|x - x_i|^2 / 2h^2) into a log-density."""
        n, width = len(self._point_set), self._point_set.width
        return float(-width / 2 * np.log(2 * np.pi * self.bandwidth**2) - np.log(n))

    def levels(self, ids: Ids) -> Array:
        """Return the leave-one-out log-densities of rows."""
        found = self._known[ids]
        unknown = np.isnan(found)
        if unknown.any():
            places = self._point_set.points[ids[unknown]]
            found[unknown] = self.lowest(places, places, None).values
        return np.asarray(found)

    def count_near(self, points: Array) -> Ids:
        """Count the people near each place: as near as the tenth nearest is to an ordinary person."""
        return self._point_set.within(points, self._reach)

    def lowest(self, starts: Array, ends: Array, floor: Floor) -> SegmentDensities:
        """Bound the lowest log-density along each step from below, certified.

        With a floor, only as many rows are summed as the verdict needs: accept on a
        lower bound, refuse on an upper one.
        """
        values, passes, holes = (
            np.empty(len(starts)),
            np.ones(len(starts), dtype=bool),
            list[tuple[int, Hole]](),
        )
        marks = None if floor is None else np.broadcast_to(floor, len(starts)) - self._offset
        for some, beside in self._laid(starts, ends):
            if marks is None:
                values[some] = beside.minima()
                continue
            bounds, passes[some], deepest = beside.judged(marks[some])
            values[some] = np.where(
                passes[some], np.maximum(bounds, marks[some] - TOLERANCE), bounds
            )
            deep = np.flatnonzero(~passes[some] & (bounds < marks[some] - _SHALLOW))
            found = self._holes(deepest[deep], marks[some][deep]) if len(deep) else ()
            holes += [
                (int(some[i]), hole)
                for i, hole in zip(deep, found, strict=True)
                if hole is not None
            ]
        return SegmentDensities(
            values + self._offset, passes, tuple(sorted(holes, key=lambda at: at[0]))
        )

    def mean(self, starts: Array, ends: Array, floor: Floor) -> SegmentDensities:
        """Return the logarithm of the exact mean density along each step."""
        values = np.empty(len(starts))
        for some, beside in self._laid(starts, ends):
            values[some] = beside.means()
        return judged(values + self._offset, floor)

    def _laid(self, starts: Array, ends: Array) -> Iterator[tuple[Ids, Places | Steps]]:
        """Lay all rows beside steps, as many steps at a time as memory allows."""
        still = (starts == ends).all(axis=1)
        most = max(1, _AT_A_TIME // len(self._point_set))
        for some in _parts(np.flatnonzero(still), most):
            yield some, Places.of(self._kernels, starts[some])
        for some in _parts(np.flatnonzero(~still), _STEPS):
            yield some, Steps.of(self._kernels, starts[some], ends[some])

    def _holes(self, places: Array, marks: Array) -> Iterator[Hole | None]:
        """For each place the widest ball in which the kernels of all rows together stay below its mark."""
        away = np.sqrt(np.maximum(self._point_set.squared(places), 0.0))

        def low(i: int, radius: float) -> bool:
            logs = self._kernels.logs(np.maximum(away[i] - radius, 0.0) ** 2)
            return bool(log_sums(logs[None, :])[0] < marks[i] - 2 * TOLERANCE)

        for i, place in enumerate(places):
            small, large = _SMALLEST_HOLE * self.bandwidth, float(away[i].min())
            if small >= large or not low(i, small):
                yield None  # refused next to people, or for want of other people's evidence
                continue
            for _ in range(10):
                middle = (small + large) / 2
                small, large = (middle, large) if low(i, middle) else (small, middle)
            yield Hole(place, small)


def _parts(places: Ids, most: int) -> Iterator[Ids]:
    for first in range(0, len(places), most):
        yield places[first : first + most]
