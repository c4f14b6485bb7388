"""Actions: few changes, in an order that a person could follow.

A step between two real people changes almost every number a little, and nobody can act on
that. So changes are taken over from many people who reach the target, as few as will do; each
stops as soon as the target is reached; and the order is one in which every step leads over
common ground.
"""

from __future__ import annotations

import numpy as np

from localface.geometry.segments import norms
from localface.search.graph import LocalGraph
from localface.search.lattice import Lattice
from localface.search.move import Move
from localface.search.person import Person
from localface.search.plan import Plan
from localface.search.questions import Questions, ask_density_along
from localface.search.stages.fewest import FewChanges, find_fewest_changes
from localface.search.stages.joint_moves import route_by_joint_moves
from localface.search.stages.ordering import find_route, moves_of_route
from localface.search.stages.reduce import reduce_changes
from localface.search.stages.settle import settle_values
from localface.search.stages.swaps import Swaps, is_allowed_end
from localface.types import Array, Ids

Moves = tuple[Move, ...] | None

_FEW = 6  # changes up to which sets of them are tried, and every order
_REDUCED = 4  # donors whose changes are reduced where no few will do


def find_actions(
    graph: LocalGraph, plan: Plan, donors: list[int], *, log_floor: float
) -> Questions[Moves]:
    """The fewest changes that reach the target, in order; None where no route keeps the floor.

    ``donors`` are vertices that reach it. With ``plan.every_change`` all changes to the goal are
    made, whatever the score needs.
    """
    if plan.every_change:
        assert graph.goal is not None
        end = graph.points[graph.goal]
        groups = np.unique(graph.person.group_of[end != graph.person.factual]).tolist()
        return (
            yield from _route_to(graph, plan, end, groups, graph.rows_of([graph.goal]), log_floor)
        )
    few = yield from find_fewest_changes(
        graph,
        donors,
        log_floor=log_floor,
        max_changes=plan.max_changes,
        most=min(_FEW, plan.max_features or _FEW),
    )
    best: Moves = None
    for one in few:
        moves = yield from _least_moves(graph, plan, one, graph.rows_of(donors), log_floor)
        if best is None or _cost(graph.person, moves) < _cost(graph.person, best):
            best = moves
    if best is not None:
        return best
    return (yield from _reduced_route(graph, plan, donors, log_floor))


def _least_moves(
    graph: LocalGraph, plan: Plan, few: FewChanges, rows: Ids, log_floor: float
) -> Questions[tuple[Move, ...]]:
    """The moves of a set of changes, each no larger than needed where such a route is sound."""
    end = few.lattice.states[few.route[-1]]
    groups = [group for change in few.lattice.changes for group in change]
    settled = yield from _settled_route(graph, plan, end, groups, rows, log_floor)
    if settled is None:
        return (yield from moves_of_route(few.lattice, few.route))
    return _stop_at_target(graph.person, settled, log_floor)


def _cost(person: Person, moves: tuple[Move, ...]) -> tuple[float, int, float, float]:
    """What moves cost: how many changes by weight, most at once, their sizes, and the score."""
    states = np.stack([person.factual, *(move.point for move in moves)])
    at_once = [len(np.unique(person.group_of[step != 0])) for step in np.diff(states, axis=0)]
    apart = moves[-1].point - person.factual
    groups = np.unique(person.group_of[apart != 0])
    weights = np.array([person.weight_of((int(group),)) for group in groups])
    sizes = norms(np.where(groups[:, None] == person.group_of, apart, 0.0))
    effort = float((weights * sizes).sum())
    return round(float(weights.sum()), 9), max(at_once), round(effort, 9), -moves[-1].score


def _settled_route(
    graph: LocalGraph, plan: Plan, end: Array, groups: list[int], rows: Ids, log_floor: float
) -> Questions[Moves]:
    """A route to the same changes, each no larger than needed; None where none is sound."""
    person = graph.person
    settled = yield from settle_values(graph, end, groups, rows)
    if (settled == end).all():
        return None
    found = yield from ask_density_along(
        settled[None, :], settled[None, :], person.log_floor, person.rule
    )
    if not found.passes[0]:
        return None
    return (yield from _route_to(graph, plan, settled, groups, rows, log_floor))


def _stop_at_target(person: Person, moves: tuple[Move, ...], log_floor: float) -> tuple[Move, ...]:
    """Leave out the moves after the target is reached: smaller changes may need fewer of them.

    Who starts below the floor goes on until they are above it.
    """
    if log_floor < person.log_floor:
        return moves
    allowed = is_allowed_end(person, np.stack([move.point for move in moves]))
    for i, move in enumerate(moves):
        if allowed[i] and move.score >= person.min_score:
            return moves[: i + 1]
    return moves


def _route_to(
    graph: LocalGraph, plan: Plan, end: Array, groups: list[int], rows: Ids, log_floor: float
) -> Questions[Moves]:
    """A route through all changes to an end, in the best order where there are few."""
    if len(groups) > _FEW:
        return (yield from route_by_joint_moves(graph, end, groups, rows=rows, log_floor=log_floor))
    lattice = Lattice(graph, end, [(group,) for group in groups], log_floor)
    yield from lattice.ask_scores(rows, range(len(groups) + 1))
    route = yield from find_route(lattice, len(lattice.states) - 1, plan.max_changes)
    if route is None:
        return None
    return (yield from moves_of_route(lattice, route))


def _reduced_route(
    graph: LocalGraph, plan: Plan, donors: list[int], log_floor: float
) -> Questions[Moves]:
    """Take over all that a donor has, and put back what is not needed; the cheapest of some."""
    person = graph.person
    points = graph.points[donors]
    swaps = Swaps(person, points)
    full = np.where(swaps.differs @ swaps.touched, points, person.factual)
    scores = yield from graph.scores_of_states(full, graph.rows_of(donors))
    found = yield from ask_density_along(full, full, person.log_floor, person.rule)
    # without what is fixed or too small to notice, a donor's values may no longer reach the target
    fine = found.passes & (scores >= person.min_score) & is_allowed_end(person, full)
    sound = [i for i in np.flatnonzero(fine).tolist() if swaps.differs[i].any()]
    reduced = []
    for i in sound[:_REDUCED]:
        rows = graph.rows_of([donors[i]])
        kept = yield from reduce_changes(
            graph, full[i], swaps.groups[swaps.differs[i]].tolist(), rows
        )
        made = np.isin(swaps.groups, kept)
        weight = float((made * swaps.weights).sum())
        effort = float((made * swaps.weights * swaps.sizes[i]).sum())
        if plan.max_features is None or len(kept) <= plan.max_features:
            reduced.append((round(weight, 9), round(effort, 9), i, kept, rows))
    for _, _, i, kept, rows in sorted(reduced, key=lambda one: one[:3]):
        end = np.where(np.isin(person.group_of, kept), full[i], person.factual)
        settled = yield from _settled_route(graph, plan, end, kept, rows, log_floor)
        if settled is not None:
            return _stop_at_target(graph.person, settled, log_floor)
        moves = yield from _route_to(graph, plan, end, kept, rows, log_floor)
        if moves is not None:
            return moves
    return None
