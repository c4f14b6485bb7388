"""Helping: of ways that cost nearly the same, one whose changes help others as well."""

from __future__ import annotations

import numpy as np
import pytest

from localface.search.plan import Plan, WalkOptions
from localface.search.questions import HelpOthers, OthersHelped
from localface.search.stages.actions import find_actions
from localface.search.stages.helping import _costs_little_more, _costs_nearly, doubt_of
from scripted import Script, someone

PLAN = Plan(WalkOptions(3))


def first_helps_few(ends):
    """Whoever changes the first column does what helps hardly anybody else."""
    return np.where(ends[:, 0] != 0, 0.3, 0.9)


def actions_of(script: Script, *ends, **options):
    """The actions of someone at the origin; every donor's values are needed in full."""
    points = np.asarray(ends, dtype=float)
    person = someone(np.zeros(points.shape[1]), part_of_the_way=np.zeros(points.shape[1], bool))
    graph = script.graph(person)
    donors = [
        graph.add_state(point, float(score), row)
        for row, (point, score) in enumerate(zip(points, script.score(points), strict=True))
    ]
    return script.run(find_actions(graph, PLAN, donors, log_floor=0.0))


def one_change(helps, **options) -> Script:
    """Any one column reaches the target."""

    def score(points):
        return (np.abs(points) > 0).any(axis=1) * 0.9

    return Script(np.zeros((0, 3)), score=score, helps=helps, **options)


def end_of(found) -> list[float]:
    return found.moves[-1].point.tolist()


def test_of_ways_that_cost_nearly_the_same_the_one_that_helps_others_is_taken():
    script = one_change(lambda ends: np.where(ends[:, 0] != 0, 0.6, 0.9))

    found = actions_of(script, [1.0, 0.0, 0.0], [0.0, 1.04, 0.0])

    assert end_of(found) == [0.0, 1.04, 0.0]
    assert found.helped.least == 0.9


def test_a_way_that_helps_no_tenth_more_or_costs_more_is_not():
    little = one_change(lambda ends: np.where(ends[:, 0] != 0, 0.61, 0.69))
    assert end_of(actions_of(little, [1.0, 0.0, 0.0], [0.0, 1.04, 0.0])) == [1.0, 0.0, 0.0]
    enough = one_change(lambda ends: np.where(ends[:, 0] != 0, 0.8, 1.0))
    assert end_of(actions_of(enough, [1.0, 0.0, 0.0], [0.0, 1.04, 0.0])) == [1.0, 0.0, 0.0]
    dearer = one_change(lambda ends: np.where(ends[:, 0] != 0, 0.6, 0.9))
    assert end_of(actions_of(dearer, [1.0, 0.0, 0.0], [0.0, 1.06, 0.0])) == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("least", "other", "taken"),
    [(0.1, 0.34, True), (0.1, 0.36, False), (4.0, 4.9, True), (4.0, 5.1, False)],
)
def test_what_goes_against_most_others_gives_way_to_what_costs_little_more(least, other, taken):
    found = actions_of(one_change(first_helps_few), [least, 0.0, 0.0], [0.0, other, 0.0])

    assert (end_of(found)[0] == 0.0) == taken
    assert found.helped.least == (0.9 if taken else 0.3)


@pytest.mark.parametrize(
    ("helped", "taken"), [((0.55, 0.61), True), ((0.55, 0.59), False), ((0.45, 0.55), True)]
)
def test_what_is_doubtful_gives_way_to_what_is_less_so_and_costs_little_more(helped, taken):
    first, second = helped
    script = one_change(lambda ends: np.where(ends[:, 0] != 0, first, second))

    found = actions_of(script, [1.0, 0.0, 0.0], [0.0, 1.2, 0.0])

    assert (end_of(found)[0] == 0.0) == taken
    assert found.helped.least == (second if taken else first)


def test_more_features_are_never_changed_to_help_others():
    def score(points):
        first, second, third = np.abs(points).T
        return 0.9 * ((first > 0) | ((second > 0) & (third > 0)))

    script = Script(np.zeros((0, 3)), score=score, helps=first_helps_few)

    found = actions_of(script, [1.0, 0.0, 0.0], [0.0, 0.1, 0.1])

    assert end_of(found) == [1.0, 0.0, 0.0]


def test_where_all_ways_go_against_most_others_more_are_looked_for_by_other_changes():
    near = [[1.0 + i / 1000, 0.0, 0.0] for i in range(8)]  # more than are looked at in detail
    script = one_change(first_helps_few)

    found = actions_of(script, *near, [0.0, 1.2, 0.0])

    assert end_of(found) == [0.0, 1.2, 0.0]
    assert script.n_asked(HelpOthers) == 2


def test_where_all_ways_go_against_most_others_the_one_that_helps_more_of_them_is_kept():
    script = one_change(lambda ends: np.where(ends[:, 0] != 0, 0.1, 0.4))

    found = actions_of(script, [1.0, 0.0, 0.0], [0.0, 1.04, 0.0])

    assert end_of(found) == [0.0, 1.04, 0.0]
    assert found.helped.least == 0.4


def test_one_question_is_enough_where_nothing_goes_against_most_others():
    script = one_change(lambda ends: np.full(len(ends), 0.6))

    actions_of(script, [1.0, 0.0, 0.0], [1.01, 0.0, 0.0], [0.0, 1.02, 0.0])

    (question,) = [one for one in script.asked if isinstance(one, HelpOthers)]
    assert question.ends.tolist() == [[1.0, 0.0, 0.0], [0.0, 1.02, 0.0]]  # by other changes each


def test_when_time_is_up_the_cheapest_way_is_taken_and_nothing_is_told_of_others():
    script = one_change(first_helps_few)
    actions_of(script, [1.0, 0.0, 0.0], [0.0, 1.1, 0.0])
    asked = [isinstance(one, HelpOthers) for one in script.asked]
    late = one_change(first_helps_few, late=asked.index(True))

    found = actions_of(late, [1.0, 0.0, 0.0], [0.0, 1.1, 0.0])

    assert end_of(found) == [1.0, 0.0, 0.0]
    assert found.helped is None


def test_the_least_share_is_that_of_any_change_or_of_all_together():
    columns = np.eye(2, dtype=bool)

    assert OthersHelped(columns, np.array([0.9, 0.4]), np.array([50, 50]), 0.7, 60).least == 0.4
    assert OthersHelped(columns, np.array([0.9, 0.8]), np.array([50, 50]), 0.7, 60).least == 0.7


@pytest.mark.parametrize(("least", "doubt"), [(0.49, 2), (0.5, 1), (0.59, 1), (0.6, 0), (1.0, 0)])
def test_half_of_the_others_are_not_against_and_three_fifths_leave_no_doubt(least, doubt):
    helped = OthersHelped(np.ones((1, 1), dtype=bool), np.array([1.0]), np.array([9]), least, 9)

    assert doubt_of(helped) == doubt


@pytest.mark.parametrize(
    ("effort", "nearly", "little_more"),
    [(2.1, True, True), (2.11, False, True), (2.5, False, True), (2.51, False, False)],
)
def test_what_costs_hardly_more_is_a_twentieth_and_a_little_more_a_quarter(
    effort, nearly, little_more
):
    cost, least = (1.0, 1.0, effort), (1.0, 1.0, 2.0)

    assert _costs_nearly(cost, least) == nearly
    assert _costs_little_more(cost, least) == little_more
    assert not _costs_nearly((1.0, 2.0, 2.0), least)
    assert not _costs_little_more((2.0, 1.0, 2.0), least)
