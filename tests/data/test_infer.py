"""Schemas guessed from tables."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from localface import LocalFACE
from localface.data.feature import Feature
from localface.data.infer import is_identifier_in_text
from localface.data.protected_names import is_protected_name
from localface.data.schema import Schema
from localface.errors import DataError, SchemaError

AGE = Feature("age", unit="year", kind="integer")


FIO2 = Feature("fio2", resolution=0.01)


SEX = Feature("sex", kind="binary", categories=("F", "M"))


WARD = Feature("ward", kind="categorical", categories=("icu", "step-down", "home"))


PAIN = Feature("pain", kind="ordinal", categories=("none", "mild", "severe"))


@pytest.fixture
def schema() -> Schema:
    return Schema([AGE, FIO2, SEX, WARD, PAIN])


# --- guessing ---------------------------------------------------------------------------------
def kinds(schema: Schema) -> dict[str, tuple[str, object]]:
    return {feature.name: (feature.kind, feature.categories) for feature in schema}


def test_kinds_are_guessed_from_a_pandas_frame():
    frame = pd.DataFrame(
        {
            "on": [True, True, True, True],
            "zero_one": [1, 0, 1, 0],
            "float_two": [1.0, 0.0, 0.5, 0.0],
            "ward": ["icu", "home", "step", "icu"],
            "two_words": ["yes", "no", "no", "yes"],
            "count": [3, 1, 4, 1],
            "whole": [3.0, 1.0, 4.0, 1.0],
            "temp": [36.6, 37.25, 38.0, 36.6],
            "grade": pd.Categorical(
                ["low", "high", "mid", "low"], ["low", "mid", "high"], ordered=True
            ),
            "sparse": pd.Categorical(["b", "a", "b", "a"], ["b", "c", "a"]),
            "pair": pd.Categorical(["b", "a", "b", "a"]),
            "rank": pd.Categorical(["low", "high", "low", "low"], ["low", "high"], ordered=True),
            "holes": pd.array([1, 2, None, 4], dtype="Int64"),
            "object": pd.Series([True, False, None, True], dtype=object),
            "decimal": [Decimal("1.5"), Decimal(2), Decimal("2.25"), Decimal(3)],
        }
    )

    schema = Schema.infer(frame)

    assert kinds(schema) == {
        "on": ("binary", (False, True)),
        "zero_one": ("binary", (0, 1)),
        "float_two": ("numeric", None),
        "ward": ("categorical", ("home", "icu", "step")),
        "two_words": ("binary", ("no", "yes")),
        "count": ("integer", None),
        "whole": ("integer", None),
        "temp": ("numeric", None),
        "grade": ("ordinal", ("low", "mid", "high")),
        "sparse": ("categorical", ("a", "b", "c")),
        "pair": ("binary", ("a", "b")),
        "rank": ("binary", ("low", "high")),
        "holes": ("integer", None),
        "object": ("binary", (False, True)),
        "decimal": ("numeric", None),
    }
    assert [schema[name].resolution for name in ("count", "temp", "float_two")] == [1, 0.01, 0.1]


def test_kinds_are_guessed_from_a_polars_frame():
    frame = pl.DataFrame(
        {
            "ward": pl.Series(["b", "a", "c"], dtype=pl.Enum(["c", "b", "a"])),
            "pair": pl.Series(["b", "a", "b"], dtype=pl.Enum(["b", "a"])),
            "cat": pl.Series(["y", "x", "z"], dtype=pl.Categorical),
            "n": [1.5, None, 2.25],
            "m": [1.123456, 2.0, 3.0],
        }
    )

    assert kinds(Schema.infer(frame)) == {
        "ward": ("categorical", ("c", "b", "a")),
        "pair": ("binary", ("b", "a")),
        "cat": ("categorical", ("x", "y", "z")),
        "n": ("binary", (1.5, 2.25)),
        "m": ("numeric", None),
    }


def test_kinds_are_guessed_from_a_pyarrow_table_and_an_array():
    pa = pytest.importorskip("pyarrow")
    table = pa.table(
        {"k": pa.array(["x", "y", "z"]).dictionary_encode(), "on": pa.array([True, None, False])}
    )

    assert kinds(Schema.infer(table)) == {
        "k": ("categorical", ("x", "y", "z")),
        "on": ("binary", (False, True)),
    }
    assert kinds(Schema.infer(np.array([[1, 2], [3, 4], [5, 6]]))) == {
        "x0": ("integer", None),
        "x1": ("integer", None),
    }


def test_many_whole_floats_are_numbers_and_many_ints_are_counts():
    frame = pd.DataFrame({"floats": np.arange(30.0), "ints": np.arange(30)})

    assert [feature.kind for feature in Schema.infer(frame)] == ["numeric", "integer"]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([f"2020-01-{i:02}" for i in range(1, 31)], "dates as text.*pd.to_datetime.*dayfirst"),
        ([dt.date(2020, 1, 1)] * 60, "'x' holds date values"),
        ([[1, 2]] * 60, "'x' holds list values.*drop it"),
        ([1, "a"] * 30, "mixes text and numbers"),
        ([f"id{i}" for i in range(60)], "60 different values in 60 rows.*drop it"),
    ],
)
def test_columns_that_have_no_place_in_a_record_are_refused_with_advice(column, message):
    frame = pd.DataFrame({"x": pd.Series(column)})

    with pytest.raises(SchemaError, match=message):
        Schema.infer(frame)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([1, 2], "a list is not a table.*pandas, polars or pyarrow"),
        (pl.LazyFrame({"a": [1]}), "collect"),
        (pd.DataFrame([[1, 2]]), "not text: rename them"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "more than one column 'a'"),
        (np.zeros(3), "1 dimension"),
    ],
)
def test_what_is_no_table_is_refused(data, message):
    with pytest.raises(DataError, match=message):
        Schema.infer(data)


def test_a_column_without_any_value_or_with_one_alone_is_kept_and_said_so():
    frame = pd.DataFrame({"pain": [np.nan] * 9, "los": [48.0] * 9, "k": np.arange(9.0) / 2})

    schema = Schema.infer(frame)

    assert [one.moves for one in schema] == ["never", "never", "freely"]
    assert schema.notes[0].startswith("'pain' holds no value in any row")
    assert schema.notes[1].startswith("'los' is the same in every row (48.0)")
    assert len(schema.notes) == 2


def test_a_category_that_stands_for_a_missing_value_is_taken_for_one_and_said_so():
    frame = pd.DataFrame(
        {
            "job": ["cook", "?", "clerk", "?"],
            "flat": ["none", "own", "let", "own"],
            "area": ["NA", "EU", "NA", "AS"],
        }
    )

    schema = Schema.infer(frame)

    taken, asked = schema.notes
    assert schema["job"].codes == {"?": "missing"}
    assert taken.startswith("'job' has the category '?' (2 rows), taken for a missing value")
    assert schema["area"].codes is None  # North America, perhaps
    assert "may stand for a missing value" in asked
    assert "schema.with_('area', codes={'NA': 'missing'})" in asked
    assert schema["flat"].codes is None
    assert schema.with_("job", codes=None)["job"].codes is None
    assert Schema.from_toml(schema.to_toml()) == schema


# --- protected by name ------------------------------------------------------------------------
PEOPLE = pd.DataFrame(
    {
        "age": [63, 41, 35, 28],
        "Sex": ["f", "m", "f", "m"],
        "nativeCountry": ["a", "b", "c", "a"],
        "age_group": ["old", "mid", "young", "young"],
        "marital_status": ["a", "b", "c", "a"],
        "usage": [0.5, 1.5, 2.5, 3.25],
    }
)


def test_what_looks_protected_by_its_name_is_kept_and_said_so():
    schema = Schema.infer(PEOPLE)

    protected = {one.name: one.moves for one in schema if one.protected}
    assert protected == {
        "age": "grows",
        "Sex": "never",
        "nativeCountry": "never",
        "age_group": "never",  # categories do not grow
    }
    kept = [one.name for one in schema if not one.protected and one.moves == "never"]
    assert kept == ["marital_status"]
    if_not = "if it may move, drop 'protected' and say how"
    looks = "looks protected by its name: it is kept as it is"
    assert schema.notes[0] == f"'age' {looks}, though it grows by itself; {if_not}"
    assert schema.notes[1] == f"'Sex' {looks}; {if_not}"
    assert "'marital_status' looks by its name like a circumstance" in schema.notes[-1]
    assert len(schema.notes) == 5
    assert repr(schema).splitlines()[-5:] == list(schema.notes)


def test_a_note_is_a_comment_in_the_file_and_goes_once_somebody_has_had_their_say():
    schema = Schema.infer(PEOPLE)

    assert schema.to_toml().splitlines()[0] == f"# {schema.notes[0]}"
    assert Schema.from_toml(schema.to_toml()) == schema
    mended = schema.with_("age", moves="up").link("age", "usage").relate("age", "<=", "usage")
    assert (mended["age"].moves, mended["age"].protected) == ("up", False)
    assert mended.notes == schema.notes[1:]


def test_a_schema_of_ones_own_is_never_overruled():
    schema = Schema([Feature("age"), Feature("sex", kind="binary")])

    assert [one.protected for one in schema] == [False, False]
    assert schema.notes == ()
    assert Schema.from_toml(schema.to_toml())["age"].moves == "freely"


PROTECTED = """
    age Age AGE age_years patientAge ageAtAdmission anchor_age âge Alter edad
    sex SEX sex_male insured_sex gender CODE_GENDER Geschlecht sexe sexo género
    race race_White raza ethnicity ethnic_group religion disability disabled Behinderung
    nationality native_country native-country nativeCountry Staatsangehörigkeit nacionalidad
    SeniorCitizen foreign_worker citizenship
    birth_year birthday dateOfBirth DAYS_BIRTH dob naissance sexual_orientation
