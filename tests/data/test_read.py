"""Tables and people of any kind, read as records."""

from __future__ import annotations

import numpy as np
import pandas as pd
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

from localface.data.feature import Feature
from localface.data.frames import column_names
from localface.data.one_person import open_person
from localface.data.read import read_people, read_record, read_records
from localface.data.schema import Schema
from localface.errors import DataError


@pytest.mark.parametrize("table", TABLES, ids=["pandas", "polars", "pyarrow", "numpy"])
def test_every_kind_of_table_is_read_as_the_same_records(table):
    records = read_records(table, SCHEMA)

    assert records.dtype == np.float64
    assert records.tobytes() == CODES.tobytes()


def test_numbers_of_several_types_and_with_gaps_are_read_column_by_column():
    table = pd.DataFrame({"a": [1.5, 2.5], "b": [1, 2], "c": [3.5, 4.5], "d": [5, 6]})
    gaps = table.astype({"b": "Int64", "d": "Int64"})
    gaps.loc[1, "d"] = pd.NA
    schema = Schema([Feature(name) for name in "dcba"])

    assert read_records(table, schema).tolist() == [[5, 3.5, 1, 1.5], [6, 4.5, 2, 2.5]]
    np.testing.assert_array_equal(
        read_records(gaps, schema), [[5, 3.5, 1, 1.5], [np.nan, 4.5, 2, 2.5]]
    )
    with pytest.raises(DataError, match=r"'d' \(1 row\), 1 of 2 rows"):
        read_records(gaps, schema.with_("d", missing="refuse"))


def test_columns_of_an_array_are_named_by_their_place():
    assert column_names(np.zeros((2, 3))) == ("x0", "x1", "x2")
    assert column_names(pandas_table())[0] == "spare"


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


@pytest.mark.parametrize("person", PEOPLE, ids=lambda person: type(person).__name__)
def test_a_person_is_read_in_any_shape(person):
    assert read_record(person, SCHEMA).tolist() == CODES[0].tolist()


# --- what cannot be read ----------------------------------------------------------------------
def changed(**columns: object) -> pd.DataFrame:
    return pd.DataFrame({**ROWS, **columns})


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (changed().rename(columns={"temp": "tmep"}), "lacks 'temp'.*did you mean 'tmep'"),
        (changed().drop(columns=["temp", "ward"]), "lacks 'temp', 'ward': it has 'age'"),
        (
            changed(temp=[np.inf, -np.inf, 1.0]),
            r"infinite values in 'temp' \(2 rows\), 2 of 3",
        ),
        (
            changed(ward=["icu", "hom", "icu"]),
            "'ward' has the unseen category 'hom'.*did you mean 'home'",
        ),
        (changed(on=[0, 1, 2]), "'on' has the unseen category 2"),
        (changed(temp=["37", "38", "39"]), "'temp' is numeric and holds text such as '37'"),
        (
            changed(temp=pd.Series([[1], 2.0, 3.0], dtype=object)),
            r"'temp' is \[1\]: a finite number",
        ),
        (
            changed(age=[1.5, 2.0, 3.25]),
            "'age' is integer, but 2 rows hold fractions such as 1.5.*kind='numeric'",
        ),
        (changed(age=[2**60, 1, 2]), "'age' holds numbers too large.*identifier"),
        (changed().iloc[:0], "no rows"),
        (np.zeros((3, 2)), "the array has 2 columns and the schema 5 features"),
        ("rows.csv", "a str is not a table"),
    ],
)
def test_a_table_that_cannot_be_read_says_where_and_what_to_do(table, message):
    with pytest.raises(DataError, match=message):
        read_records(table, SCHEMA)


@pytest.mark.parametrize(
    ("person", "message"),
    [
        ({**PERSON, "temp": float("inf")}, "'temp' is inf: a finite number"),
        (
            {key: value for key, value in PERSON.items() if key != "temp"} | {"tmep": 3},
            r"has 'tmep', which is no feature \(did you mean 'temp'\?\): it has",
        ),
        ({**PERSON, "ward": "icuu"}, "did you mean 'icu'"),
        ({**PERSON, "age": 1.5}, "cannot be 1.5"),
        (np.zeros(3), "3 columns and the schema 5"),
        (changed(), "one person is wanted, and 3 rows came.*explain_many"),
        ([1, 2, 3, 4, 5], "a list is no person: give a dict"),
        (None, "a NoneType is no person"),
        (18, r"an int is no person.*of a table: data.iloc\[18\]"),
    ],
)
def test_a_person_who_cannot_be_read_is_told_why(person, message):
    with pytest.raises(DataError, match=message):
        read_record(person, SCHEMA)


def test_a_series_with_two_values_of_a_feature_is_refused():
    twice = pd.concat([pd.Series(PERSON), pd.Series({"age": 3})])

    with pytest.raises(DataError, match="more than one value of 'age'"):
        read_record(twice, SCHEMA)


def test_a_number_that_no_float_holds_is_refused_in_one_row_too():
    table = pd.DataFrame({"id": [2**53 + 1]})

    with pytest.raises(DataError, match="too large to be kept exactly"):
        read_record(table, Schema([Feature("id", kind="integer")]))


def test_people_come_as_a_table_or_a_list():
    assert read_people(polars_table(), SCHEMA).tolist() == CODES.tolist()
    assert read_people([PERSON, pd.Series(PERSON)], SCHEMA).tolist() == [CODES[0].tolist()] * 2


@pytest.mark.parametrize(
    ("people", "message"),
    [
        (PERSON, "one person came.*use explain"),
        (pd.Series(PERSON), "one person came"),
        (np.zeros(5), "one person came"),
        ([], "list of people is empty"),
        ([PERSON, {**PERSON, "ward": "icuu"}], "person 1: 'ward' has the unseen"),
    ],
)
def test_people_who_cannot_be_read_are_named(people, message):
    with pytest.raises(DataError, match=message):
        read_people(people, SCHEMA)


@pytest.mark.parametrize(
    "kinds",
    [{}, {"b": "int64"}, {"a": "float32"}, {"a": "float32", "b": "float32"}, {"b": "Float64"}],
)
def test_one_row_of_a_pandas_frame_keeps_its_values_and_dtypes(kinds: dict[str, str]) -> None:
    table = pd.DataFrame({"a": [0.1 + 0.2, -0.0], "b": [3.0, 4.0]}).astype(kinds)

    for i in (0, 1, 0):
        opened = open_person(table.iloc[[i]])
        assert opened.values == dict(zip("ab", table.iloc[i].tolist(), strict=True))
        assert opened.dtypes == tuple(table.dtypes)


def test_columns_that_were_renamed_are_read_by_their_new_names() -> None:
    table = pd.DataFrame([[1.0, 2.0]], columns=["a", "b"])
    assert open_person(table).values == {"a": 1.0, "b": 2.0}
    table.columns = ["b", "a"]
    assert open_person(table).values == {"b": 1.0, "a": 2.0}
    assert open_person(table[["a"]]).values == {"a": 2.0}
