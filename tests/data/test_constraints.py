"""Constraints compiled into a box around a person."""

from __future__ import annotations

import numpy as np
import pytest

from localface.data.constraints import compile_comparable_box
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.errors import ConstraintError

AGE = Feature("age", unit="year", kind="integer")


FIO2 = Feature("fio2", resolution=0.01)


SEX = Feature("sex", kind="binary", categories=("F", "M"))


WARD = Feature("ward", kind="categorical", categories=("icu", "step-down", "home"))


PAIN = Feature("pain", kind="ordinal", categories=("none", "mild", "severe"))


PERSON = np.array([63.0, 0.55, 1.0, 0.0, 1.0])


@pytest.fixture
def schema() -> Schema:
    return Schema([AGE, FIO2, SEX, WARD, PAIN])


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


@pytest.mark.parametrize("asked", [2, "up", "down", {"within": 1, "bounds": (0, 90)}])
def test_what_never_moves_by_the_schema_is_not_let_move_by_a_call(schema, asked):
    kept = schema.with_("age", moves="never")

    with pytest.raises(ConstraintError, match=r"'age' never moves by the schema.*where= only narr"):
        kept.box(PERSON, {"age": asked})
    for nothing in ("never", 0, (18, 90)):
        assert kept.box(PERSON, {"age": nothing}).reasons[0] == "age never moves"


@pytest.mark.parametrize("asked", ["up", "down", {"moves": "down", "bounds": (0, 90)}])
def test_what_grows_by_itself_is_not_sent_one_way_by_a_call(schema, asked):
    grown = schema.with_("age", moves="grows")

    with pytest.raises(ConstraintError, match=r"'age' grows by itself by the schema.*how far wait"):
        grown.box(PERSON, {"age": asked})
    for narrower in ("never", 5, (18, 90), {"within": 5}):
        assert grown.box(PERSON, {"age": narrower}).reasons[0] == "age grows by itself"


@pytest.mark.parametrize(
    ("share", "said"),
    [
        ("-15%", "up to 15 % less is from 850 to 1000$"),
        ("+ 2.5 %", "up to 2.5 % more is from 1000 to 1025$"),
        ("10%", "up to 10 % less or more is from 900 to 1100$"),
    ],
)
def test_a_percentage_is_refused_with_what_it_would_be(schema, share, said):
    with pytest.raises(ConstraintError, match=f"'age' cannot move .*1000 now, {said}"):
        schema.box(PERSON, {"age": share})
    with pytest.raises(ConstraintError, match=r"for an open end$"):
        schema.box(PERSON, {"age": "fewer"})


def test_a_call_only_narrows_what_the_schema_declares(schema):
    schema = schema.with_("age", within=5, bounds=(60, 90)).with_("sex", moves="never")

    box = schema.box(PERSON, {"age": {"within": 10, "bounds": (None, 66)}, "sex": "freely"})

    assert (box.lower[0], box.upper[0]) == (60, 66)
    assert box.allowed[2] == {1}


@pytest.mark.parametrize(
    ("declared", "asked", "said"),
    [
        ({"bounds": (0, 100)}, (0, 30), "age between 0 and 30 year"),
        ({"bounds": (50, 100)}, (None, 70), "age between 50 and 70 year"),
        ({"bounds": (60, 70)}, (0, 100), "age between 60 and 70 year"),
        ({"within": 5}, {"within": 10}, "age within 5 of 63 year"),
        ({"within": 5, "bounds": (0, 100)}, "freely", "age within 5 of 63 year"),
        ({"within": 5, "bounds": (0, 65)}, {}, "age within 5 of 63 year and between 0 and 65 year"),
        ({"bounds": (0, 65)}, "up", "age only moves up and between 0 and 65 year"),
    ],
)
def test_only_the_limits_that_count_are_said(schema, declared, asked, said):
    box = schema.with_("age", **declared).box(PERSON, {"age": asked})

    assert box.reasons[0] == said


def test_ranges_that_leave_nothing_are_both_said(schema):
    schema = schema.with_("age", bounds=(0, 65))

    with pytest.raises(ConstraintError, match="'at least 70 year' and 'between 0 and 65 year'"):
        schema.box(PERSON, {"age": (70, None)})


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

    assert box.allows_code(0, 68.0)
    assert not box.allows_code(0, 69.0)
    assert box.allows_code(3, 0.0)
    assert not box.allows_code(3, 1.0)
    with pytest.raises(ValueError, match="read-only"):
        box.lower[0] = 0


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (["age"], "give a dict from feature to constraint"),
        ({"agee": 5}, "'agee', which is no feature.*did you mean 'age'"),
        ({"age": "upp"}, "'age' cannot move 'upp'.*did you mean 'up'"),
        ({"age": ">30"}, r"'age' cannot move '>30'.*or \(low, high\), with None for an open end"),
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


# --- what is a person's own -------------------------------------------------------------------
def test_what_grows_is_kept_in_the_box_and_has_room_to_grow():
    age = Feature("age", kind="integer", moves="grows", within=5, bounds=(0, 66))
    stay = Feature("stay", unit="h", moves="grows")

    box = Schema([age, stay]).box(np.array([63.0, 40.0]))

    assert box.lower.tolist() == box.upper.tolist() == [63, 40]
    assert box.grows_to == {0: 66, 1: np.inf}
    assert box.distance_limits == {}
    assert box.reasons == {0: "age grows by itself", 1: "stay grows by itself"}


def test_a_call_narrows_how_far_something_may_grow_and_cannot_stop_it():
    schema = Schema([Feature("stay", moves="grows", within=48)])

    assert schema.box(np.array([40.0]), {"stay": 24}).grows_to == {0: 64}
    assert schema.box(np.array([40.0]), {"stay": "never"}).grows_to == {0: 88}
    with pytest.raises(ConstraintError, match="'stay' cannot move 'grows'"):
        schema.box(np.array([40.0]), {"stay": "grows"})


def test_a_distance_says_nothing_of_what_never_moves():
    box = Schema([Feature("age", moves="never", within=5)]).box(np.array([63.0]))

    assert (box.lower[0], box.upper[0]) == (63, 63)
    assert box.distance_limits == {}


def test_without_a_word_on_it_everybody_is_comparable(schema):
    assert compile_comparable_box(schema.features, PERSON) is None


def test_others_are_comparable_within_a_distance_and_among_categories_that_are_alike():
    ward = {"kind": "categorical", "categories": ("a", "b", "c", "d"), "moves": "never"}
    features = Schema(
        [
            Feature("age", kind="integer", moves="grows", comparable=25),
            Feature("sex", kind="binary", protected=True, comparable=[]),
            Feature("ward", comparable=["a", "b"], **ward),
            Feature("town", comparable=[["a", "b"], ["c", "d"]], **ward),
            Feature("income"),
        ]
    ).features

    box = compile_comparable_box(features, np.array([60.0, 1.0, 2.0, 2.0, 9.0]))

    assert (box.lower[0], box.upper[0]) == (35, 85)
    assert box.allowed == {1: {1}, 2: {2}, 3: {2, 3}}  # ward c is like no other
    assert np.isneginf(box.lower[1:]).all()
    assert compile_comparable_box(features, np.zeros(5)).allowed == {1: {0}, 2: {0, 1}, 3: {0, 1}}
