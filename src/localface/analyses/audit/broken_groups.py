"""Finds proposals whose columns of 0 and 1 (one-hot) tell no category."""

from __future__ import annotations

from collections.abc import Mapping

from localface.answers.wording import join_words
from localface.data.absence import is_missing_value
from localface.data.feature import Feature
from localface.data.frames import ColumnValues
from localface.data.hot_columns import code_of_hot_values, codes_of_hot_columns
from localface.data.schema import Schema
from localface.errors import DataError


def broken_groups(schema: Schema, columns: Mapping[str, ColumnValues]) -> dict[int, str]:
    """Say of each row in which columns tell no category what they hold; others are left out."""
    found: dict[int, list[str]] = {}
    for feature in schema:
        told = {name: columns[name] for name in feature.columns or () if name in columns}
        if not told or len(told) < len(feature.columns or ()) or feature.name in columns:
            continue
        for row in _broken_rows(feature, told):
            values = {name: column[row] for name, column in told.items()}
            found.setdefault(row, []).append(_what_is_broken(feature, values))
    return {row: "; ".join(sentences) for row, sentences in found.items()}


def _broken_rows(feature: Feature, columns: Mapping[str, ColumnValues]) -> list[int]:
    try:
        codes_of_hot_columns(feature, columns)
    except DataError:
        n = len(next(iter(columns.values())))
        rows = [{name: column[row] for name, column in columns.items()} for row in range(n)]
        return [number for number, values in enumerate(rows) if not _is_told(feature, values)]
    return []


def _is_told(feature: Feature, values: Mapping[str, object]) -> bool:
    try:
        code_of_hot_values(feature, values)
    except DataError:
        return False
    return True


def _what_is_broken(feature: Feature, values: Mapping[str, object]) -> str:
    """Say what columns hold that tell no category."""
    shown = [f"{name} {_in_words(value)}" for name, value in values.items() if value != 0]
    held = join_words(shown) if shown else f"0 in all {len(values)} columns"
    return f"{feature.display_name} is one category, and {held} is proposed"


def _in_words(value: object) -> str:
    if is_missing_value(value):
        return "missing"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
