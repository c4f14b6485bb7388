"""Straight: take over from people who reach the target, wherever they are, in a few actions.

A walk goes from neighbour to neighbour. Where none leads to a target, the states that a person
could take over from anybody who reaches it may still be within reach of a few changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from localface.density.protocol import FLOOR_TOLERANCE
from localface.geometry.projection import Projection
from localface.geometry.segments import norms
from localface.search.graph import LocalGraph
from localface.search.move import Move
from localface.search.person import Person
from localface.search.plan import Plan
from localface.search.questions import (
    OthersHelped,
    Questions,
    ask_density_along,
)
from localface.search.stages.actions import find_actions
from localface.search.stages.small_steps import break_into_small_steps
from localface.search.stages.swaps import is_allowed_end
from localface.types import NO_ROWS, Ids

NEAR_STATES = 48
"""States that are taken for ends, the nearest."""
FAR_STATES = 240
"""States among which ends are looked for where none of the nearest will do."""


@dataclass(frozen=True, slots=True, eq=False)
class StraightWay:
    """Moves to a state that reaches the target, and those of them at which a path stops.

    Both are None without a way. ``cut`` says that the row budget withheld states.
    """

    moves: tuple[Move, ...] | None
    stops: tuple[Move, ...] | None
    cut: bool
    rows: Ids = field(default_factory=lambda: NO_ROWS)  # that their values are taken from
    helped: OthersHelped | None = None  # how many others the changes would help


def find_straight_way(
    graph: LocalGraph,
    plan: Plan,
    projection: Projection,
    log_floor: float,
    *,
    among: int = NEAR_STATES,
) -> Questions[StraightWay]:
    """Find actions to what people who reach the target have, wherever they are.

    Of more than the nearest states, those on common ground are taken for ends. The states are
    known to a graph of their own, so that where nothing is found nothing has changed. No step
    of the path is longer than a step may be.
    """
    person = graph.person
    composed = yield from graph.states.composed_of_targets(projection, among, person.min_score)
    allowed = np.flatnonzero(is_allowed_end(person, composed.points))
    if among > NEAR_STATES and len(allowed):
        ends = composed.points[allowed]
        found = yield from ask_density_along(ends, ends, person.log_floor, person.rule)
        allowed = allowed[found.passes][:NEAR_STATES]
    own = graph.with_fixed_columns(person.fixed)
    donors = [
        own.add_state(composed.points[i], float(composed.scores[i]), int(composed.ids[i]))
        for i in allowed.tolist()
    ]
    # a path may have nowhere to stop on the way of the least effort
    plans = [plan, replace(plan, least_effort=False)] if plan.least_effort else [plan]
    for one in plans if donors else ():
        actions = yield from find_actions(own, one, donors, log_floor=log_floor)
        graph.out_of_time = graph.out_of_time or own.out_of_time
        if actions is None:
            break
        moves = yield from break_into_small_steps(person, actions.moves, log_floor)
        stops = yield from _stops_above_floor(person, moves, log_floor)
        states = np.stack([person.factual, *(move.point for move in stops)])
        short = norms(np.diff(states, axis=0)).max(initial=0.0) <= person.max_step
        if stops and short:
            rows = own.rows_of(donors)
            return StraightWay(moves, stops, composed.cut, rows, actions.helped)
    return StraightWay(None, None, composed.cut)


def _stops_above_floor(
    person: Person, moves: tuple[Move, ...], log_floor: float
) -> Questions[tuple[Move, ...]]:
    """Where a path stops: who starts below the floor is brought above it by its first step.

    That step passes no state more unusual than the person's own, as the moves do not; where none
    does so the path stops nowhere.
    """
    if log_floor >= person.log_floor - FLOOR_TOLERANCE:
        return moves
    states = np.stack([move.point for move in moves])
    found = yield from ask_density_along(states, states, person.log_floor, person.rule)
    above = np.flatnonzero(found.passes)
    if not len(above) or above[0] == 0:
        return moves
    starts = np.broadcast_to(person.factual, states[above].shape)
    found = yield from ask_density_along(starts, states[above], log_floor, person.rule)
    return moves[above[np.argmax(found.passes)] :] if found.passes.any() else ()
