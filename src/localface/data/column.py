"""How one feature is stored in the user's table, library by library."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from localface.data.absence import is_missing_value
from localface.data.codes import FeatureValue
from localface.data.dates import dates_of_days
from localface.data.frames import ColumnValues
from localface.types import Array, Mask

_PLAIN_DTYPE = re.compile(
    r"|u?int(8|16|32|64)|float(32|64)|bool(ean)?|double|[<>=|]?(f[48]|[iu][1248]|b1)"
)  # dtypes of plain numbers, by any library


_PLAIN_NUMPY = re.compile(r"u?int(8|16|32|64)|float(32|64)|bool")


@dataclass(frozen=True, slots=True)
class Column:
    """How one feature is stored; an empty ``dtype`` takes what suits the values.

    ``missing`` says what stands for a value that is missing: ``nan``, ``none`` or ``na``.
    Where several columns of 0 and 1 tell the category of a feature, ``tells`` names it,
    ``told_labels`` are its categories, and ``hot`` is the one of which this column is 1.
    ``since`` is the date from which a column of dates is counted in days.
    """

    name: str
    labels: tuple[FeatureValue, ...] | None = None
    whole: bool = False
    dtype: str = ""
    categories: tuple[FeatureValue, ...] | None = None
    ordered: bool = False
    missing: str = "nan"
    tells: str = ""
    hot: int = 0
    told_labels: tuple[FeatureValue, ...] | None = None
    since: str | None = None

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Column:
        """Build a column from the plain values of its fields."""
        tuples = {key: tuple(value) for key, value in plain.items() if isinstance(value, list)}
        settings: dict[str, Any] = {**plain, **tuples}
        return cls(**settings)

    def own_codes(self, codes: Array) -> Array:
        """Return codes of the feature as codes of this column."""
        if not self.tells:
            return codes
        return np.where(np.isnan(codes), np.nan, (codes == self.hot).astype(np.float64))

    def value(self, code: float) -> Any:
        """Return one code of this column as the user knows it."""
        if self.holds_dates:
            return self.values(np.array([code])).astype(object)[0]
        if code != code:
            return self.missing_value
        if self.labels is not None:
            return self.labels[round(code)]
        return round(code) if self.whole else float(code)

    def values(self, codes: Array) -> ColumnValues:
        """Return codes as the user knows them."""
        if self.holds_dates:
            return dates_of_days(codes, str(self.since))
        gone = np.isnan(codes)
        if gone.any():
            return self._values_with_gaps(codes, gone)
        if self.labels is None:
            return np.rint(codes).astype(np.int64) if self.whole else codes
        one_type = len({type(label) for label in self.labels}) == 1
        same = one_type and not isinstance(self.labels[0], str)
        labels = np.array(self.labels, dtype=None if same else object)
        return np.asarray(labels[np.rint(codes).astype(np.int64)])

    @property
    def holds_dates(self) -> bool:
        """Whether codes are days, and the column dates."""
        return self.since is not None and not _PLAIN_DTYPE.fullmatch(self.dtype.lower() or "x")

    @property
    def missing_value(self) -> Any:
        """What stands for a value that is missing."""
        if self.missing == "na":
            import pandas

            return pandas.NA
        return None if self.missing == "none" else float("nan")

    def _values_with_gaps(self, codes: Array, gone: Mask) -> ColumnValues:
        """Return codes as the user knows them, some of which are missing."""
        if self.labels is None and self.missing == "nan":
            return np.rint(codes) if self.whole else codes
        values = np.empty(len(codes), dtype=object)
        values[~gone] = self.values(codes[~gone]).tolist()
        values[gone] = self.missing_value
        numbers = all(isinstance(label, bool | int | float) for label in self.labels or ())
        return values.astype(np.float64) if numbers and self.missing == "nan" else values

    def numbers_or_none(self, codes: Array) -> Array | None:
        """Return codes as the plain numbers of such a column; None where it holds others."""
        if self.categories is not None or not _PLAIN_DTYPE.fullmatch(self.dtype.lower()):
            return None
        labels = self.labels or ()
        if not all(isinstance(label, bool | int | float) for label in labels):
            return None
        return np.asarray(self.values(codes), dtype=np.float64)

    def without_dtype(self) -> Column:
        """Return the same column, stored as suits its values."""
        return replace(self, dtype="", categories=None, ordered=False)

    def holds_floats(self) -> bool:
        """Whether codes are stored as they are."""
        plain = self.labels is None and not self.whole and self.since is None
        return plain and self.dtype == "float64"

    def has_fractions(self, values: ColumnValues) -> bool:
        """Whether values would be cut short by a column of whole numbers."""
        if values.dtype.kind != "f":
            return False
        return bool((values != np.rint(values)).any())  # no integer holds what is missing either

    def would_lose_digits(self, values: ColumnValues) -> bool:
        """Whether values are no plain numbers, or have fractions that the column cannot hold."""
        if values.dtype.kind not in "biuf":
            return True
        return not self.dtype.startswith("float") and self.has_fractions(values)

    def lists_all_values(self, values: ColumnValues) -> bool:
        """Whether all values belong to the column's closed list of categories."""
        present = {value for value in values.tolist() if not is_missing_value(value)}
        return self.categories is not None and present <= set(self.categories)


