"""Fewest: the fewest changes first, then the least effort, over ground that is common."""

from __future__ import annotations

import numpy as np
import pytest

from localface.search.questions import DensityAlong, ScorePoints
from localface.search.stages import fewest
from localface.search.stages.fewest import are_all_needed, find_fewest_changes
from scripted import Script, box, someone


def fewest_of(script: Script, *points, most=4, max_changes=1, log_floor=0.0, **options):
    ends = np.asarray(points, dtype=float)
    graph = script.graph(someone(np.zeros(ends.shape[1]), **options))
    scores = script.score(ends)
    donors = [
        graph.add_state(end, score, row)
        for row, (end, score) in enumerate(zip(ends, scores, strict=True))
    ]
    found = script.run(
        find_fewest_changes(graph, donors, log_floor=log_floor, max_changes=max_changes, most=most)
    )
    return found[0] if found else None


def nobody(n: int, **functions) -> Script:
    return Script(np.zeros((0, n)), **functions)


def end_of(few) -> list[float]:
    return few.lattice.states[few.route[-1]].tolist()


def test_one_change_comes_before_two_however_large_it_is():
    script = nobody(3, score=lambda points: np.maximum(points[:, :2].sum(axis=1), points[:, 2] / 9))

    found = fewest_of(script, [0.3, 0.3, 0.0], [0.0, 0.0, 9.0])

    assert end_of(found) == [0.0, 0.0, 9.0]
    assert found.cost == (1.0, 9.0)


def test_of_as_many_changes_the_least_effort():
    script = nobody(2, score=lambda points: points.max(axis=1))

    found = fewest_of(script, [0.9, 0.0], [0.0, 0.7], [0.8, 0.0])

    assert end_of(found) == [0.0, 0.7]


def test_values_of_several_people_are_not_mixed():
    """Each set of changes is one person's: who has both values in full is nobody."""
    script = nobody(2, score=lambda points: points.sum(axis=1) / 4)

    assert fewest_of(script, [1.9, 0.0], [0.0, 1.9]) is None
    assert end_of(fewest_of(script, [1.9, 0.0], [1.0, 1.0])) == [1.0, 1.0]


def test_a_level_is_scored_in_one_question_and_no_state_twice():
    script = nobody(3, score=lambda points: points.sum(axis=1) / 6)

    found = fewest_of(script, [1.0, 1.0, 1.0], [1.0, 1.0, 1.2])

    asked = [question for question in script.asked if isinstance(question, ScorePoints)]
    states = [tuple(point) for question in asked for point in question.points.tolist()]
    assert len(set(states)) == len(states)
    assert len(asked) == 3
    assert end_of(found) == [1.0, 1.0, 1.0]


def test_once_it_is_certain_no_larger_sets_are_scored():
    script = nobody(3, score=lambda points: points[:, 0])

    fewest_of(script, [1.0, 1.0, 1.0])

    (asked,) = [question for question in script.asked if isinstance(question, ScorePoints)]
    assert len(asked.points) == 3


def test_larger_sets_that_can_cost_no_less_are_not_scored():
    """One dear change is enough, and two others would cost as much."""
    script = nobody(3, score=lambda points: np.maximum(points[:, 0] / 9, points[:, 1]))

    found = fewest_of(script, [5.0, 0.1, 0.1], [0.0, 0.4, 0.4], weights=np.array([2.0, 1.0, 1.0]))

    assert end_of(found) == [5.0, 0.0, 0.0]
    (asked,) = [question for question in script.asked if isinstance(question, ScorePoints)]
    assert (asked.points != 0).sum(axis=1).max() == 1


def test_with_weights_more_changes_may_cost_less():
    script = nobody(4, score=lambda points: np.maximum(points[:, 0], points[:, 1:].sum(axis=1) / 6))

    plain = fewest_of(script, np.ones(4))
    weighted = fewest_of(script, np.ones(4), weights=np.array([9.0, 1.0, 1.0, 1.0]))

    assert end_of(plain) == [1.0, 0.0, 0.0, 0.0]
    assert end_of(weighted) == [0.0, 1.0, 1.0, 1.0]
    assert weighted.cost == (3.0, 3.0)


def test_an_end_below_the_floor_is_passed_over_for_the_next():
    script = nobody(
        2,
        score=lambda points: points.max(axis=1),
        log_density=lambda points: np.where(points[:, 0] > 0.4, -1.0, 1.0),
    )

    found = fewest_of(script, [0.6, 0.0], [0.0, 0.9])

    assert end_of(found) == [0.0, 0.9]


def test_an_end_without_a_route_is_passed_over_for_the_next():
    script = nobody(
        2,
        score=lambda points: points.max(axis=1),
        log_density=lambda points: np.where(np.abs(points[:, 0] - 0.3) < 0.1, -1.0, 1.0),
    )

    found = fewest_of(script, [0.6, 0.0], [0.0, 0.9])

    assert end_of(found) == [0.0, 0.9]


def test_where_a_level_has_no_sound_end_the_next_is_looked_at():
    script = nobody(
        2,
        score=lambda points: points[:, 0],
        log_density=lambda points: np.where(points[:, 0] - points[:, 1] > 0.3, -1.0, 1.0),
    )

    found = fewest_of(script, [0.6, 0.6])

    assert end_of(found) == [0.6, 0.6]
    assert len(found.route) == 3


def test_an_end_outside_the_bounds_or_against_a_direction_is_none():
    script = nobody(2, score=lambda points: points.max(axis=1))

    inside = fewest_of(script, [0.6, 0.0], [0.0, 0.9], bounds=box(2, upper=[0.5, 1.0]))
    one_way = fewest_of(
        nobody(2, score=lambda points: np.abs(points).max(axis=1)),
        [-0.6, 0.0],
        [0.0, 0.9],
        bounds=box(2, up=[0]),
    )

    assert end_of(inside) == [0.0, 0.9]
    assert end_of(one_way) == [0.0, 0.9]


