"""What a path leads over: the density of people whom no method has seen, the library's own rule, people nearby."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from localface.errors import DataError
from localface.evaluation.metrics.kernels import (
    levels,
    likeliest,
    log_density,
    log_sums,
    under_step,
)
from localface.evaluation.metrics.line import legs, places_along
from localface.evaluation.metrics.near import Rows, distinct, spread
from localface.types import Array, Mask

TOLERANCE = 1e-6
"""How far below a floor a log-density may fall by rounding and still count as on it."""

_PER_EPS = 8  # places on a step in each eps of its length


class Under(NamedTuple):
    """What lies under steps, one value each: the lowest log-density, and the logarithm of the mean density."""

    lowest: Array
    mean: Array


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """A Gaussian kernel density of people whom no method was given, with its own scale of how usual places are.

    The scale is the density of these people themselves, each without their own kernel.
    Equal rows count once.
    """

    rows: Rows
    discrete: Mask
    bandwidth: float
    levels: Array

    @classmethod
    def fit(cls, points: Array, discrete: Mask, *, bandwidth: float | None = None) -> HeldOut:
        """Fit to points; the bandwidth is the likeliest one, leave-one-out, unless it is given."""
        rows = distinct(points)
        h = likeliest(rows) if bandwidth is None else float(bandwidth)
        return cls(rows, np.asarray(discrete, dtype=bool), h, levels(rows, h))

    def logs(self, places: Array) -> Array:
        """The log-density of places."""
        return log_density(places, self.rows, self.bandwidth)

    def share(self, logs: Array | float) -> Array:
        """The share of held-out people who stand on less common ground."""
        return np.asarray(np.searchsorted(self.levels, logs, side="left") / len(self.levels))

    def floor(self, share: float) -> float:
        """The log-density that so large a share of held-out people stands below."""
        return float(np.quantile(self.levels, share))

    def under(self, starts: Array, ends: Array) -> Under:
        """What lies under steps."""
        both = zip(starts, ends, strict=True)
        return _stacked(
            [under_step(pair, self.discrete, self.rows, self.bandwidth) for pair in both]
        )

    def traversable(self, starts: Array, ends: Array, *, min_density: float = 0.05) -> Mask:
        """Which steps stay on ground as common as that share of held-out people stand on, or better."""
        return np.asarray(self.under(starts, ends).lowest >= self.floor(min_density) - TOLERANCE)


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """LocalFACE's own rule for a step, judged by other code: all rows, in full, on a fine grid.

    A row that stands at an end of the step is no evidence for that step, as it is none
    for itself when the floor is set.
    """

    rows: Rows
    discrete: Mask
    bandwidth: float
    floor: float

    @classmethod
    def of(
        cls, points: Array | Rows, discrete: Mask, *, bandwidth: float, min_density: float = 0.05
    ) -> Rule:
        """Take the bandwidth that the density of the explainer has, and set the floor anew."""
        rows = points if isinstance(points, Rows) else distinct(points)
        if len(rows) < 2:
            raise DataError(
                "the rule needs at least two different rows to set a floor: give more people"
            )
        floor = float(np.quantile(levels(rows, bandwidth), min_density))
        return cls(rows, np.asarray(discrete, dtype=bool), float(bandwidth), floor)

    def under(self, starts: Array, ends: Array) -> Under:
        """What lies under steps, without the rows at their ends."""
        found = []
        for start, end in zip(starts, ends, strict=True):
            own = [*self.rows.at(start), *self.rows.at(end)]
            found.append(
                under_step((start, end), self.discrete, self.rows, self.bandwidth, left_out=own)
            )
        return _stacked(found)

    def at_start(self, starts: Array, ends: Array) -> Array:
        """The log-density where each step starts, by the same evidence: no step can be on better ground."""
        found = np.empty(len(starts))
        for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
            own = [*self.rows.at(start), *self.rows.at(end)]
            found[i] = log_density(start[None, :], self.rows, self.bandwidth, left_out=own)[0]
        return found

    def traversable(
        self, starts: Array, ends: Array, *, floor: Array | float | None = None
    ) -> Mask:
        """Which steps never fall below the floor; a floor of one's own may be given, or one for each step."""
        wanted = self.floor if floor is None else np.asarray(floor)
        return np.asarray(self.under(starts, ends).lowest >= wanted - TOLERANCE)


def people_within(
    starts: Array, ends: Array, discrete: Mask, rows: Rows, *, eps: float
) -> tuple[Array, Array]:
    """How many other rows are within ``eps`` along each step: the fewest, and on average."""
    fewest, mean = np.zeros(len(starts)), np.zeros(len(starts))
    for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
        own = [*rows.at(start), *rows.at(end)]
        grids = [
            (*places_along(a, b, apart=eps / _PER_EPS), part)
            for a, b, part in legs(start, end, discrete)
        ]
        counts = [_near(places, rows, eps, own) for places, _, _ in grids]
        fewest[i] = min(some.min() for some in counts)
        mean[i] = sum(
            part * (some @ parts) for some, (_, parts, part) in zip(counts, grids, strict=True)
        )
    return fewest, mean


def _near(places: Array, rows: Rows, eps: float, own: list[int]) -> Array:
    counts = np.empty(len(places))
    for some in rows.blocks(places):
        near = rows.squared(places[some]) <= eps * eps * (1 + 1e-9)
        near[:, own] = False
        counts[some] = near.sum(axis=1)
    return counts


def ordinary_eps(rows: Rows, *, k: int = 10) -> float:
    """How far from an ordinary row the k-th nearest other row is: the median over at most 512 rows."""
    places = rows.points[spread(len(rows), 512)]
    k = min(k, len(rows) - 1)
    return float(np.median(rows.nearest(places, k)[0][:, -1])) if k else 0.0


def along_path(under: Under, lengths: Array) -> tuple[float, float]:
    """The lowest log-density of a whole path, and the logarithm of its mean, each step weighted by its length."""
    with np.errstate(divide="ignore"):
        logs = under.mean + np.log(weights(lengths))
    return float(under.lowest.min()), float(log_sums(logs[None, :])[0])


def weights(lengths: Array) -> Array:
    """The part that each step has in a path; equal parts where nothing moves."""
    total = lengths.sum()
    return np.asarray(lengths / total) if total > 0 else np.full(len(lengths), 1 / len(lengths))


def _stacked(found: list[tuple[float, float]]) -> Under:
    pairs = np.array(found, dtype=np.float64).reshape(len(found), 2)
    return Under(pairs[:, 0], pairs[:, 1])