"""
ONLY_ALIKE = """
    average avg_age image usage sextant racetrack package wage stage page language mileage
    coverage percentage storage agent Essex trace race_time birth_weight birth_rate house_age
    HouseAge accountAge car_age age_limit marital_status relationship country alternate
    engaged genre income fio2
"""


@pytest.mark.parametrize("name", PROTECTED.split())
def test_a_protected_name_is_known(name):
    assert is_protected_name(name)


@pytest.mark.parametrize("name", ONLY_ALIKE.split())
def test_a_name_that_only_sounds_like_it_is_not_taken_for_protected(name):
    assert not is_protected_name(name)


# --- rows of the same person ------------------------------------------------------------------
def visits(n: int = 60, each: int = 10) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(n), each)
    score = rng.integers(0, 40, n * each)
    score[person < 2] = -9  # two people, twenty rows
    return pd.DataFrame(
        {
            "who": [f"p{i}" for i in person],
            "score": score,
            "town": [f"town {i}" for i in np.arange(n)[person]],
            "k": rng.normal(0, 1, n * each),
        }
    )


def test_whose_a_row_is_is_no_feature_and_evidence_counts_people():
    table = visits().drop(columns="town")

    by_rows = Schema.infer(table.drop(columns="who"))
    by_name = Schema.infer(table, groups="who")
    by_labels = Schema.infer(table.drop(columns="who"), groups=table["who"])

    assert by_rows["score"].codes == {-9: "code -9"}
    assert by_name.names == ("score", "k")
    assert by_name["score"].codes is None  # two people are no evidence
    assert by_labels == by_name


def test_a_name_that_each_person_has_is_an_identifier_however_many_rows_they_have():
    Schema.infer(visits().drop(columns="who"))
    with pytest.raises(SchemaError, match=r"60 different values in 60 rows.*identifier"):
        Schema.infer(visits(), groups="who")


def test_what_identifies_is_refused_in_words_for_whoever_called():
    ids = pd.DataFrame({"house_id": [f"H{i:03}" for i in range(90)], "area": np.arange(90) * 1.5})
    days = pd.date_range("2020-01-01", periods=90).strftime("%d/%m/%Y")

    with pytest.raises(SchemaError, match=r"identifier: drop it .* give it as groups=\)$"):
        Schema.infer(ids)
    with pytest.raises(SchemaError, match=r"dates as text.*: drop it, or read it as dates, with"):
        Schema.infer(pd.DataFrame({"day": days, "area": ids["area"]}))


@pytest.mark.parametrize(
    ("values", "n_people", "identifies"),
    [
        ([f"H{i:03}" for i in range(90)], 90, True),
        ([f"H{i:03}" for i in range(60)] + [None] * 30, 90, True),
        ([f"H{i:03}" for i in range(60)] * 3, 180, False),
        ([f"H{i:03}" for i in range(50)], 50, False),  # so few may be categories
        ([*range(90)], 90, False),  # numbers are kept, with a note
        ([f"2020-{i % 12 + 1:02}-{i % 28 + 1:02}" for i in range(90)], 90, False),  # dates
    ],
)
def test_text_of_which_most_people_have_their_own_is_an_identifier(values, n_people, identifies):
    assert is_identifier_in_text(np.array(values, object), n_people=n_people) is identifies


def test_an_explainer_guesses_by_people_too():
    table = visits().drop(columns="town")

    explainer = LocalFACE(lambda rows: rows["k"] * 0.1 + 0.5, table, groups="who")

    assert explainer.schema["score"].codes is None
    with pytest.raises(DataError, match="there is no column 'whom'"):
        Schema.infer(table, groups="whom")


def test_whole_numbers_with_gaps_are_counts_and_a_column_of_one_code_is_said_to_be():
    rng = np.random.default_rng(0)
    holes = pd.array([None if i % 5 == 0 else i for i in range(200)], dtype="Int64")
    coded = pd.array(np.where(np.arange(200) % 9 == 0, -9, rng.integers(0, 150, 200)), "Int64")
    coded[3] = pd.NA
    table = pd.DataFrame({"holes": holes, "coded": coded, "gone": -9})

    schema = Schema.infer(table)

    assert [one.kind for one in schema] == ["integer", "integer", "integer"]
    assert schema["coded"].codes == {-9: "code -9"}
    assert schema["gone"].moves == "never"
    assert "'gone' is -9 in every row, which looks like a code" in schema.notes[-1]
    assert Schema.infer(pl.DataFrame({"n": [None, *range(50)]}))["n"].kind == "integer"


def test_a_step_that_all_values_share_is_the_resolution_where_it_is_no_chance():
    rng = np.random.default_rng(0)
    n = 400
    frame = pd.DataFrame(
        {
            "credits": rng.integers(0, 9, n) * 5,
            "term": rng.choice([12, 24, 36, 48, 60], n),
            "income": rng.normal(300, 80, n).round() * 100.0,
            "half": rng.integers(60, 90, n) / 2,
            "change": rng.integers(-6, 7, n) * 20,
            "few_even": rng.choice([0, 2, 4, 6], n),
            "plain": rng.integers(0, 50, n),
        }
    )

    schema = Schema.infer(frame)

    found = {one.name: one.resolution for one in schema}
    coarse = {"credits": 5, "term": 12, "income": 100, "half": 0.5, "change": 20}
    assert found == coarse | {"few_even": 1, "plain": 1}
