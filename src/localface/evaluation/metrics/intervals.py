"""Figures with their uncertainty: shares, means over seeds, medians, seconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from localface.answers.intervals import wilson_interval
from localface.errors import DataError
from localface.types import Array, Mask

_NAN = float("nan")


class ShareInterval(NamedTuple):
    """``n`` of ``of`` people, with the 95 % Wilson interval; NaN and 0 to 1 without anybody."""

    n: int
    of: int
    share: float
    low: float
    high: float


class Interval(NamedTuple):
    """A figure with its 95 % interval; the ends are NaN where there is one value only."""

    mean: float
    low: float
    high: float


class TimeQuantiles(NamedTuple):
    """Seconds: half of the people take less than the median, 19 of 20 less than ``p95``."""

    median: float
    p95: float


def success_share(flags: Mask | Sequence[bool], *, asked: int | None = None) -> ShareInterval:
    """The share of successes among all who were asked, those without an answer included."""
    n = int(np.sum(np.asarray(flags, dtype=bool)))
    of = len(flags) if asked is None else asked
    if of < len(flags):
        raise DataError(
            f"asked={of} is less than the {len(flags)} people with an answer: count everybody asked"
        )
    if not of:
        return ShareInterval(0, 0, _NAN, 0.0, 1.0)
    return ShareInterval(n, of, n / of, *wilson_interval(n / of, of))


def share_difference(first: ShareInterval, second: ShareInterval) -> Interval:
    """The first share less the second, with Newcombe's interval.

    It is made of the two Wilson intervals.
    """
    gap = first.share - second.share
    if not np.isfinite(gap):
        return Interval(_NAN, -1.0, 1.0)
    below = np.hypot(first.share - first.low, second.high - second.share)
    above = np.hypot(first.high - first.share, second.share - second.low)
    return Interval(gap, float(gap - below), float(gap + above))


def over_seeds(
    values: Sequence[float] | Array, *, within: tuple[float, float] = (-np.inf, np.inf)
) -> Interval:
    """The mean of one value a seed, with its 95 % t interval: mean +- t(0.975, n - 1) s / sqrt(n).

    Seeds without a value (NaN) are left out. Values are taken to be the means of whole
    runs; ``within`` cuts the interval to what is possible, as (0, 1) for shares.
    """
    from scipy.special import stdtrit  # here, as it takes longer to import than all of localface

    known = _without_nan(values)
    if len(known) < 2:
        return _interval_of_few(known)
    mean = known.mean()
    half = stdtrit(len(known) - 1, 0.975) * known.std(ddof=1) / np.sqrt(len(known))
    low = max(float(mean - half), within[0])
    high = min(float(mean + half), within[1])
    return Interval(float(mean), low, high)


def bootstrap_interval(
    values: Sequence[float] | Array,
    *,
    of: Callable[..., Any] = np.median,
    n: int = 2000,
    seed: int = 0,
) -> Interval:
    """A figure of the values, with its 95 % percentile bootstrap interval; NaN is left out.

    ``of`` takes an array and ``axis=``, as NumPy's own do; the median by default.
    """
    known = _without_nan(values)
    if len(known) < 2:
        return _interval_of_few(known)
    drawn = np.random.default_rng(seed).integers(0, len(known), (n, len(known)))
    low, high = np.quantile(of(known[drawn], axis=1), [0.025, 0.975])
    return Interval(float(of(known, axis=0)), float(low), float(high))


def time_quantiles(values: Sequence[float] | Array) -> TimeQuantiles:
    """The median and the 95th percentile of times."""
    known = np.asarray(values, dtype=np.float64)
    if not len(known):
        return TimeQuantiles(_NAN, _NAN)
    return TimeQuantiles(float(np.median(known)), float(np.quantile(known, 0.95)))


def _without_nan(values: Sequence[float] | Array) -> Array:
    known = np.asarray(values, dtype=np.float64)
    return known[~np.isnan(known)]


def _interval_of_few(known: Array) -> Interval:
    """One value, or none: no interval."""
    return Interval(float(known[0]) if len(known) else _NAN, _NAN, _NAN)
