"""Many straight legs at once, each beside the rows that matter to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from localface.density.exact_segment import first_places, lower_bounds
from localface.density.protocol import TOLERANCE
from localface.geometry.segments import norms
from localface.types import Array, Ids, Mask

_TIGHT = 1e-10  # how closely, in nats, a minimum is worked out when its value is asked for
_BRACKET = 1e-5  # half the width, in bandwidths, of what is sampled around a minimum to prove it
_ROUNDS = 64  # turns after which what is still open is left to the referee
_AT_A_TIME = 2**16  # kernels worked out at a time: as many as the processor keeps at hand
_FAINT = -600.0  # a log-sum below which plain sums run out of numbers
_FEW = 1024  # rows up to which legs are taken together
UNDECIDED, REFUSED, PASSED = -1, 0, 1


@dataclass(frozen=True, slots=True, eq=False)
class Legs:
    """The straight pieces of steps: discrete columns flip half way."""

    starts: Array
    ends: Array
    step: Ids  # the step that each belongs to
    lengths: Array
    ways: Array  # unit vectors; zero for a leg of no length

    @classmethod
    def of(cls, starts: Array, ends: Array, discrete: Mask) -> Legs:
        """Split steps into legs, in the order of the steps."""
        flips = discrete & (starts != ends)
        bent = np.flatnonzero(flips.any(axis=1))
        step = np.arange(len(starts))
        if len(bent):
            middle, turned = (starts[bent] + ends[bent]) / 2, flips[bent]
            stop = ends.copy()
            stop[bent] = np.where(turned, starts[bent], middle)
            order = np.argsort(np.concatenate([step, bent]), kind="stable")
            starts, ends = (
                np.concatenate([starts, np.where(turned, ends[bent], middle)])[order],
                np.concatenate([stop, ends[bent]])[order],
            )
            step = np.concatenate([step, bent])[order]
        gone = ends - starts
        lengths = norms(gone)
        return cls(starts, ends, step, lengths, gone / np.where(lengths > 0, lengths, 1.0)[:, None])

    def __len__(self) -> int:
        return len(self.step)

    def some(self, chosen: Ids) -> Legs:
        """Some of the legs."""
        return Legs(
            self.starts[chosen],
            self.ends[chosen],
            self.step[chosen],
            self.lengths[chosen],
            self.ways[chosen],
        )

    @property
    def firsts(self) -> Ids:
        """Where the legs of each step begin."""
        return np.flatnonzero(np.diff(self.step, prepend=-1))

    def at(self, places: Array) -> Array:
        """Points at places along the legs, one on each."""
        return self.starts + self.ways * places[:, None]


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """Rows as each leg sees them: the log-kernel of each where the leg begins, and how it tilts along it.

    At s it is start + tilt * s - s^2 / 2h^2; a start of minus infinity is no row.
    """

    start: Array
    tilt: Array
    lengths: Array
    h: float

    @classmethod
    def of(cls, leg: Ids, foot: Array, off: Array, *, lengths: Array, h: float) -> Beside:
        """Put the rows of each leg side by side, given their feet on the line and squared distances off it."""
        counts = np.bincount(leg, minlength=len(lengths))
        shape = (len(lengths), max(1, int(counts.max())))
        slot = np.arange(len(leg)) - np.repeat(np.cumsum(counts) - counts, counts)
        start, tilt = np.full(shape, -np.inf), np.zeros(shape)
        start[leg, slot], tilt[leg, slot] = (off + foot * foot) / (-2 * h * h), foot / h**2
        return cls(start, tilt, lengths, h)

    def at(self, leg: Ids, places: Array) -> tuple[Array, Array]:
        """Log-sum of kernels exp(-|x - x_i|^2 / 2h^2), and its slope, at places along legs, those of a leg together."""
        logs, slopes = np.empty(len(places)), np.empty(len(places))
        for some, rows in self._parts(leg):
            logs[some], slopes[some] = self._at(rows, places[some])
        return logs, slopes

    def _parts(self, leg: Ids) -> Iterator[tuple[slice, Ids | slice]]:
        """Few rows: many legs at a time. Many rows: leg by leg, in the processor's own memory."""
        many = max(1, _AT_A_TIME // self.start.shape[1])
        if self.start.shape[1] <= _FEW:
            yield from (
                (slice(first, first + many), leg[first : first + many])
                for first in range(0, len(leg), many)
            )
            return
        firsts = np.flatnonzero(np.diff(leg, prepend=-1)).tolist()
        for first, last in zip(firsts, [*firsts[1:], len(leg)], strict=True):
            here = slice(int(leg[first]), int(leg[first]) + 1)
            yield from ((slice(i, min(i + many, last)), here) for i in range(first, last, many))

    def _at(self, rows: Ids | slice, places: Array) -> tuple[Array, Array]:
        logs, slopes = self._summed(rows, places)
        return (logs, slopes) if logs.min() > _FAINT else self._summed(rows, places, faint=True)

    def _summed(
        self, rows: Ids | slice, places: Array, *, faint: bool = False
    ) -> tuple[Array, Array]:
        """Sum kernels; where all of them are faint, in proportion to the strongest."""
        tilt, along = (
            np.broadcast_to(self.tilt[rows], (len(places), self.tilt.shape[1])),
            places / self.h,
        )
        weights = tilt * places[:, None]
        weights += self.start[rows]
        top = along * along / 2
        if faint:
            most = weights.max(axis=1)
            top = np.where(np.isneginf(most), top, most)
        weights -= top[:, None]
        np.exp(weights, out=weights)
        total, tilted = weights.sum(axis=1), np.einsum("ij,ij->i", weights, tilt)
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = np.where(total > 0, tilted / total, 0.0) - along / self.h
            return np.log(total) + (top - along * along / 2), slopes


class Samples:
    """What is known of the log-density along legs: values and slopes at places, and bounds between them."""

    def __init__(self, rows: Beside) -> None:
        self._rows = rows
        self.leg, self.place = first_places(rows.lengths, rows.h)
        self.log, self.slope = rows.at(self.leg, self.place)
        self._bound()

    def add(self, leg: Ids, places: Array) -> None:
        """Sample more places."""
        order = np.argsort(leg, kind="stable")
        leg, places = leg[order], places[order]
        logs, slopes = self._rows.at(leg, places)
        order = np.lexsort((np.concatenate([self.place, places]), np.concatenate([self.leg, leg])))
        self.leg = np.concatenate([self.leg, leg])[order]
        self.place = np.concatenate([self.place, places])[order]
        self.log = np.concatenate([self.log, logs])[order]
        self.slope = np.concatenate([self.slope, slopes])[order]
        self._bound()

    def _bound(self) -> None:
        """Work out each leg's lowest sample, and the bound that holds between neighbouring samples."""
        self._firsts = np.flatnonzero(np.diff(self.leg, prepend=-1))
        between, crossing = lower_bounds(self.place, self.log, self.slope, self._rows.h)
        self.between = np.where(self.leg[:-1] == self.leg[1:], between, np.inf)
        self.crossing = crossing
        self.lowest = np.minimum.reduceat(self.log, self._firsts)
        proven = self.log.copy()
        proven[:-1] = np.minimum(proven[:-1], self.between)
        self.proven = np.minimum.reduceat(proven, self._firsts)

    def deepest(self) -> Array:
        """Where each leg's lowest sample is."""
        low = np.flatnonzero(self.log == self.lowest[self.leg])
        return np.asarray(self.place[low[np.unique(self.leg[low], return_index=True)[1]]])

    def clear(self, marks: Array, guard: Array) -> None:
        """Sample until every leg is proven to stay above its mark, or is seen not to do so by a clear margin."""
        aim = marks - TOLERANCE / 2 + guard
        for _ in range(_ROUNDS):
            low = (self.between < aim[self.leg[:-1]]) & (self.lowest >= aim)[self.leg[:-1]]
            if not low.any():
                return
            self.add(self.leg[:-1][low], self.crossing[low])

    def tightest(self) -> Array:
        """Sample until each leg's lowest sample is proven to be its minimum, within a hair; return what is proven."""
        for _ in range(_ROUNDS):
            low = np.flatnonzero(self.between < (self.lowest - _TIGHT)[self.leg[:-1]])
            low = low[np.isfinite(self.lowest[self.leg[low]])]
            if len(low) == 0:
                return self.lowest - _TIGHT
            valley = (self.slope[low] < 0) & (self.slope[low + 1] > 0)
            into, wall = low[valley], low[~valley]
            bottom, half = self._bottoms(into), _BRACKET * self._rows.h
            inside = [np.clip(bottom + by, *self._inner(into)) for by in (-half, 0.0, half)]
            legs = np.concatenate([self.leg[wall], *[self.leg[into]] * 3])
            self.add(legs, np.concatenate([self.crossing[wall], *inside]))
        return self.proven

    def _inner(self, left: Ids) -> tuple[Array, Array]:
        a, b = self.place[left], self.place[left + 1]
        return a + 1e-3 * (b - a), b - 1e-3 * (b - a)

    def _bottoms(self, left: Ids) -> Array:
        """Where the cubic through two samples and their slopes is lowest."""
        width = self.place[left + 1] - self.place[left]
        falls, rises = self.slope[left], self.slope[left + 1]
        bend = falls + rises - 3 * (self.log[left + 1] - self.log[left]) / width
        root = np.sqrt(np.maximum(bend * bend - falls * rises, 0.0))
        return np.asarray(
            self.place[left] + width * (1 - (rises + root - bend) / (rises - falls + 2 * root))
        )