def kind_of_missing(values: Any) -> str:
    """Tell what stands for missing values among some: ``nan``, ``none`` or ``na``."""
    if getattr(getattr(values, "dtype", None), "kind", "") != "O":
        return "nan"
    gone = next((value for value in values if is_missing_value(value)), float("nan"))
    if gone is None:
        return "none"
    return "nan" if isinstance(gone, float) else "na"


def copy_pandas_dtype(column: Column, dtype: Any, gone: str | None) -> Column:
    """Take over how a pandas series is stored; ``gone`` is what stands for a missing value."""
    import pandas

    if isinstance(dtype, pandas.CategoricalDtype):
        labels = tuple(dtype.categories.tolist())
        return replace(column, dtype="category", categories=labels, ordered=bool(dtype.ordered))
    if isinstance(dtype, pandas.ArrowDtype):
        return replace(column, dtype=f"arrow:{_arrow_name(dtype.pyarrow_dtype)}", missing="na")
    nullable = getattr(dtype, "na_value", None) is pandas.NA
    missing = "na" if nullable else gone or "nan"
    return replace(column, dtype=str(dtype), missing=missing)


def copy_polars_dtype(column: Column, dtype: Any, gone: str | None) -> Column:
    """Take over how a polars series is stored; ``gone`` is what stands for a missing value."""
    missing = "nan" if dtype.is_float() and gone != "none" else "none"
    if type(dtype).__name__ == "Enum":
        labels = tuple(dtype.categories.to_list())
        return replace(column, dtype="Enum", categories=labels, missing=missing)
    return replace(column, dtype=str(dtype), missing=missing)


def copy_pyarrow_dtype(column: Column, dtype: Any, gone: str | None) -> Column:
    """Take over how a pyarrow array is stored; ``gone`` is what stands for a missing value."""
    import pyarrow

    floats = pyarrow.types.is_floating(dtype) and gone != "none"
    column = replace(column, missing="nan" if floats else "none")
    if pyarrow.types.is_dictionary(dtype):
        return replace(column, dtype=_arrow_name(dtype), ordered=bool(dtype.ordered))
    return replace(column, dtype=str(dtype))


def _arrow_name(dtype: Any) -> str:
    """Name a type of Arrow so that it can be made again."""
    if hasattr(dtype, "index_type"):
        return f"dictionary:{dtype.index_type}:{dtype.value_type}"
    return str(dtype)


def kind_of_missing_in(native: Any, kind: str) -> str | None:
    """Tell what stands for missing values in a column of a table, where that can differ."""
    if kind == "pandas":
        return kind_of_missing(native)
    nulls = native.null_count() if kind == "polars" else native.null_count
    return "none" if nulls else None


def pandas_series(column: Column, codes: Array) -> Any:
    """Return codes as a pandas column."""
    import pandas

    values = column.values(codes)
    if column.dtype == str(values.dtype) != "object":
        return values
    if _PLAIN_NUMPY.fullmatch(column.dtype) and not column.would_lose_digits(values):
        return values.astype(column.dtype)  # a Series takes a hundred times as long to make
    if column.dtype == "object":
        return pandas.Series(_as_list_or_array(values), dtype=object)
    series = pandas.Series(_as_list_or_array(values))
    if column.categories is not None:
        dtype = pandas.CategoricalDtype(list(column.categories), ordered=column.ordered)
        return series.astype(dtype) if column.lists_all_values(values) else series
    if not column.dtype or (column.has_fractions(values) and "int" in column.dtype.lower()):
        return series
    if column.dtype.startswith("arrow:"):
        import pyarrow

        alias = column.dtype.removeprefix("arrow:")
        if alias.startswith("dictionary:"):
            stored = pyarrow.dictionary(*map(pyarrow.type_for_alias, alias.split(":")[1:]))
        else:
            stored = pyarrow.type_for_alias(alias)
        return series.astype(pandas.ArrowDtype(stored))
    return series.astype(column.dtype)


def polars_series(column: Column, codes: Array) -> Any:
    """Return codes as a polars series."""
    import polars

    values = column.values(codes)
    series = polars.Series(column.name, _as_list_or_array(values))
    if column.categories is not None:
        if not column.lists_all_values(values):
            return series
        return series.cast(polars.Enum([str(label) for label in column.categories]))
    dtype = getattr(polars, column.dtype, None) if column.dtype else None
    if dtype is None or (column.has_fractions(values) and dtype.is_integer()):
        return series
    return series.cast(dtype)


def pyarrow_array(column: Column, codes: Array) -> Any:
    """Return codes as a pyarrow array."""
    import pyarrow

    values = column.values(codes)
    array = pyarrow.array(_as_list_or_array(values))
    if column.dtype.startswith("dictionary:"):
        _, index, value = column.dtype.split(":")
        encoded = array.cast(pyarrow.type_for_alias(value)).dictionary_encode()
        indices = encoded.indices.cast(pyarrow.type_for_alias(index))
        return pyarrow.DictionaryArray.from_arrays(
            indices, encoded.dictionary, ordered=column.ordered
        )
    if not column.dtype or (column.has_fractions(values) and "int" in column.dtype):
        return array
    return array.cast(pyarrow.type_for_alias(column.dtype))


def _as_list_or_array(values: ColumnValues) -> Any:
    return values.tolist() if values.dtype.kind == "O" else values
