"""Codes: the numbers that values, ranges and categories of a feature stand for."""

from __future__ import annotations

from math import isfinite
from numbers import Real
from typing import TypeVar

import numpy as np

from localface.data.dates import day_of_value
from localface.data.declared import DeclaredFeature
from localface.errors import ConstraintError, DataError, did_you_mean, list_names

FeatureValue = str | bool | int | float
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

MOST_EXACT = 2**53  # the largest count up to which every whole number is a float


class HashableDict(dict[_Key, _Value]):
    """A dict that a feature holds: it is not changed any more, so that both have a hash."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self.items()))


def finite_number(value: object) -> float | None:
    """Return a finite number as a float; None for anything else, truth values among it."""
    if type(value) is float:
        return value if isfinite(value) else None
    if isinstance(value, bool | np.bool_ | np.timedelta64) or not isinstance(value, Real):
        return None
    try:
        found = float(value)
    except OverflowError:  # a whole number of more than 308 digits
        return None
    return found if isfinite(found) else None


def range_codes(feature: DeclaredFeature, bounds: tuple[object, object]) -> tuple[float, float]:
    """Turn (low, high) in the user's terms into codes; ``None`` is open."""
    low = _range_end_code(feature, bounds[0], -np.inf)
    high = _range_end_code(feature, bounds[1], np.inf)
    if low > high:
        text = f"{bounds[0]!r} to {bounds[1]!r}"
        raise ConstraintError(
            f"the bounds of {feature.name!r}, {text}, are the wrong way round: give (low, high)",
            feature=feature.name,
        )
    return low, high


def category_code(feature: DeclaredFeature, value: object) -> float:
    """Return the code of a category that a constraint names."""
    try:
        if value in feature.categories:
            return feature.code(value)
        raise unseen_category_error(feature, value)
    except DataError as error:
        raise ConstraintError(str(error), feature=error.feature) from None


def unseen_category_error(feature: DeclaredFeature, value: object) -> DataError:
    """Say that a value is none of a feature's categories, and what they are."""
    known = feature.categories or ()
    return DataError(
        f"{feature.name!r} has the unseen category {value!r}{did_you_mean(value, known)}: "
        f"the schema knows {list_names(known)}",
        feature=feature.name,
    )


def too_large_error(name: str) -> DataError:
    """Say that whole numbers are larger than those that are told apart."""
    return DataError(
        f"{name!r} holds numbers too large to be kept exactly: is it an identifier? drop it",
        feature=name,
    )


def _range_end_code(feature: DeclaredFeature, end: object, open_end: float) -> float:
    if end is None or (isinstance(end, float) and end == open_end):
        return open_end
    if feature.categories is not None:
        return category_code(feature, end)
    found = finite_number(day_of_value(feature, end))
    if found is None:
        raise ConstraintError(
            f"a bound of {feature.name!r} is {end!r}: give a number, or None where it is open",
            feature=feature.name,
        )
    return found
