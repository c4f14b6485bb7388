"""What a record is, how it is guessed, written down, and how far a person may move."""

from __future__ import annotations

import datetime as dt
import json
import string
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.errors import ConstraintError, DataError, SchemaError

AGE = Feature("age", unit="year", kind="integer")
FIO2 = Feature("fio2", resolution=0.01)
SEX = Feature("sex", kind="binary", categories=("F", "M"))
WARD = Feature("ward", kind="categorical", categories=("icu", "step-down", "home"))
PAIN = Feature("pain", kind="ordinal", categories=("none", "mild", "severe"))
PERSON = np.array([63.0, 0.55, 1.0, 0.0, 1.0])


@pytest.fixture
def schema() -> Schema:
    return Schema([AGE, FIO2, SEX, WARD, PAIN])


def test_a_code_becomes_the_value_the_user_knows_and_back():
    for feature, value in [(AGE, 63), (FIO2, 0.35), (SEX, "M"), (WARD, "home"), (PAIN, "mild")]:
        code = feature.code(value)

        assert isinstance(code, float)
        assert feature.value(code) == value
        assert type(feature.value(code)) is type(value)


@pytest.mark.parametrize(
    ("feature", "code", "text"),
    [
        (FIO2, 0.35000000000000003, "0.35"),
        (Feature("temp", resolution=0.1), 37.300000001, "37.3"),
        (Feature("temp", resolution=0.5), 37.5, "37.5"),
        (Feature("x"), 37.300000001, "37.3"),
        (Feature("x"), 123456.7, "123457"),
        (Feature("x"), 0.0001234567, "0.0001235"),
        (Feature("x"), -0.0, "0"),
        (Feature("x", resolution=1), -0.2, "0"),
        (Feature("x", resolution=10), 40.0, "40"),
        (AGE, 14.0, "14"),
        (WARD, 1.0, "step-down"),
        (Feature("on", kind="binary", categories=(False, True)), 1.0, "True"),
    ],
)
def test_numbers_are_written_for_people(feature, code, text):
    assert feature.format(code) == text


def test_discrete_features_are_those_with_nothing_in_between():
    assert [feature.discrete for feature in (AGE, FIO2, SEX, WARD, PAIN)] == [
        False,
        False,
        True,
        True,
        False,
    ]


def test_counts_and_ranks_are_resolved_to_one_and_numbers_to_nothing_in_particular():
    assert (AGE.resolution, PAIN.resolution, Feature("x").resolution) == (1, 1, None)


def test_a_binary_feature_is_zero_or_one_unless_told():
    assert Feature("on", kind="binary").categories == (0, 1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"name": ""}, "name is ''"),
        ({"name": 3}, "name is 3.*as text"),
        ({"unit": 5}, "unit of 'x' is 5"),
        ({"kind": "numerc"}, "did you mean 'numeric'"),
        ({"moves": "dwn"}, "did you mean 'down'"),
        ({"moves": "immutable"}, "use one of 'freely', 'up', 'down', 'never'"),
        ({"kind": "categorical", "categories": ("a",), "moves": "up"}, "categorical and has no up"),
        ({"kind": "categorical"}, "list its categories"),
        ({"categories": ("a", "b")}, "numeric and can have no categories"),
        ({"kind": "binary", "categories": ("a", "b", "c")}, "exactly two categories: it has 3"),
        ({"kind": "ordinal", "categories": ()}, "at least one"),
        ({"kind": "ordinal", "categories": "abc"}, "give a list of them"),
        ({"kind": "ordinal", "categories": ("a", None)}, "category None"),
        ({"kind": "ordinal", "categories": ("a", "a")}, "more than once"),
        ({"kind": "binary", "within": 1}, "can have no within"),
        ({"kind": "binary", "resolution": 1}, "can have no resolution"),
        ({"kind": "binary", "bounds": (0, 1)}, "can have no bounds"),
        ({"within": -1}, "within of 'x' is -1"),
        ({"scale": 0}, "scale of 'x' is 0: give a positive"),
        ({"resolution": np.nan}, "resolution of 'x' is nan"),
        ({"within": True}, "within of 'x' is True"),
        ({"bounds": (3, 1)}, "wrong way round"),
        ({"bounds": 3}, r"give \(low, high\)"),
        ({"bounds": ("a", 1)}, "bound of 'x' is 'a'"),
        (
            {"kind": "ordinal", "categories": ("low", "high"), "bounds": ("low", "hihg")},
            "did you mean 'high'",
        ),
    ],
)
def test_a_feature_that_contradicts_itself_is_refused(settings, message):
    with pytest.raises(SchemaError, match=message):
        Feature(**{"name": "x", **settings})


