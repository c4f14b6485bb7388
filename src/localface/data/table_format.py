"""From records to the user's own kind of table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np

from localface.data.absence import is_missing_value
from localface.data.codes import FeatureValue
from localface.data.column import (
    Column,
    copy_pandas_dtype,
    copy_polars_dtype,
    copy_pyarrow_dtype,
    kind_of_missing,
    kind_of_missing_in,
    pandas_series,
    polars_series,
    pyarrow_array,
)
from localface.data.feature import Feature
from localface.data.frames import ColumnValues, Frame, open_table
from localface.data.one_person import open_person
from localface.data.schema import Schema
from localface.types import Array

_DESCRIBED = {
    "pandas": copy_pandas_dtype,
    "polars": copy_polars_dtype,
    "pyarrow": copy_pyarrow_dtype,
}


@dataclass(frozen=True, slots=True)
class TableFormat:
    """The kind of container the user works with, so that answers come back in it.

    Parameters
    ----------
    kind : the library, ``"numpy"``, ``"pandas"``, ``"polars"`` or ``"pyarrow"``
    columns : how each feature is stored
    person : how one person came: ``"dict"``, ``"series"``, ``"array"``, ``"frame"``
    own : the dtype of a person who came as a series
    """

    kind: str
    columns: tuple[Column, ...]
    person: str = ""
    own: str = ""

    @classmethod
    def of(cls, data: object, schema: Schema) -> TableFormat:
        """Take the format of a table."""
        return _describe_format(open_table(data), _plain_columns(schema))

    @classmethod
    def default_for(cls, schema: Schema) -> TableFormat:
        """Return the format of people who came without a table: one with names, if possible."""
        return cls("numpy", _plain_columns(schema)).with_names()

    def make_table(self, records: Array) -> Any:
        """Return records as a table of this kind."""
        if self.kind == "numpy":
            return _to_numpy(self.columns, records)
        if self.kind == "pandas":
            return _to_pandas(self.columns, records)
        if self.kind == "polars":
            return _to_polars(self.columns, records)
        return _to_pyarrow(self.columns, records)

    def numbers_or_none(self, records: Array) -> Array | None:
        """Return the numbers in the table that ``frame`` gives; None where it holds others."""
        if all(column.holds_floats() for column in self.columns):
            return records
        columns = [
            column.numbers_or_none(codes)
            for column, codes in _codes_by_column(self.columns, records)
        ]
        plain = [column for column in columns if column is not None]
        return np.stack(plain, axis=1) if len(plain) == len(columns) else None

    def make_person(self, record: Array) -> Any:
        """Return one person as they came."""
        if self.person == "dict":
            codes = _codes_by_column(self.columns, np.asarray(record)[None, :])
            return {column.name: column.value(code[0]) for column, code in codes}
        if self.person == "series":
            return _to_series(self, record)
        table = self.make_table(np.asarray(record)[None, :])
        return table[0] if self.person == "array" else table

    def without_names(self) -> TableFormat:
        """Return the same columns as an array without names."""
        columns = tuple(column.without_dtype() for column in self.columns)
        return TableFormat("numpy", columns, "array" if self.person == "series" else self.person)

    def with_names(self) -> TableFormat:
        """Return the same columns as a table with names, where a library for it is installed."""
        installed = [kind for kind in ("pandas", "polars", "pyarrow") if find_spec(kind)]
        kind = installed[0] if installed else self.kind
        columns = tuple(column.without_dtype() for column in self.columns)
        return TableFormat(kind, columns, self.person, self.own)

    def to_dict(self) -> dict[str, object]:
        """Return the format as plain values that JSON can hold."""
        plain: dict[str, object] = {name: getattr(self, name) for name in _own_names(TableFormat)}
        plain["columns"] = tuple(
            {name: getattr(column, name) for name in _own_names(Column)} for column in self.columns
        )
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> TableFormat:
        """Build a format from what ``to_dict`` returned; an array where its library is missing."""
        columns = tuple(Column.from_dict(column) for column in plain["columns"])
        found = cls(plain["kind"], columns, plain["person"], plain["own"])
        wanted = "pandas" if found.person == "series" else found.kind
        return found if wanted == "numpy" or find_spec(wanted) else found.without_names()


@lru_cache(maxsize=8)
def _own_names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind))


def person_format(person: object, table: TableFormat) -> TableFormat:
    """Take the format of one person; the table they belong to settles everything else."""
    opened = open_person(person)
    if opened.values is None:
        bare = _bare_columns(table.columns)
        return replace(_describe_format(open_table(opened.native), bare), person="frame")
    if opened.came_as == "dict":
        named = _named_by_feature(opened.values, table)
        columns = _with_missing_of(named.columns, opened.values)
        return TableFormat(table.kind, columns, "dict", table.own)
    if opened.came_as == "series":
        columns = table.columns if table.kind == "pandas" else _bare_columns(table.columns)
        return TableFormat("pandas", columns, "series", str(opened.native.dtype))
    if isinstance(opened.native, np.ndarray):
        columns = _columns_of_dtype(table.columns, opened.native.dtype.str)
        names = (column.name for column in columns)
        values = dict(zip(names, opened.values.values(), strict=True))
        return TableFormat("numpy", _with_missing_of(columns, values), opened.came_as)
    dtype_of = dict(zip(opened.values, opened.dtypes, strict=True))
    dtypes = tuple(dtype_of[column.name] for column in table.columns)
    columns = _columns_stored_as(table.columns, opened.kind, dtypes)
    return TableFormat(opened.kind, _with_missing_of(columns, opened.values), "frame")


@lru_cache(maxsize=32)  # people come one by one, and alike
def _bare_columns(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    return tuple(column.without_dtype() for column in columns)


@lru_cache(maxsize=32)
def _columns_of_dtype(columns: tuple[Column, ...], dtype: str) -> tuple[Column, ...]:
    return tuple(replace(one, dtype=dtype, missing="nan") for one in _bare_columns(columns))


@lru_cache(maxsize=32)
def _columns_stored_as(
    columns: tuple[Column, ...], kind: str, dtypes: tuple[Any, ...]
) -> tuple[Column, ...]:
    """Return columns as a table with these dtypes stores them."""
    described = _DESCRIBED[kind]
    bare = _bare_columns(columns)
    return tuple(described(one, dtype, None) for one, dtype in zip(bare, dtypes, strict=True))


def _with_missing_of(columns: tuple[Column, ...], person: Mapping[Any, Any]) -> tuple[Column, ...]:
    """Return columns in which what is missing is written as this person has it."""
    gone = [is_missing_value(person.get(column.name, 0)) for column in columns]
    if not any(gone):
        return columns
    kinds = (
        kind_of_missing(np.array([person[column.name]], dtype=object)) if lacks else column.missing
        for column, lacks in zip(columns, gone, strict=True)
    )
    return tuple(replace(column, missing=kind) for column, kind in zip(columns, kinds, strict=True))


def _named_by_feature(person: Mapping[Any, Any], table: TableFormat) -> TableFormat:
    """Take categories by the names of their features where the person came so."""
    columns: dict[str, Column] = {}
    for column in table.columns:
        if column.tells in person:
            column = Column(column.tells, column.told_labels)
        columns[column.name] = column
    return replace(table, columns=tuple(columns.values()))


def table_from_columns(columns: dict[str, list[Any]], kind: str) -> Any:
    """Return a table of the user's kind: pandas for NumPy users, a dict where it is missing."""
    backend: Any = kind if kind != "numpy" else "pandas"
    if not columns and backend == "pandas" and find_spec("pandas"):
        import pandas

        return pandas.DataFrame()  # early versions of narwhals make nothing of no columns
    return nw.from_dict(columns, backend=backend).to_native() if find_spec(backend) else columns