@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_more_changes_are_made_than_wanted(most):
    script = nobody(3, score=lambda points: points.sum(axis=1) / 6)

    found = fewest_of(script, np.ones(3), most=most)

    assert (found is not None) == (most == 3)


def test_a_route_makes_one_change_after_the_other_where_that_will_do():
    script = nobody(3, score=lambda points: points.sum(axis=1) / 6)

    found = fewest_of(script, np.ones(3))
    at_once = fewest_of(script, np.ones(3), max_changes=3)

    assert [bin(state).count("1") for state in found.route] == [0, 1, 2, 3]
    assert len(at_once.route) <= len(found.route)


def test_without_donors_that_differ_nothing_is_asked():
    script = nobody(2)

    assert fewest_of(script, [0.0, 0.0]) is None
    assert script.asked == []


def test_only_the_most_promising_sets_are_carried_on(monkeypatch):
    monkeypatch.setattr(fewest, "_FEW_FEATURES", 0)
    monkeypatch.setattr(fewest, "_MOST_CARRIED", 2)
    monkeypatch.setattr(fewest, "_MOST_PER_DONOR", 1)
    script = nobody(4, score=lambda points: points @ np.array([4.0, 3.0, 2.0, 1.0]) / 20)

    found = fewest_of(script, np.ones(4), np.full(4, 1.5), np.full(4, 0.1))

    sizes = [len(question.points) for question in script.asked if isinstance(question, ScorePoints)]
    assert sizes[:2] == [12, 6]  # two sets with three changes left each
    assert found is not None
    assert found.lattice.states[found.route[-1]][0] > 0


def test_few_ends_of_a_level_are_looked_at(monkeypatch):
    """However many reach the target, the ground of so many is asked about, eight at a time."""
    monkeypatch.setattr(fewest, "_MOST_CHECKED", 16)
    monkeypatch.setattr(fewest, "_CHECKED_AT_ONCE", 8)
    script = nobody(1, log_density=lambda points: np.where(points[:, 0] > 0, -1.0, 1.0))

    found = fewest_of(script, *[[1 + i / 100] for i in range(40)])

    asked = [
        len(question.starts) for question in script.asked if isinstance(question, DensityAlong)
    ]
    assert found is None
    assert asked == [8, 8]


@pytest.mark.parametrize(
    ("spare", "tried"), [(True, 3), (False, 5)], ids=["a level follows", "all there is changes"]
)
def test_few_routes_of_a_level_are_tried_and_more_where_none_follows(monkeypatch, spare, tried):
    monkeypatch.setattr(fewest, "_MOST_ROUTES", 3)
    monkeypatch.setattr(fewest, "_MOST_LAST_ROUTES", 5)
    script = nobody(
        2, log_density=lambda points: np.where(np.abs(points[:, 0] - 0.5) < 0.1, -1.0, 1.0)
    )

    ends = [[1 + i / 100, 0.0] for i in range(40)]
    found = fewest_of(script, *ends, *[[0.0, -0.1]] * spare, most=1)

    steps = [
        len(question.starts)
        for question in script.asked
        if isinstance(question, DensityAlong) and (question.starts != question.ends).any()
    ]
    assert found is None
    assert sum(steps) == tried


def test_someone_below_the_floor_ends_above_it():
    script = nobody(
        2,
        score=lambda points: points.max(axis=1),
        log_density=lambda points: np.where(points[:, 1] > 0.5, 1.0, -1.0),
    )

    found = fewest_of(script, [0.6, 0.0], [0.0, 0.9], log_floor=-1.0)

    assert end_of(found) == [0.0, 0.9]


def test_a_change_that_weighs_less_comes_before_one_of_less_effort():
    script = nobody(2, score=lambda points: (points > 0).max(axis=1) * 1.0)

    found = fewest_of(script, [0.1, 0.0], [0.0, 1.0], weights=np.array([3.0, 1.0]))

    assert found.cost == (1.0, 1.0)
    assert end_of(found) == [0.0, 1.0]


def test_what_costs_more_does_not_take_the_place_of_what_was_found():
    """Two light changes might have cost less, so that larger sets are looked at as well."""
    script = nobody(3, score=lambda points: points[:, 0])

    found = fewest_of(script, np.ones(3), weights=np.array([3.0, 1.0, 1.0]))

    assert end_of(found) == [1.0, 0.0, 0.0]


def test_the_sets_that_are_carried_on_are_those_with_the_highest_scores(monkeypatch):
    monkeypatch.setattr(fewest, "_FEW_FEATURES", 0)
    monkeypatch.setattr(fewest, "_MOST_CARRIED", 1)
    script = nobody(4, score=lambda points: points @ np.array([1.0, 2.0, 4.0, 3.0]) / 14)

    found = fewest_of(script, np.ones(4))

    assert end_of(found) == [0.0, 0.0, 1.0, 1.0]


def test_a_change_is_needed_without_which_the_score_or_a_limit_is_missed():
    """Without the first change the score is just enough; without the second it is not."""
    script = Script(np.zeros((0, 2)), score=lambda points: points @ np.array([0.2, 0.5]))
    limits = {"keeps_relations": lambda points: points[:, 0] >= points[:, 1] - 1.5}
    graph = script.graph(someone([0.0, 0.0], **limits))
    states = np.array([[1.0, 1.0], [1.0, 0.8], [3.0, 2.0], [0.0, 1.0]])

    found = script.run(are_all_needed(graph, states, np.zeros(0, dtype=np.int64)))

    # of the third, the first alone has the score; without it, the second goes too far
    assert found.tolist() == [False, True, False, True]
