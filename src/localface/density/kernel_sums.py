"""Kernel sums over all rows: log-sums, proven minima, exact means.

Sums are of kernels exp(-|x - x_i|^2 / 2h^2). A row that lies exactly on an end of a segment
is left out of that segment's sums: evidence comes from other people.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from localface.density.exact_segment import ExactLeg, ExactProfile
from localface.density.protocol import FLOOR_TOLERANCE
from localface.density.row_kernels import RowKernels
from localface.density.segment_bounds import KernelProfile, Legs, LegSamples
from localface.geometry.compiled.exponentials import exponentials
from localface.types import Array, Ids, Mask

_DISTANCES_AT_ONCE = 2**18  # distances held at a time: as many as fit the processor's cache
_FEW_ROWS = 2048  # rows up to which looking at all of them is quicker than choosing
_FEW_PLACES = np.array([0.5, 0.25, 0.75, 0.1, 0.9])  # of a leg that is likely to be refused
_UNDECIDED = -1
_REFUSED = 0
_PASSED = 1


@dataclass(frozen=True, slots=True, eq=False)
class Verdicts:
    """Whether points or segments stay above their floors.

    ``bounds`` are log-sums on the same side of the floor as the verdict, ``lowest_points`` the
    points at which the lowest log-sum was seen.
    """

    bounds: Array
    passes: Mask
    lowest_points: Array


@dataclass(frozen=True, slots=True, eq=False)
class PointSums:
    """Log-sums of kernels at points."""

    kernels: RowKernels
    points: Array
    own: Ids  # the rows that do not count at each point
    log_sums: Array
    rounding: Array

    @classmethod
    def of(cls, kernels: RowKernels, points: Array, own: Ids) -> PointSums:
        """Sum all kernels at points, but for those of rows that do not count."""
        points = kernels.places_of(points)
        log_kernels = kernels.turn_into_log_kernels(kernels.squared_distances(points))
        _overwrite_own_rows(log_kernels, own, -np.inf)
        rounding = kernels.rounding_error(points, points)
        return cls(kernels, points, own, log_sum_exp(log_kernels), rounding)

    def lowest_log_sums(self) -> Array:
        """Return the log-sum at each point."""
        return self.log_sums

    log_mean_kernel_sums = lowest_log_sums

    def compare_with_floors(self, log_floors: Array) -> Verdicts:
        """Tell whether each point is above its floor."""
        found = _compare_bounds_with_floors(self.log_sums, self.log_sums, log_floors, self.rounding)
        for i in np.flatnonzero(found == _UNDECIDED).tolist():
            exact = self.kernels.exact_leg(self.points[i], self.points[i], self.own[i])
            found[i] = exact.stays_above(float(log_floors[i]))
        return Verdicts(self.log_sums, found == _PASSED, self.points)


@dataclass(frozen=True, slots=True, eq=False)
class SegmentSums:
    """Log-sums of kernels along segments of some length, leg by leg."""

    kernels: RowKernels
    legs: Legs
    own: Ids  # of each leg, the rows that do not count along its segment
    rounding: Array

    @classmethod
    def of(cls, kernels: RowKernels, starts: Array, ends: Array, own: Ids) -> SegmentSums:
        """Split segments where their discrete columns flip; ``own`` rows do not count."""
        legs = kernels.legs_of(starts, ends)
        rounding = kernels.rounding_error(legs.starts, legs.ends)
        return cls(kernels, legs, own[legs.segment], rounding)

    def lowest_log_sums(self) -> Array:
        """Return the proven minimum along each segment, tight but for rounding."""
        apart = self.kernels.is_rounded_away(self.legs)
        found = np.empty(len(self.legs))
        for some in self._legs_in_chunks(np.flatnonzero(~apart)):
            profile = self._leg_coordinates(some).kernel_profile()
            found[some] = LegSamples(profile).refine_to_minima()
        for leg in np.flatnonzero(apart).tolist():
            exact = self.kernels.exact_leg(
                self.legs.starts[leg], self.legs.ends[leg], self.own[leg]
            )
            found[leg] = LegSamples(ExactProfile(exact)).refine_to_minima()[0]
        return np.asarray(np.minimum.reduceat(found, self.legs.first_legs))

    def log_mean_kernel_sums(self) -> Array:
        """Return the logarithm of the mean sum over each segment, in closed form."""
        firsts = self.legs.first_legs
        means = np.concatenate(
            [self._leg_coordinates(some).log_mean_kernel_sums() for some in self._legs_in_chunks()]
        )
        n_legs = np.diff(firsts, append=len(means))
        return np.asarray(np.logaddexp.reduceat(means, firsts) - np.log(n_legs))

    def compare_with_floors(self, log_floors: Array) -> Verdicts:
        """Tell whether each segment stays above its floor.

        Some near rows mostly suffice to accept; to refuse takes all rows.
        """
        log_floors = log_floors[self.legs.segment]
        bounds, found = self._bounds_from_near_rows(log_floors)
        offsets = np.zeros(len(self.legs))
        self._refuse_by_few_places(log_floors, bounds, found, offsets)
        for some in self._legs_in_chunks(np.flatnonzero(found == _UNDECIDED)):
            floors = log_floors[some]
            rounding = self.rounding[some]
            samples = LegSamples(self._leg_coordinates(some).kernel_profile())
            samples.refine_until_decided(floors, rounding)
            proven = samples.proven_minimum
            found[some] = _compare_bounds_with_floors(
                proven, samples.lowest_sample, floors, rounding
            )
            bounds[some] = np.where(found[some] == _REFUSED, samples.lowest_sample, proven)
            offsets[some] = samples.lowest_offsets()
        for leg in np.flatnonzero(found == _UNDECIDED).tolist():
            exact = self.kernels.exact_leg(
                self.legs.starts[leg], self.legs.ends[leg], self.own[leg]
            )
            found[leg] = exact.stays_above(float(log_floors[leg]))
        return self._worst_leg_per_segment(bounds, found, self.legs.points_at(offsets))

    def _refuse_by_few_places(
        self, log_floors: Array, bounds: Array, found: Ids, offsets: Array
    ) -> None:
        """Refuse legs of which some place or other is below the floor: most refused ones are."""
        for some in self._legs_in_chunks(np.flatnonzero(found == _UNDECIDED)):
            legs = np.repeat(some, len(_FEW_PLACES))
            along = np.tile(_FEW_PLACES, len(some)) * self.legs.lengths[legs]
            places = self.legs.starts[legs] + self.legs.directions[legs] * along[:, None]
            kernels = self.kernels
            log_kernels = kernels.turn_into_log_kernels(kernels.point_set.squared_distances(places))
            _overwrite_own_rows(log_kernels, self.own[legs], -np.inf)
            log_sums = log_sum_exp(log_kernels).reshape(len(some), -1)
            lowest = log_sums.argmin(axis=1)
            least = log_sums.min(axis=1)
            low = least < log_floors[some] - 2 * FLOOR_TOLERANCE - 2 * self.rounding[some]
            found[some[low]] = _REFUSED
            bounds[some[low]] = least[low]
            offsets[some[low]] = along.reshape(len(some), -1)[low, lowest[low]]

    def _bounds_from_near_rows(self, log_floors: Array) -> tuple[Array, Ids]:
        """Return bounds and verdicts from some near rows; few rows are left undecided."""
        n = len(self.legs)
        if len(self.kernels.point_set) <= _FEW_ROWS:
            return np.full(n, -np.inf), np.full(n, _UNDECIDED)
        samples = LegSamples(self.kernels.profile_of_near_rows(self.legs, self.own))
        samples.refine_until_decided(log_floors, self.rounding)
        bounds = samples.proven_minimum
        return bounds, _compare_bounds_with_floors(
            bounds, np.full(n, np.inf), log_floors, self.rounding
        )

    def _worst_leg_per_segment(self, bounds: Array, found: Ids, points: Array) -> Verdicts:
        """Go from legs to segments: a segment is as good as its worst leg."""
        passes = found == _PASSED
        if len(self.legs) == self.legs.segment[-1] + 1:  # every segment is one leg
            return Verdicts(bounds, passes, points)
        worst = np.lexsort((bounds, found, self.legs.segment))[self.legs.first_legs]
        return Verdicts(bounds[worst], passes[worst], points[worst])

    def _legs_in_chunks(self, legs: Ids | None = None) -> Iterator[Ids]:
        """Split legs into parts that are small enough to be measured against all rows."""
        every = np.arange(len(self.legs)) if legs is None else legs
        most = max(1, _DISTANCES_AT_ONCE // len(self.kernels.point_set))
        return (every[first : first + most] for first in range(0, len(every), most))

    def _leg_coordinates(self, some: Ids) -> LegCoordinates:
        return LegCoordinates.of(self.kernels, self.legs.subset(some), self.own[some])


@dataclass(frozen=True, slots=True, eq=False)
class LegCoordinates:
    """All rows in the coordinates of some legs.

    ``foot`` is the offset along a leg at which a row is nearest to its line, ``off_squared`` the
    squared distance between the two (infinite for rows that are left out).
    """

    foot: Array
    off_squared: Array
    lengths: Array
    h: float

    @classmethod
    def of(cls, kernels: RowKernels, legs: Legs, own: Ids) -> LegCoordinates:
        """Measure every row against every leg, in one BLAS product."""
        point_set = kernels.point_set
        products = point_set.products_with_rows(np.concatenate([legs.directions, legs.starts]))
        foot = products[: len(legs)]
        foot -= (legs.directions * legs.starts).sum(axis=1)[:, None]
        off_squared = point_set.turn_into_squared_distances(legs.starts, products[len(legs) :])
        off_squared -= foot * foot
        np.maximum(off_squared, 0.0, out=off_squared)
        for i in np.flatnonzero(kernels.is_rounded_away(legs)).tolist():
            exact = ExactLeg.of(legs.starts[i], legs.ends[i], point_set.points, kernels.h)
            foot[i] = exact.foot
            off_squared[i] = exact.off_squared
        _overwrite_own_rows(off_squared, own, np.inf)
        return cls(foot, off_squared, legs.lengths, kernels.h)

    def kernel_profile(self) -> KernelProfile:
        """Return the log-kernels of the rows along the legs."""
        start = self.foot * self.foot
        start += self.off_squared
        start *= -0.5 / self.h**2
        return KernelProfile(start, self.foot / self.h**2, self.lengths, self.h)

    def log_mean_kernel_sums(self) -> Array:
        """Return the logarithm of the mean kernel sum along each leg, symmetric in its ends."""
        from scipy.special import log_ndtr  # takes longer to import than all of localface

        still = self.lengths == 0
        h = self.h
        lengths = np.where(still, 1.0, self.lengths)[:, None]
        low = -self.foot / h
        high = (lengths - self.foot) / h
        flip = low > 0  # by symmetry keep both arguments where log_ndtr does not cancel
        low, high = np.where(flip, -high, low), np.where(flip, -low, high)
        upper = log_ndtr(high)
        lower = log_ndtr(low)
        with np.errstate(divide="ignore"):
            inside = upper + np.log1p(-np.exp(np.minimum(lower - upper, -1e-300)))
        inside += np.log(h * np.sqrt(2 * np.pi) / lengths)
        inside[still] = 0.0  # every row is off such a leg, and none of its foot along it
        return log_sum_exp(inside - self.off_squared / (2 * h * h))


def _compare_bounds_with_floors(
    proven: Array, lowest: Array, log_floors: Array, rounding: Array
) -> Ids:
    """Say what passes by a proven bound, what is refused by a sample, and what is undecided."""
    passed = proven >= log_floors - FLOOR_TOLERANCE / 2 + rounding
    refused = lowest < log_floors - FLOOR_TOLERANCE - rounding
    return np.select([passed, refused], [_PASSED, _REFUSED], _UNDECIDED)


def _overwrite_own_rows(values: Array, own: Ids, value: float) -> None:
    """Overwrite the values of rows that are left out: up to two of each line, -1 for none."""
    for rows in own.T:
        some = np.flatnonzero(rows >= 0)
        values[some, rows[some]] = value


def log_sum_exp(logs: Array) -> Array:
    """Return the log of the sum of exponentials of each line, which is overwritten."""
    top = logs.max(axis=1, keepdims=True)
    top = np.where(np.isneginf(top), 0.0, top)
    logs -= top
    exponentials(logs)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(logs.sum(axis=1)) + top[:, 0])
