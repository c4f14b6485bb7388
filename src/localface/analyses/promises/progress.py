"""Reads what is new of people: their present records, by the references of their promises."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import narwhals as nw
import numpy as np

from localface.data.absence import is_missing_value
from localface.data.one_person import open_person
from localface.errors import DataError, did_you_mean, list_names

PERSON = "person"
"""The column that says who is who, unless another is named."""


def read_progress(
    progress: Any, known: Collection[str], *, id_column: str = PERSON
) -> dict[str, dict[str, Any]]:
    """Read present records: a table with a column of references, or a dict by reference.

    Any of the features may be there: what is not has not changed. ``known`` are those who have
    promises; a table that knows none of them is refused.
    """
    if progress is None:
        return {}
    if isinstance(progress, Mapping):
        found = {str(name): _read_one(name, record) for name, record in progress.items()}
    else:
        found = _read_table(progress, id_column)
    if not any(name in known for name in found):
        raise DataError(
            f"none of the {len(found):,} people of the progress has a promise: the column "
            f"{id_column!r} should hold the references that promises were given with, such as "
            f"{list_names(sorted(known)[:3]) or 'none, as no promise has one'}"
        )
    return found


def _read_one(name: object, record: Any) -> dict[str, Any]:
    values = open_person(record).values
    if values is None or isinstance(record, np.ndarray):
        raise DataError(
            f"the progress of {name!r} is a {type(record).__name__}: give a dict or a Series, from "
            "feature to value"
        )
    return dict(values)


def _read_table(progress: Any, id_column: str) -> dict[str, dict[str, Any]]:
    frame = nw.from_native(progress, eager_only=True)
    if id_column not in frame.columns:
        near = did_you_mean(id_column, frame.columns)
        raise DataError(
            f"the progress has no column {id_column!r}{near}, which should say who is who: it has "
            f"{list_names(frame.columns)}"
        )
    found: dict[str, dict[str, Any]] = {}
    for row in frame.iter_rows(named=True):
        name = _reference_in_words(row.pop(id_column))
        if name is None:
            continue
        if name in found:
            raise DataError(
                f"the progress has several rows of {name!r}: keep the one that is their present "
                "record"
            )
        found[name] = row
    return found


def _reference_in_words(value: Any) -> str | None:
    """A reference as text: 17.0, as a column with gaps holds it, is 17."""
    if is_missing_value(value):
        return None
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
