"""Waiting: what those features would do alone that grow by themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from localface.search.outcome import GrownState, Outcome
from localface.search.person import Person
from localface.search.questions import OutOfTime, Questions, ask_density_along, ask_point_scores
from localface.types import Array


def add_waiting(person: Person, outcome: Outcome) -> Questions[Outcome]:
    """Add the first state that waiting alone leads to and that reaches the target.

    It has to be as common as any end. It is told beside the answer, and credited to nothing.
    """
    if person.grown is None or outcome.cut_short:
        return outcome
    try:
        waiting = yield from _first_state_that_will_do(person, person.grown)
    except OutOfTime:
        return replace(outcome, cut_short=True)
    return replace(outcome, waiting=waiting)


def _first_state_that_will_do(person: Person, states: Array) -> Questions[GrownState | None]:
    scores = yield from ask_point_scores(states)
    reached = np.flatnonzero(scores >= person.min_score)
    if not len(reached):
        return None
    ends = states[reached]
    found = yield from ask_density_along(ends, ends, person.log_floor, person.rule)
    if not found.passes.any():
        return None
    first = int(reached[found.passes][0])
    return GrownState(states[first], float(scores[first]))
