"""Refuses a person's own record where the schema's bounds rule it out."""

from __future__ import annotations

from collections.abc import Sequence

from localface.data.absence import is_absent_code
from localface.data.codes import FeatureValue, range_codes
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.data.seen_values import SeenValues, number_as_typed
from localface.errors import DataError
from localface.types import Array


def check_own_bounds(schema: Schema, record: Array, seen: Sequence[SeenValues]) -> None:
    """Refuse a record with values outside the bounds of the schema, naming all of them.

    ``where=`` and ``within`` limit where a person may go; ``bounds`` say what can be at all.
    """
    outside = [
        (feature, _fault_sentence(feature, code, values))
        for feature, code, values in zip(schema, record.tolist(), seen, strict=True)
        if not is_within_bounds(feature, code)
    ]
    if outside:
        faults = "; ".join(fault for _, fault in outside)
        them = "the value" if len(outside) == 1 else "the values"
        raise DataError(
            f"{faults}: correct {them}, or widen the bounds of the schema",
            feature=outside[0][0].name,
            option="bounds",
            suggestion=_suggestion(schema, outside[0][0], record, seen),
        )


def _suggestion(
    schema: Schema, feature: Feature, record: Array, seen: Sequence[SeenValues]
) -> FeatureValue | None:
    """The value that may be meant, where a shifted decimal point explains the one that came."""
    j = schema.index(feature.name)
    slip = _slip_within_bounds(feature, float(record[j]), seen[j])
    return None if slip is None else feature.value(slip)


def _slip_within_bounds(feature: Feature, code: float, seen: SeenValues) -> float | None:
    slip = seen.ordinary_shift(feature, code)
    return slip if slip is not None and is_within_bounds(feature, slip) else None


def is_within_bounds(feature: Feature, code: float) -> bool:
    """Whether a value is one that the schema's bounds allow anybody; a missing one is."""
    if feature.bounds is None or is_absent_code(feature, code):
        return True
    low, high = range_codes(feature, feature.bounds)
    return low <= code <= high


def _fault_sentence(feature: Feature, code: float, seen: SeenValues) -> str:
    unit = f" {feature.unit}" if feature.unit else ""
    shown = number_as_typed(code)
    if feature.categories is not None:
        shown = repr(feature.value(code))
    slip = _slip_within_bounds(feature, code, seen)
    guess = ""
    if slip is not None:
        guess = f" (is it {feature.format(slip)}?)"
    bounds = bounds_text(feature)
    return f"{feature.name!r} is {shown}{unit}{guess}, and the schema's bounds are {bounds}"


def bounds_text(feature: Feature) -> str:
    """The bounds of a feature that has some, for people: ``"0 kWp or more"``."""
    low, high = feature.bounds or (None, None)
    unit = f" {feature.unit}" if feature.unit else ""
    if high is None:
        return f"{low}{unit} or more"
    if low is None:
        return f"{high}{unit} or less"
    return f"{low} to {high}{unit}"
