"""Settle: values no further from a person's own than the target needs, and round ones."""

from __future__ import annotations

import numpy as np

from localface.search.graph import LocalGraph
from localface.search.person import Person
from localface.search.questions import Questions
from localface.search.stages.swaps import is_allowed_end
from localface.types import Array, Ids

_PARTS = 16  # parts of the way to a value at which it may stop


def settle_values(graph: LocalGraph, end: Array, groups: list[int], rows: Ids) -> Questions[Array]:
    """Move the numbers of an end back towards the person's own, the furthest first.

    Each stops at the first round value at which the target is reached with all others as they
    are by then. Numbers that are linked stay as they are: their values belong together.
    """
    person = graph.person
    columns = person.columns_on_the_way(groups)
    state = end
    for column in sorted(columns, key=lambda j: -abs(float(end[j] - person.factual[j]))):
        values = _values_on_the_way(person, state, column)
        if not len(values):
            continue
        states = np.repeat(state[None, :], len(values), axis=0)
        states[:, column] = values
        scores = yield from graph.states.scores_of(states, rows)
        fine = np.flatnonzero((scores >= person.min_score) & is_allowed_end(person, states))
        if len(fine):
            state = states[fine[0]]
    return state


def _values_on_the_way(person: Person, state: Array, column: int) -> Array:
    """Round values of one column between a person's own and the state's, the nearest first."""
    own = person.factual[column]
    parts = np.arange(1, _PARTS + 1) / _PARTS
    values = person.round_outwards(column, own + parts * (state[column] - own))
    sizes = np.abs(values - own)
    inside = (sizes > 0) & (sizes <= abs(state[column] - own))
    low, high = person.just_noticeable
    inside &= (values <= low[column]) | (values >= high[column])
    return np.asarray(values[inside][np.unique(sizes[inside], return_index=True)[1]])
