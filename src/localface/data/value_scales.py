"""Where the values of each feature are, and what an ordinary difference between two of them is."""

from __future__ import annotations

import numpy as np

from localface.data.absence import MISSING, absent_codes
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.errors import DataError
from localface.types import Array, Floats, Ids

_EXACT_POWER = 22  # the largest power of ten that is a float
_DIGITS = 12  # digits that a number in the user's units is first tried with
_IQR_OF_NORMAL = 1.349  # the interquartile range of a normal distribution, in standard deviations


def absences_in(schema: Schema, records: Array | Floats) -> tuple[tuple[float, ...], ...]:
    """Return, of each feature, the codes of what is missing that occur; () where none do."""
    columns = (column.astype(np.float64) for column in records.T)
    found = tuple(absent_codes(*pair) for pair in zip(schema, columns, strict=True))
    return found if any(found) else ()


def merge_absences(
    one: tuple[tuple[float, ...], ...], other: tuple[tuple[float, ...], ...]
) -> tuple[tuple[float, ...], ...]:
    """Return the absences of both, of each feature what is missing first."""
    if not (one and other):
        return one or other
    return tuple(
        tuple({str(code): code for code in sorted((*a, *b), key=_missing_first)}.values())
        for a, b in zip(one, other, strict=True)
    )


def absences_as_plain(absences: tuple[tuple[float, ...], ...]) -> list[list[float | None]]:
    """Return absences as plain values that JSON can hold: null for what is missing."""
    return [[None if code != code else code for code in codes] for codes in absences]


def absences_from_plain(plain: list[list[float | None]]) -> tuple[tuple[float, ...], ...]:
    """Read what ``absences_as_plain`` returned."""
    return tuple(
        tuple(MISSING if code is None else float(code) for code in codes) for codes in plain
    )


def _missing_first(code: float) -> tuple[bool, float]:
    return (False, 0.0) if code != code else (True, code)


def centre_and_scale(feature: Feature, codes: Array) -> tuple[float, float]:
    """Return the centre and the scale of a feature's values, missing ones left out."""
    if feature.discrete or not len(codes):
        return 0.0, float(feature.scale or 1.0)
    low, middle, high = np.quantile(codes, [0.25, 0.5, 0.75])
    if feature.scale is not None:
        return float(middle), float(feature.scale)
    if codes.min() == codes.max():
        if not feature.own:
            raise _constant_feature_error(feature, float(codes[0]))
        return float(middle), 1.0
    robust = float(high - low) / _IQR_OF_NORMAL
    return float(middle), robust if robust > 0 else float(codes.std())


def _constant_feature_error(feature: Feature, code: float) -> DataError:
    name = feature.name
    return DataError(
        f"feature {name!r} has the same value ({feature.format(code)}) in every row, which gives "
        f"no idea of an ordinary difference: declare Feature({name!r}, moves='never'), "
        "give it a scale=, or drop the column",
        feature=name,
    )


def digits_per_feature(
    schema: Schema, centres: Array, scales: Array
) -> tuple[tuple[int, Ids], ...]:
    """How many digits numbers are worth writing with, and of which features that is so.

    Features are counted among those that have one column.
    """
    found: dict[int, list[int]] = {}
    plain = [j for j, feature in enumerate(schema) if feature.kind != "categorical"]
    for i, j in enumerate(plain):
        size = max(abs(float(centres[j])), float(scales[j]))
        digits = _DIGITS - int(np.ceil(np.log10(size)))
        if schema.features[j].kind == "numeric" and -_DIGITS < digits <= _EXACT_POWER:
            found.setdefault(digits, []).append(i)
    return tuple((digits, np.array(some)) for digits, some in found.items())


def code_limits(features: list[Feature]) -> tuple[Array, Array]:
    """Return the first and last code of features whose codes are whole, infinite for counts."""
    counts = [np.inf if one.categories is None else len(one.categories) - 1.0 for one in features]
    last = np.array(counts)
    return np.where(np.isinf(last), -np.inf, 0.0), last
