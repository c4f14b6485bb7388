"""Settle: values no further from a person's own than the target needs, and round ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from localface.geometry.point_set import are_first_of_equals
from localface.geometry.segments import norms
from localface.search.graph import LocalGraph
from localface.search.move import Move
from localface.search.person import Person
from localface.search.questions import Questions, ask_density_along
from localface.search.stages.swaps import are_sound_ends, is_allowed_end
from localface.types import Array, Ids

_PARTS = 16  # parts of the way to a value at which it may stop
_TIMES_FINER = 6  # how often the last of them is parted again, where values need not be round

Rounding = Callable[[int, Array], Array]
"""Returns round values of a column, no nearer to the person's own than given ones."""


def settle_values(
    graph: LocalGraph, end: Array, groups: list[int], rows: Ids, *, onwards: Rounding | None = None
) -> Questions[Array]:
    """Move the numbers of an end back towards the person's own, the furthest first.

    Each stops at the first round value at which the target is reached with all others as they
    are by then; where none on the way will do, one goes on to a round value that ``onwards``
    returns, or to the next multiple of its resolution. Where values need not be round, each stops
    just where the target is reached. Numbers that are linked stay as they are: their values belong
    together.
    """
    person = graph.person
    columns = person.columns_on_the_way(groups)
    state = end
    for column in sorted(columns, key=lambda j: -abs(float(end[j] - person.factual[j]))):
        values = _values_on_the_way(person, state, column)
        if onwards is not None:
            values = np.append(values, _values_onwards(person, state, column, onwards))
        if not len(values):
            continue
        states = np.repeat(state[None, :], len(values), axis=0)
        states[:, column] = values
        scores = yield from graph.states.scores_of(states, rows)
        fine = np.flatnonzero((scores >= person.min_score) & is_allowed_end(person, states))
        if len(fine):
            state = states[fine[0]]
        if not person.stops_at_round_values:
            state = yield from _stop_where_reached(graph, state, column, rows)
    return state


def _stop_where_reached(
    graph: LocalGraph, state: Array, column: int, rows: Ids
) -> Questions[Array]:
    """Move one number of a state back to just where the target is reached.

    The part of its way on which that happens is parted again and again.
    """
    person = graph.person
    own = person.factual[column]
    low, high = (limits[column] for limits in person.just_noticeable)
    missed = high if state[column] > own else low
    for _ in range(_TIMES_FINER):
        parts = np.arange(_PARTS) / _PARTS
        values = person.round_outwards(column, missed + parts * (state[column] - missed))
        values = values[((values <= low) | (values >= high)) & (values != own)]
        states = np.repeat(state[None, :], len(values), axis=0)
        states[:, column] = values
        if not len(states):
            break
        scores = yield from graph.states.scores_of(states, rows)
        reached = (scores >= person.min_score) & is_allowed_end(person, states)
        first = int(np.argmax(reached)) if reached.any() else len(states)
        missed = values[first - 1] if first else missed
        state = states[first] if first < len(states) else state
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
    rounded = _all_onwards(graph.person, end, groups, graph.person.next_multiples)
    found = yield from _that_reach_target(graph, [rounded], end, rows)
    return found[0] if len(found) else end


def rounder_ends(
    graph: LocalGraph, end: Array, groups: list[int], rows: Ids, *, onwards: Rounding
) -> Questions[Array]:
    """The ends that an end becomes where all its numbers go on to round values, the roundest first.

    Only those that reach the target; none is the end itself.
    """
    person = graph.person
    ways = (onwards, person.round_closely, person.next_multiples)
    ends = [_all_onwards(person, end, groups, way) for way in ways]
    return (yield from _that_reach_target(graph, ends, end, rows))


def _all_onwards(person: Person, end: Array, groups: list[int], onwards: Rounding) -> Array:
    """An end with all its numbers at round values onwards, where they may have them."""
    state = end.copy()
    for column in person.columns_on_the_way(groups):
        found = onwards(column, end[column : column + 1])
        state[column : column + 1] = [*_further(person, end, column, found), end[column]][:1]
    return state


def _that_reach_target(
    graph: LocalGraph, ends: list[Array], end: Array, rows: Ids
) -> Questions[Array]:
    """Those of some ends that reach the target, each once, without a given one."""
    states = np.stack([end, *ends])
    states = states[are_first_of_equals(states)][1:]
    if not len(states):
        return states
    scores = yield from graph.states.scores_of(states, rows)
    return states[(scores >= graph.person.min_score) & is_allowed_end(graph.person, states)]


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


def _values_onwards(person: Person, state: Array, column: int, onwards: Rounding) -> Array:
    """A round value hardly further than a state's, then the next multiple of its resolution."""
    value = state[column : column + 1]
    found = np.append(onwards(column, value), person.next_multiples(column, value))
    return _further(person, state, column, found)


def _further(person: Person, state: Array, column: int, values: Array) -> Array:
    """Those values that are further from a person's own than a state's; none beyond all seen."""
    own = person.factual[column]
    further = np.abs(values - own) > np.abs(state[column] - own)
    return np.asarray(values[further & (person.no_further_than_seen(column, values) == values)])
