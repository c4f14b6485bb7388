"""One straight leg, with kernel sums worked out in an order that no batch can change.

Segments are judged many at a time (see ``segment_bounds``), where rounding depends on the
batch. What is too close to call there is settled here, row by row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.density.protocol import FLOOR_TOLERANCE
from localface.geometry.segments import norms
from localface.types import Array, Ids

_MAX_FIRST = 256  # samples that a minimum is first looked for with, at most
_KERNELS_AT_ONCE = 2**20  # kernels held at a time
_SPACING = 2.5  # bandwidths between them: the bound in between falls by less than a nat


def evenly_spaced_offsets(lengths: Array, h: float) -> tuple[Ids, Array]:
    """Return evenly spaced offsets to sample on each leg first, with the leg of each.

    >>> legs, offsets = evenly_spaced_offsets(np.array([0.0, 1.0]), h=1.0)
    >>> legs.tolist(), offsets.tolist()
    ([0, 1, 1], [0.0, 0.0, 1.0])
    """
    wanted = np.ceil(np.clip(lengths / (_SPACING * h), 1, _MAX_FIRST))
    parts = np.where(lengths > 0, wanted, 0).astype(np.int64)
    leg = np.repeat(np.arange(len(lengths)), parts + 1)
    number = np.arange(len(leg)) - np.repeat(np.cumsum(parts + 1) - parts - 1, parts + 1)
    return leg, lengths[leg] * (number / np.maximum(parts, 1)[leg])


@dataclass(frozen=True, slots=True, eq=False)
class ExactLeg:
    """Rows in the coordinates of one leg.

    ``foot`` is the offset along the leg at which a row is nearest to its line, ``off_squared``
    the squared distance between the two.
    """

    foot: Array
    off_squared: Array
    length: float
    h: float

    @classmethod
    def of(cls, start: Array, end: Array, rows: Array, h: float) -> ExactLeg:
        """Measure rows against the leg from ``start`` to ``end``."""
        length = float(norms(end - start))
        away = rows - start
        if length == 0.0:
            return cls(np.zeros(len(rows)), (away * away).sum(axis=1), 0.0, h)
        direction = (end - start) / length
        foot = (away * direction).sum(axis=1)
        off = away - foot[:, None] * direction  # squares would cancel on a long leg
        return cls(foot, (off * off).sum(axis=1), length, h)

    def log_sums_at(self, offsets: Array) -> tuple[Array, Array]:
        """Return the log-sum of kernels exp(-|x - x_i|^2 / 2h^2) at offsets, with its slope."""
        if len(self.foot) == 0:
            return np.full(len(offsets), -np.inf), np.zeros(len(offsets))
        across = self.foot - offsets[:, None]
        log_kernels = (across * across + self.off_squared) / (-2 * self.h**2)
        top = log_kernels.max(axis=1)
        weights = np.exp(log_kernels - top[:, None])
        total = weights.sum(axis=1)
        slopes = (weights * across).sum(axis=1) / (total * self.h**2)
        return top + np.log(total), slopes

    def stays_above(self, log_floor: float) -> bool:
        """Tell whether the log-sum stays above a floor, within the tolerance, all along the leg."""
        _, offsets = evenly_spaced_offsets(np.array([self.length]), self.h)
        log_sums, slopes = self.log_sums_at(offsets)
        while True:
            if not log_sums.min() >= log_floor - FLOOR_TOLERANCE / 2:  # nor is what is no number
                return False
            bounds, crossings = lower_bounds_between_samples(offsets, log_sums, slopes, self.h)
            low = bounds < log_floor - FLOOR_TOLERANCE
            if not low.any():
                return True
            more_log_sums, more_slopes = self.log_sums_at(crossings[low])
            offsets = np.concatenate([offsets, crossings[low]])
            order = np.argsort(offsets, kind="stable")
            offsets = offsets[order]
            log_sums = np.concatenate([log_sums, more_log_sums])[order]
            slopes = np.concatenate([slopes, more_slopes])[order]


@dataclass(frozen=True, slots=True, eq=False)
class ExactProfile:
    """The log-kernels of rows along one leg, as samples are taken of several at once."""

    leg: ExactLeg

    @property
    def lengths(self) -> Array:
        """The length of the leg."""
        return np.array([self.leg.length])

    @property
    def h(self) -> float:
        """The bandwidth."""
        return self.leg.h

    def log_sums_at(self, leg: Ids, offsets: Array) -> tuple[Array, Array]:
        """Return the log-sum of kernels at offsets along the leg, with its slope."""
        at_once = max(1, _KERNELS_AT_ONCE // max(1, len(self.leg.foot)))
        parts = [
            self.leg.log_sums_at(offsets[first : first + at_once])
            for first in range(0, len(offsets), at_once)
        ]
        log_sums, slopes = zip(*parts, strict=True)
        return np.concatenate(log_sums), np.concatenate(slopes)


def lower_bounds_between_samples(
    offsets: Array, log_sums: Array, slopes: Array, h: float
) -> tuple[Array, Array]:
    """Bound the log-sum between neighbouring samples, and say at which offset it is lowest.

    log p(s) + s^2/2h^2 is convex along any line, so each sample gives a parabola that
    the log-density cannot fall below; between two samples the bound is lowest where
    their parabolas cross. See "Reading the paper", certificates.
    """
    width = np.diff(offsets)
    bend = 1 / (2 * h**2)
    slant = slopes[:-1] - slopes[1:] - 2 * width * bend
    with np.errstate(divide="ignore", invalid="ignore"):
        into = (np.diff(log_sums) - slopes[1:] * width - bend * width**2) / slant
        into = np.clip(np.where(np.isfinite(into), into, width / 2), 0.0, width)
        from_left = log_sums[:-1] + slopes[:-1] * into - bend * into**2
        back = width - into
        from_right = log_sums[1:] - slopes[1:] * back - bend * back**2
    lower_end = np.minimum(log_sums[:-1], log_sums[1:])
    bound = np.minimum(np.maximum(from_left, from_right), lower_end)
    return bound, offsets[:-1] + into
