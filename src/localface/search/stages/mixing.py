"""Mixing: fewer changes than any one donor's would be, each taken over from whoever it helps most.

``fewest`` makes sets of one donor's changes. Here a few values of every feature are mixed freely:
those that raise the score most by themselves, a donor's or further than any donor's, though no
further than somebody's in the data. That makes
many more sets, so that few are carried on from level to level, as long as the score rises fast
enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from localface.geometry.point_set import are_first_of_equals
from localface.geometry.segments import norms
from localface.search.graph import LocalGraph
from localface.search.person import Person
from localface.search.questions import Questions, ask_density_along
from localface.search.stages.swaps import Swaps, are_sound_ends, is_allowed_end
from localface.types import Array, Ids, Mask

_MOST_VALUES = 4  # of each feature
_FURTHER = (1.5, 2.5)  # times as far as the furthest donor
_BETWEEN = (1.25, 1.75, 2.0, 2.25)  # likewise, where one change alone may do
_MOST_CARRIED = 24  # states that a level hands on to the next
_PACE = 1.5  # times what the last change added that each one still to come may add
_LOOKED_AT = 3  # times as many are looked at, for their density
_MOST_CHECKED = 64  # ends of one level whose density is looked at
_MOST_ROUTES = 4  # ends of one level to which a way is looked for

Way = TypeVar("Way")
FindWay = Callable[[Array], Questions[Way | None]]
"""Looks for a way to an end."""


def find_way_by_mixing(
    graph: LocalGraph, donors: list[int], *, most: int, find_way: FindWay[Way]
) -> Questions[Way | None]:
    """Find a way to a state that reaches the target by at most so many changes; None without one.

    ``donors`` are vertices that reach it.
    """
    person = graph.person
    points = graph.points[donors]
    rows = graph.rows_of(donors)
    states, scores, n_mixed = yield from _single_changes(graph, points, rows)
    values = _best_values(graph, states[:n_mixed], scores[:n_mixed])
    reached = float(graph.scores[0])
    for size in range(1, most + 1):
        ends = yield from _cheapest_ends(person, states, scores)
        for end in (yield from _rounded_ends(graph, ends, points, rows)):
            way = yield from find_way(end)
            if way is not None:
                return way
        if size == 1:
            states, scores = values.states, values.scores
        if size == most or not len(states):
            break
        carried, best = yield from _most_promising(person, states, scores)
        if best + _PACE * (best - reached) * (most - size) < person.min_score:
            break
        reached = best
        states = values.with_one_more(carried)
        if not len(states):
            break
        scores = yield from graph.states.scores_of(states, rows)
    return None


@dataclass(frozen=True, slots=True, eq=False)
class _Values:
    """Values of groups of columns: states in which one group alone is not the person's own."""

    person: Person
    states: Array
    scores: Array
    mine: Mask  # which columns are the group's, a line for each state

    def with_one_more(self, states: Array) -> Array:
        """All states that make one change more than given ones do."""
        changed = states != self.person.factual
        which, value = np.nonzero(~(changed @ self.mine.T))
        more = np.where(self.mine[value], self.states[value], states[which])
        return np.asarray(more[are_first_of_equals(more)]) if len(more) else more


def _single_changes(
    graph: LocalGraph, points: Array, rows: Ids
) -> Questions[tuple[Array, Array, int]]:
    """States of one change each, their scores, and how many of them, the first, are mixed."""
    swaps = Swaps(graph.person, points)
    taken = swaps.states(swaps.with_one_more(swaps.nothing_yet()))
    beyond = _beyond_donors(graph.person, swaps, _FURTHER)
    between = _beyond_donors(graph.person, swaps, _BETWEEN)
    states = np.concatenate([taken, beyond, between])
    scores = yield from graph.states.scores_of(states, rows)
    return states, scores, len(taken) + len(beyond)