@pytest.mark.parametrize(
    ("feature", "value", "message"),
    [
        (WARD, "step-donw", "unseen category 'step-donw'.*did you mean 'step-down'"),
        (WARD, None, "unseen category None.*the schema knows 'icu'"),
        (WARD, [1], "unseen category"),
        (FIO2, "0.5", "'fio2' is '0.5': a finite number"),
        (FIO2, float("nan"), "finite number"),
        (AGE, 63.5, "integer and cannot be 63.5.*kind='numeric'"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(feature, value, message):
    with pytest.raises(DataError, match=message):
        feature.code(value)


def test_a_schema_is_looked_up_by_name(schema):
    assert schema["age"] is AGE
    assert schema.index("fio2") == 1
    assert schema.names == ("age", "fio2", "sex", "ward", "pain")
    assert list(schema) == [AGE, FIO2, SEX, WARD, PAIN]
    assert schema.values(PERSON) == {
        "age": 63,
        "fio2": 0.55,
        "sex": "M",
        "ward": "icu",
        "pain": "mild",
    }


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([], "at least one feature"),
        ([AGE, AGE], "names 'age' more than once"),
        (["age"], r"write Feature\('age'\)"),
    ],
)
def test_a_schema_that_cannot_be_is_refused(features, message):
    with pytest.raises(SchemaError, match=message):
        Schema(features)


def test_an_unknown_feature_is_answered_with_the_near_miss(schema):
    with pytest.raises(
        SchemaError, match=r"no feature 'agee'.*did you mean 'age'.*there are 'age', 'fio2'"
    ):
        schema["agee"]
    with pytest.raises(SchemaError, match=r"no 'untis'.*did you mean 'unit'"):
        schema.with_("age", untis="year")


def test_a_changed_declaration_leaves_the_old_schema_alone(schema):
    changed = schema.with_("age", moves="never", unit="years")

    assert (changed["age"].moves, changed["age"].unit) == ("never", "years")
    assert schema["age"].moves == "freely"
    assert changed.names == schema.names


def test_a_changed_kind_takes_what_belonged_to_the_old_one_with_it(schema):
    assert schema.with_("age", kind="numeric")["age"].resolution is None
    assert schema.with_("sex", kind="integer")["sex"].categories is None
    assert schema.with_("pain", kind="categorical")["pain"].categories == PAIN.categories


def test_a_schema_prints_as_an_aligned_table():
    schema = Schema(
        [
            Feature("age", unit="year", kind="integer", moves="up", within=5, bounds=(18, None)),
            SEX,
            PAIN,
        ]
    )

    lines = repr(schema).splitlines()

    assert lines[0] == "<Schema: 3 features>"
    assert lines[1].split() == [
        "name",
        "kind",
        "unit",
        "moves",
        "range",
        "or",
        "categories",
        "note",
    ]
    assert lines[2].split() == ["age", "integer", "year", "up", "from", "18", "within", "5"]
    starts = {
        line.index(word)
        for line, word in zip(lines[1:], ("kind", "integer", "binary", "ordinal"), strict=True)
    }
    assert len(starts) == 1
    assert "F, M" in lines[3]


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
        (pd.date_range("2020-01-01", periods=60), "'x' holds Datetime.*turn it into numbers"),
        ([dt.date(2020, 1, 1)] * 60, "'x' holds date values"),
        ([[1, 2]] * 60, "'x' holds list values.*drop it"),
        ([None] * 60, "'x' holds no values: drop it"),
        ([1, "a"] * 30, "mixes text and numbers"),
        ([f"id{i}" for i in range(60)], "60 different values in 60 rows.*identifier: drop it"),
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


# --- written down -----------------------------------------------------------------------------

TEXT = st.text(min_size=1, max_size=8)
NUMBERS = st.floats(min_value=1e-300, max_value=1e300) | st.integers(1, 10**6)
LABELS = (
    st.text(max_size=6)
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
)


@st.composite
def features(draw: st.DrawFn) -> Feature:
    kind = draw(st.sampled_from(["numeric", "integer", "ordinal", "binary", "categorical"]))
    settings: dict[str, object] = {"kind": kind, "unit": draw(st.none() | st.text(max_size=5))}
    settings["moves"] = draw(
        st.sampled_from(["freely", "never"] + ["up", "down"] * (kind != "categorical"))
    )
    settings["scale"] = draw(st.none() | NUMBERS)
    if kind in ("binary", "categorical") or (kind == "ordinal" and draw(st.booleans())):
        size = (2, 2) if kind == "binary" else (1, 4)
        labels = draw(st.lists(LABELS, min_size=size[0], max_size=size[1], unique=True))
        settings["categories"] = tuple(labels)
    else:
        settings["within"] = draw(st.none() | NUMBERS)
        resolutions = NUMBERS.filter(lambda number: number != 1)  # 1.0 is left out as the usual 1
        settings["resolution"] = draw(st.none() | resolutions)
        low, high = sorted(draw(st.tuples(NUMBERS, NUMBERS)))
        settings["bounds"] = draw(st.sampled_from([None, (low, high), (None, high), (low, None)]))
    return Feature(draw(TEXT), **settings)  # type: ignore[arg-type]


SCHEMAS = st.lists(features(), min_size=1, max_size=4, unique_by=lambda feature: feature.name).map(
    Schema
)


@given(SCHEMAS)
def test_any_schema_comes_back_from_toml_as_it_was(schema):
    back = Schema.from_toml(schema.to_toml())

    assert back == schema
    expected = [repr(one) for one in schema.features]
    assert [repr(one) for one in back.features] == expected  # 1 stays 1, True stays True


@given(SCHEMAS)
def test_any_schema_comes_back_from_json_as_it_was(schema):
    back = Schema.from_dict(json.loads(json.dumps(schema.to_dict())))

    assert [repr(one) for one in back.features] == [repr(one) for one in schema.features]


def test_true_and_false_stay_what_they_are_in_toml():
    schema = Schema([Feature("on", kind="binary", categories=(False, True))])

    assert Schema.from_toml(schema.to_toml())["on"].categories[1] is True


def test_names_with_odd_characters_survive_a_file(tmp_path):
    odd = 'q"u\\o\nt\x7fe\r\u2028é' + string.punctuation
    schema = Schema([Feature(odd, unit="\t")])

    schema.save(tmp_path / "schema.toml")

    assert Schema.load(tmp_path / "schema.toml") == schema


def test_a_hand_written_schema_is_read():
    schema = Schema.from_toml('[[features]]\nname = "fio2"\nbounds = [0.21, inf]\nmoves = "down"\n')

    assert schema["fio2"].bounds == (0.21, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "not valid TOML"),
        ("features = 3", r"list of \[\[features\]\]"),
        ("x = 1", r"list of \[\[features\]\]"),
        ('[[features]]\nkind = "numeric"', "has no name"),
        ('[[features]]\nname = "x"\nresolutoin = 1', "no 'resolutoin'.*did you mean 'resolution'"),
        ("[[features]]\nname = 1", "name is 1"),
    ],
)
def test_a_schema_that_cannot_be_read_says_why(text, message):
    with pytest.raises(SchemaError, match=message):
        Schema.from_toml(text)


