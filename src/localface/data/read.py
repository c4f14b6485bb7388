"""Between the user's own tables and records: read any kind, answer in the same kind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np

from localface.data.infer import Frame, Values, missing, names_of, opened
from localface.data.schema import Feature, Schema, Value, unseen
from localface.errors import DataError, listed, near_miss
from localface.types import Array

_PLAIN = re.compile(
    r"|u?int(8|16|32|64)|float(32|64)|bool(ean)?|double|[<>=|]?(f[48]|[iu][1248]|b1)"
)  # dtypes of plain numbers, by any library
_EXACT = 2**53  # the largest count up to which every whole number is a float


@dataclass(frozen=True, slots=True)
class Column:
    """How one feature is stored; an empty ``dtype`` takes what suits the values."""

    name: str
    labels: tuple[Value, ...] | None = None
    whole: bool = False
    dtype: str = ""
    categories: tuple[Value, ...] | None = None
    ordered: bool = False

    def value(self, code: float) -> Value:
        """Return one code as the user knows it."""
        if self.labels is not None:
            return self.labels[round(code)]
        return round(code) if self.whole else float(code)

    def values(self, codes: Array) -> Values:
        """Return codes as the user knows them."""
        if self.labels is None:
            return np.rint(codes).astype(np.int64) if self.whole else codes
        same = len({type(label) for label in self.labels}) == 1 and not isinstance(
            self.labels[0], str
        )
        labels = np.array(self.labels, dtype=None if same else object)
        return np.asarray(labels[np.rint(codes).astype(np.int64)])

    def numbers(self, codes: Array) -> Array | None:
        """Return codes as the plain numbers that a table of this kind holds; None where it holds something else."""
        if self.categories is not None or not _PLAIN.fullmatch(self.dtype.lower()):
            return None
        if self.labels is not None and not all(
            isinstance(label, bool | int | float) for label in self.labels
        ):
            return None
        return np.asarray(self.values(codes), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class TableFormat:
    """The kind of container the user works with, so that answers come back in it."""

    kind: str
    columns: tuple[Column, ...]
    person: str = ""
    own: str = ""

    @classmethod
    def of(cls, data: object, schema: Schema) -> TableFormat:
        """Take the form of a table."""
        return _form_of(opened(data), [Column(f.name, f.categories, f.whole) for f in schema])

    @classmethod
    def plain(cls, schema: Schema) -> TableFormat:
        """The form of people who came without a table: one with names, where a library for that is installed."""
        return cls("numpy", tuple(Column(f.name, f.categories, f.whole) for f in schema)).named()

    def frame(self, records: Array) -> Any:
        """Return records as a table of this kind."""
        columns = list(zip(self.columns, np.asarray(records, dtype=np.float64).T, strict=True))
        if self.kind == "numpy":
            return _array(
                [column.values(codes) for column, codes in columns], self.columns[0].dtype
            )
        if self.kind == "pandas":
            pandas = import_module("pandas")
            if all(
                column.dtype == "float64" and column.labels is None and not column.whole
                for column in self.columns
            ):
                return pandas.DataFrame(
                    np.array(records, dtype=np.float64), columns=[c.name for c in self.columns]
                )
            return pandas.DataFrame(
                {column.name: _pandas(column, codes) for column, codes in columns}
            )
        if self.kind == "polars":
            return import_module("polars").DataFrame(
                [_polars(column, codes) for column, codes in columns]
            )
        return import_module("pyarrow").table(
            {column.name: _pyarrow(column, codes) for column, codes in columns}
        )

    def numbers(self, records: Array) -> Array | None:
        """Return the numbers in the table that ``frame`` gives; None where it holds more than plain numbers."""
        if all(
            column.labels is None and not column.whole and column.dtype == "float64"
            for column in self.columns
        ):
            return records
        columns = [
            column.numbers(codes) for column, codes in zip(self.columns, records.T, strict=True)
        ]
        plain = [column for column in columns if column is not None]
        return np.stack(plain, axis=1) if len(plain) == len(columns) else None

    def single(self, record: Array) -> Any:
        """Return one person as they came."""
        if self.person == "dict":
            return {
                column.name: column.value(code)
                for column, code in zip(self.columns, record, strict=True)
            }
        if self.person == "series":
            return _series(self, record)
        table = self.frame(np.asarray(record)[None, :])
        return table[0] if self.person == "array" else table

    def bare(self) -> TableFormat:
        """Return the same columns as an array without names."""
        columns = tuple(
            replace(column, dtype="", categories=None, ordered=False) for column in self.columns
        )
        return TableFormat("numpy", columns, "array" if self.person == "series" else self.person)

    def named(self) -> TableFormat:
        """Return the same columns as a table with names, where a library for that is installed."""
        kind = next(
            (kind for kind in ("pandas", "polars", "pyarrow") if find_spec(kind)), self.kind
        )
        columns = tuple(
            replace(column, dtype="", categories=None, ordered=False) for column in self.columns
        )
        return TableFormat(kind, columns, self.person, self.own)

    def to_dict(self) -> dict[str, object]:
        """Return the form as plain values that JSON can hold."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> TableFormat:
        """Build a form from what ``to_dict`` returned; an array where the table's library is not installed."""
        form = cls(
            plain["kind"], tuple(map(_column, plain["columns"])), plain["person"], plain["own"]
        )
        wanted = "pandas" if form.person == "series" else form.kind
        return form if wanted == "numpy" or find_spec(wanted) else form.bare()


