"""The values that the data holds of each feature, for telling what lies outside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from localface.data.absence import is_absent
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.types import Array

_ORDINARY = (0.01, 0.99)  # quantiles between which a value is ordinary
_OUTER = 0.05  # share of the rows at each end in which the spacing is measured
_SHIFTS = (10, 100, 1000)  # powers of ten by which a unit is mistaken
_ENOUGH_TO_DIFFER = 50  # rows from which whole numbers that all differ are those of rows
_SAME = 1e-9  # by how much rounding may make a gap look wider


@dataclass(frozen=True, slots=True)
class SeenValues:
    """What the rows hold of one feature, in codes.

    ``low_gap`` and ``high_gap`` are the widest gaps between neighbouring values among the
    lowest and the highest twentieth of the rows, at least one resolution. ``ordinary`` are the
    1 % and 99 % quantiles. ``codes`` are the categories that some row has; None for numbers.
    ``all_differ`` tells of whole numbers that are a person's own that no two rows have the same,
    as the numbers of patients have.
    """

    lowest: float
    highest: float
    low_gap: float
    high_gap: float
    ordinary: tuple[float, float]
    codes: frozenset[int] | None = None
    all_differ: bool = False

    def including(self, codes: Iterable[float]) -> SeenValues:
        """Return the same with further codes among what was seen."""
        more = [float(code) for code in codes]
        return replace(
            self,
            lowest=min([self.lowest, *more]),
            highest=max([self.highest, *more]),
            codes=None if self.codes is None else self.codes | {round(code) for code in more},
        )

    @property
    def holds_nothing(self) -> bool:
        """Whether no row has a value."""
        return self.lowest == -np.inf

    @property
    def is_the_same(self) -> bool:
        """Whether all rows that have a value have the same."""
        return self.holds_nothing or self.lowest == self.highest

    @property
    def is_whole_range(self) -> bool:
        """Whether nothing between the lowest and the highest is a category that no row has."""
        if self.codes is None or self.holds_nothing:
            return not self.holds_nothing
        return len(self.codes) == 1 + self.highest - self.lowest

    def holds_category(self, code: float) -> bool:
        """Tell whether some row has this category; numbers have none."""
        return self.codes is None or round(code) in self.codes

    def is_below_all(self, code: float) -> bool:
        """Tell whether a number is lower than every row's, by more than the spacing there."""
        return self.lowest - code > self.low_gap * (1 + _SAME)

    def is_above_all(self, code: float) -> bool:
        """Tell whether a number is higher than every row's, by more than the spacing there."""
        return code - self.highest > self.high_gap * (1 + _SAME)

    def ordinary_shift(self, feature: Feature, code: float) -> float | None:
        """Return the ordinary value that a number becomes when its decimal point moves.

        It is None for a number that is ordinary itself, and where no shift helps.
        """
        low, high = self.ordinary
        if self.codes is not None or low <= code <= high or code == 0:
            return None
        for factor in _SHIFTS:
            for moved in (code / factor, code * factor):
                shifted = float(number_as_typed(moved))
                possible = not feature.whole or shifted == round(shifted)
                if possible and low <= shifted <= high:
                    return shifted
        return None


@dataclass(frozen=True, slots=True, eq=False)
class SeenRanges:
    """Between which numbers all features were seen: a quick look before a close one."""

    lowest: Array
    highest: Array

    @classmethod
    def of(cls, seen: Sequence[SeenValues]) -> SeenRanges:
        """The ranges of what was seen; empty where some category between two was not."""
        ranges = [(one.lowest, one.highest) if one.is_whole_range else (1.0, 0.0) for one in seen]
        lowest, highest = np.array(ranges).reshape(-1, 2).T
        return cls(lowest, highest)

    def holds(self, record: Array) -> bool:
        """Tell whether all values of a record are there and in their ranges."""
        return bool(((record >= self.lowest) & (record <= self.highest)).all())


def number_as_typed(code: float) -> str:
    """Write a number with every digit that somebody may have typed.

    >>> number_as_typed(41.0), number_as_typed(0.004), number_as_typed(1234567.5)
    ('41', '0.004', '1234567.5')
    """
    return f"{code:.15g}"


def read_seen_values(schema: Schema, records: Array) -> tuple[SeenValues, ...]:
    """Read off records what they hold of each feature."""
    return tuple(_seen_values(feature, records[:, j]) for j, feature in enumerate(schema))


def _seen_values(feature: Feature, codes: Array) -> SeenValues:
    """Read off one column what it holds; what is missing is no value."""
    codes = codes[~is_absent(feature, codes)]
    if not len(codes):
        nothing = frozenset[int]() if feature.categories is not None else None
        return SeenValues(-np.inf, np.inf, 0.0, 0.0, (-np.inf, np.inf), nothing)
    outer = [*_ORDINARY, _OUTER, 1 - _OUTER]
    low, high, low_edge, high_edge = np.quantile(codes, outer).tolist()
    categories = None
    if feature.categories is not None:
        categories = frozenset(np.flatnonzero(np.bincount(codes.astype(np.int64))).tolist())
    least = float(feature.resolution or 0.0)
    return SeenValues(
        lowest=float(codes.min()),
        highest=float(codes.max()),
        low_gap=max(least, _widest_gap_above(-codes, -low_edge)),
        high_gap=max(least, _widest_gap_above(codes, high_edge)),
        ordinary=(low, high),
        codes=categories,
        all_differ=_all_differ(feature, codes),
    )


def _all_differ(feature: Feature, codes: Array) -> bool:
    if not (feature.own and feature.whole) or len(codes) < _ENOUGH_TO_DIFFER:
        return False
    return len(np.unique(codes)) == len(codes)


def _widest_gap_above(codes: Array, edge: float) -> float:
    """The widest gap between values from an edge upwards, the last one below it among them."""
    values = np.unique(codes[codes >= edge])
    below = codes[codes < edge]
    if len(below):
        values = np.append(below.max(), values)
    return float(np.diff(values).max(initial=0.0))
