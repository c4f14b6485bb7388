"""Going straight: a path through the states that a few actions lead through."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from localface.density.protocol import FLOOR_TOLERANCE
from localface.geometry.projection import Projection
from localface.search.closing import (
    close_search,
    count_features,
    in_any_case,
    measure_actions,
    outcome_without_measures,
)
from localface.search.graph import LocalGraph
from localface.search.outcome import MissingActions, Outcome
from localface.search.plan import Plan
from localface.search.questions import Questions
from localface.search.stages.straight import FAR_STATES, StraightWay, find_straight_way

_BELOW_FLOOR = (0.5, 2.0, 8.0, 1000.0)  # nats by which the floor is lowered, each tried in turn


def go_straight(
    graph: LocalGraph, plan: Plan, projection: Projection, *, among: int
) -> Questions[Outcome | None]:
    """The outcome of going straight to one of so many states; None where none can be gone to."""
    own = yield from graph.factual_log_density()
    log_floor = min(graph.person.log_floor, own)
    way = yield from find_straight_way(graph, plan, projection, log_floor, among=among)
    if way.moves is None:
        graph.cut = graph.cut or way.cut
        return None
    outcome = yield from in_any_case(lambda: _go_by_moves(graph, plan, way, log_floor))
    return replace(outcome, cut_short=graph.out_of_time)


def go_straight_with_more(
    graph: LocalGraph, plan: Plan, projection: Projection
) -> Questions[Outcome | None]:
    """Go straight with more features than are wanted, as few as were found, and say so."""
    more = replace(plan, max_features=None, least_effort=False)
    outcome = yield from go_straight(graph, more, projection, among=FAR_STATES)
    if outcome is None or outcome.actions is None:
        return outcome
    fewest = count_features(graph.person, outcome.actions.moves)
    if plan.least_effort:  # of as few features, those are wanted that change least
        as_few = replace(plan, max_features=fewest)
        least = yield from go_straight(graph, as_few, projection, among=FAR_STATES)
        outcome = outcome if least is None else least
    missing = MissingActions(plan.max_features, fewest, with_more=outcome.actions)
    return outcome if missing.keeps_limit else replace(outcome, missing_actions=missing)


def go_straight_below_floor(graph: LocalGraph, plan: Plan) -> Questions[Outcome | None]:
    """The outcome of going straight where the floor is lowered until that can be done.

    None where it cannot, however low the floor: the last one is below anything there is.
    """
    projection = graph.person.projection
    if projection is None or graph.goal is not None or graph.cut:
        return None
    for below in _BELOW_FLOOR:
        lowered = graph.with_floor(graph.person.log_floor - below)
        found = yield from go_straight(lowered, plan, projection, among=FAR_STATES)
        graph.cut = graph.cut or lowered.cut
        if found is not None:
            return replace(found, relaxed=True)
    return None


def _go_by_moves(
    graph: LocalGraph,
    plan: Plan,
    way: StraightWay,
    log_floor: float,
) -> Questions[Outcome]:
    """The outcome in which the path is what the actions lead through."""
    assert way.moves is not None
    assert way.stops is not None
    if plan.existence_only:
        states = np.stack([graph.person.factual, *(stop.point for stop in way.stops)])
        return outcome_without_measures("FOUND", graph.person, states=states)
    own = graph.with_fixed_columns(graph.person.fixed)
    vertices = [own.add_state(stop.point, stop.score) for stop in way.stops]
    entry = bool(log_floor < graph.person.log_floor - FLOOR_TOLERANCE)
    path = own.path_through((0, *vertices))
    outcome = yield from close_search("FOUND", own, path, entry=entry)
    if not plan.actions:
        return replace(outcome, donors=tuple(way.rows.tolist()), composed=True)
    actions = yield from measure_actions(graph.person, way.moves, log_floor, way.rows)
    return replace(outcome, actions=replace(actions, helped=way.helped), composed=True)
