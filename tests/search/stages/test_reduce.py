"""Reduce: what neither the score nor the ground needs is put back."""

from __future__ import annotations

import numpy as np

from localface.search.questions import ScorePoints
from localface.search.stages.reduce import reduce_changes
from localface.types import NO_ROWS
from scripted import Script, box, someone


def reduced(script: Script, end, groups=None, rows=NO_ROWS, **options) -> list[int]:
    point = np.asarray(end, dtype=float)
    graph = script.graph(someone(np.zeros(len(point)), **options))
    some = list(range(len(point))) if groups is None else groups
    return script.run(reduce_changes(graph, point, some, rows))


def nobody(n: int, **functions) -> Script:
    return Script(np.zeros((0, n)), **functions)


def test_only_what_the_score_needs_is_left():
    script = nobody(6, score=lambda points: (points[:, 1] + points[:, 4]) / 4)

    assert reduced(script, np.ones(6)) == [1, 4]


def test_what_can_be_put_back_together_is_put_back_in_one_turn():
    script = nobody(9, score=lambda points: points[:, 0])

    assert reduced(script, np.ones(9)) == [0]
    assert script.n_asked(ScorePoints) == 2


def test_what_costs_most_is_put_back_first():
    script = nobody(3, score=lambda points: points.sum(axis=1) / 4)

    assert reduced(script, np.ones(3), weights=np.array([1.0, 5.0, 1.0])) == [0, 2]
    assert reduced(script, np.ones(3), weights=np.array([5.0, 1.0, 1.0])) == [1, 2]


def test_what_the_score_needs_least_is_put_back_first():
    script = nobody(3, score=lambda points: points @ np.array([0.3, 0.1, 0.3]))

    assert reduced(script, np.ones(3)) == [0, 2]


def test_what_the_ground_needs_stays():
    script = nobody(
        3,
        score=lambda points: points[:, 0],
        log_density=lambda points: 0.5 - np.abs(points[:, 0] - points[:, 2]),
    )

    assert reduced(script, np.ones(3)) == [0, 2]


def test_what_the_bounds_relations_or_directions_need_stays():
    script = nobody(3, score=lambda points: points[:, 0])

    bound = reduced(script, np.ones(3), bounds=box(3, lower=[-9.0, 0.5, -9.0]))
    related = reduced(script, np.ones(3), keeps_relations=lambda points: points[:, 2] > 0.5)

    assert bound == [0, 1]
    assert related == [0, 2]


def test_where_nothing_can_be_put_back_all_stay():
    script = nobody(3, score=lambda points: points.sum(axis=1) / 6)

    assert reduced(script, np.ones(3)) == [0, 1, 2]


def test_one_change_always_stays_and_nothing_is_asked():
    script = nobody(2)

    assert reduced(script, np.ones(2), [1]) == [1]
    assert script.asked == []


def test_only_the_groups_that_are_named_change():
    script = nobody(3, score=lambda points: points.max(axis=1))

    assert reduced(script, np.ones(3), [1, 2]) in ([1], [2])


def test_where_the_chain_breaks_at_once_one_change_is_put_back():
    """Each of two changes can be left out by itself, but not both: one stays."""
    script = nobody(3, score=lambda points: (points[:, 0] + points[:, 1:].max(axis=1)) / 4)

    assert len(reduced(script, np.ones(3))) == 2
    assert reduced(script, np.ones(3))[0] == 0


def test_no_sound_end_is_left_that_makes_one_change_less():
    """The promise itself, on a score in which changes help and hinder one another."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        n = 7
        pairs = rng.normal(0.0, 0.15, (n, n))
        singles = rng.normal(0.25, 0.3, n)

        def score(points, singles=singles, pairs=pairs):
            return points @ singles + ((points @ pairs) * points).sum(axis=1)

        if score(np.ones((1, n)))[0] < 0.5:
            continue
        kept = reduced(nobody(n, score=score), np.ones(n))
        state = np.isin(np.arange(n), kept).astype(float)
        without = state * (1 - np.eye(n)[kept])
        assert score(state[None, :])[0] >= 0.5
        assert len(kept) == 1 or (score(without) < 0.5).all()


def test_something_is_left_even_where_nothing_is_needed():
    script = nobody(3, score=lambda points: 0.9 - points.sum(axis=1) / 9)

    assert reduced(script, [1.0, 1.1, 1.2]) == [0]
