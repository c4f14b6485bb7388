"""A schema as a printed table."""

from __future__ import annotations

from collections.abc import Sequence

from localface.data.absence import default_code_label
from localface.data.codes import FeatureValue
from localface.data.comparable import Comparable
from localface.data.feature import Feature

_CATEGORIES_SHOWN = 6  # categories named in a printed schema


def schema_lines(features: Sequence[Feature]) -> list[str]:
    """Return the lines of a table with one line a feature."""
    head = ("name", "kind", "unit", "moves", "range or categories", "note")
    rows = [head, *(_printed_cells(feature) for feature in features)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    return [f"<Schema: {len(features)} features>", *(f"  {line}".rstrip() for line in lines)]


def _printed_cells(feature: Feature) -> tuple[str, ...]:
    """Return one line of the table that a schema prints as."""
    notes = ["protected"] if feature.protected else []
    if feature.codes:
        notes.append("codes " + ", ".join(_printed_code(*one) for one in feature.codes.items()))
    if feature.missing != "keep":
        notes.append(f"missing: {feature.missing}")
    notes += [
        f"{key} {getattr(feature, key):g}"
        for key in ("within", "scale")
        if getattr(feature, key) is not None
    ]
    if feature.comparable is not None:
        notes.append(f"comparable {_printed_comparable(feature.comparable)}")
    if feature.resolution is not None and not (feature.resolution == 1 and feature.whole):
        notes.append(f"resolution {feature.resolution:g}")
    unit = feature.unit or ""
    return (
        feature.name,
        feature.kind,
        unit,
        feature.moves,
        _printed_range(feature),
        ", ".join(notes),
    )


def _printed_code(code: FeatureValue, label: str) -> str:
    written = f"{code:g}" if isinstance(code, float) else f"{code}"
    return written if label == default_code_label(code) else f"{written} {label}"


def _printed_comparable(comparable: Comparable) -> str:
    if not isinstance(comparable, tuple):
        return f"{comparable:g}"
    if not comparable:
        return "only if the same"
    groups = [one if isinstance(one, tuple) else comparable for one in comparable]
    return " / ".join(dict.fromkeys(", ".join(map(str, group)) for group in groups))


def _printed_range(feature: Feature) -> str:
    categories = ""
    if feature.categories is not None:
        categories = ", ".join(map(str, feature.categories[:_CATEGORIES_SHOWN]))
        more = len(feature.categories) - _CATEGORIES_SHOWN
        if more > 0:
            categories += f" and {more} more"
    if feature.bounds is None:
        return categories if feature.categories is not None else "any"
    low, high = feature.bounds
    if high is None:
        ends = f"from {low}"
    elif low is None:
        ends = f"up to {high}"
    else:
        ends = f"{low} to {high}"
    return f"{categories} ({ends})" if feature.categories is not None else ends
