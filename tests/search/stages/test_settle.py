"""Settle: each number stops at the first round value at which the target is reached."""

from __future__ import annotations

import numpy as np
import pytest

from localface.search.questions import ScorePoints
from localface.search.stages.settle import (
    goes_further,
    round_onwards,
    rounder_ends,
    settle_values,
)
from localface.types import NO_ROWS
from scripted import Script, box, someone


def settled(
    script: Script, end, groups=None, *, factual=None, onwards=False, **options
) -> list[float]:
    point = np.asarray(end, dtype=float)
    own = np.zeros(len(point)) if factual is None else np.asarray(factual, dtype=float)
    graph = script.graph(someone(own, **options))
    some = list(range(len(point))) if groups is None else groups
    further = graph.person.round_outwards if onwards else None
    stage = settle_values(graph, point, some, NO_ROWS, onwards=further)
    return script.run(stage).tolist()


def nobody(n: int, **functions) -> Script:
    return Script(np.zeros((0, n)), **functions)


def tens(column, values):
    """Round outwards to tens."""
    return np.sign(values) * np.ceil(np.abs(values) / 10 - 1e-9) * 10


def fives(column, values):
    """Round outwards to fives."""
    return np.sign(values) * np.ceil(np.abs(values) / 5 - 1e-9) * 5


def wholes(column, values):
    """Round upwards to whole numbers."""
    return np.ceil(values)


def seen_up_to(highest: float):
    """The lowest and the highest number of one column in the data."""
    return np.array([0.0]), np.array([highest])


def test_a_value_stops_where_the_target_is_reached():
    script = nobody(1, score=lambda points: points[:, 0])

    assert settled(script, [2.0]) == [0.5]


def test_a_value_stops_at_a_round_one():
    script = nobody(1, score=lambda points: points[:, 0] / 100)

    assert settled(script, [87.3], round_outwards=tens) == [50.0]


@pytest.mark.parametrize("end", [87.3, -87.3])
def test_where_values_need_not_be_round_each_stops_just_where_the_target_is_reached(end):
    script = nobody(1, score=lambda points: np.abs(points[:, 0]) / 74.2)

    (stopped,) = settled(script, [end], stops_at_round_values=False)

    assert abs(stopped) >= 37.1
    assert stopped == pytest.approx(37.1 * np.sign(end), rel=1e-7)


def test_a_number_that_need_not_be_round_is_whole_and_noticed_all_the_same():
    script = nobody(1, score=lambda points: points[:, 0] / 74.2)
    noticed = (np.array([-40.5]), np.array([40.5]))
    exact = {"stops_at_round_values": False}

    assert settled(script, [87.3], round_outwards=wholes, **exact) == [38.0]
    (stopped,) = settled(script, [87.3], just_noticeable=noticed, **exact)
    assert 40.5 <= stopped < 40.51
    assert settled(script, [37.1], **exact) == [37.1], "no further back than the target allows"


def test_each_number_in_turn_stops_where_the_target_is_reached_with_the_others_as_they_are():
    """The furthest goes back first, as far as the other allows."""
    script = nobody(2, score=lambda points: points.sum(axis=1) / 10)

    first, second = settled(script, [6.0, 3.0], stops_at_round_values=False)

    assert (first, second) == (pytest.approx(2.0), 3.0)


def test_a_value_never_goes_beyond_the_donors():
    script = nobody(1, score=lambda points: points[:, 0] / 100)

    assert settled(script, [52.0], round_outwards=tens) == [50.0]
    assert settled(script, [51.0], min_score=0.505, round_outwards=tens) == [51.0]
    assert settled(script, [-4.0], min_score=-9.0, round_outwards=tens) == [-4.0]


def test_a_value_goes_on_to_the_next_multiple_where_none_before_it_will_do():
    script = nobody(1, score=lambda points: points[:, 0] / 100)
    options = {"round_outwards": tens, "next_multiples": tens, "onwards": True}

    assert settled(script, [52.0], **options) == [50.0], "which a smaller one does"
    assert settled(script, [51.0], min_score=0.505, **options) == [60.0]
    assert settled(script, [51.0], min_score=0.505, bounds=box(1, upper=55.0), **options) == [51.0]
    assert settled(script, [51.0], min_score=0.505, seen=seen_up_to(55.0), **options) == [51.0]
    assert settled(script, [51.0], min_score=0.505, seen=seen_up_to(60.0), **options) == [60.0]
    assert settled(script, [50.0], min_score=0.5, **options) == [50.0], "a multiple stays"


def test_a_value_goes_on_to_a_round_one_before_the_next_multiple():
    script = nobody(1, score=lambda points: points[:, 0] / 100)
    options = {"next_multiples": fives, "onwards": True, "min_score": 0.505}

    assert settled(script, [51.0], round_outwards=tens, **options) == [60.0]
    within = {"bounds": box(1, upper=58.0)}
    assert settled(script, [51.0], round_outwards=tens, **within, **options) == [55.0]


def test_numbers_that_stay_where_they_are_go_on_to_round_ones_as_they_reach_the_target():
    script = nobody(2, score=lambda points: np.where(points.sum(axis=1) < 120, 1.0, 0.0))
    person = someone([0.0, 0.0], round_closely=fives, next_multiples=wholes)
    graph = script.graph(person)

    def found(*end: float, groups=(0, 1)) -> list[list[float]]:
        stage = rounder_ends(graph, np.array(end), list(groups), NO_ROWS, onwards=tens)
        return script.run(stage).tolist()

    assert found(51.2, 11.0) == [[60.0, 20.0], [55.0, 15.0], [52.0, 11.0]]
    assert found(51.2, 61.0) == [[52.0, 61.0]], "rounder ones miss the target"
    assert found(60.0, 20.0) == [], "they are round"
    assert found(51.2, 11.0, groups=[1]) == [[51.2, 20.0], [51.2, 15.0]]


