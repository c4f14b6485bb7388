"""What a search found, and how it is closed: the ground under the way and under the actions, in full."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from localface.search.graph import GraphPath, LocalGraph, Person
from localface.search.questions import Asks, TargetCounts, count_near, density_along, levels
from localface.search.stages.actions import Move, act, in_small_steps
from localface.search.stages.enhance import Price
from localface.search.stages.explore import WalkOptions
from localface.types import Array, Ids


@dataclass(frozen=True, slots=True)
class Plan:
    """How a search goes about it; the same for everyone who asks."""

    walk_options: WalkOptions
    slack: float = 0.05
    cost: str = "length"
    price: Price = field(default_factory=Price)
    astar: bool = True
    strategy: str = "guided"
    actions: bool = True
    max_changes: int = 1
    proves: bool = (
        True  # the source finds every near row, so that what it does not find is not there
    )
    states: bool = False  # where nobody will do, a state that is nobody's may be the end
    first: bool = False  # the first way will do, and only that there is one is asked for
    whole: bool = False  # the actions make every change, not only those that the score needs


@dataclass(frozen=True, slots=True, eq=False)
class Acted:
    """The actions of an outcome: states in order, and the ground at and under them."""

    moves: tuple[Move, ...]
    levels: Array
    lowest: Array
    people: Ids
    floor: float


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a search found, in points and log-densities; units come later."""

    status: str
    points: Array
    ids: tuple[int, ...]
    scores: tuple[float, ...]
    levels: Array  # log-density where each vertex stands
    lowest: Array  # what the rule measures along each step
    floor: float
    cost: float = 0.0
    entry: bool = False
    relaxed: bool = False
    proven: bool = False
    counts: TargetCounts | None = None
    acted: Acted | None = None
    hopeless: bool = False  # no floor, however low, opens a way
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
        under = (yield from graph.ground(path.steps, None, graph.person.rule)).values
    return Outcome(
        status=status,
        points=graph.points[list(path.vertices)],
        ids=tuple(graph.ids[list(path.vertices)].tolist()),
        scores=tuple(graph.scores[list(path.vertices)].tolist()),
        levels=stands,
        lowest=under,
        floor=graph.person.floor,
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
        person.floor,
        counts=counts,
    )


def _stood_on(graph: LocalGraph, vertices: tuple[int, ...]) -> Asks[Array]:
    """How common the ground is at each place: known for rows, worked out for others."""
    values, ids = np.zeros(len(vertices)), graph.ids[list(vertices)]
    values[0] = yield from graph.level()
    rows = np.flatnonzero(ids >= 0)
    if len(rows):
        values[rows] = yield from levels(ids[rows], graph.points[list(vertices)][rows])
    others = [i for i, vertex in enumerate(vertices) if vertex and ids[i] < 0]
    if others:
        ground = yield from graph.ground(
            [(vertices[i], vertices[i]) for i in others], None, graph.person.rule
        )
        values[others] = ground.values
    return values


def acted(graph: LocalGraph, plan: Plan, outcome: Outcome, path: GraphPath) -> Asks[Acted]:
    """Turn the way into actions; where no few changes do it, the steps of the way are the actions.

    Someone who stands on uncommon ground meets no state more unusual than their own.
    """
    floor = min(graph.person.floor, float(outcome.levels[0]))
    moves = yield from act(
        graph, path.vertices[-1], floor=floor, max_changes=plan.max_changes, whole=plan.whole
    )
    if moves is None:
        ahead = path.vertices[1:]
        moves = tuple(
            Move(graph.points[p], float(graph.scores[p]), (i - 1,) if i else ())
            for i, p in enumerate(ahead)
        )
    return (yield from grounded(graph, moves, floor))


def grounded(graph: LocalGraph, moves: tuple[Move, ...], floor: float) -> Asks[Acted]:
    """Work out the ground at and under the actions."""
    moves = yield from in_small_steps(graph, moves, floor)
    states = np.stack([graph.person.factual, *(move.point for move in moves)])
    starts, ends = (
        np.concatenate([states[:-1], states[1:]]),
        np.concatenate([states[1:], states[1:]]),
    )
    ground = yield from density_along(starts, ends, None, graph.person.rule)
    near = yield from count_near(states[1:])
    return Acted(moves, ground.values[len(moves) :], ground.values[: len(moves)], near, floor)
