"""Effort: ends that are reached by the least change in all, by as many features as it takes.

``fewest`` counts features first. Here single changes of many sizes are added one after the other,
as long as the score gains most for what they cost; a change that was made may become another size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.geometry.point_set import are_first_of_equals
from localface.geometry.segments import efforts
from localface.search.graph import LocalGraph
from localface.search.person import Person
from localface.search.questions import Questions, ask_density_along
from localface.search.stages.swaps import Swaps, is_allowed_end
from localface.types import Array, Mask

_PARTS = 12  # sizes of the change of a number, the small ones closer together
_MOST_CARRIED = 8  # states that a turn hands on to the next
_LOOKED_AT = 4  # times as many are looked at, for their density
_MOST_TURNS = 10
_IN_VAIN = 2  # turns after which no end of less effort is expected any more
_MOST_CHECKED = 32  # ends of one turn whose density is looked at
_MOST_ENDS = 6  # ends that are handed back


def find_ends_of_little_effort(
    graph: LocalGraph, donors: list[int], *, log_floor: float, most: int | None, least: float
) -> Questions[Array]:
    """Find ends that reach the target on common ground by little effort, the least first.

    ``donors`` are vertices that reach it: changes go no further than theirs. At most so many
    groups of columns change, where a number is given; ``least`` is an effort that will do.
    """
    person = graph.person
    rows = graph.rows_of(donors)
    changes = Changes.of(person, graph.points[donors])
    carried = person.factual[None, :]
    ends = carried[:0]
    in_vain = 0
    for _ in range(_MOST_TURNS):
        states = changes.made_to(carried, most)
        states = states[efforts_of(person, states) < least]
        if not len(states) or in_vain == _IN_VAIN:
            break
        scores = yield from graph.states.scores_of(states, rows)
        efforts = efforts_of(person, states)
        fine = (scores >= person.min_score) & is_allowed_end(person, states)
        found = yield from _least_on_common_ground(person, states[fine], efforts[fine])
        in_vain = in_vain + 1 if len(ends) and not len(found) else 0
        ends = np.concatenate([found, ends])[:_MOST_ENDS]
        if len(found):
            least = float(efforts_of(person, found[:1])[0])
        gained = scores - graph.scores[0]
        promising = (scores < person.min_score) & (gained > 0) & (efforts < least)
        carried = yield from _most_gaining(
            person,
            states[promising],
            gained[promising],
            efforts[promising],
            log_floor=min(log_floor, person.log_floor),
        )
    return ends


def find_shrunken_ends(graph: LocalGraph, donors: list[int], ends: Array) -> Questions[Array]:
    """Find where the target is reached first on the straight way to donors and to known ends.

    All numbers stop at the same part of their way; what comes only whole is taken over, or not.
    """
    person = graph.person
    points = np.concatenate([ends, graph.points[donors]])
    low, high = person.just_noticeable
    if person.fixed is not None:
        points = np.where(person.fixed, person.factual, points)
    columns = person.columns_on_the_way(np.unique(person.group_of).tolist())
    is_number = np.isin(np.arange(points.shape[1]), columns)
    parts = np.arange(1, _PARTS + 1)[:, None, None] / _PARTS
    on_the_way = person.factual + parts * (points - person.factual)
    states = [np.where(is_number, on_the_way, rest) for rest in (points, person.factual)]
    every = np.concatenate(states).reshape(-1, points.shape[1])
    for column in columns:
        moved = every[:, column] != person.factual[column]
        every[moved, column] = person.round_outwards(column, every[moved, column])
    is_noticed = (every <= low) | (every >= high)
    every = np.where(is_noticed | ~is_number, every, person.factual)
    every = every[are_first_of_equals(every)]
    scores = yield from graph.states.scores_of(every, graph.rows_of(donors))
    fine = (scores >= person.min_score) & is_allowed_end(person, every)
    return (
        yield from _least_on_common_ground(person, every[fine], efforts_of(person, every[fine]))
    )


def efforts_of(person: Person, states: Array) -> Array:
    """The sizes of the changes that states make, added up by weight."""
    far = efforts(states - person.factual, person.group_of, person.weights_of_groups)
    return np.asarray(np.round(far, 9))


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """Single changes: states in which one group of columns alone is not the person's own."""

    person: Person
    states: Array
    mine: Mask  # which columns are the group's, a line for each state

    @classmethod
    def of(cls, person: Person, points: Array) -> Changes:
        """Changes of any size up to what donors have, and what only comes whole as they have it."""
        swaps = Swaps(person, points)
        columns = person.columns_on_the_way(swaps.groups.tolist())
        taken = swaps.states(swaps.with_one_more(swaps.nothing_yet()))
        whole = taken[(np.delete(taken != person.factual, columns, axis=1)).any(axis=1)]
        parts = [_parts_of_the_way(person, points, column) for column in columns]
        states = np.concatenate([whole, *parts])
        low, high = person.just_noticeable
        changed = ((states <= low) | (states >= high)) & (states != person.factual)
        states = states[changed.any(axis=1) & person.bounds.contain(states)]
        states = states[are_first_of_equals(states)] if len(states) else states
        groups = person.group_of[np.argmax(states != person.factual, axis=1)]
        return cls(person, states, groups[:, None] == person.group_of)

    def made_to(self, states: Array, most: int | None) -> Array:
        """All states that one change makes of given ones, or of what it was before."""
        if not len(states) or not len(self.states):
            return states[:0]
        more = np.where(self.mine, self.states, states[:, None, :]).reshape(-1, states.shape[1])
        more = more[are_first_of_equals(more)]
        if most is None:
            return np.asarray(more)
        groups = np.unique(self.person.group_of)[:, None] == self.person.group_of
        n_changed = ((more != self.person.factual) @ groups.T).sum(axis=1)
        return np.asarray(more[n_changed <= most])


def _parts_of_the_way(person: Person, points: Array, column: int) -> Array:
    """States in which a number goes part of the way to the lowest and the highest of donors."""
    own = person.factual[column]
    parts = (np.arange(1, _PARTS + 1) / _PARTS) ** 2
    edges = np.array([points[:, column].min(), points[:, column].max()])
    values = (own + parts[:, None] * (edges[edges != own] - own)).ravel()
    states = np.repeat(person.factual[None, :], len(values), axis=0)
    if len(values):
        states[:, column] = person.round_outwards(column, values)
    return states


def _least_on_common_ground(person: Person, states: Array, efforts: Array) -> Questions[Array]:
    """The states of the least effort that keep the floor, the least first."""
    if not len(states):
        return states
    some = states[np.argsort(efforts, kind="stable")[:_MOST_CHECKED]]
    found = yield from ask_density_along(some, some, person.log_floor, person.rule)
    return np.asarray(some[found.passes][:_MOST_ENDS])


def _most_gaining(
    person: Person, states: Array, gained: Array, efforts: Array, *, log_floor: float
) -> Questions[Array]:
    """The states that have gained most score for their effort, on common ground.

    Half of them have also gained much: small changes alone may lead nowhere.
    """
    if not len(states):
        return states
    by_effort = np.argsort(-np.round(gained / efforts, 9), kind="stable")
    by_gain = np.argsort(-np.round(gained**2 / efforts, 9), kind="stable")
    in_turns = np.stack([by_effort, by_gain], axis=1).ravel()
    order = in_turns[np.sort(np.unique(in_turns, return_index=True)[1])]
    some = states[order[: _LOOKED_AT * _MOST_CARRIED]]
    found = yield from ask_density_along(some, some, log_floor, person.rule)
    return np.asarray(some[found.passes][:_MOST_CARRIED])
