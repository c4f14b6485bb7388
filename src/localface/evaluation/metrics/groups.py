"""Fairness: whether some people are failed, or pay more, than others."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from localface.errors import DataError
from localface.evaluation.metrics.intervals import Interval, Share, difference, success
from localface.types import Array, Ids, Mask

_MIDDLE = (5, 6)  # the deciles on either side of the median person


class Line(NamedTuple):
    """One group: how many were asked and found, the share with its Wilson interval, the median cost of the found."""

    group: Hashable
    asked: int
    found: int
    share: float
    low: float
    high: float
    cost: float


class Gap(NamedTuple):
    """Success of the lowest density decile, that of the people around the median, and how much less the first is."""

    lowest: Share
    middle: Share
    gap: Interval


def by_group(
    found: Mask | Sequence[bool], costs: Array | Sequence[float], groups: Sequence[Hashable]
) -> list[Line]:
    """Success and cost of each group, in the order of their names."""
    flags, paid = _checked(found, costs, len(groups))
    every = sorted(set(groups), key=lambda group: (str(type(group)), group))
    return [
        _line(name, np.array([group == name for group in groups], dtype=bool), flags, paid)
        for name in every
    ]


def by_decile(
    found: Mask | Sequence[bool], costs: Array | Sequence[float], shares: Array
) -> list[Line]:
    """Success and cost by the density decile that people start from, 1 the loneliest; ten lines, empty ones too."""
    flags, paid = _checked(found, costs, len(shares))
    decile = deciles(shares)
    return [_line(i, decile == i, flags, paid) for i in range(1, 11)]


def deciles(shares: Array) -> Ids:
    """The density decile (1 to 10) of people, given the share of the population on less common ground than each."""
    return np.clip(np.floor(np.asarray(shares, dtype=np.float64) * 10), 0, 9).astype(np.int64) + 1


def decile_gap(found: Mask | Sequence[bool], shares: Array) -> Gap:
    """Success in the fifth and sixth density decile, less that in the lowest: 0 where the lonely are served as well."""
    flags, decile = np.asarray(found, dtype=bool), deciles(shares)
    lowest, middle = success(flags[decile == 1]), success(flags[np.isin(decile, _MIDDLE)])
    return Gap(lowest, middle, difference(middle, lowest))


def _line(name: Hashable, mine: Mask, flags: Mask, paid: Array) -> Line:
    share = success(flags[mine])
    some = paid[mine & flags & ~np.isnan(paid)]
    cost = float(np.median(some)) if len(some) else float("nan")
    return Line(name, share.of, share.n, share.share, share.low, share.high, cost)


def _checked(
    found: Mask | Sequence[bool], costs: Array | Sequence[float], n: int
) -> tuple[Mask, Array]:
    flags, paid = np.asarray(found, dtype=bool), np.asarray(costs, dtype=np.float64)
    if len(flags) != n or len(paid) != n:
        raise DataError(
            f"{len(flags)} answers and {len(paid)} costs for {n} people: give one of each, NaN for no cost"
        )
    return flags, paid