def _plain_columns(schema: Schema) -> tuple[Column, ...]:
    return tuple(column for feature in schema for column in _columns_of_feature(feature))


def _columns_of_feature(feature: Feature) -> list[Column]:
    """The columns that tell a feature: its own, or several of 0 and 1."""
    if feature.columns is None:
        return [Column(feature.name, feature.categories, feature.whole, since=feature.since)]
    categories = feature.categories or ()
    first = len(categories) - len(feature.columns)
    return [
        Column(name, (0, 1), True, tells=feature.name, hot=hot, told_labels=categories)
        for hot, name in enumerate(feature.columns, start=first)
    ]


def _describe_format(table: Frame | ColumnValues, columns: tuple[Column, ...]) -> TableFormat:
    """Describe how each column is stored."""
    if isinstance(table, np.ndarray):
        dtype = table.dtype.str
        plain = (
            replace(column, dtype=dtype, missing=kind_of_missing(values))
            for column, values in zip(columns, table.T, strict=True)
        )
        return TableFormat("numpy", tuple(plain))
    kind = table.implementation.value
    described = _DESCRIBED[kind]
    stored = []
    for column in columns:
        native = table[column.name].to_native()
        dtype = native.type if kind == "pyarrow" else native.dtype
        if column.tells:
            column = replace(column, labels=_labels_of_hot(table[column.name].to_numpy()))
        stored.append(described(column, dtype, kind_of_missing_in(native, kind)))
    return TableFormat(kind, tuple(stored))


