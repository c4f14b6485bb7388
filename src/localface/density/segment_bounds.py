"""Proven bounds on kernel sums along many straight legs at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from localface.density.exact_segment import (
    evenly_spaced_offsets,
    lower_bounds_between_samples,
)
from localface.density.protocol import FLOOR_TOLERANCE
from localface.geometry.segments import norms
from localface.types import Array, Ids, Mask

_TIGHT = 1e-10  # how closely, in nats, a minimum is worked out when its value is asked for
_BRACKET = 1e-5  # half the width, in bandwidths, of what is sampled around a minimum to prove it
_MAX_ROUNDS = 64  # rounds of sampling after which the exact leg decides
_KERNELS_AT_ONCE = 2**16  # kernels worked out at a time: as many as fit the processor's cache
_FAINT = -600.0  # a log-sum below which plain sums run out of numbers
_FEW_ROWS = 1024  # rows up to which several legs are worked out together


@dataclass(frozen=True, slots=True, eq=False)
class Legs:
    """The straight legs of segments: discrete columns flip half way, which makes two legs."""

    starts: Array
    ends: Array
    segment: Ids  # the number of the segment that each leg belongs to
    lengths: Array
    directions: Array  # unit vectors; zero for a leg of no length

    @classmethod
    def of(cls, starts: Array, ends: Array, discrete: Mask) -> Legs:
        """Split segments into legs, in the order of the segments."""
        flips = discrete & (starts != ends)
        bent = np.flatnonzero(flips.any(axis=1))
        segment = np.arange(len(starts))
        if len(bent):
            middle = (starts[bent] + ends[bent]) / 2
            turned = flips[bent]
            first_ends = ends.copy()
            first_ends[bent] = np.where(turned, starts[bent], middle)
            second_starts = np.where(turned, ends[bent], middle)
            order = np.argsort(np.concatenate([segment, bent]), kind="stable")
            starts = np.concatenate([starts, second_starts])[order]
            ends = np.concatenate([first_ends, ends[bent]])[order]
            segment = np.concatenate([segment, bent])[order]
        return cls._measured(starts, ends, segment)

    @classmethod
    def _measured(cls, starts: Array, ends: Array, segment: Ids) -> Legs:
        vectors = ends - starts
        lengths = norms(vectors)
        directions = vectors / np.where(lengths > 0, lengths, 1.0)[:, None]
        return cls(starts, ends, segment, lengths, directions)

    def between(self, starts: Array, ends: Array) -> Legs:
        """Return legs of the same segments between other points."""
        return self._measured(starts, ends, self.segment)

    def __len__(self) -> int:
        return len(self.segment)

    def subset(self, chosen: Ids) -> Legs:
        """Return some of the legs."""
        return Legs(
            self.starts[chosen],
            self.ends[chosen],
            self.segment[chosen],
            self.lengths[chosen],
            self.directions[chosen],
        )

    @property
    def first_legs(self) -> Ids:
        """The index of each segment's first leg."""
        return np.flatnonzero(np.diff(self.segment, prepend=-1))

    def points_at(self, offsets: Array) -> Array:
        """Return the point at one offset along each leg."""
        return self.starts + self.directions * offsets[:, None]