def _column(plain: Mapping[str, Any]) -> Column:
    tuples = {key: tuple(value) for key, value in plain.items() if isinstance(value, list)}
    settings: dict[str, Any] = {**plain, **tuples}
    return Column(**settings)


def table_of(columns: dict[str, list[Any]], kind: str) -> Any:
    """A table of the user's own kind; for a NumPy user a pandas frame, or the columns as they are without pandas."""
    backend: Any = kind if kind != "numpy" else "pandas"
    return nw.from_dict(columns, backend=backend).to_native() if find_spec(backend) else columns


def column_names(data: object) -> tuple[str, ...]:
    """Return the names of a table's columns; those of an array are x0, x1, ..."""
    return names_of(opened(data))


def person_form(person: object, table: TableFormat) -> TableFormat:
    """Take the form of one person, with the table they belong to as the model for everything else."""
    if isinstance(person, Mapping):
        return replace(table, person="dict")
    bare = [replace(column, dtype="", categories=None, ordered=False) for column in table.columns]
    if nw.dependencies.is_pandas_series(person):
        columns = table.columns if table.kind == "pandas" else tuple(bare)
        return TableFormat("pandas", columns, "series", str(person.dtype))
    if isinstance(person, np.ndarray) and person.ndim == 1:
        return replace(_form_of(person[None, :], bare), person="array")
    return replace(_form_of(opened(person), bare), person="frame")


def read_table(data: object, schema: Schema) -> Array:
    """Read a table as records, one code a feature."""
    table = opened(data)
    if len(table) == 0:
        raise DataError("the table has no rows: give at least one")
    return _read(table, schema)


def _read(table: Frame | Values, schema: Schema) -> Array:
    if isinstance(table, np.ndarray):
        _check_width(table.shape[1], schema)
        columns = [table[:, j] for j in range(len(schema))]
    else:
        _check_names(table.columns, schema, "the table")
        columns = _columns(table, schema.names)
    _refuse_missing(schema, columns)
    return np.column_stack(
        [_codes(feature, values) for feature, values in zip(schema, columns, strict=True)]
    )


def _columns(table: Frame, names: tuple[str, ...]) -> list[Values]:
    """Take columns out of a table, numbers of one type all at once."""
    schema = table.schema
    kinds = {name: schema[name] for name in names}
    found: dict[str, Values] = {}
    for dtype in dict.fromkeys(kinds.values()):
        alike = [name for name in names if kinds[name] == dtype]
        if dtype.is_numeric() and len(alike) > 1:
            block = table.select(alike).to_numpy()
            found.update({name: block[:, j] for j, name in enumerate(alike)})
        else:
            found.update({name: table[name].to_numpy() for name in alike})
    return [found[name] for name in names]


