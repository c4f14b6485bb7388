"""Fewest: reach the target by changing as few features as possible, taken over from many people.

A level makes one change more than the level before it. The model scores all sets of changes of
a level in one call; of those that reach the target, the cheapest that leads over common ground
is taken. Where a level has none, its most promising sets are carried on to the next.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.search.graph import LocalGraph
from localface.search.lattice import Lattice
from localface.search.questions import Questions
from localface.search.side_by_side import side_by_side
from localface.search.stages.ordering import Route, find_route
from localface.search.stages.swaps import ChangeSets, Swaps, is_allowed_end
from localface.types import Array, Ids, Mask

_FEW_FEATURES = 8  # of which all sets are tried
_MOST_CARRIED = 48  # sets that a level hands on to the next
_MOST_PER_DONOR = 4  # of those that are looked at for it, from one person
_LOOKED_AT = 3  # times as many are looked at
_CHECKED_AT_ONCE = 32  # ends whose ground is looked at in one question
_MOST_CHECKED = 128  # ends of one level whose ground is looked at
_MOST_PUT_BACK = 512  # ends of one level of which it is looked at whether each change is needed
_MOST_KEPT = 4  # sets of as many changes: which is the least effort is seen when values settle
_MOST_ROUTES = 8  # ends of one level to which a route is looked for
_MOST_LAST_ROUTES = 32  # the same of sets that change all there is: no level follows


@dataclass(frozen=True, slots=True, eq=False)
class FewChanges:
    """A lattice over few changes, and a route through it to the state that makes them all."""

    lattice: Lattice
    route: Route
    cost: tuple[float, float]  # the number of changes and the sum of their sizes, by weight


def find_fewest_changes(
    graph: LocalGraph,
    donors: list[int],
    *,
    log_floor: float,
    max_changes: int,
    most: int,
    unlike: Array | None = None,
    only_needed: bool = False,
) -> Questions[list[FewChanges]]:
    """Find the fewest changes, at most so many, that lead to the target over common ground.

    ``donors`` are vertices that reach the target. Of as few changes there may be several sets,
    the cheapest first. With ends to be ``unlike``, the sets are by other changes than those that
    lead there, and by other ones each. ``only_needed`` leaves out sets
    with a change that the score does not need.
    """
    swaps = Swaps(graph.person, graph.points[donors])
    rows = graph.rows_of(donors)
    carried = swaps.nothing_yet()
    level: _Level | None = None
    best: list[FewChanges] = []
    for size in range(1, most + 1):
        cheapest = float(np.sort(swaps.weights)[:size].sum())
        if best and best[0].cost[0] <= cheapest:
            break
        if level is not None:
            carried = level.sets.subset((yield from level.most_promising()))
        sets = swaps.with_one_more(carried)
        if not len(sets):
            break
        scores = yield from graph.states.scores_of(swaps.states(sets), rows)
        most_routes = _MOST_LAST_ROUTES if size == len(swaps.groups) else _MOST_ROUTES
        level = _Level(
            graph,
            swaps,
            sets,
            scores,
            rows,
            log_floor,
            max_changes,
            most_routes,
            unlike,
            only_needed,
        )
        found = yield from level.cheapest_on_common_ground()
        if found and (not best or found[0].cost < best[0].cost):
            best = found
    return best


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """The sets of one level, scored."""

    graph: LocalGraph
    swaps: Swaps
    sets: ChangeSets
    scores: Array
    rows: Ids
    log_floor: float
    max_changes: int
    most_routes: int
    unlike: Array | None = None
    only_needed: bool = False

    def cheapest_on_common_ground(self) -> Questions[list[FewChanges]]:
        """The cheapest sets that reach the target and have a route, all of as many changes."""
        person = self.graph.person
        states = self.swaps.states(self.sets)
        counts, efforts = self.swaps.costs(self.sets)
        fine = (self.scores >= person.min_score) & is_allowed_end(person, states)
        order = np.lexsort((-self.scores, efforts, counts))
        order = order[fine[order]]
        if self.unlike is not None:
            order = order[_is_first_by_its_changes(person.factual, states[order], self.unlike)]
        if self.only_needed:
            order = order[:_MOST_PUT_BACK]
            order = order[(yield from are_all_needed(self.graph, states[order], self.rows))]
        order = order[:_MOST_CHECKED]
        tries = 0
        kept: list[FewChanges] = []
        for first in range(0, len(order), _CHECKED_AT_ONCE):
            some = order[first : first + _CHECKED_AT_ONCE]
            ends = states[some]
            passes = yield from self.graph.states.keep_floor(ends, ends, person.log_floor)
            left = some[passes][: self.most_routes - tries]
            tries += len(left)
            while len(left):
                if kept and (counts[left[0]] > kept[0].cost[0] or len(kept) == _MOST_KEPT):
                    return kept
                # of as many changes several are wanted: their routes are looked for together
                at_once = left[: _MOST_KEPT - len(kept)]
                at_once = at_once[counts[at_once] == counts[left[0]]]
                few = yield from side_by_side(
                    [self._with_route(i, states[i], (counts[i], efforts[i])) for i in at_once]
                )
                kept += [one for one in few if one is not None]
                left = left[len(at_once) :]
        return kept

    def most_promising(self) -> Questions[Ids]:
        """The sets with the highest scores, few of each donor, those on common ground first."""
        if len(self.swaps.groups) <= _FEW_FEATURES:
            return np.arange(len(self.sets))
        order = np.argsort(-self.scores, kind="stable")
        few = _times_seen_before(self.sets.donors[order]) < _MOST_PER_DONOR
        looked_at = order[few][: _LOOKED_AT * _MOST_CARRIED]
        if len(looked_at) <= _MOST_CARRIED:
            return looked_at
        states = self.swaps.states(self.sets.subset(looked_at))
        passes = yield from self.graph.states.keep_floor(
            states, states, self.graph.person.log_floor
        )
        order = np.argsort(~passes, kind="stable")
        return np.asarray(looked_at[order[:_MOST_CARRIED]])

    def _with_route(
        self, number: int, end: Array, cost: tuple[float, float]
    ) -> Questions[FewChanges | None]:
        """One set with a route to its state; None where none keeps to common ground."""
        changes = [(int(group),) for group in self.swaps.groups[self.sets.made[number]]]
        lattice = Lattice(self.graph, end, changes, self.log_floor)
        yield from lattice.ask_scores(self.rows, range(len(changes) + 1))
        route = yield from find_route(lattice, len(lattice.states) - 1, self.max_changes)
        return None if route is None else FewChanges(lattice, route, cost)


def are_all_needed(graph: LocalGraph, states: Array, rows: Ids) -> Questions[Mask]:
    """Tell which states would miss the score without any one of their changes.

    A change that is not needed for the score is there for the density alone.
    """
    person = graph.person
    groups = np.unique(person.group_of)[:, None] == person.group_of
    which, group = np.nonzero((states != person.factual) @ groups.T)
    needed = np.ones(len(states), dtype=bool)
    if len(which):
        without = np.where(groups[group], person.factual, states[which])
        scores = yield from graph.states.scores_of(without, rows)
        enough = (scores >= person.min_score) & is_allowed_end(person, without)
        needed[which[enough]] = False
    return needed


def kinds_of_change(own: Array, states: Array) -> list[bytes]:
    """Return by which changes states are reached, whatever their size: the same for the same."""
    return [signs.tobytes() for signs in np.sign(states - own) + 0.0]  # -0.0 is 0.0


def _is_first_by_its_changes(own: Array, states: Array, unlike: Array) -> Mask:
    """Tell which states are the first by their changes, and by others than those unlike."""
    seen = set(kinds_of_change(own, unlike))
    first = []
    for changes in kinds_of_change(own, states):
        first.append(changes not in seen)
        seen.add(changes)
    return np.array(first, dtype=bool)


def _times_seen_before(numbers: Ids) -> Ids:
    """Return how often each number occurs before its place.

    >>> _times_seen_before(np.array([3, 1, 3, 3, 1])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(numbers, kind="stable")
    firsts = np.flatnonzero(np.diff(numbers[order], prepend=numbers[order[:1]] - 1))
    sizes = np.diff(firsts, append=len(numbers))
    seen = np.empty(len(numbers), dtype=np.int64)
    seen[order] = np.arange(len(numbers)) - np.repeat(firsts, sizes)
    return seen
