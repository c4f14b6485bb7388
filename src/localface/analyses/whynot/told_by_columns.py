"""Reads a wish that is given in the table's own columns of 0 and 1 (one-hot)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from localface.data.feature import Feature
from localface.data.hot_columns import code_of_hot_values
from localface.data.schema import Schema
from localface.errors import DataError, list_names
from localface.types import Array


def categories_told_by_columns(
    wish: Mapping[Any, Any], record: Array, schema: Schema
) -> dict[Any, Any]:
    """Return a wish in which columns of 0 and 1 have become the category that they tell.

    One column at 1 is enough said: the others of its feature are then 0.
    """
    feature_of = {column: one for one in schema for column in one.columns or ()}
    read: dict[Any, Any] = {}
    told: dict[str, dict[str, Any]] = {}
    for name, value in wish.items():
        if name in schema.names or name not in feature_of:
            read[name] = value
        else:
            told.setdefault(feature_of[name].name, {})[name] = value
    for name, columns in told.items():
        if name in wish:
            given = list_names(columns)
            raise DataError(
                f"the wish names {name!r} and {given}, which tell it: give one of them",
                feature=name,
            )
        feature = schema[name]
        read[name] = _category_wished_for(feature, columns, float(record[schema.index(name)]))
    return read


def _category_wished_for(feature: Feature, columns: Mapping[str, Any], own: float) -> Any:
    """Return the category that some columns tell, the others as they are or, beside a 1, at 0."""
    others = dict.fromkeys(feature.columns or (), 0)
    hot = _column_at_one(feature, own)
    if hot is not None and not any(value == 1 for value in columns.values()):
        others[hot] = 1
    try:
        return feature.value(code_of_hot_values(feature, {**others, **columns}))
    except DataError:
        raise DataError(
            f"the wish for {list_names(columns)} tells no {feature.name!r}: just one of its "
            f"columns is 1, and none is anything but 0 or 1; or name the category, as in "
            f"{{{feature.name!r}: {(feature.categories or ('',))[0]!r}}}",
            feature=feature.name,
        ) from None


def _column_at_one(feature: Feature, code: float) -> str | None:
    """Return which column is 1 for a category; None where none is, or where it is missing."""
    if code != code:
        return None
    names = feature.columns or ()
    without_column = len(feature.categories or ()) - len(names)
    place = round(code) - without_column
    return names[place] if place >= 0 else None
