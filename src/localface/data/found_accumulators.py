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
_FEW_ROWS = 100  # rows that rule out most rates
_SHARE_OF_FEW = 0.6  # of them that have to agree, where chance may take some away
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
    times = [name for name in numbers if is_running_time(name)][:_MOST_TIMES]
    if not times:
        return
    others = [name for name in numbers if name not in times][:_MOST_COLUMNS]
    some = {name: numbers[name][:_MOST_ROWS] for name in (*times, *others)}
    logs = {name: _logarithms(values) for name, values in some.items()}
    for name in others:
        fits = _fitting_pairs(name, times, others, logs)
        if fits:
            over, rate = min(fits, key=lambda pair: fits[pair])
            yield Accumulator(name, over, rate)
        elif may_add_up_by_name(name):
            rising = [over for over in times if _rises_with(some[name], some[over])]
            yield from (Accumulator(name, over, None) for over in rising[:1])


def _logarithms(values: Array) -> Array:
    """The logarithms of a column: NaN where there is no value, infinite where it is not above 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(values <= 0, -np.inf, np.log(values))


def _fitting_pairs(
    name: str, times: list[str], others: list[str], logs: Mapping[str, Array]
) -> dict[tuple[str, str], float]:
    """The times and rates of which a column is about the product, and how far it is off."""
    fits = {}
    rates = [rate for rate in others if rate != name]
    for over in times:
        for rate in _possible_rates(name, over, rates, logs):
            off = _how_far_off(logs[name], logs[over], logs[rate])
            if off is not None:
                fits[over, rate] = off
    return fits


def _possible_rates(name: str, over: str, rates: list[str], logs: Mapping[str, Array]) -> list[str]:
    """The rates that some rows do not rule out: all are held against them at once."""
    if not rates:
        return []
    some = slice(None, None, max(1, len(logs[name]) // _FEW_ROWS))
    with np.errstate(invalid="ignore"):
        off = (logs[name] - logs[over])[some] - np.stack([logs[rate][some] for rate in rates])
    known = np.isfinite(off)
    counts = known.sum(axis=1)
    middle = np.sort(np.where(known, off, np.inf), axis=1)[np.arange(len(off)), counts // 2]
    with np.errstate(invalid="ignore"):
        close = (np.abs(off - middle[:, None]) <= _CLOSE).sum(axis=1)
    return [rate for rate, fine in zip(rates, close >= _SHARE_OF_FEW * counts, strict=True) if fine]


def _how_far_off(total: Array, time: Array, rate: Array) -> float | None:
    """How far a column is from a time multiplied by a rate, in logarithms; None where it is not so.

    The time has to differ by much, and the rate has to tell more than the time alone: otherwise
    any number would do for it.
    """
    known = ~(np.isnan(total) | np.isnan(time) | np.isnan(rate))
    some = np.isfinite(total) & np.isfinite(time) & np.isfinite(rate)
    if some.sum() < max(_FEWEST_ROWS, _SHARE * known.sum()):
        return None
    if min(_range(time[some]), _range(total[some])) < _LEAST_RANGE:
        return None
    by_both = _distances(total[some] - time[some] - rate[some])
    by_time = _distances(total[some] - time[some])
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
