"""Codes: the numbers that values, ranges and categories of a feature stand for."""

from __future__ import annotations

from contextlib import suppress
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

_YES = frozenset({"yes", "y", "true", "t", "ja", "si", "oui", "on"})
_NO = frozenset({"no", "n", "false", "f", "nein", "non", "off"})

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
    truth = _truth(value)
    alike = [] if truth is None else [one for one in known if _truth(one) is truth]
    near = f" (did you mean {alike[0]!r}?)" if len(alike) == 1 else did_you_mean(value, known)
    return DataError(
        f"{feature.name!r} has the unseen category {value!r}{near}: "
        f"the schema knows {list_names(known)}",
        feature=feature.name,
    )


def no_number_error(feature: DeclaredFeature, value: object) -> DataError:
    """Say that a value is no number, and which one a text spells."""
    if not isinstance(value, str):
        return DataError(
            f"{feature.name!r} is {value!r}: a finite number is wanted", feature=feature.name
        )
    spelt = _spelt_number(value)
    wanted = "a finite number is wanted" if spelt is None else f"give the number {spelt}"
    return DataError(
        f"{feature.name!r} is the text {value!r}: {wanted}", feature=feature.name, suggestion=spelt
    )


def _spelt_number(text: str) -> int | float | None:
    for kind in (int, float):
        with suppress(ValueError):
            number = kind(text)
            return None if finite_number(number) is None else number
    return None


def _truth(value: object) -> bool | None:
    """What a category or a value says where it plainly says yes or no; None where it does not."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    word = value.strip().lower() if isinstance(value, str) else ""
    return True if word in _YES else False if word in _NO else None


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
