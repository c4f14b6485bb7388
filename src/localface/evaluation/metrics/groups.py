"""Fairness: success for some groups of people compared with others."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from localface.errors import DataError
from localface.evaluation.metrics.intervals import (
    Interval,
    ShareInterval,
    share_difference,
    success_share,
)
from localface.types import Array, Ids, Mask

_MIDDLE = (5, 6)  # the deciles on either side of the median person


class GroupResult(NamedTuple):
    """One group: how many were asked, how many found, their share, what it cost them.

    ``low`` and ``high`` are the ends of the Wilson interval of the share; ``cost`` is the
    median of those found.
    """

    group: Hashable
    asked: int
    found: int
    share: float
    low: float
    high: float
    cost: float


class DecileGap(NamedTuple):
    """Success of the lowest density decile, of the people around the median, and the difference."""

    lowest: ShareInterval
    middle: ShareInterval
    gap: Interval


def by_group(
    found: Mask | Sequence[bool], costs: Array | Sequence[float], groups: Sequence[Hashable]
) -> list[GroupResult]:
    """Success and cost of each group, in the order of their names."""
    flags, paid = _as_checked_arrays(found, costs, len(groups))
    every = sorted(set(groups), key=lambda group: (str(type(group)), group))
    return [
        _group_result(name, np.array([group == name for group in groups], dtype=bool), flags, paid)
        for name in every
    ]


def by_decile(
    found: Mask | Sequence[bool], costs: Array | Sequence[float], shares: Array
) -> list[GroupResult]:
    """Success and cost by the density decile that people start from, 1 the lowest.

    Always ten results, of empty deciles too.
    """
    flags, paid = _as_checked_arrays(found, costs, len(shares))
    decile = deciles(shares)
    return [_group_result(i, decile == i, flags, paid) for i in range(1, 11)]


def deciles(shares: Array) -> Ids:
    """The density decile (1 to 10) of people, given the share of others with a lower density."""
    return np.clip(np.floor(np.asarray(shares, dtype=np.float64) * 10), 0, 9).astype(np.int64) + 1


def lowest_decile_gap(found: Mask | Sequence[bool], shares: Array) -> DecileGap:
    """Success in the fifth and sixth density decile, less that in the lowest: 0 is fair."""
    flags = np.asarray(found, dtype=bool)
    decile = deciles(shares)
    lowest = success_share(flags[decile == 1])
    middle = success_share(flags[np.isin(decile, _MIDDLE)])
    return DecileGap(lowest, middle, share_difference(middle, lowest))


def _group_result(name: Hashable, members: Mask, flags: Mask, paid: Array) -> GroupResult:
    share = success_share(flags[members])
    some = paid[members & flags & ~np.isnan(paid)]
    cost = float(np.median(some)) if len(some) else float("nan")
    return GroupResult(name, share.of, share.n, share.share, share.low, share.high, cost)


def _as_checked_arrays(
    found: Mask | Sequence[bool], costs: Array | Sequence[float], n: int
) -> tuple[Mask, Array]:
    flags = np.asarray(found, dtype=bool)
    paid = np.asarray(costs, dtype=np.float64)
    if len(flags) != n or len(paid) != n:
        raise DataError(
            f"{len(flags)} answers and {len(paid)} costs for {n} people: "
            "give one of each, NaN for no cost"
        )
    return flags, paid
