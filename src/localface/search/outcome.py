"""What a search found, and how it is closed: the ground under the way and under the actions, in full."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.search.graph import GraphPath, LocalGraph
from localface.search.person import Person
from localface.search.plan import Plan
from localface.search.questions import (
    Asks,
    TargetCounts,
    ask_count_near,
    ask_density_along,
    ask_row_densities,
)
from localface.search.stages.actions import Move, act, in_small_steps
from localface.types import Array, Ids


@dataclass(frozen=True, slots=True, eq=False)
class ActionPath:
    """The actions of an outcome: states in order, and the ground at and under them."""

    moves: tuple[Move, ...]
    log_densities: Array
    lowest_log_densities: Array
    people: Ids
    log_floor: float


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a search found, in points and log-densities; units come later."""

    status: str
    points: Array
    ids: tuple[int, ...]
    scores: tuple[float, ...]
    log_densities: Array  # at each vertex
    lowest_log_densities: Array  # what the rule measures along each step
    log_floor: float
    cost: float = 0.0
    entry: bool = False
    relaxed: bool = False
    proven: bool = False
    counts: TargetCounts | None = None
    actions: ActionPath | None = None
    no_floor_helps: bool = False  # no floor, however low, opens a way
    composed: bool = False  # the way ends at a state that is nobody's


def told(
    status: str,
    graph: LocalGraph,
    path: GraphPath,
    *,
    entry: bool = False,
    relaxed: bool = False,
    proven: bool = False,
    counts: TargetCounts | None = None,
) -> Asks[Outcome]:
    """Work out the ground under the way in full, and close the search."""
    stands = yield from _stood_on(graph, path.vertices)
    under = np.zeros(0)
    if path.steps:
        under = (yield from graph.ground(path.steps, None, graph.person.rule)).log_densities
    return Outcome(
        status=status,
        points=graph.points[list(path.vertices)],
        ids=tuple(graph.ids[list(path.vertices)].tolist()),
        scores=tuple(graph.scores[list(path.vertices)].tolist()),
        log_densities=stands,
        lowest_log_densities=under,
        log_floor=graph.person.log_floor,
        cost=path.cost,
        entry=entry,
        relaxed=relaxed,
        proven=proven,
        counts=counts,
    )


def nothing(status: str, person: Person, counts: TargetCounts | None = None) -> Outcome:
    """What there is to say without having looked anywhere."""
    return Outcome(
        status,
        person.factual[None, :],
        (-1,),
        (),
        np.zeros(0),
        np.zeros(0),
        person.log_floor,
        counts=counts,
    )


def _stood_on(graph: LocalGraph, vertices: tuple[int, ...]) -> Asks[Array]:
    """How common the ground is at each place: known for rows, worked out for others."""
    values, ids = np.zeros(len(vertices)), graph.ids[list(vertices)]
    values[0] = yield from graph.log_density()
    rows = np.flatnonzero(ids >= 0)
    if len(rows):
        values[rows] = yield from ask_row_densities(ids[rows], graph.points[list(vertices)][rows])
    others = [i for i, vertex in enumerate(vertices) if vertex and ids[i] < 0]
    if others:
        ground = yield from graph.ground(
            [(vertices[i], vertices[i]) for i in others], None, graph.person.rule
        )
        values[others] = ground.log_densities
    return values


def acted(graph: LocalGraph, plan: Plan, outcome: Outcome, path: GraphPath) -> Asks[ActionPath]:
    """Turn the way into actions; where no few changes do it, the steps of the way are the actions.

    Someone who stands on uncommon ground meets no state more unusual than their own.
    """
    log_floor = min(graph.person.log_floor, float(outcome.log_densities[0]))
    moves = yield from act(
        graph,
        path.vertices[-1],
        log_floor=log_floor,
        max_changes=plan.max_changes,
        whole=plan.every_change,
    )
    if moves is None:
        ahead = path.vertices[1:]
        moves = tuple(
            Move(graph.points[p], float(graph.scores[p]), (i - 1,) if i else ())
            for i, p in enumerate(ahead)
        )
    return (yield from grounded(graph, moves, log_floor))


def grounded(graph: LocalGraph, moves: tuple[Move, ...], log_floor: float) -> Asks[ActionPath]:
    """Work out the ground at and under the actions."""
    moves = yield from in_small_steps(graph, moves, log_floor)
    states = np.stack([graph.person.factual, *(move.point for move in moves)])
    starts, ends = (
        np.concatenate([states[:-1], states[1:]]),
        np.concatenate([states[1:], states[1:]]),
    )
    ground = yield from ask_density_along(starts, ends, None, graph.person.rule)
    near = yield from ask_count_near(states[1:])
    return ActionPath(
        moves,
        ground.log_densities[len(moves) :],
        ground.log_densities[: len(moves)],
        near,
        log_floor,
    )