def _best_values(graph: LocalGraph, states: Array, scores: Array) -> _Values:
    """The values of each group that raise the score most by themselves; of as good, the nearest."""
    person = graph.person
    scores = np.round(scores, 9)
    groups = person.group_of[np.argmax(states != person.factual, axis=1)]
    sizes = np.round(norms(states - person.factual), 9)
    order = np.lexsort((sizes, -scores, groups))
    order = order[scores[order] > round(float(graph.scores[0]), 9)]
    is_other = (np.diff(groups[order], prepend=-1) != 0) | (np.diff(scores[order], prepend=0) != 0)
    order = order[is_other]
    first_of_group = np.searchsorted(groups[order], groups[order])
    order = order[np.arange(len(order)) - first_of_group < _MOST_VALUES]
    mine = groups[order][:, None] == person.group_of
    return _Values(person, states[order], scores[order], mine)


def _beyond_donors(person: Person, swaps: Swaps, factors: tuple[float, ...]) -> Array:
    """States in which one number goes further than with any donor; they are not round yet.

    None goes further than anybody's in the data: nothing is known of what lies beyond.
    """
    columns = np.array(person.columns_on_the_way(swaps.groups.tolist()), dtype=np.int64)
    own = person.factual[columns]
    edges = np.stack([swaps.points[:, columns].min(axis=0), swaps.points[:, columns].max(axis=0)])
    values = np.concatenate([own + factor * (edges - own) for factor in factors])
    values = person.no_further_than_seen(columns, values)
    states = np.repeat(person.factual[None, :], values.size, axis=0)
    states[np.arange(values.size), np.tile(columns, len(values))] = values.ravel()
    low, high = person.just_noticeable
    is_noticed = (((states <= low) | (states >= high)) & (states != person.factual)).any(axis=1)
    return np.asarray(states[is_noticed & person.bounds.contain(states)])


def _cheapest_ends(person: Person, states: Array, scores: Array) -> Questions[Array]:
    """The states that reach the target on common ground by the least effort."""
    fine = np.flatnonzero((scores >= person.min_score) & is_allowed_end(person, states))
    if not len(fine):
        return states[:0]
    counts, efforts = _costs(person, states[fine])
    best = states[fine[np.lexsort((-scores[fine], efforts, counts))][:_MOST_CHECKED]]
    found = yield from ask_density_along(best, best, person.log_floor, person.rule)
    return np.asarray(best[found.passes][:_MOST_ROUTES])


def _rounded_ends(graph: LocalGraph, ends: Array, points: Array, rows: Ids) -> Questions[Array]:
    """Ends with round values where they go further than any donor; those that are sound then."""
    person = graph.person
    rounded = ends.copy()
    for end in rounded:
        groups = np.unique(person.group_of[end != person.factual]).tolist()
        for column in person.columns_on_the_way(groups):
            if end[column] not in points[:, column]:
                value = person.round_outwards(column, end[column : column + 1])[0]
                end[column] = person.no_further_than_seen(column, value)
    if (rounded == ends).all():
        return ends
    scores = yield from graph.states.scores_of(rounded, rows)
    return rounded[(yield from are_sound_ends(person, rounded, scores))]


def _most_promising(person: Person, states: Array, scores: Array) -> Questions[tuple[Array, float]]:
    """The states with the highest scores, those on common ground first, and the best of these."""
    order = np.argsort(-scores, kind="stable")[: _LOOKED_AT * _MOST_CARRIED]
    some = states[order]
    found = yield from ask_density_along(some, some, person.log_floor, person.rule)
    best = float(scores[order[found.passes]].max(initial=-np.inf))
    order = order[np.argsort(~found.passes, kind="stable")[:_MOST_CARRIED]]
    return states[order], best


def _costs(person: Person, states: Array) -> tuple[Array, Array]:
    """The number of changes that states make and the sum of their sizes, both by weight."""
    groups = np.unique(person.group_of)
    weights = np.array([person.weight_of((int(group),)) for group in groups])
    is_in_group = groups[:, None] == person.group_of
    sizes = norms(np.where(is_in_group, (states - person.factual)[:, None, :], 0.0))
    return np.round((sizes > 0) @ weights, 9), np.round(sizes @ weights, 9)