def read_person(person: object, schema: Schema, what: str = "the person") -> Array:
    """Read one person as a record; ``what`` is what a refusal calls them."""
    if nw.dependencies.is_pandas_series(person):
        person = dict(zip(person.index, person.to_numpy(dtype=object), strict=True))
    if isinstance(person, np.ndarray) and person.ndim == 1:
        _check_width(len(person), schema)
        person = dict(zip(schema.names, person, strict=True))
    if isinstance(person, Mapping):
        _check_names([str(name) for name in person], schema, what)
        _refuse_missing_of_person(person, schema, what)
        return np.array([feature.code(person[feature.name]) for feature in schema])
    if isinstance(person, str | list | tuple | int | float) or person is None:
        raise DataError(
            f"a {type(person).__name__} is no person: give a dict, a pandas Series, a 1-D array or a table of one row"
        )
    records = read_table(person, schema)
    if len(records) != 1:
        raise DataError(
            f"one person is wanted, and {len(records)} rows came: give one row, or use explain_many"
        )
    return np.asarray(records[0])


def read_people(people: object, schema: Schema) -> Array:
    """Read several people as records: a table, or a list of persons."""
    single = isinstance(people, Mapping) or nw.dependencies.is_pandas_series(people)
    if single or (isinstance(people, np.ndarray) and people.ndim == 1):
        raise DataError(
            "people are wanted, and one person came: give a table or a list, or use explain"
        )
    if not isinstance(people, list | tuple):
        return _read_rows(people, schema)
    if not people:
        raise DataError("the list of people is empty: give at least one")
    return np.stack([_numbered(i, person, schema) for i, person in enumerate(people)])


def read_each(people: object, schema: Schema) -> list[Array | DataError]:
    """Read several people as records; whoever cannot be read gets the error instead, found by halving."""
    try:
        return list(read_people(people, schema))
    except DataError as error:
        rows: Any = people if isinstance(people, list | tuple) else opened(people)
        if len(rows) == 0 or not (isinstance(rows, list | tuple) or _readable(rows[:0], schema)):
            raise  # the columns are at fault, not a person
        if len(rows) == 1:
            return [DataError(str(error).removeprefix("person 0: "))]
    half = len(rows) // 2
    return read_each(rows[:half], schema) + read_each(rows[half:], schema)


def _read_rows(people: object, schema: Schema) -> Array:
    """Read a table of people; where one of them is refused, say which, found by halving."""
    try:
        return read_table(people, schema)
    except DataError as error:
        table = opened(people)
        fine, refused = 0, len(table)
        if refused == 0 or not _readable(table[:0], schema):
            raise  # the columns are at fault, not a person
        while refused - fine > 1:
            middle = (fine + refused) // 2
            fine, refused = (
                (middle, refused) if _readable(table[fine:middle], schema) else (fine, middle)
            )
        raise DataError(f"person {fine}: {error}") from None


def _readable(table: Frame | Values, schema: Schema) -> bool:
    try:
        _read(table, schema)
    except DataError:
        return False
    return True


def _numbered(place: int, person: object, schema: Schema) -> Array:
    try:
        return read_person(person, schema)
    except DataError as error:
        raise DataError(f"person {place}: {error}") from None


def _check_width(width: int, schema: Schema) -> None:
    if width != len(schema):
        raise DataError(
            f"the array has {width} columns and the schema {len(schema)} features ({listed(schema.names)}): "
            "give one column a feature, in that order"
        )


def _check_names(have: Iterable[str], schema: Schema, what: str) -> None:
    have = list(have)
    spare = [name for name in have if name not in schema.names]
    lacking = [f"{name!r}{near_miss(name, spare)}" for name in schema.names if name not in have]
    if lacking:
        raise DataError(f"{what} lacks {', '.join(lacking)}: it has {listed(have)}")


