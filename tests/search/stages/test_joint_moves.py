"""Joint moves: single changes wherever one can be made, else the fewest that can be together."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from localface.search.questions import DensityAlong
from localface.search.stages import joint_moves
from localface.search.stages.joint_moves import route_by_joint_moves
from localface.types import NO_ROWS
from scripted import Script, someone


def routed(script: Script, end, groups=None, *, log_floor=0.0, **options):
    point = np.asarray(end, dtype=float)
    graph = script.graph(someone(np.zeros(len(point)), **options))
    some = list(range(len(point))) if groups is None else groups
    return script.run(route_by_joint_moves(graph, point, some, rows=NO_ROWS, log_floor=log_floor))


def nobody(n: int, **functions) -> Script:
    return Script(np.zeros((0, n)), **functions)


def changed(moves) -> list[list[int]]:
    """Which columns each move changes."""
    states = [np.zeros(len(moves[0].point)), *(move.point for move in moves)]
    return [np.flatnonzero(b != a).tolist() for a, b in pairwise(states)]


def alike(columns, by=0.3):
    """Low density wherever some columns are not alike."""

    def log_density(points):
        some = points[:, columns]
        return np.where(np.ptp(some, axis=1) > by, -1.0, 1.0)

    return log_density


def test_single_changes_come_by_the_score_that_they_lead_to():
    script = nobody(3, score=lambda points: points @ np.array([0.2, 0.5, 0.3]))

    moves = routed(script, np.ones(3))

    assert changed(moves) == [[1], [2], [0]]
    assert [round(move.score, 9) for move in moves] == [0.5, 0.8, 1.0]


def test_a_change_that_cannot_be_made_yet_waits_for_one_that_can():
    script = nobody(
        2,
        score=lambda points: points @ np.array([0.1, 0.9]),
        log_density=lambda points: points[:, 0] - points[:, 1] + 0.2,
    )

    assert changed(routed(script, np.ones(2))) == [[0], [1]]


def test_where_no_single_change_can_be_made_the_fewest_are_made_together():
    script = nobody(5, score=lambda points: points.sum(axis=1), log_density=alike([1, 3]))

    moves = routed(script, np.ones(5))

    assert [1, 3] in changed(moves)
    assert sorted(column for move in changed(moves) for column in move) == [0, 1, 2, 3, 4]


def test_a_joint_move_is_no_larger_than_it_must_be():
    """Of six changes, three belong together and so do the three others."""
    first = alike([0, 1, 2])
    second = alike([3, 4, 5])
    script = nobody(
        6,
        score=lambda points: points.sum(axis=1),
        log_density=lambda points: np.minimum(first(points), second(points)),
    )

    assert sorted(changed(routed(script, np.ones(6)))) == [[0, 1, 2], [3, 4, 5]]


def test_of_joint_moves_of_one_size_the_one_that_raises_the_score_most():
    first = alike([0, 1])
    second = alike([2, 3])
    script = nobody(
        4,
        score=lambda points: points @ np.array([0.1, 0.1, 0.4, 0.4]),
        log_density=lambda points: np.minimum(first(points), second(points)),
    )

    assert changed(routed(script, np.ones(4))) == [[2, 3], [0, 1]]


def test_more_than_three_together_are_what_is_left_of_all():
    """Four belong together, and two more may come along but need not."""
    script = nobody(6, score=lambda points: points.sum(axis=1), log_density=alike([0, 2, 3, 5]))

    assert [0, 2, 3, 5] in changed(routed(script, np.ones(6)))


def test_where_there_are_too_many_sets_one_after_the_other_is_left_out(monkeypatch):
    monkeypatch.setattr(joint_moves, "_MOST_AT_ONCE", 1)
    script = nobody(5, score=lambda points: points.sum(axis=1), log_density=alike([1, 3]))

    assert [1, 3] in changed(routed(script, np.ones(5)))


def test_after_a_joint_move_single_changes_are_tried_again():
    """Two belong together; the third can only be made once they have been."""

    def log_density(points):
        rare = alike([0, 1])(points) < 0
        return np.where(rare | (points[:, 2] > points[:, 0] + 0.3), -1.0, 1.0)

    script = nobody(3, score=lambda points: points.sum(axis=1), log_density=log_density)

    assert changed(routed(script, np.ones(3))) == [[0, 1], [2]]


def test_of_many_that_go_together_one_that_may_wait_is_left_for_later():
    """Four belong together, and the fifth can only be made once they have been."""

    def log_density(points):
        rare = alike([0, 1, 2, 3])(points) < 0
        return np.where(rare | (points[:, 4] > points[:, 0] + 0.3), -1.0, 1.0)

    script = nobody(5, score=lambda points: points.sum(axis=1), log_density=log_density)

    assert changed(routed(script, np.ones(5))) == [[0, 1, 2, 3], [4]]


def test_where_not_even_all_together_can_be_made_there_is_no_route():
    script = nobody(2, log_density=lambda points: -points.sum(axis=1))

    assert routed(script, np.ones(2)) is None


def test_states_on_the_way_keep_the_relations():
    script = nobody(2, score=lambda points: points[:, 1])

    moves = routed(script, np.ones(2), keeps_relations=lambda points: points[:, 0] >= points[:, 1])

    assert changed(moves) == [[0], [1]]


def test_only_the_groups_that_are_named_change():
    script = nobody(3, score=lambda points: points.sum(axis=1))

    moves = routed(script, np.ones(3), [0, 2])

    assert moves[-1].point.tolist() == [1.0, 0.0, 1.0]


def test_columns_of_a_group_move_at_once():
    script = nobody(3, score=lambda points: points.sum(axis=1))

    moves = routed(script, np.ones(3), [0, 1], group_of=np.array([0, 0, 1]))

    assert changed(moves) == [[0, 1], [2]]


def test_who_starts_below_the_floor_never_falls_below_it_again():
    """From below: the first column leads above the floor, the second dips below it again."""

    def log_density(points):
        start = np.where(points[:, 0] < 0.9, -1.0, 1.0)
        dip = (points[:, 0] > 0.5) & (np.abs(points[:, 1] - 0.5) < 0.2)
        return np.where(dip, -0.5, start)

    script = nobody(2, score=lambda points: points[:, 0], log_density=log_density)

    moves = routed(script, np.ones(2), log_floor=-1.0)

    assert moves is None
    assert {
        question.log_floor for question in script.asked if isinstance(question, DensityAlong)
    } == {
        -1.0,
        0.0,
    }


def test_under_the_mean_a_step_must_end_above_the_floor():
    """The mean along each step is high; where the first one ends, it is not."""

    def log_density(points):
        return np.where((points[:, 0] > 0.95) & (points[:, 1] < 0.5), -1.0, 2.0)

    script = nobody(2, score=lambda points: points[:, 0], log_density=log_density)

    assert changed(routed(script, np.ones(2), rule="mean")) == [[1], [0]]


def test_each_round_is_one_question_about_all_single_changes():
    script = nobody(6, score=lambda points: points.sum(axis=1))

    routed(script, np.ones(6))

    sizes = [
        len(question.starts) for question in script.asked if isinstance(question, DensityAlong)
    ]
    assert sizes == [6, 5, 4, 3, 2, 1]
