"""Records come back in the user's own kind of table."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from four_tables import (
    CODES,
    PERSON,
    ROWS,
    SCHEMA,
    TABLES,
    array,
    pandas_table,
    polars_table,
    pyarrow_table,
)
from hypothesis import given
from hypothesis import strategies as st

from localface.data import table_format
from localface.data.feature import Feature
from localface.data.read import read_record, read_records
from localface.data.schema import Schema
from localface.data.table_format import TableFormat, person_format


def test_a_pandas_table_comes_back_with_its_own_types():
    table = pandas_table()

    back = TableFormat.of(table, SCHEMA).make_table(CODES)

    pd.testing.assert_frame_equal(back, table[list(SCHEMA.names)])


def test_other_pandas_types_come_back_as_well():
    arrow = pd.ArrowDtype(pa.string())
    table = pd.DataFrame({"age": ROWS["age"], "temp": ROWS["temp"], "on": ROWS["on"]}).assign(
        ward=pd.Series(ROWS["ward"], dtype=arrow), grade=pd.Series(ROWS["grade"], dtype="string")
    )
    table = table.astype({"age": "Int64", "on": "boolean", "temp": "Float64"})

    back = TableFormat.of(table, SCHEMA).make_table(read_records(table, SCHEMA))

    pd.testing.assert_frame_equal(back, table)


def test_a_polars_frame_comes_back_with_its_own_types():
    table = polars_table()

    back = TableFormat.of(table, SCHEMA).make_table(CODES)

    assert back.schema == table.schema
    assert back.equals(table)


def test_a_pyarrow_table_comes_back_with_its_own_types():
    table = pyarrow_table()

    back = TableFormat.of(table, SCHEMA).make_table(CODES)

    assert back.schema.types == table.schema.types
    assert back.to_pydict() == table.to_pydict()


def test_an_array_of_objects_comes_back_as_one():
    back = TableFormat.of(array(), SCHEMA).make_table(CODES)

    assert back.dtype == object
    assert back.tolist() == array().tolist()
    assert [type(value) for value in back[0]] == [int, float, bool, str, str]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "bool"])
def test_an_array_of_numbers_keeps_its_type(dtype):
    table = np.array([[0, 1], [1, 0], [1, 1]]).astype(dtype)
    schema = Schema.infer(table)

    back = TableFormat.of(table, schema).make_table(read_records(table, schema))

    assert back.dtype == table.dtype
    assert (back == table).all()


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "numpy"])
@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_floats_come_back_bit_for_bit(kind, values):
    make = {
        "pandas": pd.DataFrame,
        "polars": pl.DataFrame,
        "pyarrow": pa.table,
        "numpy": lambda c: np.array([c["x"]]).T,
    }
    table = make[kind]({"x": values})
    schema = Schema([Feature("x")])

    form = TableFormat.of(table, schema)
    back = form.make_table(read_records(table, schema))

    assert form.kind == kind
    assert read_records(back, schema).tobytes() == np.array(values).tobytes()


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table, lambda c: np.array([c["x"]]).T]
)
def test_a_value_between_whole_numbers_is_never_cut_short(make):
    table, schema = make({"x": [1, 2, 3]}), Schema([Feature("x")])

    back = TableFormat.of(table, schema).make_table(np.array([[1.5]]))

    assert read_records(back, schema).tolist() == [[1.5]]


def test_a_value_outside_a_closed_list_is_never_lost():
    table = pd.DataFrame({"x": pd.Categorical([1, 3, 9])})
    schema = Schema([Feature("x", kind="integer")])

    back = TableFormat.of(table, schema).make_table(np.array([[2.0]]))

    assert back["x"].tolist() == [2]


# --- one person -------------------------------------------------------------------------------
PEOPLE = [
    PERSON,
    pd.Series(PERSON),
    np.array(list(PERSON.values()), dtype=object),
    pandas_table().iloc[[0]],
    polars_table()[:1],
    pyarrow_table().slice(0, 1),
    array()[:1],
]


def test_a_dict_comes_back_as_a_dict_and_its_path_as_the_table():
    form = person_format(PERSON, TableFormat.of(polars_table(), SCHEMA))

    back = form.make_person(CODES[0])

    assert back == PERSON
    assert [type(value) for value in back.values()] == [int, float, bool, str, str]
    assert isinstance(form.make_table(CODES), pl.DataFrame)


@pytest.mark.parametrize("table", TABLES, ids=["pandas", "polars", "pyarrow", "numpy"])
def test_a_series_comes_back_as_a_series_and_its_path_as_pandas(table):
    form = person_format(pd.Series(PERSON), TableFormat.of(table, SCHEMA))

    pd.testing.assert_series_equal(form.make_person(CODES[0]), pd.Series(PERSON))
    assert isinstance(form.make_table(CODES), pd.DataFrame)


def test_a_series_of_numbers_keeps_its_type_unless_that_would_cut_a_value_short():
    table, schema = (
        pd.DataFrame({"a": [1, 2, 4], "b": [3, 5, 6]}),
        Schema([Feature("a"), Feature("b")]),
    )
    form = person_format(table.iloc[0], TableFormat.of(table, schema))

    assert form.make_person(np.array([2.0, 3.0])).dtype == np.int64
    assert form.make_person(np.array([2.5, 3.0])).tolist() == [2.5, 3.0]


def test_an_array_comes_back_as_an_array_and_one_row_as_one_row():
    numbers = Schema([Feature("a"), Feature("b")])
    form = TableFormat.of(pd.DataFrame({"a": [1.0], "b": [2.0]}), numbers)

    one = person_format(np.array([1, 2], dtype=np.float32), form)
    row = person_format(polars_table()[:1], TableFormat.of(pandas_table(), SCHEMA))

    assert one.make_person(np.array([1.0, 2.0])).shape == (2,)
    assert one.make_person(np.array([1.0, 2.0])).dtype == np.float32
    assert row.make_person(CODES[0]).equals(polars_table()[:1])


GAPS = {
    "age": [None, 40],
    "temp": [float("nan"), 1.5],
    "on": [True, None],
    "ward": [None, "icu"],
    "grade": ["low", "high"],
}
GAPPED = [
    pandas_table(),
    polars_table(),
    pyarrow_table(),
    array(),
    pd.DataFrame(GAPS),
    pd.DataFrame(GAPS).astype({"age": "Int64", "on": "boolean", "ward": "string"}),
    pd.DataFrame(GAPS, dtype=object),
    pd.DataFrame(GAPS).convert_dtypes(dtype_backend="pyarrow"),
    pl.DataFrame(GAPS),
    pa.table({**GAPS, "temp": pa.array([None, 1.5])}),
]


@pytest.mark.parametrize("table", GAPPED, ids=lambda table: type(table).__module__)
@pytest.mark.parametrize("row", [0, 1])
def test_one_row_is_read_and_described_as_its_table_would_be(table, row):
    one = table.slice(row, 1) if isinstance(table, pa.Table) else table[row : row + 1]
    whole = TableFormat.of(one, SCHEMA)

    assert person_format(one, TableFormat.of(table, SCHEMA)) == replace(whole, person="frame")
    np.testing.assert_array_equal(read_record(one, SCHEMA), read_records(one, SCHEMA)[0])


def test_a_form_can_be_bare_or_named():
    numbers = Schema([Feature("a"), Feature("b")])
    with_names = TableFormat.of(pd.DataFrame({"a": [1.0], "b": [2.0]}), numbers)

    assert with_names.without_names().make_table(np.array([[1.0, 2.0]])).dtype == np.float64
    assert list(
        with_names.without_names().with_names().make_table(np.array([[1.0, 2.0]])).columns
    ) == ["a", "b"]
    assert (
        TableFormat.of(pandas_table(), SCHEMA).without_names().make_table(CODES).tolist()
        == array().tolist()
    )


@pytest.mark.parametrize("table", TABLES, ids=["pandas", "polars", "pyarrow", "numpy"])
@pytest.mark.parametrize("person", [None, *PEOPLE[:3]])
def test_a_form_survives_json(table, person):
    form = TableFormat.of(table, SCHEMA)
    form = form if person is None else person_format(person, form)

    assert TableFormat.from_dict(json.loads(json.dumps(form.to_dict()))) == form


def test_without_the_library_a_form_falls_back_to_arrays(monkeypatch):
    plain = person_format(pd.Series(PERSON), TableFormat.of(pandas_table(), SCHEMA)).to_dict()
    monkeypatch.setattr(table_format, "find_spec", lambda name: None)

    form = TableFormat.from_dict(plain)

    assert form.kind == "numpy"
    assert form.make_person(CODES[0]).tolist() == list(PERSON.values())
