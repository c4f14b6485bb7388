"""Columns of 0 and 1 that tell a category (one-hot), read as one feature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from localface.data.absence import MISSING
from localface.data.feature import Feature
from localface.data.frames import ColumnValues, missing_mask
from localface.data.schema import Schema
from localface.errors import DataError
from localface.types import Array, Mask


def columns_to_read(have: Sequence[str], schema: Schema) -> list[str]:
    """Return which columns tell the features: a feature's own, or its columns of 0 and 1."""
    wanted: list[str] = []
    for feature in schema:
        own = feature.columns is None or feature.name in have
        wanted += [feature.name] if own or feature.columns is None else feature.columns
    return wanted


def codes_of_hot_columns(feature: Feature, columns: Mapping[str, ColumnValues]) -> Array:
    """Return which category the columns of 0 and 1 tell in each row."""
    names = feature.columns or ()
    gone = np.column_stack([missing_mask(columns[name]) for name in names])
    hot = np.column_stack([_are_one(feature.name, columns[name]) for name in names])
    n_hot = hot.sum(axis=1)
    without_column = len(feature.categories or ()) - len(names)  # rows of the first category: all 0
    fine = (n_hot == 1) | ((n_hot == 0) & (without_column > 0))
    broken = ~fine & ~gone.all(axis=1) | (gone.any(axis=1) & ~gone.all(axis=1))
    if broken.any():
        raise _broken_rows_error(feature, broken, n_hot)
    codes = np.where(n_hot == 1, hot.argmax(axis=1) + without_column, 0).astype(np.float64)
    codes[gone.all(axis=1)] = MISSING
    return np.asarray(codes)


def code_of_hot_values(feature: Feature, values: Mapping[str, object]) -> float:
    """Return which category the columns of 0 and 1 tell of one person."""
    columns = {name: _as_column(values[name]) for name in feature.columns or ()}
    return float(codes_of_hot_columns(feature, columns)[0])


def _as_column(value: object) -> ColumnValues:
    column = np.empty(1, dtype=object)
    column[0] = value
    return column


def _are_one(name: str, values: ColumnValues) -> Mask:
    """Tell which values are 1; others than 0, 1 and missing ones are refused."""
    plain = np.where(missing_mask(values), 0, values)
    try:
        numbers = plain.astype(np.float64)
    except (TypeError, ValueError):
        numbers = np.full(len(plain), np.nan)
    strange = ~np.isin(numbers, (0.0, 1.0))
    if strange.any():
        raise DataError(
            f"{name!r} is encoded by columns of 0 and 1, and one holds {plain[strange][0]!r}: "
            "give 0 or 1",
            feature=name,
        )
    return np.asarray(numbers == 1.0)


def _broken_rows_error(feature: Feature, broken: Mask, n_hot: Array) -> DataError:
    n = int(broken.sum())
    several = bool((n_hot[broken] > 1).any())
    what = "several of them are 1" if several else "none of them is 1, or some are missing"
    rows = f"in {n} rows " if len(broken) > 1 else ""
    names = feature.columns or ()
    return DataError(
        f"{feature.name!r} is encoded by {len(names)} columns of 0 and 1 ({names[0]!r} to "
        f"{names[-1]!r}), and {rows}{what}: correct or drop them, or take the columns apart with "
        f"schema.split({feature.name!r})",
        feature=feature.name,
    )
