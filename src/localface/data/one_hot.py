"""Finds columns of 0 and 1 that together tell one category (one-hot, dummies)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from localface.data.frames import ColumnValues, missing_mask
from localface.types import Mask

_FEWEST_ROWS = 10  # fewer rows than this show no group
_SEPARATORS = "_=.:-/ "
_EXPECTED_TWICE = 10  # rows with two ones that independent columns would have, at least
REST = "none of these"
"""The category of rows in which no column of a group is 1."""


@dataclass(frozen=True, slots=True)
class OneHotGroup:
    """Columns that stand side by side, of which exactly one, or at most one, is 1 in each row."""

    name: str
    columns: tuple[str, ...]
    categories: tuple[str, ...]

    @property
    def has_rest(self) -> bool:
        """Whether rows may have none of the columns at 1."""
        return len(self.categories) > len(self.columns)


@dataclass(frozen=True, slots=True)
class FoundGroups:
    """Groups that stand side by side, and columns of others that stand apart."""

    groups: tuple[OneHotGroup, ...]
    apart: tuple[tuple[str, ...], ...]


_COMPARABLE = (bool, int, float, str, np.bool_, np.number)  # others need not say what they equal


@dataclass(frozen=True, slots=True, eq=False)
class HotColumn:
    """A column of 0 and 1: which rows are 1, and which have no value."""

    ones: Mask
    gone: Mask

    def lacks_the_same(self, other: HotColumn) -> bool:
        """Whether the same rows have no value, as in the columns of one group."""
        return bool((self.gone == other.gone).all())


def read_hot_column(values: ColumnValues) -> HotColumn | None:
    """Read a column of 0 and 1, be they numbers, truth values or texts; None of any other."""
    gone = missing_mask(values)
    present = values[~gone]
    if len(present) == 0 or values.ndim != 1:
        return None
    if values.dtype.kind == "O" or values.dtype.kind in "UT":
        if not all(_is_zero_or_one(one) for one in present[:8].tolist()):
            return None
        if not all(issubclass(kind, _COMPARABLE) for kind in set(map(type, present))):
            return None
        distinct = set(present.tolist())
        if not (distinct <= {0, 1} or distinct <= {"0", "1"}):
            return None
        hot = present == next((one for one in distinct if one in (1, "1")), 1)
    elif values.dtype.kind in "biuf":
        hot = present == 1
        if not bool((hot | (present == 0)).all()):
            return None
    else:
        return None
    ones = np.zeros(len(values), dtype=bool)
    ones[~gone] = hot
    return HotColumn(ones, gone)


def _is_zero_or_one(value: object) -> bool:
    """Whether a value is 0 or 1, as a number, a truth value or a text."""
    return isinstance(value, _COMPARABLE) and value in (0, 1, "0", "1")


def find_one_hot_groups(
    names: Sequence[str], hot: Mapping[str, HotColumn], *, weight: float = 1.0
) -> FoundGroups:
    """Find groups among columns; ``hot`` holds those of 0 and 1.

    ``weight`` is how much of a row's evidence counts: less than 1 where people have several.
    """
    found: list[OneHotGroup] = []
    for run in _runs(names, hot):
        if len(run) > 1 and len(hot[run[0]].ones) >= _FEWEST_ROWS:
            found += _groups_in_run(run, hot, set(names), weight)
    wider = {group: _all_of_prefix(group, hot) for group in found}
    apart = dict.fromkeys(one for one in wider.values() if one)
    groups = tuple(group for group in found if not wider[group])
    known = {name for group in groups for name in group.columns}
    known |= {name for columns in apart for name in columns}
    left = {name: hot[name] for name in names if name in hot and name not in known}
    return FoundGroups(groups, (*apart, *_scattered_groups(left, weight)))


def _all_of_prefix(group: OneHotGroup, hot: Mapping[str, HotColumn]) -> tuple[str, ...]:
    """All columns with the prefix of a group, if more than its own belong to it; else none."""
    prefix = group.columns[0].removesuffix(group.categories[-len(group.columns)])
    if not prefix:
        return ()
    first = hot[group.columns[0]]
    every = tuple(
        name
        for name, one in hot.items()
        if name.startswith(prefix) and one.ones.any() and one.lacks_the_same(first)
    )
    if set(every) <= set(group.columns):
        return ()
    at_most_one = np.sum([hot[name].ones for name in every], axis=0).max() <= 1
    return every if at_most_one else ()


def _scattered_groups(hot: Mapping[str, HotColumn], weight: float) -> list[tuple[str, ...]]:
    """Columns with a common prefix, no two side by side, of which one, or at most one, is 1."""
    left = {name: one for name, one in hot.items() if one.ones.any()}
    if len(left) < 2 or len(next(iter(left.values())).ones) < _FEWEST_ROWS:
        return []
    found: list[tuple[str, ...]] = []
    for name in list(left):
        for cut in _cuts(name) if name in left else []:
            alike = [
                one
                for one in left
                if one.startswith(name[:cut]) and left[one].lacks_the_same(left[name])
            ]
            if len(alike) > 1 and _is_one_category([left[one] for one in alike], weight):
                found.append(tuple(alike))
                left = {key: one for key, one in left.items() if key not in alike}
                break
    return found


def _is_one_category(columns: list[HotColumn], weight: float) -> bool:
    """Whether one column is 1 in every row with values, or at most one, and not by chance."""
    ones = np.stack([one.ones for one in columns])[:, ~columns[0].gone]
    n_hot = ones.sum(axis=0)
    if n_hot.max() > 1:
        return False
    return bool(n_hot.min() == 1) or _expected_twice(ones, weight) >= _EXPECTED_TWICE


def _runs(names: Sequence[str], hot: Mapping[str, HotColumn]) -> list[list[str]]:
    """Columns of 0 and 1 that stand side by side and have values in the same rows.

    One that is always 1 ends a run.
    """
    runs: list[list[str]] = [[]]
    for name in names:
        one = hot.get(name)
        if one is None or (one.ones | one.gone).all():
            runs.append([])
        elif runs[-1] and not one.lacks_the_same(hot[runs[-1][0]]):
            runs.append([name])
        else:
            runs[-1].append(name)
    return runs


def _groups_in_run(
    run: list[str], hot: Mapping[str, HotColumn], taken: set[str], weight: float
) -> list[OneHotGroup]:
    """Go through columns side by side: the largest group that begins at each, if any."""
    present = ~hot[run[0]].gone
    ones = {name: hot[name].ones[present] for name in run}
    found = []
    first = 0
    while first < len(run):
        group = None
        if ones[run[first]].any():
            rest = run[first:]
            group = _exact_group(rest, ones, taken) or _dropped_group(rest, ones, taken, weight)
        if group is not None:
            found.append(group)
        first += len(group.columns) if group else 1
    return found


def _exact_group(
    columns: list[str], hot: Mapping[str, Mask], taken: set[str]
) -> OneHotGroup | None:
    """The first columns, if exactly one of them is 1 in every row; by data alone."""
    n_hot = np.zeros(len(hot[columns[0]]), dtype=np.int64)
    for n, column in enumerate(columns, start=1):
        n_hot += hot[column]
        if n_hot.max() > 1:
            return None
        if n > 1 and n_hot.min() == 1:
            return _named_group(columns[:n], columns[n:], hot, taken)
    return None


def _dropped_group(
    columns: list[str], hot: Mapping[str, Mask], taken: set[str], weight: float
) -> OneHotGroup | None:
    """The first columns with a common prefix, if at most one is 1, and not by chance."""
    for cut in _cuts(columns[0]):
        prefix = columns[0][:cut]
        n = next((i for i, one in enumerate(columns) if not one.startswith(prefix)), len(columns))
        if n < 2:
            continue
        ones = np.stack([hot[column] for column in columns[:n]])
        if ones.sum(axis=0).max() > 1 or _expected_twice(ones, weight) < _EXPECTED_TWICE:
            continue
        whole = _longest_cut(columns[:n])
        name = columns[0][:whole].rstrip(_SEPARATORS)
        labels = [column[whole:] for column in columns[:n]]
        if "" in labels or REST in labels or name in taken:
            continue
        return OneHotGroup(name, tuple(columns[:n]), (REST, *labels))
    return None


def _expected_twice(ones: Mask, weight: float) -> float:
    """How many pairs of ones the rows would have if the columns were independent."""
    shares = ones.mean(axis=1)
    pairs = (shares.sum() ** 2 - (shares**2).sum()) / 2
    return float(weight * ones.shape[1] * pairs)


def _named_group(
    columns: list[str], others: list[str], hot: Mapping[str, Mask], taken: set[str]
) -> OneHotGroup:
    """Name a group by the prefix of its columns, or by all of them where they share none.

    Columns that follow, share the prefix and are never 1 are categories that nobody has.
    """
    cut = _longest_cut(columns)
    prefix = columns[0][:cut]
    name = prefix.rstrip(_SEPARATORS)
    labels = [column[cut:] for column in columns]
    if not name or name in taken or "" in labels:
        return OneHotGroup(" / ".join(columns), tuple(columns), tuple(columns))
    for other in others:
        if not other.startswith(prefix) or hot[other].any():
            break
        columns = [*columns, other]
    return OneHotGroup(name, tuple(columns), tuple(column[cut:] for column in columns))


def _longest_cut(columns: list[str]) -> int:
    """Where the longest prefix ends that all columns share; 0 where they share none."""
    prefixes = [columns[0][:cut] for cut in _cuts(columns[0])]
    shared = [one for one in prefixes if all(column.startswith(one) for column in columns)]
    return max(map(len, shared), default=0)


def _cuts(name: str) -> list[int]:
    """Where a prefix of a name may end, the shortest first."""
    return [i + 1 for i, one in enumerate(name) if one in _SEPARATORS and i > 0]
