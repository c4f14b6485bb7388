"""Going straight: the outcome of a path through the states that a few actions lead through."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from localface.search.going_straight import go_straight, go_straight_with_more
from localface.search.plan import Plan, WalkOptions
from localface.search.stages.straight import FAR_STATES
from scripted import Script, box, someone, taking_over

PLAN = Plan(WalkOptions(3))
BOTH = [2.0, 2.0]


def needing_both(**functions) -> Script:
    """Somebody who reaches the target by two changes, of which neither will do alone."""
    return Script(
        np.zeros((0, 2)),
        composed=[BOTH],
        score=lambda points: np.where((points >= 2.0).all(axis=1), 0.75, points[:, 0] / 8),
        **functions,
    )


def graph_of(script: Script, **options):
    bounds = box(2, upper=2.0)
    everything = taking_over(bounds, [0.0, 0.0])
    return script.graph(someone([0.0, 0.0], bounds=bounds, projection=everything, **options))


def gone(script: Script, plan: Plan, **options):
    graph = graph_of(script, **options)
    return script.run(go_straight(graph, plan, graph.person.projection, among=FAR_STATES))


@pytest.mark.parametrize("actions", [True, False])
def test_the_path_leads_through_the_states_of_the_actions_whether_these_are_wanted_or_not(actions):
    found = gone(needing_both(), replace(PLAN, actions=actions))

    assert found.status == "FOUND"
    assert found.points.tolist() == [[0.0, 0.0], [2.0, 0.0], BOTH]
    assert found.scores == (0.0, 0.25, 0.75)
    assert found.ids == (-1, -1, -1)
    assert found.composed
    assert not any([found.entry, found.relaxed, found.cut_short, found.proven])
    if actions:
        assert [one.point.tolist() for one in found.actions.moves] == found.points[1:].tolist()
        assert found.actions.donors == (0,)
        assert found.actions.helped is not None
    else:
        assert found.actions is None
        assert found.donors == (0,)


def test_whoever_starts_below_the_floor_enters_by_the_first_step():
    def from_the_middle(points):
        return np.where(points[:, 0] >= 2.0, 1.0, -0.5)

    below = gone(needing_both(log_density=from_the_middle), PLAN)
    on_it = gone(needing_both(log_density=from_the_middle), PLAN, log_floor=-0.5)

    assert (below.entry, on_it.entry) == (True, False)


def test_where_it_is_only_asked_whether_there_is_a_way_nothing_is_measured():
    found = gone(needing_both(), replace(PLAN, existence_only=True))

    assert (found.status, found.scores, found.actions) == ("FOUND", (), None)
    assert found.points[[0, -1]].tolist() == [[0.0] * len(BOTH), BOTH], "where it leads is known"


def test_with_more_features_than_are_wanted_the_plan_is_given_and_it_is_said_how_many_do():
    script = needing_both()
    graph = graph_of(script)
    plan = replace(PLAN, max_features=1)

    wanted = script.run(go_straight(graph, plan, graph.person.projection, among=FAR_STATES))
    more = script.run(go_straight_with_more(graph, plan, graph.person.projection))

    assert wanted is None
    assert more.points[-1].tolist() == BOTH
    assert [move.point.tolist() for move in more.actions.moves][-1] == BOTH
    assert (more.missing_actions.most, more.missing_actions.fewest) == (1, 2)


def test_what_is_found_without_a_limit_on_features_and_keeps_it_is_no_more_than_was_wanted():
    script = needing_both()
    graph = graph_of(script)
    plan = replace(PLAN, max_features=2)

    found = script.run(go_straight_with_more(graph, plan, graph.person.projection))

    assert [move.point.tolist() for move in found.actions.moves][-1] == BOTH
    assert found.missing_actions is None


def test_where_nobody_can_be_gone_to_there_is_no_outcome_however_many_features_may_change():
    script = needing_both(log_density=lambda points: 1.0 - points.max(axis=1))
    graph = graph_of(script)

    assert script.run(go_straight_with_more(graph, PLAN, graph.person.projection)) is None


@pytest.mark.parametrize(
    ("least_effort", "path"),
    [(False, [[0.0, 0.0], [1.0, 0.0], [1.0, 4.0]]), (True, [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0]])],
)
def test_of_as_few_features_as_will_do_those_of_least_effort_are_taken_where_that_is_wanted(
    least_effort, path
):
    script = Script(
        np.zeros((0, 2)), composed=[[4.0, 4.0]], score=lambda points: points.prod(axis=1) / 8
    )
    bounds = box(2, upper=4.0)
    everything = taking_over(bounds, [0.0, 0.0])
    graph = script.graph(someone([0.0, 0.0], bounds=bounds, projection=everything))
    plan = replace(PLAN, max_features=1, least_effort=least_effort)

    found = script.run(go_straight_with_more(graph, plan, everything))

    assert found.points.tolist() == path
    assert found.missing_actions.fewest == 2
