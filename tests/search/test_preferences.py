"""Preferences: what is fixed never changes, and what costs least is taken."""

from __future__ import annotations

import numpy as np

from localface.search.closing import close_search, find_actions_along
from localface.search.plan import Plan, WalkOptions
from localface.search.preferences import search_with_preferences
from localface.search.questions import Nearest
from scripted import Script, someone

PLAN = Plan(WalkOptions(3))


def either(points):
    """Each of two columns reaches the target."""
    return np.maximum(points[:, 0], points[:, 1]) / 4


def preferred(script: Script, *, k=2, end=None, **options):
    """What is found for someone whose search has seen ``k`` rows and ended at the best."""
    graph = script.graph(someone([0.0, 0.0], **options))
    around = script.run(graph.reveal_rows_around(0, k))
    path = graph.path_through((0, end or next(v for v in around if graph.is_goal(v))))
    first = script.run(close_search("FOUND", graph, path))
    script.asked.clear()
    return graph, first, script.run(search_with_preferences(graph, PLAN, first, path))


def end_of(outcome):
    return outcome.actions.moves[-1].point.tolist()


def test_without_anything_fixed_or_weighted_the_nearest_end_is_taken():
    script = Script([[2.0, 0.0], [0.0, 3.0]], score=either)

    _, first, found = preferred(script)

    assert end_of(found) == [2.0, 0.0]
    assert found.ids == first.ids


def test_what_costs_much_is_left_alone_where_another_end_costs_less():
    script = Script([[2.0, 0.0], [0.0, 3.0]], score=either)

    graph, _, found = preferred(script, weights=np.array([5.0, 1.0]))

    assert end_of(found) == [0.0, 3.0]
    assert graph.points[-1].tolist() == found.points[-1].tolist() == [0.0, 3.0]


def test_with_what_costs_much_fixed_more_rows_are_revealed_that_do_without_it():
    script = Script([[2.0, 0.0], [2.0, 1.0], [0.5, 3.0]], score=either)

    _, first, found = preferred(script, k=2, weights=np.array([5.0, 1.0]))

    assert end_of(found) == [0.0, 3.0]
    assert (first.ids[-1], found.ids[-1]) == (0, 2)


def test_what_costs_much_is_changed_where_nothing_else_will_do():
    script = Script([[2.0, 0.0], [2.5, 1.0]], score=lambda points: points[:, 0] / 4)

    _, _, found = preferred(script, weights=np.array([5.0, 1.0]))

    assert end_of(found) == [2.0, 0.0]


def test_with_an_expensive_column_fixed_the_rows_on_the_path_may_still_differ_in_it():
    script = Script([[2.0, 2.0]], score=either)

    _, first, found = preferred(script, k=1, weights=np.array([5.0, 1.0]))

    assert found.ids == first.ids == (-1, 0)
    assert end_of(found) == [0.0, 2.0]


def test_several_expensive_columns_are_fixed_together_and_then_alone():
    script = Script(
        [[2.0, 2.0, 0.0], [0.0, 3.0, 0.0]],
        score=lambda points: points[:, :2].max(axis=1) / 4 + points[:, 2],
    )
    graph = script.graph(someone(np.zeros(3), weights=np.array([4.0, 2.0, 1.0])))
    script.run(graph.reveal_rows_around(0, 2))
    path = graph.path_through((0, 1))
    first = script.run(close_search("FOUND", graph, path))

    found = script.run(search_with_preferences(graph, PLAN, first, path))

    assert found.actions.moves[-1].point[0] == 0.0
    assert found.actions.moves[-1].point[1] >= 2.0


def test_what_is_fixed_is_never_changed_by_the_actions():
    script = Script([[2.0, 2.0], [0.0, 3.0]], score=either)

    _, _, found = preferred(script, fixed=np.array([True, False]))

    assert all(move.point[0] == 0.0 for move in found.actions.moves)


def test_more_rows_are_revealed_where_no_known_end_does_without_what_is_fixed():
    script = Script([[2.0, 0.0], [2.0, 1.0], [0.5, 3.0]], score=either)

    graph, first, found = preferred(script, k=2, fixed=np.array([True, False]))

    assert script.n_asked(Nearest) >= 1
    assert end_of(found) == [0.0, 3.0]
    assert found.ids[-1] == 2
    assert first.ids[-1] == 0
    assert len(graph.ids) == 4


