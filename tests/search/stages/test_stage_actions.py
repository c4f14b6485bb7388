"""Actions as a stage: the smallest set of changes that has a route, or none."""

from __future__ import annotations

import numpy as np

from localface.search.questions import ScorePoints
from localface.search.stages.actions import find_actions
from scripted import Script, someone


def actions_to(script: Script, end, *, every_change=False, max_changes=1, **options):
    target = np.asarray(end, dtype=float)
    graph = script.graph(someone(np.zeros(len(target)), **options))
    vertex = graph.add_state(target, 1.0)
    return script.run(
        find_actions(
            graph, vertex, log_floor=0.0, max_changes=max_changes, every_change=every_change
        )
    )


def test_only_what_the_score_needs_is_changed():
    script = Script(np.zeros((0, 3)), score=lambda points: points[:, 1])

    (move,) = actions_to(script, [1.0, 1.0, 1.0])

    assert move.point.tolist() == [0.0, 1.0, 0.0]
    assert (move.score, move.follows) == (1.0, ())


def test_few_changes_are_scored_before_many_are():
    script = Script(np.zeros((0, 5)), score=lambda points: points.sum(axis=1) / 5)

    moves = actions_to(script, np.ones(5), min_score=0.8)

    assert len(moves) == 4
    sizes = [len(question.points) for question in script.asked if isinstance(question, ScorePoints)]
    assert sizes == [16, 10, 6]


def test_with_weights_all_are_scored_at_once_as_more_changes_may_cost_less():
    script = Script(
        np.zeros((0, 5)), score=lambda points: points[:, 0] + points[:, 1:].sum(axis=1) / 4
    )

    moves = actions_to(script, np.ones(5), min_score=1.0, weights=np.array([9.0, 1, 1, 1, 1]))

    assert moves[-1].point.tolist() == [0.0, 1.0, 1.0, 1.0, 1.0]
    assert script.n_asked(ScorePoints) == 1


def test_every_change_is_made_where_that_is_asked_for():
    script = Script(np.zeros((0, 3)), score=lambda points: points[:, 1])

    moves = actions_to(script, [1.0, 1.0, 1.0], every_change=True)

    assert moves[-1].point.tolist() == [1.0, 1.0, 1.0]
    assert moves[0].point.tolist() == [0.0, 1.0, 0.0]


def test_where_the_smallest_set_has_no_route_the_next_is_taken():
    script = Script(
        np.zeros((0, 2)),
        score=lambda points: points[:, 1] + points[:, 0] / 4,
        log_density=lambda points: points[:, 0] - points[:, 1] + 0.6,
    )

    moves = actions_to(script, [1.0, 1.0])

    assert moves[-1].point.tolist() == [1.0, 1.0]
    assert moves[0].point.tolist() == [1.0, 0.0]


def test_where_no_route_keeps_the_floor_there_are_no_actions():
    script = Script(np.zeros((0, 2)), log_density=lambda points: -points[:, 0])

    assert actions_to(script, [1.0, 1.0]) is None


def test_where_nothing_differs_there_are_no_actions():
    assert actions_to(Script(np.zeros((0, 2))), [0.0, 0.0]) is None


def test_where_the_changes_that_the_score_needs_lead_nowhere_dense_others_come_along():
    n = 14
    script = Script(
        np.zeros((0, n)),
        score=lambda points: points[:, 0],
        log_density=lambda points: 0.5 - np.abs(points[:, 0] - points[:, -1]),
    )

    (move,) = actions_to(script, np.ones(n))

    assert np.flatnonzero(move.point).tolist() == [0, n - 1]


def test_a_subset_known_to_be_too_rare_is_passed_over():
    n = 6

    def log_density(points):
        return np.where(np.abs(points - points[:, :1]).max(axis=1) > 0.3, -1.0, 1.0)

    script = Script(
        np.zeros((0, n)), score=lambda points: points.sum(axis=1), log_density=log_density
    )

    moves = actions_to(script, np.ones(n))

    assert [move.point.tolist() for move in moves] == [[1.0] * n]
