"""Sparsify: what need not change is put back, until every subset of the rest can be tried."""

from __future__ import annotations

import numpy as np

from localface.search.stages.sparsify import MAX_EXACT, lattice_of_few_changes
from scripted import Script, box, someone

MANY = 16


def few(script: Script, end, *, every_change=False, by_density=False, **options):
    """The lattice over the changes that are left, for someone at the origin."""
    target = np.asarray(end, dtype=float)
    graph = script.graph(someone(np.zeros(len(target)), **options))
    vertex = graph.add_state(target, 1.0)
    return script.run(
        lattice_of_few_changes(graph, vertex, 0.0, every_change=every_change, by_density=by_density)
    )


def first_two(points):
    return (points[:, 0] + points[:, 1]) / 2


def test_few_changes_are_all_kept_without_a_question():
    script = Script(np.zeros((0, 3)))

    lattice = few(script, [1.0, 0.0, 2.0])

    assert lattice.changes == [(0,), (2,)]
    assert script.asked == []


def test_of_many_those_that_the_score_needs_are_kept():
    script = Script(np.zeros((0, MANY)), score=first_two)

    lattice = few(script, np.ones(MANY), min_score=1.0)

    assert lattice.changes == [(0,), (1,)]
    assert [len(question.points) for question in script.asked] == [MANY + 1, MANY]


def test_the_most_expensive_of_what_can_be_spared_is_put_back_first():
    script = Script(np.zeros((0, MANY)), score=lambda points: points[:, :3].sum(axis=1) / 2)
    weights = np.ones(MANY)
    weights[1] = 5.0

    lattice = few(script, np.ones(MANY), min_score=1.0, weights=weights)

    assert (1,) not in lattice.changes
    assert len(lattice.changes) == 2


def test_where_nothing_can_be_put_back_the_smallest_are_made_together():
    script = Script(np.zeros((0, MANY)), score=lambda points: (points != 0).all(axis=1) * 1.0)
    end = 1.0 + np.arange(MANY)

    lattice = few(script, end, min_score=1.0)

    assert len(lattice.changes) == MAX_EXACT
    assert lattice.changes[-1] == tuple(range(MANY - MAX_EXACT + 1))
    assert lattice.changes[0] == (MANY - MAX_EXACT + 1,)


def test_what_lies_outside_the_bounds_is_not_put_back():
    script = Script(np.zeros((0, MANY)), score=lambda points: np.ones(len(points)))

    lattice = few(script, np.ones(MANY), bounds=box(MANY, lower=0.5))

    assert sum(map(len, lattice.changes)) == MANY


def test_changes_too_small_to_notice_are_none_unless_they_are_needed():
    around = (np.full(MANY, -0.5), np.full(MANY, 0.5))
    end = np.ones(MANY)
    end[0] = 0.1

    spared = few(Script(np.zeros((0, MANY)), score=first_two), end, just_noticeable=around)
    assert (0,) not in spared.changes

    script = Script(np.zeros((0, MANY)), score=lambda points: 10 * points[:, 0])
    needed = few(script, end, just_noticeable=around, min_score=1.0)
    assert (0,) in needed.changes


def test_what_is_fixed_does_not_change_and_where_nothing_is_left_there_is_no_lattice():
    script = Script(np.zeros((0, 2)))

    assert few(script, [1.0, 1.0], fixed=np.array([True, False])).changes == [(1,)]
    assert few(script, [1.0, 1.0], fixed=np.array([True, True])) is None
    assert few(script, [0.0, 0.0]) is None


def test_columns_of_a_group_change_together():
    script = Script(np.zeros((0, 3)))

    lattice = few(script, [1.0, 1.0, 1.0], group_of=np.array([0, 0, 1]))

    assert lattice.changes == [(0,), (1,)]
    assert lattice.states[1].tolist() == [1.0, 1.0, 0.0]


def test_every_change_is_kept_where_that_is_asked_for():
    script = Script(np.zeros((0, MANY)), score=first_two)

    lattice = few(script, np.ones(MANY), every_change=True)

    assert sum(map(len, lattice.changes)) == MANY
    assert script.asked == []


def test_by_density_those_are_kept_that_a_dense_end_needs():
    script = Script(
        np.zeros((0, 4)),
        score=lambda points: points[:, 0],
        log_density=lambda points: np.where(np.abs(points[:, 0] - points[:, 3]) > 0.3, -1.0, 1.0),
    )

    lattice = few(script, [1.0, 0.5, 0.4, 1.0], by_density=True)

    assert lattice.changes == [(0,), (3,)]


def test_by_density_what_lies_outside_the_bounds_stays():
    script = Script(np.zeros((0, 2)), score=lambda points: np.ones(len(points)))

    lattice = few(script, [1.0, 1.0], by_density=True, bounds=box(2, lower=[0.5, -1.0]))

    assert lattice.changes == [(0,)]


def test_by_density_everything_stays_where_no_state_with_less_will_do():
    script = Script(np.zeros((0, 3)), score=lambda points: points.sum(axis=1) - 2.5)

    lattice = few(script, [1.0, 1.0, 1.0], by_density=True)

    assert lattice.changes == [(0,), (1,), (2,)]


def test_by_density_a_state_that_breaks_a_relation_is_passed_over():
    script = Script(np.zeros((0, 3)), score=lambda points: points[:, 1])

    lattice = few(
        script,
        [1.0, 1.0, 0.5],
        by_density=True,
        keeps_relations=lambda points: points[:, 0] == points[:, 1],
    )

    assert lattice.changes == [(0,), (1,)]
