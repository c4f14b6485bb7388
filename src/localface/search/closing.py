"""How a search is closed: the log-densities of what it found, worked out in full."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from localface.geometry.segments import norms
from localface.search.graph import LocalGraph
from localface.search.move import Move
from localface.search.outcome import ActionPath, MissingActions, Outcome
from localface.search.person import Person
from localface.search.plan import Plan
from localface.search.questions import (
    OutOfTime,
    Questions,
    TargetCounts,
    ask_density_along,
)
from localface.search.stages.actions import find_actions
from localface.search.stages.donors import find_donors
from localface.search.stages.explore import Exploration
from localface.search.stages.settle import round_moves_onwards
from localface.search.stages.small_steps import break_into_small_steps
from localface.search.stages.straight import find_straight_way
from localface.search.trails import GraphPath, Trail
from localface.search.vertex_densities import log_densities_at
from localface.types import Array, Ids

_T = TypeVar("_T")

_FEW_TOGETHER = 3  # features that one action may change, where no fewer will do
_BELOW_FLOOR = (0.5, 1.0, 2.0, 4.0, 8.0)  # nats by which actions may fall below it, tried in turn
_ANYWHERE = 1000.0  # nats below the floor where there is nothing any more


def close_search(
    status: str,
    graph: LocalGraph,
    path: GraphPath,
    *,
    entry: bool = False,
    relaxed: bool = False,
    proven: bool = False,
    counts: TargetCounts | None = None,
    composed: bool = False,
    cut_short: bool = False,
) -> Questions[Outcome]:
    """Work out the log-densities of a path in full, and make an outcome of it."""
    at_vertices, along_edges = yield from in_any_case(lambda: _measure_path(graph, path))
    vertices = list(path.vertices)
    return Outcome(
        status=status,
        points=graph.points[vertices],
        ids=tuple(graph.ids[vertices].tolist()),
        donors=tuple(graph.donors[vertices].tolist()),
        scores=tuple(graph.scores[vertices].tolist()),
        log_densities=at_vertices,
        step_log_densities=along_edges,
        log_floor=graph.person.log_floor,
        cost=path.cost,
        entry=entry,
        relaxed=relaxed,
        proven=proven,
        counts=counts,
        composed=composed,
        cut_short=cut_short,
    )


def in_any_case(stage: Callable[[], Questions[_T]]) -> Questions[_T]:
    """Go through with a short stage: what is left is asked, even where its time is up meanwhile."""
    try:
        return (yield from stage())
    except OutOfTime:
        return (yield from stage())


def _measure_path(graph: LocalGraph, path: GraphPath) -> Questions[tuple[Array, Array]]:
    """The log-densities at the vertices and along the edges of a path."""
    own = yield from graph.factual_log_density()
    others = yield from log_densities_at(graph, list(path.vertices[1:]))
    at_vertices = np.concatenate([[own], others])
    if not path.edges:
        return at_vertices, np.zeros(0)
    found = yield from graph.densities_along(path.edges, None, graph.person.rule)
    return at_vertices, found.log_densities


def close_improved(
    graph: LocalGraph,
    found: Exploration,
    path: GraphPath,
    *,
    relaxed: bool = False,
    proven: bool = False,
    cut_short: bool = False,
) -> Questions[Outcome]:
    """Close with a path that leads on from the entry step, where there is one."""
    if found.entry:
        path = GraphPath((0, *path.vertices), path.cost)
    return (
        yield from close_search(
            "FOUND",
            graph,
            path,
            entry=found.entry,
            relaxed=relaxed,
            proven=proven,
            composed=graph.goal is None and bool(graph.ids[path.vertices[-1]] < 0),
            cut_short=cut_short,
        )
    )


def close_out_of_time(graph: LocalGraph) -> Questions[Outcome]:
    """The outcome of a search whose time was up before it found a path."""
    outcome = yield from close_without_path("OUT_OF_TIME", graph)
    return replace(outcome, cut_short=True)


def close_without_path(status: str, graph: LocalGraph) -> Questions[Outcome]:
    """The outcome of a search that ends where it started."""
    return (yield from close_search(status, graph, GraphPath((0,), 0.0), counts=graph.counts))


def outcome_without_measures(
    status: str, person: Person, *, states: Array | None = None
) -> Outcome:
    """An outcome that says no more than its status and the states of a way: none is measured."""
    points = person.factual[None, :] if states is None else states
    return Outcome(
        status=status,
        points=points,
        ids=(-1,) * len(points),
        scores=(),
        log_densities=np.zeros(0),
        step_log_densities=np.zeros(0),
        log_floor=person.log_floor,
    )


def find_few_actions(graph: LocalGraph, plan: Plan) -> Questions[ActionPath | None]:
    """Work out few actions; None where no route of them keeps the floor.

    Values are taken over from the people that the search has met, or, where that will not do,
    from anybody who reaches the target. Someone who starts below the floor passes through
    no state less dense than their own.
    """
    own = yield from graph.factual_log_density()
    log_floor = min(graph.person.log_floor_of_steps, own)
    donors = yield from find_donors(graph, plan.walk_options.n_neighbors)
    actions = yield from find_actions(graph, plan, donors, log_floor=log_floor)
    moves = None if actions is None else actions.moves
    helped = None if actions is None else actions.helped
    rows = graph.rows_of(donors)
    projection = graph.person.projection
    if moves is None and projection is not None and graph.goal is None:
        way = yield from find_straight_way(graph, plan, projection, log_floor)
        moves = way.moves
        helped = way.helped
        rows = way.rows
    if moves is None:
        return None
    measured = yield from measure_actions(graph.person, moves, log_floor, rows)
    return replace(measured, helped=helped)


def take_path_as_actions(
    graph: LocalGraph, plan: Plan, trail: Trail
) -> Questions[ActionPath | None]:
    """Take the steps of a path for actions where each changes one feature, or one step changes few.

    None for any other: several steps that change the same features together, again and again,
    are a path, and no list of actions that somebody could go through.
    """
    points = graph.points[list(trail)]
    if trail[0] != 0 or not _are_actions(graph.person, plan, points):
        return None
    stops = yield from _stops_of(graph.person, points)
    moves = tuple(
        Move(points[stop], float(graph.scores[trail[stop]]), (i - 1,) if i else ())
        for i, stop in enumerate(stops)
    )
    own = yield from graph.factual_log_density()
    log_floor = min(graph.person.log_floor, own)
    rows = graph.rows_of([*trail])
    moves = yield from round_moves_onwards(graph, moves, rows, log_floor)
    return (yield from measure_actions(graph.person, moves, log_floor, rows))


def _are_actions(person: Person, plan: Plan, points: Array) -> bool:
    """Tell whether the steps of a path are actions: none touches what is fixed."""
    if person.fixed is not None and (points != points[0])[:, person.fixed].any():
        return False
    at_once = [len(np.unique(person.group_of[step != 0])) for step in np.diff(points, axis=0)]
    in_all = len(np.unique(person.group_of[(points != points[0]).any(axis=0)]))
    if max(at_once) > 1 and (len(at_once) > 1 or at_once[0] > _FEW_TOGETHER):
        return False
    return plan.max_features is None or in_all <= plan.max_features


def _stops_of(person: Person, points: Array) -> Questions[list[int]]:
    """The stops of a path, without those where a number merely goes on as it went.

    All of them where a longer step would not keep the floor, or be too long.
    """
    every = list(range(1, len(points)))
    signs = np.sign(np.diff(points, axis=0))
    turns = (signs[1:] != signs[:-1]).any(axis=1) | (np.abs(signs[1:]).sum(axis=1) != 1)
    turns |= (signs[1:] != 0)[:, person.discrete].any(axis=1)
    fewer = [*(1 + np.flatnonzero(turns)).tolist(), every[-1]]
    if fewer == every:
        return every
    starts = points[[0, *fewer[:-1]]]
    found = yield from ask_density_along(starts, points[fewer], person.log_floor, person.rule)
    short = norms(points[fewer] - starts) <= person.max_step
    return fewer if bool((found.passes & short).all()) else every


def find_rarer_actions(graph: LocalGraph, plan: Plan) -> Questions[ActionPath | None]:
    """Few actions to a common state, through rarer ones where no others lead there.

    They are in the order that falls least below the floor. What each step falls to is stated, and
    where they end the floor is kept. To a given goal there are none: it is the path there that was
    asked for.
    """
    if graph.goal is not None:
        return None
    floor = graph.person.log_floor
    fewest = yield from find_few_actions(graph.with_lowest_on_the_way(floor - _ANYWHERE), plan)
    if fewest is None:
        return None
    best = fewest
    own = yield from graph.factual_log_density()
    for below in _BELOW_FLOOR:
        lowered = graph.with_lowest_on_the_way(min(floor, own) - below)
        found = yield from _actions_to_same_end(lowered, plan, fewest)
        if found is not None:
            best = found
            break
    return replace(best, log_floor=floor, rarer=True)


def _actions_to_same_end(
    graph: LocalGraph, plan: Plan, known: ActionPath
) -> Questions[ActionPath | None]:
    """The same changes as those of known actions, in another order."""
    log_floor = graph.person.log_floor_of_steps
    end = known.moves[-1]
    graph.goal = graph.add_state(end.point, end.score)
    every_change = replace(plan, every_change=True)
    found = yield from find_actions(graph, every_change, [], log_floor=log_floor)
    if found is None:
        return None
    rows = np.array(known.donors, dtype=np.int64)
    measured = yield from measure_actions(graph.person, found.moves, log_floor, rows)
    return replace(measured, helped=known.helped)


def why_no_actions(graph: LocalGraph, plan: Plan, trail: Trail) -> Questions[MissingActions]:
    """Look for actions through rarer states, and for the fewest without the limit on features."""
    rarer = yield from find_rarer_actions(graph, plan)
    if plan.max_features is None:
        return MissingActions(rarer=rarer)
    unlimited = replace(plan, max_features=None, least_effort=False)
    found = yield from find_few_actions(graph, unlimited)
    if found is None:
        found = yield from take_path_as_actions(graph, unlimited, trail)
    if found is None:
        return MissingActions(plan.max_features, rarer=rarer)
    fewest = count_features(graph.person, found.moves)
    if plan.least_effort:  # of as few features, those are wanted that change least
        least = yield from find_few_actions(graph, replace(plan, max_features=fewest))
        found = found if least is None else least
    return MissingActions(plan.max_features, fewest, rarer, with_more=found)


def count_features(person: Person, moves: tuple[Move, ...]) -> int:
    """How many features moves change in all; linked ones count as one."""
    states = np.stack([move.point for move in moves])
    return len(np.unique(person.group_of[(states != person.factual).any(axis=0)]))


def measure_actions(
    person: Person, moves: tuple[Move, ...], log_floor: float, rows: Ids
) -> Questions[ActionPath]:
    """Work out the log-densities at and along the actions, whose values are those of ``rows``."""
    moves = yield from break_into_small_steps(person, moves, log_floor)
    states = np.stack([person.factual, *(move.point for move in moves)])
    starts = np.concatenate([states[:-1], states[1:]])
    ends = np.concatenate([states[1:], states[1:]])
    found = yield from ask_density_along(starts, ends, None, person.rule)
    return ActionPath(
        moves=moves,
        log_densities=found.log_densities[len(moves) :],
        step_log_densities=found.log_densities[: len(moves)],
        log_floor=log_floor,
        donors=tuple(rows.tolist()),
    )
