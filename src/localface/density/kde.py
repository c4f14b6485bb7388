"""A Gaussian kernel density: exact means, certified minima along segments."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from localface.density.kernel_sums import (
    PointSums,
    SegmentSums,
    Verdicts,
    log_sum_exp,
)
from localface.density.protocol import (
    FLOOR_TOLERANCE,
    DensityScale,
    Hole,
    LogFloor,
    SegmentDensities,
    compare_with_floor,
)
from localface.density.row_kernels import RowKernels
from localface.geometry.compiled.library import load_library
from localface.geometry.compiled.step_kernels import StepKernels
from localface.geometry.point_set import PointSet
from localface.types import Array, Ids, Mask

_DISTANCES_AT_ONCE = 2**18  # distances held at a time: as many as fit the processor's cache
_SEGMENTS_AT_ONCE = 512
_SHALLOW = 0.5  # nats: what is refused by less lies next to dense regions, and is no hole
_SMALLEST_HOLE = 0.25  # in bandwidths: smaller ones rule out too little to be worth finding
_HALVINGS = 5  # of the range in which the radius of a hole lies


class KDE:
    """p(x) = (1/n) sum_i N(Ax; Ax_i, h^2 I) over distinct rows x_i.

    A is the identity unless a matrix is given. Sums always divide by n, whichever rows are left
    out, so that leaving out evidence can only lower a density.

    Parameters
    ----------
    point_set : the rows
    discrete : the columns that flip half way along a segment
    bandwidth : h
    matrix : A, applied to points from the right; None for the identity
    row_log_densities : leave-one-out log-densities of the rows, NaN where not worked out
    places : the rows as A maps them, where that is known already
    """

    certified = True

    def __init__(
        self,
        point_set: PointSet,
        discrete: Mask,
        *,
        bandwidth: float,
        matrix: Array | None = None,
        row_log_densities: Array,
        places: Array | None = None,
    ) -> None:
        self._kernels = RowKernels(point_set, discrete, bandwidth, matrix, places)
        self._point_set = point_set
        self._row_log_densities = row_log_densities
        self.bandwidth = bandwidth
        self.scale = DensityScale(np.sort(row_log_densities[~np.isnan(row_log_densities)]))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "compiled"}

    @cached_property
    def compiled(self) -> StepKernels | None:
        """The kernels laid out for compiled code, where there is any."""
        library = load_library()
        if library is None:
            return None
        kernels = self._kernels
        regions = kernels.point_set.regions
        return StepKernels(
            library,
            kernels.point_set.points,
            order=regions.order,
            firsts=regions.firsts,
            centres=regions.centres,
            radii=regions.radii(kernels.point_set.points),
            discrete=kernels.discrete,
            bandwidth=kernels.h,
            matrix=kernels.matrix,
        )

    @property
    def matrix(self) -> Array | None:
        """What maps points, from the right, to where kernels are round; None for the identity."""
        return self._kernels.matrix

    @cached_property
    def log_normaliser(self) -> float:
        """What turns a log-sum of kernels exp(-|x - x_i|^2 / 2h^2) into a log-density."""
        n = len(self._point_set)
        width = self._point_set.width
        return float(-width / 2 * np.log(2 * np.pi * self.bandwidth**2) - np.log(n))

    def row_log_densities(self, ids: Ids) -> Array:
        """Return the leave-one-out log-densities of rows."""
        found = self._row_log_densities[ids]
        unknown = np.isnan(found)
        if unknown.any():
            points = self._point_set.points[ids[unknown]]
            found[unknown] = self.lowest_along(points, points, None).log_densities
        return np.asarray(found)

    def lowest_along(
        self,
        starts: Array,
        ends: Array,
        log_floor: LogFloor,
        rows: Ids | None = None,
        *,
        askers: Array | None = None,
    ) -> SegmentDensities:
        """Bound the lowest log-density along each segment from below, certified.

        With a floor, only as many rows are summed as the verdict needs: accept on a
        lower bound, refuse on an upper one. ``rows`` are those that do not count, where known.
        """
        if rows is None:
            rows = self.rows_left_out(starts, ends, askers)
        if log_floor is None:
            log_sums = self._lowest_log_sums(starts, ends, rows)
            return compare_with_floor(log_sums + self.log_normaliser, None)
        floors = np.broadcast_to(log_floor, len(starts)) - self.log_normaliser
        if self.compiled is not None:
            return self._judge_compiled(self.compiled, starts, ends, rows, floors)
        return self._judge(starts, ends, rows, floors)

    def rows_left_out(self, starts: Array, ends: Array, askers: Array | None) -> Ids:
        """Return the rows that do not count along segments, two of each; -1 for none."""
        return self._point_set.rows_left_out(starts, ends, askers)[0]

    def _lowest_log_sums(self, starts: Array, ends: Array, rows: Ids) -> Array:
        """Return the lowest log-sum of kernels along each segment."""
        if self.compiled is not None:
            log_sums = self.compiled.lowest_log_sums(starts, ends, rows)
            self.settle_long(starts, ends, log_sums, rows=rows)
            return log_sums
        log_sums = np.empty(len(starts))
        for some, sums in self._kernel_sums_in_chunks(starts, ends, rows):
            log_sums[some] = sums.lowest_log_sums()
        return log_sums

    def settle_long(
        self,
        starts: Array,
        ends: Array,
        log_sums: Array,
        *,
        rows: Ids | None = None,
        askers: Array | None = None,
    ) -> None:
        """Work out by themselves, in place, the lowest log-sums of segments with a long leg."""
        if not self._kernels.may_be_long(starts, ends):
            return
        if rows is None:
            rows = self.rows_left_out(starts, ends, askers)
        legs = self._kernels.legs_of(starts, ends)
        is_long = np.logical_or.reduceat(self._kernels.is_long(legs), legs.first_legs)
        some = np.flatnonzero(is_long)
        if len(some):
            long = SegmentSums.of(self._kernels, starts[some], ends[some], rows[some])
            log_sums[some] = long.lowest_log_sums()

    def _judge_compiled(
        self, compiled: StepKernels, starts: Array, ends: Array, rows: Ids, floors: Array
    ) -> SegmentDensities:
        """Compare segments with floors on log-sums; what is too close to call is worked out."""
        if starts is ends:  # states: many of them are held against the rows at a time
            found = compiled.judge_states(starts, rows, floors)
        else:
            found = compiled.judge(starts, ends, rows, floors)
        log_densities = found.bounds + self.log_normaliser
        passes = found.verdicts == 1
        close = np.flatnonzero(found.verdicts < 0)
        if len(close):
            settled = self._judge(starts[close], ends[close], rows[close], floors[close])
            log_densities[close] = settled.log_densities
            passes[close] = settled.passes
        holes = tuple(
            (i, Hole(found.places[i], float(found.radii[i]), self._kernels.matrix))
            for i in np.flatnonzero(found.radii).tolist()
        )
        return SegmentDensities(log_densities, passes, holes)

    def _judge(self, starts: Array, ends: Array, rows: Ids, floors: Array) -> SegmentDensities:
        """Compare segments with floors on log-sums of kernels."""
        log_sums = np.empty(len(starts))
        passes = np.ones(len(starts), dtype=bool)
        holes: list[tuple[int, Hole]] = []
        for some, sums in self._kernel_sums_in_chunks(starts, ends, rows):
            found = sums.compare_with_floors(floors[some])
            on_floor = np.maximum(found.bounds, floors[some] - FLOOR_TOLERANCE)
            log_sums[some] = np.where(found.passes, on_floor, found.bounds)
            passes[some] = found.passes
            if isinstance(sums, SegmentSums):  # whoever asks about a state goes nowhere else by it
                holes += self._find_holes(found, floors[some], some)
        holes.sort(key=lambda numbered: numbered[0])
        return SegmentDensities(log_sums + self.log_normaliser, passes, tuple(holes))

    def mean_along(
        self, starts: Array, ends: Array, log_floor: LogFloor, *, askers: Array | None = None
    ) -> SegmentDensities:
        """Return the logarithm of the exact mean density along each segment."""
        log_sums = np.empty(len(starts))
        rows = self.rows_left_out(starts, ends, askers)
        for some, sums in self._kernel_sums_in_chunks(starts, ends, rows):
            log_sums[some] = sums.log_mean_kernel_sums()
        return compare_with_floor(log_sums + self.log_normaliser, log_floor)

    def _kernel_sums_in_chunks(
        self, starts: Array, ends: Array, rows: Ids
    ) -> Iterator[tuple[Ids, PointSums | SegmentSums]]:
        """Yield the numbers and the kernel sums of as many segments as memory allows."""
        still = (starts == ends).all(axis=1)
        most = max(1, _DISTANCES_AT_ONCE // len(self._point_set))
        for some in _split_into_chunks(np.flatnonzero(still), most):
            yield some, PointSums.of(self._kernels, starts[some], rows[some])
        for some in _split_into_chunks(np.flatnonzero(~still), _SEGMENTS_AT_ONCE):
            yield some, SegmentSums.of(self._kernels, starts[some], ends[some], rows[some])

    def _find_holes(self, found: Verdicts, floors: Array, numbers: Ids) -> list[tuple[int, Hole]]:
        """Find the holes that refused segments run into, with the segments' numbers."""
        deep = np.flatnonzero(~found.passes & (found.bounds < floors - _SHALLOW))
        if len(deep) == 0:
            return []
        points = found.lowest_points[deep]
        distances = np.sqrt(np.maximum(self._kernels.squared_distances(points), 0.0))
        holes = []
        for i, point, row_distances in zip(deep, points, distances, strict=True):
            radius = self._hole_radius(row_distances, float(floors[i]))
            if radius is not None:
                holes.append((int(numbers[i]), Hole(point, radius, self._kernels.matrix)))
        return holes

    def _hole_radius(self, distances: Array, floor: float) -> float | None:
        """Find the widest ball in which the kernels of all rows together stay below the floor.

        ``distances`` are those of all rows from its centre.
        """

        def is_below_floor(radius: float) -> bool:
            nearest = np.maximum(distances - radius, 0.0) ** 2
            log_kernels = self._kernels.turn_into_log_kernels(nearest)
            return bool(log_sum_exp(log_kernels[None, :])[0] < floor - 2 * FLOOR_TOLERANCE)

        small = _SMALLEST_HOLE * self.bandwidth
        large = float(distances.min())
        if small >= large or not is_below_floor(small):
            return None  # refused next to people, or since its own ends do not count
        for _ in range(_HALVINGS):
            middle = (small + large) / 2
            if is_below_floor(middle):
                small = middle
            else:
                large = middle
        return small


def _split_into_chunks(numbers: Ids, most: int) -> Iterator[Ids]:
    for first in range(0, len(numbers), most):
        yield numbers[first : first + most]