class SummedAlongLegs(Protocol):
    """Kernels of rows along legs, whose sums can be asked for."""

    @property
    def lengths(self) -> Array:
        """Of the legs."""
        ...

    @property
    def h(self) -> float:
        """The bandwidth of the kernels."""
        ...

    def log_sums_at(self, leg: Ids, offsets: Array) -> tuple[Array, Array]:
        """Return the log-sum of kernels at offsets along legs, with its slope."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class KernelProfile:
    """The log-kernel of rows along legs, as the coefficients of a parabola per row and leg.

    At offset s it is start + tilt * s - s^2 / 2h^2; a start of minus infinity is no row.
    """

    start: Array
    tilt: Array
    lengths: Array
    h: float

    @classmethod
    def of(
        cls, leg: Ids, foot: Array, off_squared: Array, *, lengths: Array, h: float
    ) -> KernelProfile:
        """Gather the rows of each leg, given feet on its line and squared distances off it."""
        counts = np.bincount(leg, minlength=len(lengths))
        shape = (len(lengths), max(1, int(counts.max())))
        slot = np.arange(len(leg)) - np.repeat(np.cumsum(counts) - counts, counts)
        start = np.full(shape, -np.inf)
        tilt = np.zeros(shape)
        start[leg, slot] = (off_squared + foot * foot) / (-2 * h * h)
        tilt[leg, slot] = foot / h**2
        return cls(start, tilt, lengths, h)

    def log_sums_at(self, leg: Ids, offsets: Array) -> tuple[Array, Array]:
        """Return the log-sum of kernels at offsets along legs, with its slope.

        Kernels are exp(-|x - x_i|^2 / 2h^2); offsets on one leg follow each other.
        """
        log_sums = np.empty(len(offsets))
        slopes = np.empty(len(offsets))
        for part, rows in self._rows_in_chunks(leg):
            log_sums[part], slopes[part] = self._kernel_sums_without_underflow(rows, offsets[part])
        return log_sums, slopes

    def _rows_in_chunks(self, leg: Ids) -> Iterator[tuple[slice, Ids | slice]]:
        """Few rows: many legs at a time. Many rows: leg by leg, within the processor's cache."""
        many = max(1, _KERNELS_AT_ONCE // self.start.shape[1])
        if self.start.shape[1] <= _FEW_ROWS:
            for first in range(0, len(leg), many):
                yield slice(first, first + many), leg[first : first + many]
            return
        firsts = np.flatnonzero(np.diff(leg, prepend=-1)).tolist()
        for first, last in zip(firsts, [*firsts[1:], len(leg)], strict=True):
            here = slice(int(leg[first]), int(leg[first]) + 1)
            for i in range(first, last, many):
                yield slice(i, min(i + many, last)), here

    def _kernel_sums_without_underflow(
        self, rows: Ids | slice, offsets: Array
    ) -> tuple[Array, Array]:
        """Sum kernels, once more in proportion to the strongest where plain sums underflow."""
        log_sums, slopes = self._kernel_sums(rows, offsets)
        if log_sums.min() > _FAINT:
            return log_sums, slopes
        return self._kernel_sums(rows, offsets, faint=True)

    def _kernel_sums(
        self, rows: Ids | slice, offsets: Array, *, faint: bool = False
    ) -> tuple[Array, Array]:
        tilt = np.broadcast_to(self.tilt[rows], (len(offsets), self.tilt.shape[1]))
        along = offsets / self.h
        weights = tilt * offsets[:, None]
        weights += self.start[rows]
        top = along * along / 2
        if faint:
            most = weights.max(axis=1)
            top = np.where(np.isneginf(most), top, most)
        weights -= top[:, None]
        with np.errstate(over="ignore"):  # far out, rounding alone may: the referee decides then
            np.exp(weights, out=weights)
        total = weights.sum(axis=1)
        tilted = np.einsum("ij,ij->i", weights, tilt)
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = np.where(total > 0, tilted / total, 0.0) - along / self.h
            return np.log(total) + (top - along * along / 2), slopes


class LegSamples:
    """What is known of the log-sum along legs: samples with slopes, and bounds between them.

    ``lowest_sample`` and ``proven_minimum`` have one value a leg: the truth lies between them.
    """

    def __init__(self, profile: SummedAlongLegs) -> None:
        self._profile = profile
        self._leg, self._offset = evenly_spaced_offsets(profile.lengths, profile.h)
        self._log_sum, self._slope = profile.log_sums_at(self._leg, self._offset)
        self._update_bounds()

    def _add_samples(self, leg: Ids, offsets: Array) -> None:
        """Take more samples."""
        order = np.argsort(leg, kind="stable")
        leg = leg[order]
        offsets = offsets[order]
        log_sums, slopes = self._profile.log_sums_at(leg, offsets)
        all_legs = np.concatenate([self._leg, leg])
        all_offsets = np.concatenate([self._offset, offsets])
        order = np.lexsort((all_offsets, all_legs))
        self._leg = all_legs[order]
        self._offset = all_offsets[order]
        self._log_sum = np.concatenate([self._log_sum, log_sums])[order]
        self._slope = np.concatenate([self._slope, slopes])[order]
        self._update_bounds()

    def _update_bounds(self) -> None:
        """Work out each leg's lowest sample, and the bounds between neighbouring samples."""
        firsts = np.flatnonzero(np.diff(self._leg, prepend=-1))
        bounds, self._crossing = lower_bounds_between_samples(
            self._offset, self._log_sum, self._slope, self._profile.h
        )
        self._bound = np.where(self._leg[:-1] == self._leg[1:], bounds, np.inf)
        self.lowest_sample = np.minimum.reduceat(self._log_sum, firsts)
        proven = self._log_sum.copy()
        proven[:-1] = np.minimum(proven[:-1], self._bound)
        self.proven_minimum = np.minimum.reduceat(proven, firsts)

    def lowest_offsets(self) -> Array:
        """Return the offset of each leg's lowest sample."""
        low = np.flatnonzero(self._log_sum == self.lowest_sample[self._leg])
        return np.asarray(self._offset[low[np.unique(self._leg[low], return_index=True)[1]]])

    def refine_until_decided(self, log_floors: Array, rounding: Array) -> None:
        """Sample until every leg is proven to stay above its floor, or a sample is below it."""
        aim = log_floors - FLOOR_TOLERANCE / 2 + rounding
        for _ in range(_MAX_ROUNDS):
            undecided = (self.lowest_sample >= aim)[self._leg[:-1]]
            low = (self._bound < aim[self._leg[:-1]]) & undecided
            if not low.any():
                return
            self._add_samples(self._leg[:-1][low], self._crossing[low])

    def refine_to_minima(self) -> Array:
        """Sample until each leg's lowest sample is proven to be its minimum; return the bounds."""
        for _ in range(_MAX_ROUNDS):
            low = np.flatnonzero(self._bound < (self.lowest_sample - _TIGHT)[self._leg[:-1]])
            low = low[np.isfinite(self.lowest_sample[self._leg[low]])]
            if len(low) == 0:
                return np.asarray(self.lowest_sample - _TIGHT)
            in_valley = (self._slope[low] < 0) & (self._slope[low + 1] > 0)
            valley = low[in_valley]
            wall = low[~in_valley]
            legs = np.concatenate([self._leg[wall], *[self._leg[valley]] * 3])
            self._add_samples(
                legs, np.concatenate([self._crossing[wall], *self._offsets_around_minima(valley)])
            )
        return np.asarray(self.proven_minimum)

    def _offsets_around_minima(self, left: Ids) -> list[Array]:
        """Offsets just before, at, and just after the guessed minimum between two samples."""
        bottom = self._cubic_minimum_offsets(left)
        half = _BRACKET * self._profile.h
        before = self._offset[left]
        after = self._offset[left + 1]
        inner_start = before + 1e-3 * (after - before)
        inner_end = after - 1e-3 * (after - before)
        return [np.clip(bottom + by, inner_start, inner_end) for by in (-half, 0.0, half)]

    def _cubic_minimum_offsets(self, left: Ids) -> Array:
        """Return the offset at which the cubic through two samples and their slopes is lowest."""
        width = self._offset[left + 1] - self._offset[left]
        falls = self._slope[left]
        rises = self._slope[left + 1]
        bend = falls + rises - 3 * (self._log_sum[left + 1] - self._log_sum[left]) / width
        root = np.sqrt(np.maximum(bend * bend - falls * rises, 0.0))
        into = 1 - (rises + root - bend) / (rises - falls + 2 * root)
        return np.asarray(self._offset[left] + width * into)
