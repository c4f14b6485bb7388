"""A Gaussian kernel density with exact means and certified minima along steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from localface.density.protocol import TOLERANCE, Scale, count_within, judged
from localface.geometry import Array, Mask, legs, norms
from localface.questions import Ground, Hole, Ids

_NEAR = 256  # rows summed before a decision is tried; the tail bound says when more are needed
_FIRST = 256  # samples that a minimum is first looked for with, at most
_TIGHT = 1e-7  # how closely, in nats, a minimum is worked out when its value is asked for


class KDE:
    """p(x) = (1/n) sum_i N(x; x_i, h^2 I) over distinct rows x_i.

    Sums always divide by n, whichever rows are left out, so that leaving out evidence
    can only lower a density.
    """

    certified = True

    def __init__(self, points: Array, discrete: Mask, *, bandwidth: float, known: Array, reach: float) -> None:
        self._points = points
        self._discrete = discrete
        self._squares = (points * points).sum(axis=1)
        self._known = known  # leave-one-out log-densities of the rows, where they were worked out
        self._reach = reach
        self.bandwidth = bandwidth
        self.scale = Scale(np.sort(known[~np.isnan(known)]))

    @property
    def _offset(self) -> float:
        """What turns a log-sum of kernels exp(-|x - x_i|^2 / 2h^2) into a log-density."""
        n, width = self._points.shape
        return float(-width / 2 * np.log(2 * np.pi * self.bandwidth**2) - np.log(n))

    def levels(self, ids: Ids) -> Array:
        """Return the leave-one-out log-densities of rows."""
        unknown = ids[np.isnan(self._known[ids])]
        if len(unknown):
            self._known[unknown] = self.lowest(self._points[unknown], self._points[unknown], None).values
        return np.asarray(self._known[ids])

    def company(self, points: Array) -> Ids:
        """Count the people near each place: as near as the tenth nearest is to an ordinary person."""
        return count_within(points, self._points, self._reach)

    def lowest(self, starts: Array, ends: Array, floor: float | None) -> Ground:
        """Bound the lowest log-density along each step from below, certified.

        With a floor, only as many rows are summed as the verdict needs: accept on a
        lower bound, refuse on an upper one.
        """
        lines = self._lines(starts, ends)
        if floor is None:
            values = np.array([min(leg.lowest() for leg in line) for line in lines])
            return judged(values + self._offset, None)
        found = [self._judged(line, floor - self._offset) for line in lines]
        ground = judged(np.array([bound for bound, _ in found]) + self._offset, floor)
        holes = [(i, self._hole(found[i][1], floor - self._offset)) for i in np.flatnonzero(~ground.passes).tolist()]
        return Ground(ground.values, ground.passes, tuple((i, hole) for i, hole in holes if hole is not None))

    def mean(self, starts: Array, ends: Array, floor: float | None) -> Ground:
        """Return the logarithm of the exact mean density along each step."""
        lines = self._lines(starts, ends)
        found = [_log_sum(np.array([leg.mean() for leg in line])) - float(np.log(len(line))) for line in lines]
        return judged(np.array(found) + self._offset, floor)

    def _lines(self, starts: Array, ends: Array) -> list[list[_Leg]]:
        """Lay every row beside every leg of every step, in one BLAS product."""
        steps = [legs(a, b, self._discrete) for a, b in zip(starts, ends, strict=True)]
        flat = [leg for step in steps for leg in step]
        feet = np.stack([a for a, _ in flat]) @ self._points.T
        heads = np.stack([b for _, b in flat]) @ self._points.T
        lines, place = [], 0
        for step in steps:
            ends_of_step = (step[0][0], step[-1][1])
            line = [self._leg(leg, ends_of_step, feet[place + i], heads[place + i]) for i, leg in enumerate(step)]
            lines.append(line)
            place += len(step)
        return lines

    def _leg(self, leg: tuple[Array, Array], own: tuple[Array, Array], foot: Array, head: Array) -> _Leg:
        start, end = leg
        length = float(norms(end - start))
        apart = np.maximum(self._squares + float((start * start).sum()) - 2 * foot, 0.0)
        if length > 0:
            at = np.clip(((head - foot) - float((start * (end - start)).sum())) / length, 0.0, length)
            closest = apart - 2 * at * ((head - foot) - float((start * (end - start)).sum())) / length + at * at
        else:
            closest = apart
        rough = np.maximum(closest, 0.0) / (-2 * self.bandwidth**2)
        return _Leg(self._points, start, end, length, own, rough, self.bandwidth)

    def _judged(self, line: list[_Leg], mark: float) -> tuple[float, Array]:
        """A bound on the right side of ``mark`` and where it was found; stops at the first leg refused."""
        worst, place = np.inf, line[0].start
        for leg in line:
            bound, where = leg.judged(mark)
            if bound < worst:
                worst, place = bound, where
            if worst < mark - TOLERANCE:
                break
        return worst, place

    def _hole(self, place: Array, mark: float) -> Hole | None:
        """The widest ball around a place in which the kernels of all rows together stay below ``mark``."""
        away = norms(self._points - place)

        def most(radius: float) -> float:
            return _log_sum(np.maximum(away - radius, 0.0) ** 2 / (-2 * self.bandwidth**2))

        if most(0.0) >= mark - TOLERANCE:
            return None  # refused for want of other people's evidence, not for lack of people
        small, large = 0.0, float(away.min())
        for _ in range(12):
            middle = (small + large) / 2
            small, large = (middle, large) if most(middle) < mark - TOLERANCE else (small, middle)
        return Hole(place, small) if small > 0.25 * self.bandwidth else None


@dataclass(frozen=True, slots=True, eq=False)
class _Leg:
    """One straight piece of a step beside the rows; sums are of kernels exp(-|x - x_i|^2 / 2h^2)."""

    points: Array
    start: Array
    end: Array
    length: float
    own: tuple[Array, Array]
    rough: Array  # log-kernel of each row at its closest approach, good for choosing rows only
    h: float

    def judged(self, mark: float) -> tuple[float, Array]:
        """A bound on the right side of ``mark`` (certified from below, or an upper one under it), and where."""
        take = min(_NEAR, len(self.rough))
        while True:
            chosen, tail = self._nearest(take)
            bound, at, decided = self._beside(chosen).settle(mark, tail)
            if decided or take == len(self.rough):
                return bound, self.start + (self.end - self.start) * (at / self.length if self.length else 0.0)
            take = min(8 * take, len(self.rough))

    def lowest(self) -> float:
        """Return the certified minimum over all rows, within a hair of the truth."""
        return self._beside(np.arange(len(self.rough))).tightest()

    def mean(self) -> float:
        """Return the log of the mean kernel sum over the leg, in closed form."""
        return self._beside(np.arange(len(self.rough))).mean()

    def _nearest(self, take: int) -> tuple[Ids, float]:
        """The rows that matter most, and the logarithm of all that the others could add anywhere."""
        if take == len(self.rough):
            return np.arange(take), -np.inf
        split = np.argpartition(self.rough, len(self.rough) - take)
        rest = self.rough[split[:-take]]
        return np.sort(split[-take:]), _log_sum(rest) + 1e-6

    def _beside(self, chosen: Ids) -> _Rows:
        """Measure the chosen rows against the leg exactly, leaving out those that sit on an end of the step."""
        rows = self.points[chosen]
        away = rows - self.start
        squares = (away * away).sum(axis=1)
        keep = ~((rows == self.own[0]).all(axis=1) | (rows == self.own[1]).all(axis=1))
        if self.length == 0.0:
            return _Rows(np.zeros(int(keep.sum())), squares[keep], 0.0, self.h)
        foot = (away * ((self.end - self.start) / self.length)).sum(axis=1)
        return _Rows(foot[keep], np.maximum(squares - foot * foot, 0.0)[keep], self.length, self.h)


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Rows as a line sees them: where each one's foot is, and how far off it stands (squared)."""

    foot: Array
    off: Array
    length: float
    h: float

    def at(self, places: Array) -> tuple[Array, Array]:
        """Log-sum of kernels, and its slope, at places along the line."""
        if len(self.foot) == 0:
            return np.full(len(places), -np.inf), np.zeros(len(places))
        across = self.foot - places[:, None]
        logs = (across * across + self.off) / (-2 * self.h**2)
        top = logs.max(axis=1)
        weights = np.exp(logs - top[:, None])
        total = weights.sum(axis=1)
        slopes = (weights * across).sum(axis=1) / (total * self.h**2)
        return top + np.log(total), slopes

    def mean(self) -> float:
        """Closed form of the mean along the line, symmetric in its ends and free of samples."""
        if self.length == 0.0 or len(self.foot) == 0:
            return float(self.at(np.zeros(1))[0][0])
        low, high = -self.foot / self.h, (self.length - self.foot) / self.h
        flip = low > 0  # by symmetry keep both arguments where log_ndtr does not cancel
        low, high = np.where(flip, -high, low), np.where(flip, -low, high)
        upper, lower = log_ndtr(high), log_ndtr(low)
        inside = upper + np.log1p(-np.exp(np.minimum(lower - upper, -1e-300)))
        scale = np.log(self.h * np.sqrt(2 * np.pi) / self.length)
        return _log_sum(inside - self.off / (2 * self.h**2)) + float(scale)

    def settle(self, mark: float, tail: float) -> tuple[float, float, bool]:
        """Decide whether the minimum clears ``mark``: a bound, where the lowest sample is, and whether it decides.

        log p(s) + s^2/2h^2 is convex along any line, so each sample gives a parabola
        that the log-density cannot fall below; see "Reading the paper", certificates.
        """
        places = self._first_places()
        logs, slopes = self.at(places)
        while True:
            lowest, at = float(logs.min()), float(places[logs.argmin()])
            ceiling = float(np.logaddexp(lowest, tail))
            if ceiling < mark - TOLERANCE / 2:
                return ceiling, at, True
            bounds, crossings = self._bounds(places, logs, slopes)
            if bounds.min() >= mark - TOLERANCE:
                return float(bounds.min()), at, True
            if lowest < mark - TOLERANCE / 2:
                return lowest, at, False  # the rows left out could make up for it: widen
            places, logs, slopes = self._refined(places, logs, slopes, crossings[bounds < mark - TOLERANCE])

    def tightest(self) -> float:
        """Return the certified minimum, refined until the bound and a sample all but meet."""
        places = self._first_places()
        logs, slopes = self.at(places)
        while True:
            bounds, crossings = self._bounds(places, logs, slopes)
            open_ = bounds < logs.min() - _TIGHT
            if not open_.any() or np.isneginf(logs.min()):
                return float(bounds.min())
            places, logs, slopes = self._refined(places, logs, slopes, crossings[open_])

    def _first_places(self) -> Array:
        """Places about a bandwidth apart to begin with, though not without end for someone far off."""
        return np.linspace(0.0, self.length, 1 + int(np.ceil(np.clip(self.length / self.h, 1, _FIRST))))

    def _bounds(self, places: Array, logs: Array, slopes: Array) -> tuple[Array, Array]:
        """Lower bound within each interval, where the parabolas of its ends cross."""
        width = np.diff(places)
        bend = 1 / (2 * self.h**2)
        rise = np.diff(logs)
        slant = slopes[:-1] - slopes[1:] - 2 * width * bend
        with np.errstate(divide="ignore", invalid="ignore"):
            into = (rise - slopes[1:] * width - bend * width**2) / slant
        into = np.clip(np.where(np.isfinite(into), into, width / 2), 0.0, width)
        from_left = logs[:-1] + slopes[:-1] * into - bend * into**2
        back = width - into
        from_right = logs[1:] - slopes[1:] * back - bend * back**2
        bound = np.minimum(np.maximum(from_left, from_right), np.minimum(logs[:-1], logs[1:]))
        return bound, places[:-1] + into

    def _refined(self, places: Array, logs: Array, slopes: Array, more: Array) -> tuple[Array, Array, Array]:
        """Sample where the bound is still too low."""
        fresh_logs, fresh_slopes = self.at(more)
        order = np.argsort(np.concatenate([places, more]), kind="stable")
        return (
            np.concatenate([places, more])[order],
            np.concatenate([logs, fresh_logs])[order],
            np.concatenate([slopes, fresh_slopes])[order],
        )


def _log_sum(logs: Array) -> float:
    top = float(logs.max())
    return top if np.isneginf(top) else top + float(np.log(np.exp(logs - top).sum()))