def _refuse_missing(schema: Schema, columns: list[Values]) -> None:
    """Refuse what is absent or infinite: which columns, how many rows, and what to do."""
    masks = [missing(values) for values in columns]
    counts = {
        name: int(mask.sum()) for name, mask in zip(schema.names, masks, strict=True) if mask.any()
    }
    if counts:
        rows = int(np.logical_or.reduce(masks).sum())
        each = ", ".join(
            f"{name!r} ({count} row{'s' if count > 1 else ''})" for name, count in counts.items()
        )
        raise DataError(
            f"missing or infinite values in {each}, {rows} of {len(masks[0])} rows in all: "
            "drop these rows or impute the values first"
        )


def _refuse_missing_of_person(person: Mapping[str, object], schema: Schema, what: str) -> None:
    values = np.empty(len(schema), dtype=object)
    values[:] = [person[name] for name in schema.names]
    absent = [name for name, gone in zip(schema.names, missing(values), strict=True) if gone]
    if absent:
        raise DataError(f"{what}'s {listed(absent)} is missing or infinite: impute it first")


def _codes(feature: Feature, values: Values) -> Array:
    """Turn one column of values into codes."""
    if feature.categories is not None:
        return _places(feature, feature.categories, values)
    if values.dtype.kind not in "biuf":
        texts = [value for value in values if isinstance(value, str)]
        if texts:
            raise DataError(
                f"{feature.name!r} is {feature.kind} and holds text such as {texts[0]!r}: "
                "turn it into numbers, or declare it kind='categorical'"
            )
        return np.array([feature.code(value) for value in values])
    if (
        values.dtype.kind in "iu"
        and len(values)
        and max(abs(int(values.max())), abs(int(values.min()))) > _EXACT
    ):
        raise DataError(
            f"{feature.name!r} holds numbers too large to be kept exactly: is it an identifier? drop it"
        )
    codes = values.astype(np.float64)
    broken = codes != np.rint(codes) if feature.whole else np.zeros(0, dtype=bool)
    if broken.any():
        raise DataError(
            f"{feature.name!r} is {feature.kind}, but {int(broken.sum())} rows hold fractions such as "
            f"{float(codes[broken][0])!r}: round them, or declare it kind='numeric'"
        )
    return codes


def _places(feature: Feature, categories: tuple[Value, ...], values: Values) -> Array:
    place = {label: float(i) for i, label in enumerate(categories)}
    try:
        if values.dtype.kind in "biuf":
            distinct, inverse = np.unique(values, return_inverse=True)
            return np.array([place[value] for value in distinct.tolist()])[inverse.reshape(-1)]
        return np.array([place[value] for value in values.tolist()])
    except (KeyError, TypeError):
        strange = next(value for value in values.tolist() if value not in categories)
        raise unseen(feature, strange) from None


def _form_of(table: Frame | Values, columns: list[Column]) -> TableFormat:
    """Describe how each column is stored."""
    if isinstance(table, np.ndarray):
        return TableFormat(
            "numpy", tuple(replace(column, dtype=table.dtype.str) for column in columns)
        )
    kind = table.implementation.value
    described = {"pandas": _of_pandas, "polars": _of_polars, "pyarrow": _of_pyarrow}[kind]
    return TableFormat(
        kind, tuple(described(column, table[column.name].to_native()) for column in columns)
    )


def _of_pandas(column: Column, native: Any) -> Column:
    pandas, dtype = import_module("pandas"), native.dtype
    if isinstance(dtype, pandas.CategoricalDtype):
        labels = tuple(dtype.categories.tolist())
        return replace(column, dtype="category", categories=labels, ordered=bool(dtype.ordered))
    if isinstance(dtype, pandas.ArrowDtype):
        return replace(column, dtype=f"arrow:{dtype.pyarrow_dtype}")
    return replace(column, dtype=str(dtype))


