"""Effort: the least change in all, by as many features as it takes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from localface import LocalFACE
from localface.errors import InputError
from localface.search.plan import Plan, WalkOptions
from localface.search.questions import HelpOthers, ScorePoints
from localface.search.stages.actions import find_actions
from localface.search.stages.effort import (
    _most_gaining,
    find_ends_of_little_effort,
    find_shrunken_ends,
)
from scripted import Script, someone
from worlds import WORLDS

PLAN = Plan(WalkOptions(3), least_effort=True)


def started(script: Script, *ends, **options):
    """A graph of someone at the origin, and donors at these ends."""
    points = np.asarray(ends, dtype=float)
    graph = script.graph(someone(np.zeros(points.shape[1]), **options))
    scores = script.score(points)
    donors = [
        graph.add_state(point, float(score), row)
        for row, (point, score) in enumerate(zip(points, scores, strict=True))
    ]
    return graph, donors


def actions_of(script: Script, *ends, plan=PLAN, **options):
    graph, donors = started(script, *ends, **options)
    return script.run(find_actions(graph, plan, donors, log_floor=0.0))


def one_far_or_two_near(points):
    """One column has to go far alone; a little of the other two will do as well."""
    first, second, third = np.abs(points).T
    return np.where((first >= 4) | ((second >= 1) & (third >= 1)), 0.9, 0.1 * (second + third))


def world(**functions) -> Script:
    return Script(np.zeros((0, 3)), **functions)


def test_two_small_changes_come_before_a_large_one_where_that_is_less():
    ends = ([4.0, 0.0, 0.0], [0.0, 1.2, 1.2])
    few = actions_of(
        world(score=one_far_or_two_near), *ends, plan=replace(PLAN, least_effort=False)
    )
    less = actions_of(world(score=one_far_or_two_near), *ends)

    assert few.moves[-1].point.tolist() == [4.0, 0.0, 0.0]
    assert less.moves[-1].point[0] == 0.0
    assert 2.0 <= less.moves[-1].point.sum() < 2.4


def test_the_floor_is_kept():
    def log_density(points):
        return np.where((points[:, 1] > 0.5) & (points[:, 2] > 0.5), -1.0, 1.0)

    script = world(score=one_far_or_two_near, log_density=log_density)

    found = actions_of(script, [4.0, 0.0, 0.0], [0.0, 1.2, 1.2])

    assert found.moves[-1].point.tolist() == [4.0, 0.0, 0.0]


def test_no_more_features_are_changed_than_are_allowed():
    plan = replace(PLAN, max_features=1)

    found = actions_of(
        world(score=one_far_or_two_near), [4.0, 0.0, 0.0], [0.0, 1.2, 1.2], plan=plan
    )

    assert found.moves[-1].point.tolist() == [4.0, 0.0, 0.0]


def test_what_a_change_costs_counts():
    weights = np.array([0.1, 1.0, 1.0])

    found = actions_of(
        world(score=one_far_or_two_near), [4.0, 0.0, 0.0], [0.0, 1.2, 1.2], weights=weights
    )

    assert found.moves[-1].point.tolist() == [4.0, 0.0, 0.0]


def test_when_time_is_up_the_least_of_the_known_ways_is_taken():
    ends = ([4.0, 0.0, 0.0], [0.0, 1.2, 1.2])
    script = world(score=one_far_or_two_near)
    usual = world(score=one_far_or_two_near)
    actions_of(usual, *ends, plan=replace(PLAN, least_effort=False))
    script.late = max(i for i, one in enumerate(usual.asked) if isinstance(one, HelpOthers)) + 1

    found = actions_of(script, *ends)

    assert found.moves[-1].point.tolist() == [4.0, 0.0, 0.0]


def test_ends_grow_change_by_change_and_go_no_further_than_is_known_to_do():
    graph, donors = started(world(score=one_far_or_two_near), [4.0, 0.0, 0.0], [0.0, 1.2, 1.2])
    options = {"log_floor": 0.0, "most": None}

    ends = world(score=one_far_or_two_near).run(
        find_ends_of_little_effort(graph, donors, least=4.0, **options)
    )
    none = world(score=one_far_or_two_near).run(
        find_ends_of_little_effort(graph, donors, least=1.9, **options)
    )

    assert np.abs(ends).sum(axis=1).tolist() == sorted(np.abs(ends).sum(axis=1))
    assert (one_far_or_two_near(ends) >= 0.5).all()
    assert len(none) == 0


def test_ends_shrink_all_numbers_at_once_towards_the_person():
    def score(points):
        return points.min(axis=1) / 4

    script = world(score=score)
    graph, donors = started(script, [4.0, 4.0, 4.0])

    ends = script.run(find_shrunken_ends(graph, donors, np.array([[4.0, 4.0, 3.0]])))

    assert ends[0].min() == pytest.approx(2.0, abs=0.4)
    assert (score(ends) >= 0.5).all()


def test_what_is_fixed_stays_in_ends_that_shrink():
    script = world(score=lambda points: points.sum(axis=1) / 8)
    fixed = np.array([False, True, False])
    graph, donors = started(script, [4.0, 4.0, 4.0], fixed=fixed)

    ends = script.run(find_shrunken_ends(graph, donors, np.array([[4.0, 2.0, 4.0]])))

    assert len(ends)
    assert (ends[:, 1] == 0.0).all()


def test_a_change_that_can_just_be_noticed_is_one():
    """A quarter of the way is just noticeable; less is no change, and leaves the number alone."""
    small = np.array([1.0, 1.0, 1.0])
    script = world(score=lambda points: np.abs(points).max(axis=1))
    donors_at = [[4.0, 0.0, 0.0], [-4.0, 0.0, 0.0]]
    graph, donors = started(script, *donors_at, just_noticeable=(-small, small))

    shrunken = script.run(find_shrunken_ends(graph, donors, np.zeros((0, 3))))
    grown = script.run(
        find_ends_of_little_effort(graph, donors, log_floor=0.0, most=None, least=np.inf)
    )

    assert sorted(shrunken[:2].tolist()) == [[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    assert sorted(grown[:2].tolist()) == [[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]


def test_an_end_of_just_the_score_that_is_wanted_will_do():
    script = world(score=lambda points: points[:, 0] / 8)
    graph, donors = started(script, [4.0, 0.0, 0.0])

    shrunken = script.run(find_shrunken_ends(graph, donors, np.zeros((0, 3))))
    grown = script.run(
        find_ends_of_little_effort(graph, donors, log_floor=0.0, most=None, least=np.inf)
    )

    assert shrunken.tolist() == grown.tolist() == [[4.0, 0.0, 0.0]]


def test_what_lowers_the_score_or_leaves_it_alone_is_not_carried_on():
    def score(points):
        return 0.2 + points @ np.array([0.01, 0.0, -0.01])

    script = world(score=score)
    whole = np.ones(3, dtype=bool)
    graph, donors = started(script, [1.0, 1.0, 3.0], discrete=whole)

    script.run(find_ends_of_little_effort(graph, donors, log_floor=0.0, most=None, least=np.inf))

    first, second = [one.points for one in script.asked if isinstance(one, ScorePoints)][:2]
    assert sorted(first.tolist()) == [[0.0, 0.0, 3.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    assert sorted(second.tolist()) == [[1.0, 0.0, 3.0], [1.0, 1.0, 0.0]]


def test_gains_that_differ_by_rounding_are_alike():
    script = world()
    states = np.diag([1.0, 2.0, 3.0])

    def order_of(gained, efforts):
        script.asked.clear()
        asks = _most_gaining(
            someone(np.zeros(3)), states, np.array(gained), np.array(efforts), log_floor=0.0
        )
        script.run(asks)
        (asked,) = script.asked
        return asked.starts.max(axis=1).tolist()

    assert order_of([0.5, 0.5 + 3e-10, 0.4], [1.0, 1.0, 1.0]) == [1.0, 2.0, 3.0]
    assert order_of([0.5, 0.5 + 3e-9, 0.4], [1.0, 1.0, 1.0]) == [2.0, 1.0, 3.0]
    # the third gains most for its effort, the others much
    assert order_of([0.5, 0.5 + 3e-10, 0.1], [1.0, 1.0, 0.1]) == [3.0, 1.0, 2.0]
    assert order_of([0.5, 0.5 + 3e-9, 0.1], [1.0, 1.0, 0.1]) == [3.0, 2.0, 1.0]


def test_no_end_of_as_much_effort_as_will_do_is_handed_back():
    script = world(score=lambda points: points[:, 0] / 8)
    graph, donors = started(script, [4.0, 0.0, 0.0])

    ends = script.run(
        find_ends_of_little_effort(graph, donors, log_floor=0.0, most=None, least=4.0)
    )

    assert len(ends) == 0


@pytest.mark.parametrize("name", ["blobs", "ward"])
def test_never_more_effort_than_the_usual_plan_and_as_sound(name):
    made = WORLDS[name]()
    explainer = LocalFACE(made.model, made.data, schema=made.schema)
    people = made.people[:20]

    usual = explainer.explain_many(people, progress=False)
    least = explainer.explain_many(people, prefer="effort", progress=False)

    assert [one.status for one in least] == [one.status for one in usual]
    for few, less in zip(usual, least, strict=True):
        assert less.effort <= few.effort + 1e-9
        assert all(action.certificate.holds or action.certificate.entry for action in less.actions)
        if less.actions:
            assert less.actions[-1].score >= less.target.min_score
    alone = [explainer.explain(people[i : i + 1], prefer="effort") for i in range(5)]
    assert [one.effort for one in alone] == [one.effort for one in least[:5]]


def test_what_is_preferred_is_one_of_two_words():
    made = WORLDS["blobs"]()
    explainer = LocalFACE(made.model, made.data)
    with pytest.raises(InputError, match="prefer='proximity'"):
        explainer.explain(made.people[0], prefer="proximity")


def test_numbers_that_stop_on_their_way_stop_at_round_values():
    def outwards(column, values):
        return np.ceil(values * 2) / 2

    script = Script(np.zeros((0, 1)), score=lambda points: points[:, 0] / 4)
    graph = script.graph(someone([0.0], round_outwards=outwards))
    donors = [graph.add_state(np.array([2.9]), 2.9 / 4, 0)]

    ends = script.run(find_shrunken_ends(graph, donors, np.zeros((0, 1))))

    assert ends.tolist() == [[2.0], [2.5], [3.0]]
