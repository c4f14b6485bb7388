"""Lessening: changes made smaller, or traded for others, as long as their end stays sound.

Ends that are grown from single changes stop at the sizes that were tried. From there a number goes
back as far as the score allows, and where nothing goes back alone, another change goes further so
that one can.
"""

from __future__ import annotations

import numpy as np

from localface.geometry.point_set import are_first_of_equals
from localface.search.graph import LocalGraph
from localface.search.person import Person
from localface.search.questions import Questions, ask_density_along
from localface.search.stages.effort import Changes, efforts_of
from localface.search.stages.swaps import is_allowed_end
from localface.types import Array, Ids

_PARTS_BACK = 2.0 ** -np.arange(8)  # of a change that is taken back
_STEPS_FURTHER = np.array([0.02, 0.05, 0.1, 0.2, 0.4])  # of a number, in either direction
_MOST_TURNS = 48
_MOST_TRADED = 24  # changes that go further, each against all that may go back
_MOST_CHECKED = 32  # states of one turn whose density is looked at
_WORTH = 0.999  # of the effort that is left at most, for a turn to count


def lessen_end(graph: LocalGraph, changes: Changes, end: Array, rows: Ids) -> Questions[Array]:
    """The end of least effort that is reached from a sound one by taking back and trading."""
    person = graph.person
    state = end
    for _ in range(_MOST_TURNS):
        less = yield from _least_of(graph, state, _taken_back(person, state[None, :]), rows)
        if less is None:
            further = yield from _going_further(graph, changes, state, rows)
            less = yield from _least_of(graph, state, _taken_back(person, further), rows)
        if less is None:
            return state
        state = less
    return state


def _least_of(graph: LocalGraph, state: Array, others: Array, rows: Ids) -> Questions[Array | None]:
    """Of states that are sound ends by less effort than one, that of the least; None without."""
    person = graph.person
    if not len(others):
        return None
    efforts = efforts_of(person, others)
    less = efforts < _WORTH * efforts_of(person, state[None, :])[0]
    some, efforts = others[less], efforts[less]
    if not len(some):
        return None
    scores = yield from graph.states.scores_of(some, rows)
    fine = np.flatnonzero((scores >= person.min_score) & is_allowed_end(person, some))
    fine = fine[np.argsort(efforts[fine], kind="stable")[:_MOST_CHECKED]]
    if not len(fine):
        return None
    found = yield from ask_density_along(some[fine], some[fine], person.log_floor, person.rule)
    best = fine[found.passes][:1]
    return some[best[0]] if len(best) else None


def _taken_back(person: Person, states: Array) -> Array:
    """States in which one change is taken back, in part or whole, and all numbers are in part."""
    if not len(states):
        return states
    columns = person.columns_on_the_way(np.unique(person.group_of).tolist())
    own = person.factual
    whole = [_without(person, states, group) for group in np.unique(person.group_of)]
    parts = states + _PARTS_BACK[1:, None, None] * (own - states)
    numbers = np.isin(np.arange(len(own)), columns)
    together = np.where(numbers, parts, states).reshape(-1, len(own))
    alone = [
        np.where(np.arange(len(own)) == j, parts, states).reshape(-1, len(own)) for j in columns
    ]
    every = np.concatenate([*alone, together])
    for column in columns:
        moved = every[:, column] != np.tile(states[:, column], len(every) // len(states))
        every[moved, column] = person.round_closely(column, every[moved, column])
    low, high = person.just_noticeable
    every = np.where(numbers & (every > low) & (every < high), own, every)
    every = np.concatenate([*whole, every])
    return np.asarray(every[are_first_of_equals(every)])


def _without(person: Person, states: Array, group: int) -> Array:
    return np.asarray(np.where(person.group_of == group, person.factual, states))


def _stepped(person: Person, state: Array) -> Array:
    """States in which one number goes a small step up or down, as far as it may."""
    columns = person.columns_on_the_way(np.unique(person.group_of).tolist())
    steps = np.concatenate([_STEPS_FURTHER, -_STEPS_FURTHER])
    states = np.repeat(state[None, :], len(columns) * len(steps), axis=0)
    for i, column in enumerate(columns):
        mine = slice(i * len(steps), (i + 1) * len(steps))
        values = person.round_closely(column, state[column] + steps)
        states[mine, column] = person.no_further_than_seen(column, values)
    return states[is_allowed_end(person, states)]


def _going_further(
    graph: LocalGraph, changes: Changes, state: Array, rows: Ids
) -> Questions[Array]:
    """States in which one change goes further than in a given one: those that gain most by it."""
    person = graph.person
    states = np.concatenate([changes.made_to(state[None, :], None), _stepped(person, state)])
    more = efforts_of(person, states) - efforts_of(person, state[None, :])[0]
    states, more = np.asarray(states[more > 0]), more[more > 0]
    if not len(states):
        return np.asarray(states)
    before = yield from graph.states.scores_of(state[None, :], rows)
    scores = yield from graph.states.scores_of(states, rows)
    gained = scores - before
    order = np.argsort(-np.round(gained / more, 9), kind="stable")
    worth = (gained > 0) | (scores >= person.min_score)
    return np.asarray(states[order[worth[order]][:_MOST_TRADED]])
