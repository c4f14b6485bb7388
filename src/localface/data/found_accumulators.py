"""Finds columns that add up over time: what somebody has paid in all since they came."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from localface.data.own_names import is_running_time, may_add_up_by_name
from localface.types import Array

_FEWEST_ROWS = 50
_MOST_COLUMNS = 60  # numbers that are tried as what adds up, or as how fast
_MOST_ROWS = 2000  # rows on which it is tried
_MOST_TIMES = 4  # columns that tell a time, each tried
_SHARE = 0.8  # of the rows that have to agree, and over which a time has to differ
_CLOSE = float(np.log(1.25))  # how far they may be off: rates change a little over the time
_LEAST_RANGE = float(np.log(4))  # by how much times have to differ to tell anything
_TELLS_MORE = 0.7  # share of what is left unexplained by the time that a rate may leave
_RISES_WITH = 0.7  # rank correlation from which a total is taken to rise with a time


@dataclass(frozen=True, slots=True)
class Accumulator:
    """A column that adds up over a time; ``rate`` is how fast, where a column tells it."""

    name: str
    over: str
    rate: str | None

    @property
    def note(self) -> str:
        """What was seen, what follows from it, and what to write otherwise."""
        if self.rate is None:
            return (
                f"{self.name!r} is a total by its name that rises with {self.over!r}: if it adds "
                f"up over time, schema.with_({self.name!r}, moves='up')"
            )
        return (
            f"{self.name!r} is about {self.over!r} times {self.rate!r}: it adds up over time, and "
            f"moves up; to let it change only with the time, schema.link({self.over!r}, "
            f"{self.name!r}); if that is wrong, schema.with_({self.name!r}, moves='freely')"
        )


def find_accumulators(numbers: Mapping[str, Array]) -> Iterator[Accumulator]:
    """Find columns that are about a time multiplied by a rate, or are totals that rise with one.

    Times are known by their names, so that a product of other things is none. NaN is no value.
    """
    some = {name: values[:_MOST_ROWS] for name, values in numbers.items()}
    times = [name for name in some if is_running_time(name)][:_MOST_TIMES]
    others = [name for name in some if name not in times][:_MOST_COLUMNS]
    for name in others:
        found = _accumulator(name, times, others, some)
        if found is not None:
            yield found


def _accumulator(
    name: str, times: list[str], others: list[str], numbers: Mapping[str, Array]
) -> Accumulator | None:
    """What a column adds up over, and how fast: by the rate that fits best."""
    fits = {
        (over, rate): off
        for over in times
        for rate in others
        if rate != name
        and (off := _how_far_off(numbers[name], numbers[over], numbers[rate])) is not None
    }
    if fits:
        over, rate = min(fits, key=lambda pair: fits[pair])
        return Accumulator(name, over, rate)
    if may_add_up_by_name(name):
        for over in times:
            if _rises_with(numbers[name], numbers[over]):
                return Accumulator(name, over, None)
    return None


def _how_far_off(total: Array, time: Array, rate: Array) -> float | None:
    """How far a column is from a time multiplied by a rate; None where it is not about that.

    The time has to differ by much, and the rate has to tell more than the time alone: otherwise
    any number would do for it.
    """
    known = ~(np.isnan(total) | np.isnan(time) | np.isnan(rate))
    some = known & (total > 0) & (time > 0) & (rate > 0)
    if some.sum() < max(_FEWEST_ROWS, _SHARE * known.sum()):
        return None
    log_total, log_time, log_rate = (np.log(one[some]) for one in (total, time, rate))
    if min(_range(log_time), _range(log_total)) < _LEAST_RANGE:
        return None
    by_both = _distances(log_total - log_time - log_rate)
    by_time = _distances(log_total - log_time)
    if (by_both <= _CLOSE).mean() < _SHARE or by_both.mean() > _TELLS_MORE * by_time.mean():
        return None
    return float(by_both.mean())


def _distances(values: Array) -> Array:
    return np.asarray(np.abs(values - np.median(values)))


def _range(values: Array) -> float:
    low, high = np.quantile(values, [(1 - _SHARE) / 2, (1 + _SHARE) / 2])
    return float(high - low)


def _rises_with(total: Array, time: Array) -> bool:
    """Whether a total is never negative and rises with a time, in ranks."""
    both = ~(np.isnan(total) | np.isnan(time))
    if both.sum() < _FEWEST_ROWS or (total[both] < 0).any():
        return False
    first = _ranks(total[both])
    second = _ranks(time[both])
    if min(len(np.unique(first)), len(np.unique(second))) < 3:
        return False
    return float(np.corrcoef(first, second)[0, 1]) >= _RISES_WITH


def _ranks(values: Array) -> Array:
    """The rank of each value; equal ones share the middle of theirs."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - counts / 2)[which])
