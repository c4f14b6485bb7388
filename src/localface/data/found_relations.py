"""Finds what columns owe to each other: totals, ordered pairs, numbers that a category fixes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np

from localface.types import Array, Mask

_FEWEST_ROWS = 30
_MOST_COLUMNS = 60  # numbers among which totals are looked for
_PROBED = 200  # rows on which most candidates fail at once
_SAME = 1e-6  # share of the larger of two numbers by which rounding may part them
_EXPLAINED_BY_CHANCE = 1e-6  # chance up to which an order that always holds is no accident
_MOST_CATEGORIES = 100  # more of them name a person or a place rather than a class
_LEAST_REPEATS = 5  # rows for one category, on average, in a number that a category fixes
_ENDS = (("min", "max"), ("low", "high"), ("lower", "upper"), ("start", "end"), ("first", "last"))


def suggest_relations(
    numbers: Mapping[str, Array], categories: Mapping[str, Array], *, weight: float = 1.0
) -> list[str]:
    """Say which relations hold in every row, with the line to write for each.

    ``numbers`` are columns with NaN where a value is missing, ``categories`` columns of codes,
    -1 where one is missing. ``weight`` is how much of a row's evidence counts.
    """
    n_rows = len(next(iter((*numbers.values(), *categories.values())), np.zeros(0)))
    if n_rows < _FEWEST_ROWS:
        return []
    some = {name: values for name, values in numbers.items() if _varies(values)}
    if len(some) > _MOST_COLUMNS:
        some = dict(list(some.items())[:_MOST_COLUMNS])
    totals = list(_totals(some))
    return [*totals, *_ordered_pairs(some, weight), *_fixed_numbers(some, categories, weight)]


def _varies(values: Array) -> bool:
    """Whether a column has numbers, more than two different ones."""
    seen = values[~np.isnan(values)]
    return len(seen) >= _FEWEST_ROWS and len(np.unique(seen[:_PROBED])) > 2


def _totals(numbers: Mapping[str, Array]) -> Iterator[str]:
    """Sums, means and products of two columns that are a third in every row."""
    names = list(numbers)
    if len(names) < 3:
        return
    n_rows = len(numbers[names[0]])
    probes = np.stack([numbers[name][:: max(1, n_rows // _FEWEST_ROWS)] for name in names])
    for i, j in combinations(range(len(names)), 2):
        a, b = names[i], names[j]
        for k in _candidates(probes, probes[i] + probes[j], (i, j)):
            if _agree(numbers[names[k]], numbers[a] + numbers[b]):
                yield (
                    f"{names[k]!r} is {a!r} + {b!r} in every row: to keep it so, "
                    f'schema.relate({names[k]!r}, "=", {{{a!r}: 1, {b!r}: 1}})'
                )
        for k in _candidates(probes, (probes[i] + probes[j]) / 2, (i, j)):
            mean = (numbers[a] + numbers[b]) / 2
            if _agree(numbers[names[k]], mean) and not _agree(numbers[a], mean):
                yield (
                    f"{names[k]!r} is the mean of {a!r} and {b!r} in every row: to keep it so, "
                    f'schema.relate({names[k]!r}, "=", {{{a!r}: 0.5, {b!r}: 0.5}})'
                )
        for k in _candidates(probes, probes[i] * probes[j], (i, j)):
            if _agree(numbers[names[k]], numbers[a] * numbers[b]):
                yield (
                    f"{names[k]!r} is {a!r} times {b!r} in every row: to keep it so, "
                    f"schema.link({names[k]!r}, {a!r}, {b!r})"
                )


def _candidates(probes: Array, wanted: Array, besides: tuple[int, int]) -> list[int]:
    """Which columns have the wanted values in some rows, as far as there are any."""
    apart = np.abs(probes - wanted) > _SAME * np.maximum(np.abs(probes), np.abs(wanted))
    return [k for k in np.flatnonzero(~apart.any(axis=1)).tolist() if k not in besides]


def _agree(one: Array, other: Array) -> bool:
    """Whether two columns are the same wherever both have values, up to rounding, and vary."""
    both = ~(np.isnan(one) | np.isnan(other))
    if both.sum() < min(_FEWEST_ROWS, len(one)):
        return False
    first = one[both]
    close = np.abs(first - other[both]) <= _SAME * np.maximum(np.abs(first), np.abs(other[both]))
    return bool(close.all()) and len(np.unique(first)) > 2


def _ordered_pairs(numbers: Mapping[str, Array], weight: float) -> Iterator[str]:
    """Pairs named as ends (hr_min, hr_max) of which one never exceeds the other, not by chance."""
    for low, high in _named_ends(list(numbers)):
        first, second = numbers[low], numbers[high]
        both = ~(np.isnan(first) | np.isnan(second))
        if both.sum() < _FEWEST_ROWS or (first[both] > second[both]).any():
            continue
        if _chance_of_order(first[both], second[both], weight) < _EXPLAINED_BY_CHANCE:
            yield (
                f"{low!r} never exceeds {high!r}: to keep it so, "
                f'schema.relate({low!r}, "<=", {high!r})'
            )


def _named_ends(names: list[str]) -> Iterator[tuple[str, str]]:
    """Pairs of names that differ in one word alone: min and max, low and high."""
    by_lower = {name.lower(): name for name in names}
    for low, high in _ENDS:
        for name in names:
            other = re.sub(rf"(?i)(?<![a-z]){low}(?![a-z])", high, name).lower()
            if other != name.lower() and other in by_lower:
                yield name, by_lower[other]


def _chance_of_order(low: Array, high: Array, weight: float) -> float:
    """How likely the order would hold in every row if the columns were independent."""
    share = float((np.searchsorted(np.sort(high), low, side="left") / len(high)).mean())
    return float((1 - share) ** (weight * len(low)))


def _fixed_numbers(
    numbers: Mapping[str, Array], categories: Mapping[str, Array], weight: float
) -> Iterator[str]:
    """Numbers that are the same in all rows of one category."""
    for category, codes in categories.items():
        known = codes >= 0
        for name, values in numbers.items():
            rows = known & ~np.isnan(values)
            if _is_fixed_by(codes[rows], values[rows], weight):
                yield (
                    f"{name!r} is the same in all rows with the same {category!r}: to change them "
                    f"together, schema.link({category!r}, {name!r})"
                )


def _is_fixed_by(codes: Array, values: Array, weight: float) -> bool:
    """Whether each code has one value, in rows enough that it is no chance."""
    if len(codes) < _FEWEST_ROWS:
        return False
    probe = slice(0, _PROBED)
    if not _one_value_each(codes[probe], values[probe]):
        return False
    n_codes = len(np.unique(codes))
    repeated = weight * len(codes) >= _LEAST_REPEATS * n_codes
    return repeated and 1 < n_codes <= _MOST_CATEGORIES and _one_value_each(codes, values)


def _one_value_each(codes: Array, values: Array) -> bool:
    order = np.argsort(codes, kind="stable")
    same: Mask = np.diff(codes[order]) == 0
    return bool((np.diff(values[order])[same] == 0).all())