def test_a_schema_file_that_is_not_there_or_not_text_says_so(tmp_path):
    (tmp_path / "model.bin").write_bytes(b"\xff\xfe\x80")

    with pytest.raises(SchemaError, match="no schema file"):
        Schema.load(tmp_path / "none.toml")
    with pytest.raises(SchemaError, match="not a text file"):
        Schema.load(tmp_path / "model.bin")


# --- the box ----------------------------------------------------------------------------------


def test_without_constraints_a_person_may_go_anywhere(schema):
    box = schema.box(PERSON)

    assert np.isneginf(box.lower).all()
    assert np.isposinf(box.upper).all()
    assert box.allowed == {}
    assert box.reasons == {}
    assert not box.up.any()
    assert not box.down.any()


def test_each_shape_of_constraint_is_understood(schema):
    where = {
        "age": 5,
        "fio2": (0.21, 0.4),
        "sex": "never",
        "ward": ["icu", "home"],
        "pain": {"moves": "down", "within": 1},
    }

    box = schema.box(PERSON, where)

    assert (box.lower[0], box.upper[0]) == (58, 68)
    assert (box.lower[1], box.upper[1]) == (0.21, 0.4)  # the person, at 0.55, stands outside
    assert box.allowed == {2: {1}, 3: {0, 2}}
    assert (box.lower[4], box.upper[4]) == (0, 1)
    assert box.down.tolist() == [False, False, False, False, True]
    assert box.reasons == {
        0: "age within 5 of 63 year",
        1: "fio2 between 0.21 and 0.4",
        2: "sex never moves",
        3: "ward among 'icu', 'home'",
        4: "pain only moves down and within 1 of mild",
    }


