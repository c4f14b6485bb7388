"""What measuring a missing value could show: said beside an answer, and never credited to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.answers.wording import join_words
from localface.data.feature import Feature
from localface.types import Array, Mask

_RANGES_NAMED = 3  # ranges, or categories, that are named


@dataclass(frozen=True, slots=True)
class Measurement:
    """A feature that may be measured, and how many of the values that others have would do.

    ``n_values`` are the different values tried, everything else as it is; ``n_enough`` of them
    reach the target. ``enough`` says which, for people; it is empty where all or none do.
    """

    feature: str
    n_values: int
    n_enough: int
    enough: str = ""

    @property
    def is_enough(self) -> bool:
        """Whether measuring alone would do, whichever of others' values it shows."""
        return self.n_enough == self.n_values


def measurement_sentence(measurement: Measurement, name: str) -> str:
    """Say what finding it out could show; ``name`` is what the feature is called.

    >>> measurement_sentence(Measurement("lact", 200, 50, "1.2 mmol/L or less"), "lactate")
    'find out lactate: enough if it is 1.2 mmol/L or less (50 of the 200 different values \
that others have); nothing here counts on it'
    """
    if not measurement.n_enough:
        return f"finding out {name} is not enough, whichever of others' values it is"
    if measurement.is_enough:
        shows = f"enough whichever of others' {measurement.n_values:,} values it is"
        return f"find out {name}: {shows}; nothing here counts on it"
    of = f"{measurement.n_enough:,} of the {measurement.n_values:,} different values"
    shows = f"if it is {measurement.enough}" if measurement.enough else "in some cases"
    counted = f"{of} that others have"
    return f"find out {name}: enough {shows} ({counted}); nothing here counts on it"


def measuring_alone_sentence(name: str) -> str:
    """Say that nothing has to change where a value is found out: whatever it is, it is enough."""
    return (
        f"finding out {name} may be all it takes: the target is reached with each value that "
        "others have"
    )


def values_in_words(feature: Feature, codes: Array, enough: Mask) -> str:
    """Say which values are enough: categories, or the ranges between those that are not.

    >>> warmth = Feature("warmth", unit="°C", resolution=1)
    >>> tried = np.array([15.0, 16.0, 17.0, 18.0, 22.0])
    >>> values_in_words(warmth, tried, (tried > 15) & (tried < 20))
    '16 to 18 °C'
    >>> values_in_words(warmth, tried, tried < 20)
    '18 °C or less'
    """
    if enough.all() or not enough.any():
        return ""
    order = np.argsort(codes, kind="stable")
    codes, enough = codes[order], enough[order]
    if feature.categories is not None:
        named = [feature.format(one) for one in codes[enough].tolist()]
        more = len(named) - _RANGES_NAMED
        return join_words([*named[:_RANGES_NAMED], f"{more} more"] if more > 0 else named, "or")
    runs = _runs(enough)
    if len(runs) > _RANGES_NAMED:
        runs = [(runs[0][0], runs[-1][1])]
        return f"certain values from {_range_in_words(feature, codes, *runs[0], open_ends=False)}"
    return join_words([_range_in_words(feature, codes, *run) for run in runs], "or")


def _runs(enough: Mask) -> list[tuple[int, int]]:
    """The first and the last position of each run of values that are enough."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], enough.astype(np.int8), [0]])))
    return [(int(first), int(end) - 1) for first, end in edges.reshape(-1, 2)]


def _range_in_words(
    feature: Feature, codes: Array, first: int, last: int, *, open_ends: bool = True
) -> str:
    """One range of values; where nothing was tried beyond it, it is open there."""
    unit = f" {feature.unit}" if feature.unit else ""
    low, high = (feature.format(float(codes[i])) for i in (first, last))
    if open_ends and first == 0:
        return f"{high}{unit} or less"
    if open_ends and last == len(codes) - 1:
        return f"{low}{unit} or more"
    return f"{low}{unit}" if low == high else f"{low} to {high}{unit}"