def _labels_of_hot(values: ColumnValues) -> tuple[FeatureValue, FeatureValue]:
    """How a column writes 0 and 1 where it stores objects: as truth values, texts or numbers."""
    first = next((one for one in values if not is_missing_value(one)), 0)
    if isinstance(first, str):
        return ("0", "1")
    return (False, True) if values.dtype.kind == "O" and isinstance(first, bool) else (0, 1)


def _codes_by_column(columns: tuple[Column, ...], records: Array) -> list[tuple[Column, Array]]:
    """Return every column with its codes: those of 0 and 1 that tell one feature share it."""
    codes = np.asarray(records, dtype=np.float64).T
    features = list(dict.fromkeys(column.tells or column.name for column in columns))
    of_feature = dict(zip(features, codes, strict=True))
    return [(one, one.own_codes(of_feature[one.tells or one.name])) for one in columns]


def _to_numpy(columns: tuple[Column, ...], records: Array) -> ColumnValues:
    parts = [column.values(codes) for column, codes in _codes_by_column(columns, records)]
    if any(values.dtype.kind == "O" for values in parts):
        table = np.column_stack([values.astype(object) for values in parts])
    else:
        table = np.column_stack(parts)
    dtype = columns[0].dtype
    wanted = np.dtype(dtype) if dtype else table.dtype
    fractions = any(columns[0].has_fractions(values) for values in parts)
    if wanted.kind in "biu" and fractions:
        return np.ascontiguousarray(table)
    return np.ascontiguousarray(table.astype(wanted))


def _to_pandas(columns: tuple[Column, ...], records: Array) -> Any:
    import pandas

    if all(column.holds_floats() for column in columns):
        names = _pandas_index(tuple(column.name for column in columns)).view()
        return pandas.DataFrame(np.array(records, dtype=np.float64), columns=names)
    return pandas.DataFrame(
        {
            column.name: pandas_series(column, codes)
            for column, codes in _codes_by_column(columns, records)
        }
    )


@lru_cache(maxsize=16)
def _pandas_index(names: tuple[str, ...]) -> Any:
    """The names of columns as pandas keeps them: to make this takes longer than the frame."""
    import pandas

    return pandas.Index(list(names))


def _to_polars(columns: tuple[Column, ...], records: Array) -> Any:
    import polars

    return polars.DataFrame(
        [polars_series(column, codes) for column, codes in _codes_by_column(columns, records)]
    )


def _to_pyarrow(columns: tuple[Column, ...], records: Array) -> Any:
    import pyarrow

    return pyarrow.table(
        {
            column.name: pyarrow_array(column, codes)
            for column, codes in _codes_by_column(columns, records)
        }
    )


def _to_series(form: TableFormat, record: Array) -> Any:
    import pandas

    codes = _codes_by_column(form.columns, np.asarray(record)[None, :])
    values = [column.value(code[0]) for column, code in codes]
    names = [column.name for column in form.columns]
    dtype: str | None = form.own
    if form.own == "category":
        dtype = "object"
    fractions = any(isinstance(value, float) and value % 1 for value in values)
    if "int" in form.own.lower() and fractions:
        dtype = None
    return pandas.Series(values, index=names, dtype=dtype)
