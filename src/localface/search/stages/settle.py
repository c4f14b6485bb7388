"""Settle: values no further from a person's own than the target needs, and round ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from localface.geometry.segments import norms
from localface.search.graph import LocalGraph
from localface.search.move import Move
from localface.search.person import Person
from localface.search.questions import Questions, ask_density_along
from localface.search.stages.swaps import are_sound_ends, is_allowed_end
from localface.types import Array, Ids

_PARTS = 16  # parts of the way to a value at which it may stop


def settle_values(
    graph: LocalGraph, end: Array, groups: list[int], rows: Ids, *, onwards: bool = False
) -> Questions[Array]:
    """Move the numbers of an end back towards the person's own, the furthest first.

    Each stops at the first round value at which the target is reached with all others as they
    are by then; ``onwards``, where none on the way will do, one goes on to the next multiple of
    its resolution. Numbers that are linked stay as they are: their values belong together.
    """
    person = graph.person
    columns = person.columns_on_the_way(groups)
    state = end
    for column in sorted(columns, key=lambda j: -abs(float(end[j] - person.factual[j]))):
        values = _values_on_the_way(person, state, column)
        if onwards:
            values = np.append(values, _next_multiple(person, state, column))
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


def round_onwards(graph: LocalGraph, end: Array, groups: list[int], rows: Ids) -> Questions[Array]:
    """The end with all its numbers on the next multiple; as it is where that misses the target."""
    person = graph.person
    state = end.copy()
    for column in person.columns_on_the_way(groups):
        state[column : column + 1] = [*_next_multiple(person, end, column), end[column]][:1]
    if (state == end).all():
        return end
    (score,) = yield from graph.states.scores_of(state[None, :], rows)
    allowed = is_allowed_end(person, state[None, :])[0]
    return state if allowed and score >= person.min_score else end


def round_moves_onwards(
    graph: LocalGraph, moves: tuple[Move, ...], rows: Ids, log_floor: float
) -> Questions[tuple[Move, ...]]:
    """Moves whose numbers end on the next multiples; as they are where those would not be sound."""
    person = graph.person
    end = moves[-1].point
    groups = np.unique(person.group_of[end != person.factual]).tolist()
    rounded = yield from round_onwards(graph, end, groups, rows)
    if rounded is end:
        return moves
    states = np.stack([move.point for move in moves])
    states = np.where(states == end, rounded, states)
    starts = np.concatenate([person.factual[None, :], states[:-1]])
    scores = yield from graph.states.scores_of(states, rows)
    sound = yield from are_sound_ends(person, states[-1:], scores[-1:])
    starts = np.concatenate([starts, states])
    found = yield from ask_density_along(
        starts, np.concatenate([states, states]), log_floor, person.rule
    )
    short = norms(states - starts[: len(states)]) <= person.max_step
    if not (
        sound[0] and found.passes.all() and short.all() and is_allowed_end(person, states).all()
    ):
        return moves
    return tuple(
        replace(move, point=state, score=float(score))
        for move, state, score in zip(moves, states, scores, strict=True)
    )


def goes_further(person: Person, end: Array, settled: Array) -> bool:
    """Tell whether some number of a settled end is further from the person's own than before."""
    own = person.factual
    return bool((np.abs(settled - own) > np.abs(end - own)).any())


def _next_multiple(person: Person, state: Array, column: int) -> Array:
    """The next multiple of the resolution after a state's value; none beyond all that was seen."""
    own = person.factual[column]
    value = state[column : column + 1]
    found = person.next_multiples(column, value)
    further = np.abs(found - own) > np.abs(value - own)
    return np.asarray(found[further & (person.no_further_than_seen(column, found) == found)])