def _of_polars(column: Column, native: Any) -> Column:
    dtype = native.dtype
    if type(dtype).__name__ == "Enum":
        return replace(column, dtype="Enum", categories=tuple(dtype.categories.to_list()))
    return replace(column, dtype=str(dtype))


def _of_pyarrow(column: Column, native: Any) -> Column:
    dtype = native.type
    if import_module("pyarrow").types.is_dictionary(dtype):
        return replace(
            column,
            dtype=f"dictionary:{dtype.index_type}:{dtype.value_type}",
            ordered=bool(dtype.ordered),
        )
    return replace(column, dtype=str(dtype))


def _fractional(values: Values) -> bool:
    """Tell whether numbers would be cut short by a column of whole ones."""
    return values.dtype.kind == "f" and bool((values != np.rint(values)).any())


def _closed(column: Column, values: Values) -> bool:
    """Tell whether all values belong to the column's closed list of categories."""
    return column.categories is not None and set(values.tolist()) <= set(column.categories)


def _array(columns: list[Values], dtype: str) -> Values:
    mixed = any(values.dtype.kind == "O" for values in columns)
    table = np.column_stack([values.astype(object) for values in columns] if mixed else columns)
    wanted = np.dtype(dtype) if dtype else table.dtype
    if wanted.kind in "biu" and any(_fractional(values) for values in columns):
        return np.ascontiguousarray(table)
    return np.ascontiguousarray(table.astype(wanted))


def _pandas(column: Column, codes: Array) -> Any:
    pandas, values = import_module("pandas"), column.values(codes)
    if column.dtype == str(values.dtype) != "object":
        return values
    series = pandas.Series(values.tolist() if values.dtype.kind == "O" else values)
    if column.categories is not None:
        closed = _closed(column, values)
        dtype = pandas.CategoricalDtype(list(column.categories), ordered=column.ordered)
        return series.astype(dtype) if closed else series
    if not column.dtype or (_fractional(values) and "int" in column.dtype.lower()):
        return series
    if column.dtype.startswith("arrow:"):
        alias = column.dtype.removeprefix("arrow:")
        return series.astype(pandas.ArrowDtype(import_module("pyarrow").type_for_alias(alias)))
    return series.astype(column.dtype)


def _polars(column: Column, codes: Array) -> Any:
    polars, values = import_module("polars"), column.values(codes)
    series = polars.Series(column.name, values.tolist() if values.dtype.kind == "O" else values)
    if column.categories is not None:
        return (
            series.cast(polars.Enum(list(column.categories))) if _closed(column, values) else series
        )
    dtype = getattr(polars, column.dtype, None) if column.dtype else None
    if dtype is None or (_fractional(values) and dtype.is_integer()):
        return series
    return series.cast(dtype)


def _pyarrow(column: Column, codes: Array) -> Any:
    pyarrow, values = import_module("pyarrow"), column.values(codes)
    array = pyarrow.array(values.tolist() if values.dtype.kind == "O" else values)
    if column.dtype.startswith("dictionary:"):
        _, index, value = column.dtype.split(":")
        encoded = array.cast(pyarrow.type_for_alias(value)).dictionary_encode()
        indices = encoded.indices.cast(pyarrow.type_for_alias(index))
        return pyarrow.DictionaryArray.from_arrays(
            indices, encoded.dictionary, ordered=column.ordered
        )
    if not column.dtype or (_fractional(values) and "int" in column.dtype):
        return array
    return array.cast(pyarrow.type_for_alias(column.dtype))


def _series(form: TableFormat, record: Array) -> Any:
    pandas = import_module("pandas")
    values = [column.value(code) for column, code in zip(form.columns, record, strict=True)]
    names = [column.name for column in form.columns]
    fractions = "int" in form.own.lower() and any(
        isinstance(value, float) and value % 1 for value in values
    )
    dtype = None if fractions else "object" if form.own == "category" else form.own
    return pandas.Series(values, index=names, dtype=dtype)
