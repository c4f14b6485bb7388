"""All rows beside places and beside steps: log-sums of kernels, proven minima, exact means.

Sums are of kernels exp(-|x - x_i|^2 / 2h^2). A row that sits exactly on an end of a step
is left out of that step's sums: evidence comes from other people.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from localface.density.exact_segment import Line
from localface.density.protocol import TOLERANCE
from localface.density.segment_bounds import PASSED, REFUSED, UNDECIDED, Beside, Legs, Samples
from localface.geometry.point_set import PointSet
from localface.types import Array, Ids, Mask

_AT_A_TIME = 2**18  # distances held at a time: as many as the processor keeps at hand
_FEW = 2048  # rows up to which looking at all of them is quicker than choosing
_NEAR = 192  # rows summed at first, about: near ones, which nearly always suffice to accept


class Kernels:
    """Rows with a kernel on each of them."""

    def __init__(self, crowd: PointSet, discrete: Mask, h: float) -> None:
        self.crowd = crowd
        self.discrete = discrete
        self.h = h

    def logs(self, squared: Array) -> Array:
        """Turn squared distances into logarithms of kernels, in place."""
        squared *= -0.5 / self.h**2
        return squared

    def guard(self, starts: Array, ends: Array) -> Array:
        """How far rounding may move the log-sums beside each step."""
        sizes = 2 * ((starts * starts).sum(axis=1) + (ends * ends).sum(axis=1)) + self.crowd.largest
        return np.asarray(self.crowd.rounding(sizes) / self.h**2)

    def near(self, legs: Legs, own: Ids) -> Beside:
        """Some near rows beside each leg: enough for a bound, which is mostly all that it takes."""
        leg, rows = self.crowd.near((legs.starts + legs.ends) / 2, _NEAR)
        others = (rows[:, None] != own[leg]).all(axis=1)
        leg, rows = leg[others], rows[others]
        away, ways = self.crowd.points[rows] - legs.starts[leg], legs.ways
        foot = np.einsum("ij,ij->i", away, ways[leg])
        off = np.maximum(np.einsum("ij,ij->i", away, away) - foot * foot, 0.0)
        return Beside.of(leg, foot, off, lengths=legs.lengths, h=self.h)

    def line(self, start: Array, end: Array, own: Ids) -> Line:
        """The referee: all rows beside one leg, worked out in an order that no batch can change."""
        return Line.beside(start, end, np.delete(self.crowd.points, own[own >= 0], axis=0), self.h)


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Steps that go nowhere: a place is as common as the sum of all kernels there says."""

    kernels: Kernels
    points: Array
    own: Ids
    sums: Array
    guard: Array

    @classmethod
    def of(cls, kernels: Kernels, points: Array) -> Places:
        """Sum all kernels at places, but for those that sit there."""
        own = kernels.crowd.own(points, points)
        logs = kernels.logs(kernels.crowd.squared(points))
        leave_out(logs, own, -np.inf)
        return cls(kernels, points, own, log_sums(logs), kernels.guard(points, points))

    def minima(self) -> Array:
        """How common each place is."""
        return self.sums

    means = minima

    def judged(self, marks: Array) -> tuple[Array, Mask, Array]:
        """A bound on the right side of its mark, whether each place clears it, and the places."""
        found = verdicts(self.sums, self.sums, marks, self.guard)
        for i in np.flatnonzero(found == UNDECIDED).tolist():
            found[i] = self.kernels.line(self.points[i], self.points[i], self.own[i]).clears(
                float(marks[i])
            )
        return self.sums, found == PASSED, self.points


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Steps of some length, leg by leg."""

    kernels: Kernels
    legs: Legs
    own: Ids  # of each leg, the rows that sit on the ends of its step
    guard: Array

    @classmethod
    def of(cls, kernels: Kernels, starts: Array, ends: Array) -> Steps:
        """Split steps where their discrete columns flip."""
        legs = Legs.of(starts, ends, kernels.discrete)
        own = kernels.crowd.own(starts, ends)
        return cls(kernels, legs, own[legs.step], kernels.guard(starts, ends)[legs.step])

    def minima(self) -> Array:
        """The proven minimum along each step, within a hair of the truth."""
        found = [Samples(self._rows(some).beside()).tightest() for some in self._parts()]
        return np.asarray(np.minimum.reduceat(np.concatenate(found), self.legs.firsts))

    def means(self) -> Array:
        """The logarithm of the mean sum over each step: in closed form, free of samples."""
        firsts = self.legs.firsts
        means = np.concatenate([self._rows(some).means() for some in self._parts()])
        return np.asarray(
            np.logaddexp.reduceat(means, firsts) - np.log(np.diff(firsts, append=len(means)))
        )

    def judged(self, marks: Array) -> tuple[Array, Mask, Array]:
        """A bound on the right side of its mark, whether each step clears it, and where it is deepest.

        Some near rows mostly suffice to accept; to refuse takes all rows.
        """
        marks, n = marks[self.legs.step], len(self.legs)
        bounds, deepest, found = np.full(n, -np.inf), np.zeros(n), np.full(n, UNDECIDED)
        if len(self.kernels.crowd) > _FEW:
            samples = Samples(self.kernels.near(self.legs, self.own))
            samples.clear(marks, self.guard)
            bounds = samples.proven
            found = verdicts(bounds, np.full(n, np.inf), marks, self.guard)
        for more in self._parts(np.flatnonzero(found == UNDECIDED)):
            wider = Samples(self._rows(more).beside())
            wider.clear(marks[more], self.guard[more])
            found[more] = verdicts(wider.proven, wider.lowest, marks[more], self.guard[more])
            bounds[more] = np.where(found[more] == REFUSED, wider.lowest, wider.proven)
            deepest[more] = wider.deepest()
        for leg in np.flatnonzero(found == UNDECIDED).tolist():
            ends = self.legs.starts[leg], self.legs.ends[leg]
            found[leg] = self.kernels.line(*ends, self.own[leg]).clears(float(marks[leg]))
        return self._summed_up(bounds, found, deepest)

    def _summed_up(self, bounds: Array, found: Ids, deepest: Array) -> tuple[Array, Mask, Array]:
        """From legs to steps: a step is as good as its worst leg."""
        places, passed = self.legs.at(deepest), found == PASSED
        if len(self.legs) == self.legs.step[-1] + 1:  # every step is one leg
            return bounds, passed, places
        worst = np.lexsort((bounds, found, self.legs.step))[self.legs.firsts]
        return bounds[worst], passed[worst], places[worst]

    def _parts(self, legs: Ids | None = None) -> Iterator[Ids]:
        """Legs, as many at a time as all rows can be laid beside."""
        every = np.arange(len(self.legs)) if legs is None else legs
        most = max(1, _AT_A_TIME // len(self.kernels.crowd))
        return (every[first : first + most] for first in range(0, len(every), most))

    def _rows(self, some: Ids) -> Rows:
        return Rows.of(self.kernels, self.legs.some(some), self.own[some])


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """All rows beside some legs: their feet on the line, and squared distances off it (infinite: left out)."""

    foot: Array
    off: Array
    lengths: Array
    h: float

    @classmethod
    def of(cls, kernels: Kernels, legs: Legs, own: Ids) -> Rows:
        """Measure every row against every leg, in one BLAS product."""
        crowd = kernels.crowd
        products = crowd.products(np.concatenate([legs.ways, legs.starts]))
        foot = products[: len(legs)]
        foot -= (legs.ways * legs.starts).sum(axis=1)[:, None]
        off = crowd.apart(legs.starts, products[len(legs) :])
        off -= foot * foot
        np.maximum(off, 0.0, out=off)
        leave_out(off, own, np.inf)
        return cls(foot, off, legs.lengths, kernels.h)

    def beside(self) -> Beside:
        """The rows, ready to be summed."""
        start = self.foot * self.foot
        start += self.off
        start *= -0.5 / self.h**2
        return Beside(start, self.foot / self.h**2, self.lengths, self.h)

    def means(self) -> Array:
        """The logarithm of the mean kernel sum along each leg, symmetric in its ends."""
        from scipy.special import (
            log_ndtr,
        )  # here, as it takes longer to import than all of localface

        still = self.lengths == 0
        h, lengths = self.h, np.where(still, 1.0, self.lengths)[:, None]
        low, high = -self.foot / h, (lengths - self.foot) / h
        flip = low > 0  # by symmetry keep both arguments where log_ndtr does not cancel
        low, high = np.where(flip, -high, low), np.where(flip, -low, high)
        upper, lower = log_ndtr(high), log_ndtr(low)
        with np.errstate(divide="ignore"):
            inside = upper + np.log1p(-np.exp(np.minimum(lower - upper, -1e-300)))
        inside += np.log(h * np.sqrt(2 * np.pi) / lengths)
        inside[still] = -(self.foot[still] ** 2) / (2 * h * h)
        return log_sums(inside - self.off / (2 * h * h))


def verdicts(proven: Array, lowest: Array, marks: Array, guard: Array) -> Ids:
    """Who clears its mark by a proven bound, who is seen not to, and who is too close to call."""
    passed = proven >= marks - TOLERANCE / 2 + guard
    refused = lowest < marks - TOLERANCE - guard
    return np.select([passed, refused], [PASSED, REFUSED], UNDECIDED)


def leave_out(beside: Array, own: Ids, value: float) -> None:
    """Leave rows out: for each line up to two, -1 for none."""
    for rows in own.T:
        some = np.flatnonzero(rows >= 0)
        beside[some, rows[some]] = value


def log_sums(logs: Array) -> Array:
    """Log of the sum of exponentials of each row, in place."""
    top = logs.max(axis=1, keepdims=True)
    top = np.where(np.isneginf(top), 0.0, top)
    logs -= top
    np.exp(logs, out=logs)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(logs.sum(axis=1)) + top[:, 0])