def test_never_pins_numbers_and_up_opens_one_side(schema):
    box = schema.box(PERSON, {"age": "never", "fio2": "up", "sex": "up"})

    assert (box.lower[0], box.upper[0]) == (63, 63)
    assert (box.lower[1], box.upper[1]) == (0.55, np.inf)
    assert box.allowed == {2: {1}}
    assert box.up.tolist() == [False, True, True, False, False]


def test_a_call_only_narrows_what_the_schema_declares(schema):
    schema = schema.with_("age", within=5, bounds=(60, 90)).with_("sex", moves="never")

    box = schema.box(PERSON, {"age": {"within": 10, "bounds": (None, 66)}, "sex": "freely"})

    assert (box.lower[0], box.upper[0]) == (60, 66)
    assert box.allowed[2] == {1}


def test_ranks_are_bounded_by_their_names_and_lists_pass_for_pairs(schema):
    by_tuple = schema.box(PERSON, {"pain": ("none", "mild"), "fio2": [0.21, None]})
    by_list = schema.box(PERSON, {"pain": ["none", "mild"], "ward": ("icu",)})

    assert (by_tuple.lower[4], by_tuple.upper[4]) == (0, 1)
    assert by_tuple.reasons[1] == "fio2 at least 0.21"
    assert (by_list.lower[4], by_list.upper[4]) == (0, 1)
    assert by_list.allowed[3] == {0}


def test_bounds_of_counts_are_whole(schema):
    box = schema.box(PERSON, {"age": (60.2, 65.9)})

    assert (box.lower[0], box.upper[0]) == (61, 65)


def test_a_box_tells_what_a_feature_may_be(schema):
    box = schema.box(PERSON, {"age": 5, "ward": ["icu"]})

    assert box.holds(0, 68.0)
    assert not box.holds(0, 69.0)
    assert box.holds(3, 0.0)
    assert not box.holds(3, 1.0)
    with pytest.raises(ValueError, match="read-only"):
        box.lower[0] = 0


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (["age"], "give a dict from feature to constraint"),
        ({"agee": 5}, "'agee', which is no feature.*did you mean 'age'"),
        ({"age": "upp"}, "'age' cannot move 'upp'.*did you mean 'up'"),
        ({"ward": "home"}, r"write \['home'\]"),
        ({"ward": "up"}, "categorical and has no up"),
        ({"ward": 3}, "'ward' is categorical and cannot stay within 3"),
        ({"age": -1}, "within -1.*not negative"),
        ({"age": True}, "cannot be read: give a number"),
        ({"age": None}, "cannot be read"),
        ({"age": {1, 2}}, "cannot be read"),
        ({"age": (1, 2, 3)}, r"give \(low, high\)"),
        ({"age": (70, 60)}, "wrong way round"),
        ({"age": ("a", 60)}, "bound of 'age' is 'a'"),
        ({"age": {"witin": 5}}, "'witin'.*did you mean 'within'"),
        ({"age": {"categories": [1]}}, "integer and has no categories"),
        ({"ward": {"categories": "home"}}, "give a list of them"),
        ({"ward": {"bounds": (0, 1)}}, "categorical and has no bounds"),
        ({"ward": ["hom"]}, "unseen category 'hom'.*did you mean 'home'"),
        ({"ward": []}, "leaves 'ward' no category"),
        ({"pain": ["none", "severe"]}, "must be neighbours"),
        (
            {"age": {"within": 5, "bounds": (70, 80)}},
            "'age' .now 63 year.*between 70 and 80 year.*within 5 of 63 year",
        ),
        ({"fio2": {"moves": "up", "bounds": (0.21, 0.4)}}, "only moves up.*between 0.21 and 0.4"),
        ({"age": {"moves": "never", "bounds": (70, None)}}, "at least 70 year.*never moves"),
        ({"sex": {"moves": "never", "categories": ["F"]}}, "never moves.*only 'F'"),
        ({"age": (63.2, 63.8)}, "a whole number"),
    ],
)
def test_constraints_that_cannot_be_met_or_read_name_the_feature_and_both_sides(
    schema, where, message
):
    with pytest.raises(ConstraintError, match=message):
        schema.box(PERSON, where)


def test_a_call_that_contradicts_the_schema_names_both():
    schema = Schema([Feature("los", moves="up")])

    with pytest.raises(
        ConstraintError, match="only moves up by the schema, and only down by where="
    ):
        schema.box(np.array([3.0]), {"los": "down"})