def test_where_no_row_does_without_what_is_fixed_there_are_no_actions():
    script = Script([[2.0, 0.0], [2.0, 1.0]], score=either)

    _, first, found = preferred(script, fixed=np.array([True, False]))

    assert found is first
    assert found.actions is None


def test_a_spent_budget_ends_the_looking():
    script = Script([[2.0, 0.0], [2.0, 1.0], [0.5, 3.0]], score=either, max_rows=1)

    _, first, found = preferred(script, k=2, fixed=np.array([True, False]))

    assert found is first
    assert script.n_asked(Nearest) == 0


def test_an_end_that_no_path_leads_to_is_passed_over():
    script = Script([[2.0, 0.0], [0.0, 3.0]], score=either)

    _, _, found = preferred(script, weights=np.array([5.0, 1.0]), max_step=2.5)

    assert end_of(found) == [2.0, 0.0]


def test_where_no_few_changes_do_it_the_steps_of_the_path_are_the_actions():
    script = Script(
        [[1.0, 1.0], [0.0, 2.0]],
        score=lambda points: points[:, 1] / 4,
        log_density=lambda points: np.where(
            np.hypot(points[:, 0], points[:, 1] - 1) < 0.4, -9, 1.0
        ),
    )
    graph = script.graph(someone([0.0, 0.0]))
    script.run(graph.reveal_rows_around(0, 2))
    path = graph.path_through((0, 1, 2))
    first = script.run(close_search("FOUND", graph, path))

    found = script.run(search_with_preferences(graph, PLAN, first, path))

    wanted = script.run(find_actions_along(graph, PLAN, first, path))
    assert end_of(found) == wanted.moves[-1].point.tolist()
    assert len(found.actions.moves) == 2


def test_with_an_entry_step_other_ends_are_reached_from_where_one_entered():
    script = Script(
        [[1.0, 1.0], [2.0, 1.0], [1.0, 3.0]],
        score=either,
        log_density=lambda points: np.where(points.sum(axis=1) < 0.5, -1.0, 1.0),
    )
    graph = script.graph(someone([0.0, 0.0], weights=np.array([5.0, 1.0])))
    entry, near, far = script.run(graph.reveal_rows_around(0, 3))
    path = graph.path_through((0, entry, near))
    first = script.run(close_search("FOUND", graph, path, entry=True))

    found = script.run(search_with_preferences(graph, PLAN, first, path))

    assert found.entry
    assert found.ids[:2] == (-1, 0)
    assert end_of(found)[0] == 0.0
    assert found.points[-1].tolist() == graph.points[far].tolist()


def test_the_row_by_which_one_entered_may_be_the_end():
    script = Script(
        [[0.0, 2.0], [3.0, 2.0]],
        score=either,
        log_density=lambda points: np.where(points.sum(axis=1) < 0.5, -1.0, 1.0),
    )
    graph = script.graph(someone([0.0, 0.0], weights=np.array([5.0, 1.0])))
    entry, other = script.run(graph.reveal_rows_around(0, 2))
    path = graph.path_through((0, entry, other))
    first = script.run(close_search("FOUND", graph, path, entry=True))

    found = script.run(search_with_preferences(graph, PLAN, first, path))

    assert found.ids == (-1, 0)
    assert end_of(found) == [0.0, 2.0]


def test_with_a_given_goal_no_other_end_is_tried():
    script = Script([[2.0, 0.0], [0.0, 3.0]], score=either)
    graph = script.graph(someone([0.0, 0.0], weights=np.array([5.0, 1.0])))
    graph.goal = graph.add_state(np.array([2.0, 0.5]), 0.5)
    script.run(graph.reveal_rows_around(0, 2))
    path = graph.path_through((0, graph.goal))
    first = script.run(close_search("FOUND", graph, path))

    found = script.run(search_with_preferences(graph, PLAN, first, path))

    assert end_of(found) == [2.0, 0.0]
    assert found.ids == first.ids
