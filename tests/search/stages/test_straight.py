"""Straight: a few actions to what anybody has who reaches the target."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from localface.search.plan import Plan, WalkOptions
from localface.search.questions import ComposeStates, DensityAlong, ScorePoints
from localface.search.stages.actions import find_actions
from localface.search.stages.straight import NEAR_STATES, find_straight_way
from scripted import Script, box, someone, taking_over

PLAN = Plan(WalkOptions(3))
ORIGIN = [0.0, 0.0]


def straight(script: Script, *, log_floor=0.0, **options):
    floor = options.pop("floor", 0.0)
    graph = script.graph(someone(ORIGIN, log_floor=floor, **options))
    projection = taking_over(graph.person.bounds, ORIGIN)
    return graph, script.run(find_straight_way(graph, PLAN, projection, log_floor))


def composing(*states, **functions) -> Script:
    return Script(np.zeros((0, 2)), composed=states, **functions)


def points_of(moves) -> list[list[float]]:
    return [move.point.tolist() for move in moves]


def test_the_fewest_changes_to_anybodys_values_are_the_way():
    script = composing([9.0, 9.0], [0.0, 0.5], score=lambda points: points[:, 1])

    _, way = straight(script)

    assert points_of(way.moves) == points_of(way.stops) == [[0.0, 0.5]]
    assert not way.cut


def test_what_is_asked_for_is_what_this_person_may_take_over():
    script = composing([1.0, 1.0])

    graph, _ = straight(script, bounds=box(2, upper=2.0), min_score=0.7)

    (asked,) = [question for question in script.asked if isinstance(question, ComposeStates)]
    assert asked.point.tolist() == ORIGIN
    assert asked.projection.bounds is graph.person.bounds
    assert asked.min_score == 0.7


def test_states_are_scored_with_the_values_of_the_rows_they_are_taken_from():
    script = composing([1.0, 1.0], [2.0, 2.0])

    straight(script)

    asked = [question for question in script.asked if isinstance(question, ScorePoints)]
    assert asked
    assert all(question.donors.tolist() == [0, 1] for question in asked)


def test_states_that_are_not_allowed_are_no_ends():
    script = composing([1.0, 3.0], [0.8, 0.8])

    _, way = straight(script, keeps_relations=lambda points: points[:, 1] < points[:, 0] + 0.1)

    assert way.moves is not None
    assert all(move.point[1] < move.point[0] + 0.1 for move in way.moves)


def test_where_no_state_can_be_taken_over_there_is_no_way():
    _, way = straight(composing())

    assert (way.moves, way.stops) == (None, None)


def test_where_no_route_keeps_the_floor_there_is_no_way():
    _, way = straight(composing([1.0, 0.0], log_density=lambda points: -points[:, 0]))

    assert (way.moves, way.stops) == (None, None)


def test_that_the_budget_withheld_states_is_said():
    script = composing()
    script.composed_cut = True

    assert straight(script)[1].cut


def test_the_graph_stays_as_it_was():
    script = composing([1.0, 1.0])

    graph, way = straight(script)

    assert way.moves is not None
    assert len(graph.points) == 1


def test_someone_below_the_floor_is_brought_above_it_by_one_step():
    script = composing(
        [2.0, 2.0],
        score=lambda points: points.sum(axis=1) / 8,
        log_density=lambda points: np.where(points.sum(axis=1) < 3.9, -1.0, 1.0),
    )

    _, way = straight(script, log_floor=-1.0, bounds=box(2, upper=2.0))

    assert len(way.moves) == 2
    assert points_of(way.stops) == [[2.0, 2.0]]


def test_long_moves_are_broken_into_steps():
    _, way = straight(composing([4.0, 0.0], score=lambda points: points[:, 0] / 8), max_step=1.5)

    steps = np.diff([ORIGIN, *points_of(way.moves)], axis=0)
    assert points_of(way.moves) == points_of(way.stops)
    assert np.linalg.norm(steps, axis=1).max() <= 1.5


def test_where_a_step_cannot_be_broken_there_is_no_way():
    script = composing([4.0, 0.0], score=lambda points: points[:, 0] / 8)

    _, way = straight(script, max_step=1.5, discrete=np.array([True, False]))

    assert way.moves is None


def test_an_entry_step_that_is_too_long_is_no_way():
    script = composing(
        [4.0, 0.0],
        score=lambda points: points[:, 0] / 8,
        log_density=lambda points: np.where(points[:, 0] < 3.9, -1.0, 1.0),
    )

    assert straight(script, log_floor=-1.0)[1].moves is not None
    assert straight(script, log_floor=-1.0, max_step=1.5)[1].moves is None


def test_one_step_that_is_too_long_is_enough_for_there_to_be_no_way():
    script = composing(
        [0.5, 3.0], score=lambda points: np.where(points.sum(axis=1) >= 3.5, 1.0, 0.0)
    )
    discrete = np.array([False, True])

    _, short = straight(script, discrete=discrete, max_step=3.0)
    _, long = straight(script, discrete=discrete, max_step=1.0)

    assert points_of(short.moves)[-1] == [0.5, 3.0]
    assert long.moves is None


@pytest.mark.parametrize(("among", "n_looked_at"), [(NEAR_STATES, 0), (NEAR_STATES + 1, 60)])
def test_only_of_more_than_the_nearest_states_the_ground_is_looked_at_first(among, n_looked_at):
    script = composing(*([1.0 + i, 0.0] for i in range(60)), score=lambda points: points[:, 0])
    graph = script.graph(someone(ORIGIN))
    projection = taking_over(graph.person.bounds, ORIGIN)

    script.run(find_straight_way(graph, PLAN, projection, 0.0, among=among))

    kinds = [type(one) for one in script.asked]
    before = script.asked[: kinds.index(ScorePoints)]
    looked_at = sum(len(one.starts) for one in before if isinstance(one, DensityAlong))
    assert looked_at == min(n_looked_at, among)


def by_little_effort_through_rare_ground() -> Script:
    """One large change leads straight to common ground; two small ones lead around rare ground."""

    def score(points):
        return np.where((points >= 1.0).all(axis=1), 0.5, points[:, 0] / 8)

    def log_density(points):
        common = (points >= 0.99).all(axis=1) | (points[:, 0] >= 3.9)
        middle = (np.abs(points - 0.5) < 0.2).all(axis=1)
        return np.select([middle, common], [-9.0, 1.0], -0.5)

    return composing([4.0, 0.0], [1.0, 1.0], score=score, log_density=log_density)


def known_states(script: Script, graph):
    """What actions of least effort are looked for with."""
    own = graph.with_fixed_columns(None)
    scores = script.score(np.array(script.composed))
    states = zip(np.array(script.composed), scores.tolist(), strict=True)
    donors = [own.add_state(point, score, row) for row, (point, score) in enumerate(states)]
    return own, replace(PLAN, least_effort=True), donors


def test_where_the_way_of_least_effort_stops_nowhere_another_is_looked_for():
    script = by_little_effort_through_rare_ground()
    graph = script.graph(someone(ORIGIN, bounds=box(2, upper=4.0)))
    projection = taking_over(graph.person.bounds, ORIGIN)
    least = replace(PLAN, least_effort=True)

    of_all = script.run(find_actions(*known_states(script, graph), log_floor=-0.5))
    way = script.run(find_straight_way(graph, least, projection, -0.5))

    assert points_of(of_all.moves)[-1] == [1.0, 1.0], "the least effort, to which no step leads"
    assert points_of(way.stops) == [[4.0, 0.0]]


@pytest.mark.parametrize(("own", "n_stops"), [(0.0, 2), (-1e-12, 1)])
def test_who_is_below_the_floor_by_the_tolerance_alone_stops_after_every_move(own, n_stops):
    """The first change falls a little further, yet keeps what the person has, by the tolerance."""
    script = composing(
        [2.0, 2.0],
        score=lambda points: points.sum(axis=1) / 8,
        log_density=lambda points: np.where(points.sum(axis=1) < 3.9, own - 5e-10, 1.0),
    )

    _, way = straight(script, log_floor=own, bounds=box(2, upper=2.0), floor=1e-9)

    assert len(way.moves) == 2
    assert len(way.stops) == n_stops
