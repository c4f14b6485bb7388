"""From the user's tables to records: one code a feature."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import narwhals as nw
import numpy as np

from localface.data.absence import MISSING
from localface.data.codes import MOST_EXACT, FeatureValue, too_large_error, unseen_category_error
from localface.data.dates import days_of_dates
from localface.data.feature import Feature
from localface.data.frames import (
    ColumnValues,
    Frame,
    infinite_mask,
    missing_mask,
    open_table,
    values_of_column,
)
from localface.data.hot_columns import code_of_hot_values, codes_of_hot_columns, columns_to_read
from localface.data.names_given import (
    check_column_count,
    check_person_names,
    check_table_names,
    refuse_unknown_keys,
)
from localface.data.one_person import open_person
from localface.data.schema import Schema
from localface.errors import DataError
from localface.types import Array, Mask


def read_records(data: object, schema: Schema) -> Array:
    """Read a table as records."""
    table = open_table(data)
    if len(table) == 0:
        raise DataError("the table has no rows: give at least one")
    return _read_columns(table, schema)


def read_record(
    person: object, schema: Schema, what: str = "", *, extra: Collection[str] = ()
) -> Array:
    """Read one person as a record; ``what`` is what a refusal calls them, where they are none.

    A dict may have keys that are no features only where they are in ``extra``, the other columns
    of the data; in a Series or a table, whatever else there is (an id, the outcome) is left out.
    """
    opened = open_person(person)
    if opened.values is None:
        return _read_only_row(opened.native, schema)
    values = opened.values
    if isinstance(opened.native, np.ndarray):
        check_column_count(len(values), schema)
        values = dict(zip(schema.columns, values.values(), strict=True))
    if opened.came_as == "frame":
        codes = _codes_or_none(values, schema)
        return _read_only_row(opened.native, schema) if codes is None else codes
    check_person_names(values, schema, what)
    if opened.came_as == "dict":
        refuse_unknown_keys(values, schema, what or f"the {schema.each_row.one}", extra)
    return np.array([_code_of_person(feature, values) for feature in schema])


def _codes_or_none(values: Mapping[str, Any], schema: Schema) -> Array | None:
    """Return the values of a row as codes; None where the table itself has to be read for them."""
    try:
        codes = np.array([_code_of_person(feature, values) for feature in schema])
    except (KeyError, DataError):
        return None
    return None if (np.abs(codes) >= MOST_EXACT).any() else codes


def _read_only_row(table: object, schema: Schema) -> Array:
    records = read_records(table, schema)
    if len(records) != 1:
        raise DataError(
            f"one {schema.each_row.one} is wanted, and {len(records)} rows came: give one row, or "
            "use explain_many"
        )
    return np.asarray(records[0])


def _code_of_person(feature: Feature, person: Mapping[Any, Any]) -> float:
    if feature.columns is not None and feature.name not in person:
        return code_of_hot_values(feature, person)
    return feature.code(person[feature.name])


def read_people(people: object, schema: Schema, *, extra: Collection[str] = ()) -> Array:
    """Read several people as records: a table, or a list of persons (see ``read_record``)."""
    single = isinstance(people, Mapping) or nw.dependencies.is_pandas_series(people)
    if single or (isinstance(people, np.ndarray) and people.ndim == 1):
        raise DataError(
            "people are wanted, and one person came: give a table or a list, or use explain"
        )
    if not isinstance(people, list | tuple):
        return _read_table_of_people(people, schema)
    if not people:
        raise DataError("the list of people is empty: give at least one")
    return np.stack([_read_numbered_person(i, one, schema, extra) for i, one in enumerate(people)])


def read_each_person(
    people: object, schema: Schema, *, extra: Collection[str] = ()
) -> list[Array | DataError]:
    """Read several people as records; those who cannot be read get the error instead."""
    try:
        return list(read_people(people, schema, extra=extra))
    except DataError:
        rows: Any = people if isinstance(people, list | tuple) else open_table(people)
        if len(rows) == 0 or not (isinstance(rows, list | tuple) or _is_readable(rows[:0], schema)):
            raise  # the columns are at fault, not a person
    return _read_by_halving(rows, schema, first=0, extra=extra)


def _read_by_halving(
    rows: Any, schema: Schema, *, first: int, extra: Collection[str]
) -> list[Array | DataError]:
    """Find those who cannot be read by halving; ``first`` is the number of the first person."""
    try:
        if isinstance(rows, list | tuple):
            return [read_record(person, schema, extra=extra) for person in rows]
        return list(read_records(rows, schema))
    except DataError as error:
        if len(rows) == 1:
            return [DataError(str(error), feature=error.feature, person=first)]
    half = len(rows) // 2
    return [
        *_read_by_halving(rows[:half], schema, first=first, extra=extra),
        *_read_by_halving(rows[half:], schema, first=first + half, extra=extra),
    ]


def _read_table_of_people(people: object, schema: Schema) -> Array:
    """Read a table of people; where one of them is refused, say which, found by halving."""
    try:
        return read_records(people, schema)
    except DataError as error:
        table = open_table(people)
        fine = 0
        refused = len(table)
        if refused == 0 or not _is_readable(table[:0], schema):
            raise  # the columns are at fault, not a person
        while refused - fine > 1:
            middle = (fine + refused) // 2
            if _is_readable(table[fine:middle], schema):
                fine = middle
            else:
                refused = middle
        raise _with_person_number(error, fine) from None


def _read_numbered_person(
    number: int, person: object, schema: Schema, extra: Collection[str]
) -> Array:
    try:
        return read_record(person, schema, extra=extra)
    except DataError as error:
        raise _with_person_number(error, number) from None


def _with_person_number(error: DataError, person: int) -> DataError:
    return DataError(f"person {person}: {error}", feature=error.feature, person=person)


def _is_readable(table: Frame | ColumnValues, schema: Schema) -> bool:
    try:
        _read_columns(table, schema)
    except DataError:
        return False
    return True


def _read_columns(table: Frame | ColumnValues, schema: Schema) -> Array:
    if isinstance(table, np.ndarray):
        check_column_count(table.shape[1], schema)
        columns = {name: table[:, j] for j, name in enumerate(schema.columns)}
    else:
        check_table_names(table.columns, schema)
        names = columns_to_read(table.columns, schema)
        columns = dict(zip(names, _take_columns(table, names), strict=True))
    hot = [feature for feature in schema if feature.name not in columns]
    columns |= {feature.name: codes_of_hot_columns(feature, columns) for feature in hot}
    _refuse_gaps(schema, [columns[name] for name in schema.names])
    return np.column_stack(
        [
            columns[one.name] if one in hot else _codes_of_column(one, columns[one.name])
            for one in schema
        ]
    )


def _take_columns(table: Frame, names: list[str]) -> list[ColumnValues]:
    """Take columns out of a table, numbers of one type all at once."""
    schema = table.schema
    kinds = {name: schema[name] for name in names}
    found: dict[str, ColumnValues] = {}
    for dtype in dict.fromkeys(kinds.values()):
        alike = [name for name in names if kinds[name] == dtype]
        if dtype.is_numeric() and len(alike) > 1:
            block = table.select(alike).to_numpy()
            found.update({name: block[:, j] for j, name in enumerate(alike)})
        else:
            found.update({name: values_of_column(table, name) for name in alike})
        if dtype.is_integer():
            _refuse_inexact_wholes(found, alike)
    return [found[name] for name in names]


def _refuse_inexact_wholes(columns: Mapping[str, ColumnValues], names: list[str]) -> None:
    """Refuse whole numbers with gaps that became fractions, and may have lost their last digit."""
    for name in names:
        values = columns[name]
        if values.dtype.kind == "f" and (np.abs(values[~np.isnan(values)]) >= MOST_EXACT).any():
            raise too_large_error(name)


def _refuse_gaps(schema: Schema, columns: list[ColumnValues]) -> None:
    """Refuse what is infinite, and what is missing where the schema wants no gaps."""
    infinite = {name: infinite_mask(one) for name, one in zip(schema.names, columns, strict=True)}
    _refuse_rows(infinite, "infinite values", "give a finite number, or leave the value missing")
    missing = {
        feature.name: missing_mask(one)
        for feature, one in zip(schema, columns, strict=True)
        if feature.missing == "refuse"
    }
    _refuse_rows(
        missing, "missing values", "drop these rows, or say missing='keep' of these features"
    )


def _refuse_rows(masks: Mapping[str, Mask], what: str, remedy: str) -> None:
    """Refuse rows that some features rule out: which, how many rows, and what to do."""
    counts = {name: int(mask.sum()) for name, mask in masks.items() if mask.any()}
    if counts:
        rows = np.logical_or.reduce(list(masks.values()))
        each = ", ".join(
            f"{name!r} ({count} row{'s' if count > 1 else ''})" for name, count in counts.items()
        )
        raise DataError(
            f"{what} in {each}, {int(rows.sum())} of {len(rows)} rows in all: {remedy}",
            feature=next(iter(counts)),
        )


def _codes_of_column(feature: Feature, values: ColumnValues) -> Array:
    """Turn one column of values into codes."""
    if values.ndim != 1 or values.dtype.kind in "mcV":
        raise DataError(
            f"{feature.name!r} holds {values.dtype} values, which cannot be part of a record: "
            "turn it into numbers, such as days, or into text",
            feature=feature.name,
        )
    if feature.categories is not None:
        return _category_codes(feature, feature.categories, values)
    if values.dtype.kind == "M" and feature.since is not None:
        values = days_of_dates(values, feature.since)
    if values.dtype.kind not in "biuf":
        return _codes_of_objects(feature, values)
    if values.dtype.kind in "iu" and len(values):
        largest = max(abs(int(values.max())), abs(int(values.min())))
        if largest > MOST_EXACT:
            raise too_large_error(feature.name)
    codes = values.astype(np.float64)
    broken = np.zeros(0, dtype=bool)
    if feature.whole:
        broken = ~(np.isnan(codes) | (codes == np.rint(codes)))
    if broken.any():
        raise DataError(
            f"{feature.name!r} is {feature.kind}, but {int(broken.sum())} rows hold fractions such "
            f"as {float(codes[broken][0])!r}: round them, or declare it kind='numeric'",
            feature=feature.name,
        )
    codes[np.isnan(codes)] = MISSING  # the same bits, whatever kind of NaN it was
    return codes


def _codes_of_objects(feature: Feature, values: ColumnValues) -> Array:
    texts = [value for value in values if isinstance(value, str)]
    if texts and feature.since is None:
        raise DataError(
            f"{feature.name!r} is {feature.kind} and holds text such as {texts[0]!r}: "
            "turn it into numbers, or declare it kind='categorical'",
            feature=feature.name,
        )
    return np.array([feature.code(value) for value in values])


def _category_codes(
    feature: Feature, categories: tuple[FeatureValue, ...], values: ColumnValues
) -> Array:
    codes = np.full(len(values), MISSING)
    present = ~missing_mask(values)
    values = values[present]
    code_of = {label: float(i) for i, label in enumerate(categories)}
    try:
        if values.dtype.kind in "biuf":
            distinct, inverse = np.unique(values, return_inverse=True)
            found = [code_of[value] for value in distinct.tolist()]
            codes[present] = np.array(found)[inverse.reshape(-1)]
        else:
            codes[present] = [code_of[value] for value in values.tolist()]
    except (KeyError, TypeError):
        strange = next(value for value in values.tolist() if not _is_key(value, code_of))
        raise unseen_category_error(feature, strange) from None
    return codes


def _is_key(value: Any, known: Mapping[Any, float]) -> bool:
    try:
        return value in known
    except TypeError:  # lists, tables and other things that have no hash
        return False
