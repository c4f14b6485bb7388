"""Plans that change more than somebody could follow."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from handmade import STRICT

from localface import Feature, Schema
from localface.answers.action import Action
from localface.answers.long_plans import (
    FEW_AT_ONCE,
    FEW_IN_ALL,
    PlanSize,
    caution_about_long_plan,
    is_about_long_plan,
    with_shorter_plan,
)
from localface.answers.page import changes_by_action

SCHEMA = Schema([Feature(f"x{i}") for i in range(30)])


def plan_of(*actions: range):
    return [SimpleNamespace(changes={f"x{i}": 1.0 for i in action}) for action in actions]


@pytest.mark.parametrize(
    ("actions", "is_long"),
    [
        ([], False),
        ([range(FEW_AT_ONCE)], False),
        ([range(FEW_AT_ONCE + 1)], True),
        ([range(i, i + 1) for i in range(FEW_IN_ALL)], False),
        ([range(i, i + 1) for i in range(FEW_IN_ALL + 1)], True),
        ([range(3), range(3), range(2)], False),  # the same features again are no more of them
    ],
)
def test_a_plan_is_long_by_what_changes_at_once_or_in_all(actions, is_long):
    assert PlanSize.of(SCHEMA, plan_of(*actions)).is_long is is_long


def test_linked_features_are_one_change_however_they_are_linked():
    names = [f"x{i}" for i in range(20)]
    chained = SCHEMA.link(*names[:10]).link(*names[9:])
    size = PlanSize.of(chained, plan_of(range(20)))

    assert (size.features, size.at_once) == (20, 20)
    assert (size.changes, size.changes_at_once) == (1, 1)
    assert not size.is_long


def test_the_caution_says_how_many_features_change_and_that_it_is_no_advice():
    all_at_once = caution_about_long_plan(SCHEMA, PlanSize.of(SCHEMA, plan_of(range(8))))
    one_by_one = PlanSize.of(SCHEMA, plan_of(range(2), *(range(i, i + 1) for i in range(2, 13))))
    told = caution_about_long_plan(SCHEMA, one_by_one)

    assert all_at_once.startswith("this plan changes 8 of 30 features, all of them at once: ")
    assert told.startswith("this plan changes 13 of 30 features: hardly anybody could follow it")
    assert told.endswith("not as advice")
    assert is_about_long_plan(with_shorter_plan(told, 0.01, None))


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        ([range(1)], "1 feature"),
        ([range(2)], "2 features, all at once"),
        ([range(1), range(1, 3)], "3 features, up to 2 at once"),
    ],
)
def test_a_shorter_plan_is_told_by_its_features(actions, words):
    size = PlanSize.of(SCHEMA, plan_of(*actions))

    assert with_shorter_plan("long", 0.01, size).endswith(f"it would be {words}")


def test_a_plan_is_shorter_only_where_no_more_changes_at_once():
    one_by_one = PlanSize(4, 1, 4, 1)

    assert one_by_one.is_shorter_than(PlanSize(5, 2, 5, 2))
    assert not one_by_one.is_shorter_than(one_by_one)
    assert not PlanSize(4, 3, 4, 3).is_shorter_than(PlanSize(5, 2, 5, 2))


def test_the_page_lists_the_largest_changes_of_a_long_action_first():
    names = [f"x{i}" for i in range(20)]
    ends = {name: float(i) for i, name in enumerate(names, 1)}
    action = Action(
        changes=ends,
        before=dict.fromkeys(names, 0.0),
        score=0.9,
        density=0.5,
        certificate=STRICT,
    )
    one = SimpleNamespace(schema=Schema([Feature(name) for name in names]), scales=[1.0] * 20)

    assert [change.feature.name for change in changes_by_action(one, action)] == names[::-1]
