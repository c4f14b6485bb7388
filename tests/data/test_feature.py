"""Features: what they hold, how they are written, what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.errors import DataError, SchemaError

AGE = Feature("age", unit="year", kind="integer")


FIO2 = Feature("fio2", resolution=0.01)


SEX = Feature("sex", kind="binary", categories=("F", "M"))


WARD = Feature("ward", kind="categorical", categories=("icu", "step-down", "home"))


LICENCE = Feature("licence", kind="binary", categories=("No", "Yes"))
PAIN = Feature("pain", kind="ordinal", categories=("none", "mild", "severe"))


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
        (Feature("x"), 123456.7, "123456.7"),
        (Feature("x"), 123456.78901234567, "123457"),
        (Feature("x"), 0.0001234567, "0.0001234567"),
        (Feature("x"), 0.00012345678901234, "0.0001235"),
        (Feature("x"), -0.0, "0"),
        (Feature("x", resolution=1), -0.2, "-0.2"),
        (Feature("x", resolution=1), 1e-17, "0"),
        (Feature("x", resolution=5), 6.8, "6.8"),
        (Feature("x", resolution=5), 6.847123498713, "6.847"),
        (Feature("x", resolution=0.1), float(np.float32(37.3)), "37.3"),
        (Feature("x"), float(np.float32(37.3)), "37.3"),
        (Feature("x"), 2.5e-7, "2.5e-07"),
        (Feature("x"), 3e17, "3e+17"),
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


def test_what_is_protected_stays_a_persons_own_without_further_words():
    assert Feature("sex", kind="binary", protected=True).moves == "never"
    assert Feature("age", moves="grows", protected=True).moves == "grows"
    assert Feature("income").moves == "freely"


def test_what_never_moves_or_grows_by_itself_is_own():
    own = [Feature("x", moves=moves).own for moves in ("freely", "up", "down", "never", "grows")]

    assert own == [False, False, False, True, True]


def test_how_far_others_may_differ_is_kept_as_it_was_given():
    assert Feature("age", moves="grows", comparable=25).comparable == 25
    assert Feature("on", kind="binary", protected=True, comparable=[]).comparable == ()
    ward = {"kind": "categorical", "categories": ("a", "b", "c"), "moves": "never"}
    assert Feature("ward", comparable=["a", "b"], **ward).comparable == ("a", "b")
    assert Feature("ward", comparable=[["a", "b"], ["c"]], **ward).comparable == (
        ("a", "b"),
        ("c",),
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"name": ""}, "name is ''"),
        ({"name": 3}, "name is 3.*as text"),
        ({"unit": 5}, "unit of 'x' is 5"),
        ({"kind": "numerc"}, "did you mean 'numeric'"),
        ({"moves": "dwn"}, "did you mean 'down'"),
        ({"moves": "immutable"}, "use one of 'freely', 'up', 'down', 'never', 'grows'"),
        ({"moves": "freely", "protected": True}, "protected and cannot move 'freely'.*moves out"),
        ({"moves": "up", "protected": True}, "protected and cannot move 'up'"),
        ({"protected": "yes"}, "protected of 'x' is 'yes': give True or False"),
        ({"kind": "binary", "moves": "grows"}, "binary and cannot grow: say moves='never'"),
        ({"comparable": 5}, "moves 'freely' and can have no comparable"),
        ({"moves": "never", "comparable": -5}, "comparable of 'x' is -5"),
        ({"moves": "never", "comparable": ["a"]}, "comparable of 'x' is .*give a number"),
        ({"kind": "binary", "moves": "never", "comparable": 1}, "list the categories.*alike"),
        ({"kind": "binary", "moves": "never", "comparable": [2]}, "unseen category 2"),
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
        (WARD, [1], "unseen category"),
        (LICENCE, True, r"unseen category True \(did you mean 'Yes'\?\)"),
        (LICENCE, "n", r"unseen category 'n' \(did you mean 'No'\?\)"),
        (Feature("on", kind="binary", categories=(False, True)), "yes", r"did you mean True\?"),
        (Feature("on", categories=("ja", "yes", "no"), kind="categorical"), True, "True: the sche"),
        (FIO2, "0.5", "'fio2' is the text '0.5': give the number 0.5"),
        (FIO2, float("inf"), "finite number"),
        (AGE, 63.5, "integer and cannot be 63.5.*kind='numeric'"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(feature, value, message):
    with pytest.raises(DataError, match=message):
        feature.code(value)


def test_a_number_is_written_with_the_decimals_of_its_resolution():
    assert Feature("dose", resolution=0.25).format(1.25) == "1.25"
    assert Feature("dose", resolution=0.05).format(1.2) == "1.2"
    assert Feature("dose", resolution=2.5).format(7.5) == "7.5"
    assert Feature("third", resolution=1 / 3).format(2 / 3) == "0.6667"


@given(
    st.integers(-(10**9), 10**9),
    st.integers(0, 6),
    st.sampled_from([None, 0.01, 0.1, 0.25, 1, 5, 100]),
)
def test_a_number_that_somebody_typed_is_written_as_it_is(digits, decimals, resolution):
    value = float(f"{digits}e-{decimals}")

    assert float(Feature("x", resolution=resolution).format(value)) == value
