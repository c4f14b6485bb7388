"""Figures with their uncertainty: shares, means over seeds, medians, seconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from localface.answers.intervals import wilson_interval
from localface.errors import DataError
from localface.types import Array, Mask


class Share(NamedTuple):
    """So many of so many, with the 95 % Wilson interval; without anybody the share is NaN and may be anything."""

    n: int
    of: int
    share: float
    low: float
    high: float


class Interval(NamedTuple):
    """A figure and its 95 % interval; the ends are NaN where one value cannot tell."""

    mean: float
    low: float
    high: float


class Seconds(NamedTuple):
    """How long it takes: half of the people less than the median, 19 of 20 less than the 95th percentile."""

    median: float
    p95: float


def success(flags: Mask | Sequence[bool], *, asked: int | None = None) -> Share:
    """The share of everybody who was asked for: whoever got no answer, or a crash, is in the denominator."""
    n, of = int(np.sum(np.asarray(flags, dtype=bool))), len(flags) if asked is None else asked
    if of < len(flags):
        raise DataError(
            f"asked={of} is less than the {len(flags)} people with an answer: count everybody asked"
        )
    return (
        Share(n, of, n / of, *wilson_interval(n / of, of))
        if of
        else Share(0, 0, float("nan"), 0.0, 1.0)
    )


def difference(first: Share, second: Share) -> Interval:
    """The first share less the second, with Newcombe's interval, which is made of the two Wilson intervals."""
    gap = first.share - second.share
    if not np.isfinite(gap):
        return Interval(float("nan"), -1.0, 1.0)
    below = np.hypot(first.share - first.low, second.high - second.share)
    above = np.hypot(first.high - first.share, second.share - second.low)
    return Interval(gap, float(gap - below), float(gap + above))


def over_seeds(
    values: Sequence[float] | Array, *, within: tuple[float, float] = (-np.inf, np.inf)
) -> Interval:
    """The mean of one value a seed, and its 95 % t interval: mean +- t(0.975, n - 1) s / sqrt(n).

    Seeds without a value (NaN) are left out. Values are taken to be the means of whole
    runs; ``within`` cuts the interval to what is possible, as (0, 1) for shares.
    """
    from scipy.special import stdtrit  # here, as it takes longer to import than all of localface

    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    if len(known) < 2:
        return Interval(float(known[0]) if len(known) else float("nan"), float("nan"), float("nan"))
    mean, half = (
        known.mean(),
        stdtrit(len(known) - 1, 0.975) * known.std(ddof=1) / np.sqrt(len(known)),
    )
    return Interval(
        float(mean), max(float(mean - half), within[0]), min(float(mean + half), within[1])
    )


def bootstrapped(
    values: Sequence[float] | Array,
    *,
    of: Callable[..., Any] = np.median,
    n: int = 2000,
    seed: int = 0,
) -> Interval:
    """A figure of the values (their median, say) and its 95 % percentile bootstrap interval; NaN is left out.

    ``of`` takes an array and ``axis=``, as NumPy's own do.
    """
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    if len(known) < 2:
        return Interval(float(known[0]) if len(known) else float("nan"), float("nan"), float("nan"))
    drawn = np.random.default_rng(seed).integers(0, len(known), (n, len(known)))
    low, high = np.quantile(of(known[drawn], axis=1), [0.025, 0.975])
    return Interval(float(of(known, axis=0)), float(low), float(high))


def seconds(values: Sequence[float] | Array) -> Seconds:
    """The median and the 95th percentile of times."""
    known = np.asarray(values, dtype=np.float64)
    if not len(known):
        return Seconds(float("nan"), float("nan"))
    return Seconds(float(np.median(known)), float(np.quantile(known, 0.95)))
