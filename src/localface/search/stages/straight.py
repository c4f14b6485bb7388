"""Straight: take over from people who reach the target, wherever they are, in a few actions.

A walk goes from neighbour to neighbour. Where none leads to a target, the states that a person
could take over from anybody who reaches it may still be within reach of a few changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.geometry.projection import Projection
from localface.search.graph import LocalGraph
from localface.search.move import Move
from localface.search.plan import Plan
from localface.search.questions import Questions, ask_composed_states
from localface.search.stages.actions import find_actions
from localface.search.stages.swaps import is_allowed_end

_STATES = 48  # states that are taken for ends, the nearest


@dataclass(frozen=True, slots=True, eq=False)
class StraightWay:
    """Moves to a state that reaches the target; None without one.

    ``cut`` says that the row budget withheld states.
    """

    moves: tuple[Move, ...] | None
    cut: bool


def find_straight_way(
    graph: LocalGraph, plan: Plan, projection: Projection, log_floor: float
) -> Questions[StraightWay]:
    """Find actions to what people who reach the target have, wherever they are.

    The states are known to a graph of their own, so that where nothing is found nothing has
    changed.
    """
    person = graph.person
    composed = yield from ask_composed_states(person.factual, projection, _STATES, person.min_score)
    allowed = np.flatnonzero(is_allowed_end(person, composed.points)).tolist()
    own = graph.with_fixed_columns(person.fixed)
    donors = [
        own.add_state(composed.points[i], float(composed.scores[i]), int(composed.ids[i]))
        for i in allowed
    ]
    moves = None
    if donors:
        moves = yield from find_actions(own, plan, donors, log_floor=log_floor)
    return StraightWay(moves, composed.cut)
