"""All rows beside places and beside steps: log-sums of kernels, proven minima, exact means.

Sums are of kernels exp(-|x - x_i|^2 / 2h^2). A row that sits exactly on an end of a step
is left out of that step's sums: evidence comes from other people.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from localface.crowd import Crowd
from localface.density.beside import PASSED, REFUSED, UNDECIDED, Beside, Legs, Samples
from localface.density.line import Line
from localface.density.protocol import TOLERANCE
from localface.geometry import Array, Mask
from localface.questions import Ids

_NEAR = 256  # rows summed at first, about: the nearest, which nearly always suffice to accept
_PROBES = 512  # rows from which it is guessed how near those are
_LEFT_OUT = 28.0  # nats below a sum at which what is left out of it cannot matter: less than a part in 10^12


class Kernels:
    """Rows with a kernel on each of them."""

    def __init__(self, crowd: Crowd, discrete: Mask, h: float) -> None:
        self.crowd = crowd
        self.discrete = discrete
        self.h = h
        self.probes = np.unique(np.linspace(0, len(crowd) - 1, min(len(crowd), _PROBES)).astype(np.int64))

    def logs(self, squared: Array) -> Array:
        """Turn squared distances into logarithms of kernels, in place."""
        squared *= -0.5 / self.h**2
        return squared

    def own(self, starts: Array, ends: Array) -> list[list[int]]:
        """The rows that sit on an end of each step."""
        at = self.crowd.at
        return [[row for row in (at(a), at(b)) if row is not None] for a, b in zip(starts, ends, strict=True)]

    def guard(self, starts: Array, ends: Array) -> Array:
        """How far rounding may move the log-sums beside each step."""
        sizes = 2 * ((starts * starts).sum(axis=1) + (ends * ends).sum(axis=1)) + self.crowd.largest
        return np.asarray(self.crowd.rounding(sizes) / self.h**2)

    def line(self, start: Array, end: Array, own: list[int]) -> Line:
        """The referee: all rows beside one leg, worked out in an order that no batch can change."""
        return Line.beside(start, end, np.delete(self.crowd.points, own, axis=0), self.h)


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Steps that go nowhere: a place is as common as the sum of all kernels there says."""

    kernels: Kernels
    points: Array
    own: list[list[int]]
    sums: Array
    guard: Array

    @classmethod
    def of(cls, kernels: Kernels, points: Array) -> Places:
        """Sum all kernels at places, but for those that sit there."""
        own = kernels.own(points, points)
        logs = kernels.logs(kernels.crowd.squared(points))
        for place, rows in enumerate(own):
            logs[place, rows] = -np.inf
        return cls(kernels, points, own, log_sums(logs), kernels.guard(points, points))

    def minima(self) -> Array:
        """How common each place is."""
        return self.sums

    means = minima

    def judged(self, mark: float) -> tuple[Array, Mask, Array]:
        """A bound on the right side of the mark, whether each place clears it, and the places."""
        found = verdicts(self.sums, self.sums, mark, self.guard)
        for i in np.flatnonzero(found == UNDECIDED).tolist():
            found[i] = self.kernels.line(self.points[i], self.points[i], self.own[i]).clears(mark)
        return self.sums, found == PASSED, self.points


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Steps of some length, leg by leg."""

    kernels: Kernels
    legs: Legs
    own: list[list[int]]
    foot: Array
    off: Array
    closest: Array  # log-kernel of each row at its closest approach to each leg
    guard: Array

    @classmethod
    def of(cls, kernels: Kernels, starts: Array, ends: Array) -> Steps:
        """Measure every row against every leg, by BLAS products."""
        legs, own, crowd = Legs.of(starts, ends, kernels.discrete), kernels.own(starts, ends), kernels.crowd
        lengths = legs.lengths[:, None]
        ways = np.divide(legs.ends - legs.starts, lengths, out=np.zeros_like(legs.starts), where=lengths > 0)
        products = crowd.products(np.concatenate([ways, legs.starts]))
        foot, off = products[: len(legs)], products[len(legs) :]
        foot -= (ways * legs.starts).sum(axis=1)[:, None]
        off = crowd.apart(legs.starts, off)
        off -= foot * foot
        np.maximum(off, 0.0, out=off)
        closest = foot - np.clip(foot, 0.0, lengths)
        closest *= closest
        closest += off
        kernels.logs(closest)
        for leg, step in enumerate(legs.step.tolist()):
            closest[leg, own[step]] = -np.inf
        return cls(kernels, legs, own, foot, off, closest, kernels.guard(starts, ends)[legs.step])

    def minima(self) -> Array:
        """The proven minimum along each step, within a hair of the truth."""
        rough = Samples(self._beside(self._near()))
        samples = Samples(self._beside(self._mattering(rough.proven)))
        return np.asarray(np.minimum.reduceat(samples.tightest(), self.legs.firsts))

    def means(self) -> Array:
        """The logarithm of the mean sum over each step: in closed form, free of samples."""
        matter = self._mattering(self.closest.max(axis=1) - np.log1p(self.legs.lengths / self.kernels.h))
        means = _log_means(self._beside(matter))
        firsts = self.legs.firsts
        return np.asarray(np.logaddexp.reduceat(means, firsts) - np.log(np.diff(firsts, append=len(means))))

    def judged(self, mark: float) -> tuple[Array, Mask, Array]:
        """A bound on the right side of the mark, whether each step clears it, and where it is deepest.

        The nearest rows nearly always suffice to accept; to refuse takes all that could
        make a difference.
        """
        samples = Samples(self._beside(self._near()))
        samples.clear(mark, self.guard)
        bounds, deepest = samples.proven, np.zeros(len(self.legs))
        found = verdicts(bounds, np.full(len(bounds), np.inf), mark, self.guard)
        more = np.flatnonzero(found == UNDECIDED)
        if len(more):
            wider = Samples(self._beside(self._mattering(bounds), more))
            wider.clear(mark, self.guard[more])
            found[more] = verdicts(wider.proven, wider.lowest, mark, self.guard[more])
            bounds[more] = np.where(found[more] == REFUSED, wider.lowest, wider.proven)
            deepest[more] = wider.deepest()
        for leg in np.flatnonzero(found == UNDECIDED).tolist():
            ends = self.legs.starts[leg], self.legs.ends[leg]
            found[leg] = self.kernels.line(*ends, self.own[int(self.legs.step[leg])]).clears(mark)
        return self._summed_up(bounds, found, deepest)

    def _summed_up(self, bounds: Array, found: Ids, deepest: Array) -> tuple[Array, Mask, Array]:
        """From legs to steps: a step is as good as its worst leg."""
        worst = np.lexsort((bounds, found, self.legs.step))[self.legs.firsts]
        along = np.divide(deepest, self.legs.lengths, out=np.zeros_like(deepest), where=self.legs.lengths > 0)
        places = self.legs.starts + (self.legs.ends - self.legs.starts) * along[:, None]
        return bounds[worst], found[worst] == PASSED, places[worst]

    def _near(self) -> Mask:
        """About as many of the nearest rows as mostly suffice, guessed from a few of them."""
        n = self.closest.shape[1]
        if n <= 2 * _NEAR:
            return np.ones_like(self.closest, dtype=bool)
        probed = self.closest[:, self.kernels.probes]
        rank = probed.shape[1] - max(8, int(np.ceil(_NEAR / n * probed.shape[1])))
        return np.asarray(self.closest >= np.partition(probed, rank, axis=1)[:, rank, None])

    def _mattering(self, sums: Array) -> Mask:
        """The rows without which a log-sum of at least ``sums`` would be the same to twelve digits."""
        cut = sums - _LEFT_OUT - np.log(self.closest.shape[1])
        return np.asarray(self.closest >= cut[:, None])

    def _beside(self, taken: Mask, some: Ids | None = None) -> Beside:
        taken &= self.closest > -np.inf
        foot, off, lengths = self.foot, self.off, self.legs.lengths
        if some is not None:
            foot, off, lengths, taken = foot[some], off[some], lengths[some], taken[some]
        return Beside.chosen(foot, off, taken, lengths=lengths, h=self.kernels.h)


def verdicts(proven: Array, lowest: Array, mark: float, guard: Array) -> Ids:
    """Who clears the mark by a proven bound, who is seen not to, and who is too close to call."""
    passed = proven >= mark - TOLERANCE / 2 + guard
    refused = lowest < mark - TOLERANCE - guard
    return np.select([passed, refused], [PASSED, REFUSED], UNDECIDED)


def log_sums(logs: Array) -> Array:
    """Log of the sum of exponentials of each row, in place."""
    top = logs.max(axis=1, keepdims=True)
    top = np.where(np.isneginf(top), 0.0, top)
    logs -= top
    np.exp(logs, out=logs)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(logs.sum(axis=1)) + top[:, 0])


def _log_means(rows: Beside) -> Array:
    """Closed form of the mean kernel sum along each leg, symmetric in its ends."""
    h, lengths = rows.h, rows.lengths[:, None]
    low, high = -rows.foot / h, (lengths - rows.foot) / h
    flip = low > 0  # by symmetry keep both arguments where log_ndtr does not cancel
    low, high = np.where(flip, -high, low), np.where(flip, -low, high)
    upper, lower = log_ndtr(high), log_ndtr(low)
    with np.errstate(divide="ignore"):
        inside = upper + np.log1p(-np.exp(np.minimum(lower - upper, -1e-300))) + np.log(h * np.sqrt(2 * np.pi) / lengths)
    still = rows.lengths == 0
    inside[still] = -rows.foot[still] ** 2 / (2 * h * h)
    return log_sums(inside - rows.off / (2 * h * h))
