"""Refuses a person's number that looks like a code nobody declared, beside codes that were."""

from __future__ import annotations

from collections.abc import Sequence

from localface.data.absence import is_absent_code
from localface.data.codes import FeatureValue
from localface.data.feature import Feature
from localface.data.found_codes import is_well_known_code
from localface.data.schema import Schema
from localface.data.seen_values import SeenValues, number_as_typed
from localface.errors import DataError
from localface.types import Array


def refuse_likely_codes(
    schema: Schema, record: Array, seen: Sequence[SeenValues], who: str
) -> None:
    """Refuse a record with a number beyond everybody's that looks like one of the codes.

    Walked away from as a number, -8 would become a plan that nobody could follow.
    """
    for feature, code, values in zip(schema, record.tolist(), seen, strict=True):
        if feature.codes and feature.categories is None and _is_likely(feature, code, values):
            raise _likely_code_error(feature, code, values, who)


def looks_like_code(code: float, seen: SeenValues) -> bool:
    """Tell whether a number is a well-known code, beyond all numbers of the data."""
    if not is_well_known_code(code) or seen.holds_nothing:
        return False
    return seen.is_below_all(code) and seen.lowest >= 0 if code < 0 else seen.is_above_all(code)


def _is_likely(feature: Feature, code: float, seen: SeenValues) -> bool:
    if is_absent_code(feature, code) or not looks_like_code(code, seen):
        return False
    declared = [float(one) for one in feature.codes or ()]
    return any((one < 0) == (code < 0) for one in declared)  # far above is no sign beside -9


def _likely_code_error(feature: Feature, code: float, seen: SeenValues, who: str) -> DataError:
    shown = number_as_typed(code)
    beyond = f"less than anybody's in the data (lowest: {feature.format(seen.lowest)})"
    if code > 0:
        beyond = f"more than anybody's in the data (highest: {feature.format(seen.highest)})"
    codes: dict[FeatureValue, str] = dict(feature.codes or {})
    known = ", ".join(number_as_typed(float(one)) for one in codes)
    written = ", ".join(f"{number_as_typed(float(one))}: {label!r}" for one, label in codes.items())
    return DataError(
        f"{who} has {feature.name!r} {shown}, {beyond}, which looks like a code as {known} "
        f"{'is one' if len(codes) == 1 else 'are'}: give the value, or a code that somebody in the "
        "data has; where the data has it too, declare it with "
        f"schema.with_({feature.name!r}, codes={{{written}, {shown}: '...'}}); if all of them are "
        f"numbers, schema.with_({feature.name!r}, codes=None)",
        feature=feature.name,
    )
