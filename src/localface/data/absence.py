"""Values that are not there: missing ones, and codes that stand for a reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from localface.data.codes import FeatureValue, HashableDict, finite_number
from localface.data.declared import DeclaredFeature
from localface.errors import SchemaError, did_you_mean, list_names
from localface.types import Array, Floats, Ids, Mask

MissingRule = Literal["keep", "may be measured", "refuse"]
MISSING_RULES: tuple[str, ...] = get_args(MissingRule)
MISSING = float("nan")
"""The code of a value that is missing."""
_NEVER_MISSING = frozenset({str, int, bool})


class CodeLabels(HashableDict[FeatureValue, str]):
    """What codes of a feature stand for: numbers, or categories, that are no values."""


def checked_missing(feature: DeclaredFeature) -> str:
    """Check what is to happen where a feature has no value."""
    given = feature.missing
    if given not in MISSING_RULES:
        raise SchemaError(
            f"missing of {feature.name!r} is {given!r}{did_you_mean(given, MISSING_RULES)}: "
            f"use one of {list_names(MISSING_RULES)}",
            feature=feature.name,
        )
    return str(given)


def checked_codes(feature: DeclaredFeature) -> CodeLabels | None:
    """Check the codes that are no values: a dict from code to what it stands for."""
    given = feature.codes
    if given is None:
        return None
    if feature.kind == "ordinal":
        raise SchemaError(
            f"{feature.name!r} is ordinal and can have no codes=: what stands for no value has no "
            "place in an order; declare it kind='categorical', or leave it missing in the table",
            feature=feature.name,
        )
    if isinstance(given, Mapping):
        pairs = list(given.items())
    elif isinstance(given, Iterable) and not isinstance(given, str):
        pairs = [(code, None) for code in given]
    else:
        raise _codes_error(feature, given)
    found = CodeLabels()
    for key, label in pairs:
        code = _code_of_key(feature, key)
        if code is None or not (label is None or isinstance(label, str)):
            raise _codes_error(feature, given)
        found[code] = label or default_code_label(code)
    if feature.categories is not None and len(found) == len(feature.categories):
        raise SchemaError(
            f"all categories of {feature.name!r} are codes: leave out those that are values",
            feature=feature.name,
        )
    return found or None


def default_code_label(code: FeatureValue) -> str:
    """What a code is called where nobody says what it stands for."""
    return f"code {code:g}" if isinstance(code, float) else "missing"


def _code_of_key(feature: DeclaredFeature, key: object) -> FeatureValue | None:
    """Return the number or the category that a key of ``codes`` names; None where it is none."""
    if feature.categories is None:
        return finite_number(_number_of_text(key))
    by_text = {str(one): one for one in feature.categories}  # keys in files are texts
    return by_text.get(str(key))


def code_numbers(feature: DeclaredFeature) -> list[float]:
    """Return the codes of a feature that are no values as records hold them."""
    if not feature.codes:
        return []
    if feature.categories is None:
        return list(feature.codes)
    return [float(feature.categories.index(one)) for one in feature.codes]


def is_missing_value(value: object) -> bool:
    """Tell whether a value of the user's stands for a missing one: None, NaN, NA, NaT."""
    kind = type(value)
    if kind is float:
        return value != value
    if kind in _NEVER_MISSING:
        return False
    if value is None or kind.__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def are_never_missing(values: Iterable[object]) -> bool:
    """Tell by their types alone that none of the values is a missing one.

    >>> are_never_missing(["a", "b"]), are_never_missing(["a", None])
    (True, False)
    """
    return _NEVER_MISSING.issuperset(map(type, values))


def is_absent(feature: DeclaredFeature, codes: Array | Floats) -> Mask:
    """Tell which codes of a feature are no values: missing, or a code for a reason."""
    absent = np.isnan(codes)
    if feature.codes:
        absent |= np.isin(codes, code_numbers(feature))
    return np.asarray(absent)


def is_absent_code(feature: DeclaredFeature, code: float) -> bool:
    """Tell whether one code of a feature is no value.

    >>> from localface.data.feature import Feature
    >>> lactate = Feature("lactate", codes={-9: "not taken"})
    >>> is_absent_code(lactate, float("nan")), is_absent_code(lactate, -9.0)
    (True, True)
    """
    return code != code or (bool(feature.codes) and code in code_numbers(feature))


def absent_values(features: Iterable[DeclaredFeature], records: Array | Floats) -> Mask:
    """Tell which values of records, or of one, are missing or codes for a reason."""
    found = np.isnan(records)
    for j, feature in enumerate(features):
        if feature.codes:
            found[..., j] = is_absent(feature, records[..., j])
    return np.asarray(found)


def absent_codes(feature: DeclaredFeature, codes: Array) -> tuple[float, ...]:
    """Return which codes that are no values occur: what is missing first, then by size."""
    found = np.unique(codes[is_absent(feature, codes)])  # NaN once, as the last
    numbers = tuple(float(code) for code in found if not np.isnan(code))
    return (MISSING, *numbers) if len(numbers) < len(found) else numbers


def same_codes(one: npt.ArrayLike, other: npt.ArrayLike) -> Mask:
    """Tell which codes are the same; what is missing in both is.

    >>> same_codes([1.0, float("nan"), 2.0], [1.0, float("nan"), float("nan")]).tolist()
    [True, True, False]
    """
    first, second = np.asarray(one), np.asarray(other)
    return np.asarray((first == second) | (np.isnan(first) & np.isnan(second)))


def distinct_records(records: Array) -> tuple[Array, Ids]:
    """Return the distinct rows, sorted, and the first position of each; -0 counts as 0."""
    gaps = np.isnan(records).any()
    plain = np.where(np.isnan(records), np.inf, records) if gaps else records  # inf is in no record
    rows, first = np.unique(plain + 0.0, axis=0, return_index=True)
    if gaps:
        rows[np.isinf(rows)] = MISSING
    return rows, first.astype(np.int64)


def _number_of_text(key: object) -> object:
    """Return the number that a text holds: keys in files are texts."""
    if not isinstance(key, str):
        return key
    try:
        return float(key)
    except ValueError:
        return key


def _codes_error(feature: DeclaredFeature, given: object) -> SchemaError:
    example = '{-9: "no record"}'
    if feature.categories is not None:
        example = f'{{"?": "not known"}}, of categories among {list_names(feature.categories)}'
    return SchemaError(
        f"codes of {feature.name!r} are {given!r}: give a dict from code to what it stands for, "
        f"as in {example}",
        feature=feature.name,
    )
