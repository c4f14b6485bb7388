"""Compose as a stage: the nearest state that the person can go to straight."""

from __future__ import annotations

import numpy as np

from localface.search.questions import ComposeStates, Nearest
from localface.search.stages.compose import find_composed_state
from scripted import Script, box, someone

STATES = [[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]


def composed(script: Script, **options):
    graph = script.graph(someone([0.0, 0.0], **options))
    return graph, script.run(find_composed_state(graph))


def test_the_nearest_state_that_reaches_the_target_is_the_end():
    script = Script(np.zeros((0, 2)), composed=STATES)

    graph, found = composed(script)

    assert found.graph.points[found.end].tolist() == [1.0, 0.0]
    assert (found.entry, found.cut) == (False, False)
    assert len(graph.points) == 1
    (asked,) = [question for question in script.asked if isinstance(question, ComposeStates)]
    assert (asked.k, asked.min_score) == (32, 0.5)


def test_states_outside_the_constraints_or_below_the_floor_are_passed_over():
    script = Script(
        np.zeros((0, 2)),
        composed=STATES,
        log_density=lambda points: np.where(np.abs(points[:, 0] - 2) < 0.1, -1.0, 1.0),
    )

    _, found = composed(script, bounds=box(2, lower=[1.5, -1.0]))
    assert found.end is None

    _, found = composed(script, keeps_relations=lambda points: points[:, 0] < 1.5)
    assert found.graph.points[found.end].tolist() == [1.0, 0.0]

    _, found = composed(script, bounds=box(2, down=[0]))
    assert found.end is None


def test_a_row_that_has_just_this_state_is_taken_for_it():
    script = Script([[1.0, 0.0]], composed=STATES)

    _, found = composed(script)

    assert found.graph.ids[found.end] == 0
    (asked,) = [question for question in script.asked if isinstance(question, Nearest)]
    assert asked.radius == 1e-9


def test_someone_below_the_floor_may_start_there_but_not_end_there():
    script = Script(
        np.zeros((0, 2)), composed=STATES, log_density=lambda points: points[:, 0] - 1.5
    )

    _, found = composed(script)

    assert found.entry
    assert found.graph.points[found.end].tolist() == [2.0, 0.0]


def test_where_nothing_can_be_made_there_is_no_end_and_a_spent_budget_is_told():
    script = Script(np.zeros((0, 2)), composed_cut=True)

    _, found = composed(script)

    assert (found.end, found.cut) == (None, True)