def test_all_numbers_go_on_to_the_next_multiples_or_none_does():
    script = nobody(2, score=lambda points: np.where(points[:, 0] < 35, points[:, 1] / 100, 0))
    graph = script.graph(someone([0.0, 0.0], next_multiples=tens))

    def rounded(*end) -> list[float]:
        stage = round_onwards(graph, np.array(end), [0, 1], NO_ROWS)
        return script.run(stage).tolist()

    assert rounded(21.0, 52.0) == [30.0, 60.0]
    assert rounded(31.0, 52.0) == [31.0, 52.0], "the target would be missed"
    assert rounded(-0.5, 52.0) == [-10.0, 60.0]


def test_it_is_told_whether_a_settled_end_goes_further():
    person = someone([0.0, 0.0])

    assert goes_further(person, np.array([5.0, -5.0]), np.array([4.0, -6.0]))
    assert not goes_further(person, np.array([5.0, -5.0]), np.array([4.0, -5.0]))


def test_values_below_the_persons_own_settle_too():
    script = nobody(1, score=lambda points: (100 - points[:, 0]) / 100)

    assert settled(script, [16.0], factual=[80.0]) == [48.0]


def test_the_furthest_settles_first():
    """Either would do alone: the far one goes back, and the near one then has to stay."""
    script = nobody(2, score=lambda points: points @ np.array([0.25, 0.5]))

    state = settled(script, [4.0, 1.0])

    assert state == [0.25, 0.875]


def test_a_change_stays_a_change_that_can_be_noticed():
    """Once another change is enough, a number goes back as far as can still be noticed."""
    script = nobody(2, score=lambda points: points[:, 1])
    small = np.array([-0.3, -0.3])

    state = settled(script, [1.0, 0.9], just_noticeable=(small, -small))

    assert state[0] == 0.3125
    assert state[1] > 0.5 - 1e-9


def test_linked_numbers_and_categories_stay_as_they_are():
    script = nobody(4, score=lambda points: points[:, 3])

    state = settled(
        script,
        [1.0, 1.0, 1.0, 1.0],
        [0, 1, 2],
        group_of=np.array([0, 0, 1, 2]),
        discrete=np.array([False, False, True, False]),
    )

    assert state == [1.0, 1.0, 1.0, 0.5]


def test_only_the_groups_that_change_are_settled():
    script = nobody(2, score=lambda points: points.max(axis=1))

    assert settled(script, [1.0, 7.0], [0])[1] == 7.0


def test_whole_numbers_settle_at_whole_numbers():
    script = nobody(1, score=lambda points: points[:, 0] / 10)

    assert settled(
        script, [9.0], min_score=0.45, round_outwards=lambda column, values: np.rint(values)
    ) == [5.0]


def test_a_value_that_the_bounds_or_relations_rule_out_is_passed_over():
    script = nobody(1, score=lambda points: points[:, 0])

    bound = settled(script, [2.0], bounds=box(1, lower=[0.9]))
    related = settled(
        script, [2.0], keeps_relations=lambda points: np.abs(points[:, 0] - 0.5) > 0.2
    )

    assert bound == [1.0]
    assert related == [0.75]


def test_the_score_need_not_rise_all_the_way():
    """The first value that reaches the target, even if later ones do not."""
    script = nobody(1, score=lambda points: 1 - np.abs(points[:, 0] - 0.75))

    assert settled(script, [1.0]) == [0.25]


def test_where_no_smaller_value_will_do_nothing_changes():
    script = nobody(2, score=lambda points: points.sum(axis=1) / 4)

    assert settled(script, [1.0, 1.0]) == [1.0, 1.0]


def test_each_number_is_one_question_and_no_value_is_asked_twice():
    script = nobody(2, score=lambda points: points.sum(axis=1) / 4)

    settled(script, [30.0, 50.0], min_score=10.0, round_outwards=tens)

    asked = [question.points for question in script.asked if isinstance(question, ScorePoints)]
    assert [len(points) for points in asked] == [5, 2]  # the third is known already
    assert all(len(np.unique(points, axis=0)) == len(points) for points in asked)


def test_a_number_that_is_round_by_one_measure_goes_on_to_the_next_multiple():
    """2.5 is a half, and 3 the next whole number: nothing round on the way there will do."""

    def up_to(unit):
        return lambda column, values: np.ceil(values / unit) * unit

    script = Script(np.zeros((0, 1)), score=lambda points: points[:, 0] / 5)
    person = someone([0.0], round_outwards=up_to(1.0), next_multiples=up_to(1.0))
    graph = script.graph(person)

    settled = script.run(
        settle_values(graph, np.array([2.5]), [0], np.zeros(0, dtype=np.int64), onwards=up_to(0.5))
    )

    assert settled.tolist() == [3.0]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_number_may_stop_where_its_change_can_just_be_noticed(sign):
    script = nobody(1, score=lambda points: np.ones(len(points)))

    assert settled(script, [4.0 * sign], just_noticeable=([-1.0], [1.0])) == [sign]


def test_a_round_end_with_just_the_score_that_is_needed_is_taken():
    script = nobody(1, score=lambda points: points[:, 0] / 20)
    graph = script.graph(someone([0.0], next_multiples=tens))

    assert script.run(round_onwards(graph, np.array([7.0]), [0], NO_ROWS)).tolist() == [10.0]
