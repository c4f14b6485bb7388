"""Actions: few changes, in an order that a person could follow.

A step between two real people changes almost every number a little, and nobody can act on that.
So changes are taken over from many people who reach the target, as few as will do; each stops as
soon as the target is reached; and in their order every step leads over common ground.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.geometry.point_set import are_first_of_equals
from localface.geometry.segments import norms
from localface.search.graph import LocalGraph
from localface.search.person import Person
from localface.search.plan import Plan
from localface.search.questions import OthersHelped, OutOfTime, Questions
from localface.search.side_by_side import side_by_side
from localface.search.stages.effort import (
    Changes,
    efforts_of,
    find_ends_of_little_effort,
    find_shrunken_ends,
)
from localface.search.stages.fewest import are_all_needed, find_fewest_changes
from localface.search.stages.helping import choose_most_helping, doubt_of
from localface.search.stages.lessening import lessen_end
from localface.search.stages.mixing import find_way_by_mixing
from localface.search.stages.reduce import reduce_changes
from localface.search.stages.swaps import Swaps, is_allowed_end
from localface.search.stages.way import (
    Moves,
    Way,
    cost_of_moves,
    effort_of_moves,
    ends_of_ways,
)
from localface.search.stages.ways_to_ends import WaysToEnds
from localface.types import Array

_FEW = 6  # changes up to which sets of them are tried, and every order
_REDUCED = 4  # donors whose changes are reduced where no few will do
_MOST_LESSENED = 6  # ends of little effort whose changes are made smaller
_MOST_LEAST = 4  # ends of little effort to which ways are looked for
_MOST_MIXED = 8  # changes up to which values of several donors are mixed


@dataclass(frozen=True, slots=True, eq=False)
class FoundActions:
    """The moves of actions, and how many others their changes would help, where that was asked."""

    moves: Moves
    helped: OthersHelped | None = None


def find_actions(
    graph: LocalGraph, plan: Plan, donors: list[int], *, log_floor: float
) -> Questions[FoundActions | None]:
    """The fewest changes that reach the target, in order; None where no route keeps the floor.

    ``donors`` are vertices that reach it. With ``plan.every_change`` all changes to the goal are
    made, whatever the score needs. Of ways that cost nearly the same, one is taken that helps
    others as well. Where the fewest features that are found without a limit on them keep it, it
    changes nothing.
    """
    search = _ActionSearch(graph, plan, log_floor)
    helped: OthersHelped | None = None
    if plan.every_change:
        assert graph.goal is not None
        way = yield from search.to_goal(graph.goal)
    else:
        ways, fewer = yield from search.by_few_changes(donors)
        way, helped = yield from search.most_helping(fewer, donors)
        if way is not None and log_floor < graph.person.log_floor and not plan.least_effort:
            way, helped = yield from search.by_needed_changes(way, helped, donors)
        if way is not None and plan.least_effort:
            less = yield from search.by_least_effort([way, *fewer, *ways], donors)
            if less is not way:
                way, helped = yield from search.most_helping([less], donors, only=True)
    if way is None:
        return None
    if not (plan.every_change or graph.out_of_time):
        way, helped = yield from search.no_further_than_target(way, helped, donors)
    if graph.out_of_time:
        return FoundActions(way.moves_in_turn(), helped)
    return FoundActions((yield from way.ordered_moves()), helped)


@dataclass(frozen=True, slots=True, eq=False)
class _ActionSearch:
    """The search for one person's actions; ``log_floor`` is what their first steps must keep."""

    graph: LocalGraph
    plan: Plan
    log_floor: float

    @property
    def person(self) -> Person:
        """Whose actions they are."""
        return self.graph.person

    @property
    def to_ends(self) -> WaysToEnds:
        """What finds ways to the ends that are tried."""
        return WaysToEnds(self.graph, self.plan, self.log_floor)

    def to_goal(self, goal: int) -> Questions[Way | None]:
        """All changes to a goal, whatever the score needs."""
        end = self.graph.points[goal]
        groups = np.unique(self.person.group_of[end != self.person.factual]).tolist()
        return (yield from self.to_ends.way_to(end, groups, self.graph.rows_of([goal])))

    def by_few_changes(self, donors: list[int]) -> Questions[tuple[list[Way], list[Way]]]:
        """Ways by few changes, and by fewer still where values of several donors are mixed.

        The latter keep the limit on features. They are looked for without it first: mixing may
        make few changes of many.
        """
        for most in dict.fromkeys([None, self.plan.max_features]):
            ways = yield from self.by_fewest_changes(donors, most=most)
            if not ways:
                ways = yield from self.by_reduced_changes(donors, most=most)
            fewer = ways
            if ways and self.graph.goal is None:
                fewer = yield from self.by_mixed_changes(ways, donors)
            fewer = self._within_limit(fewer)
            if fewer:
                return ways, fewer
        return [], []

    def _within_limit(self, ways: list[Way]) -> list[Way]:
        """Those of some ways that change no more features than they may."""
        most = self.plan.max_features
        return [way for way in ways if most is None or self._n_changes(way) <= most]

    def by_fewest_changes(
        self,
        donors: list[int],
        *,
        unlike: list[Way] | None = None,
        most: int | None = None,
        only_needed: bool = False,
    ) -> Questions[list[Way]]:
        """The fewest changes that are taken over from donors, each no larger than needed.

        There may be several ways, the cheapest first, ``unlike`` some others where those are given.
        """
        few = yield from find_fewest_changes(
            self.graph,
            donors,
            log_floor=self.log_floor,
            max_changes=self.plan.max_changes,
            most=min(_FEW, most or _FEW),
            unlike=None if unlike is None else ends_of_ways(unlike),
            only_needed=only_needed,
        )
        if not few:
            return []
        rows = self.graph.rows_of(donors)
        ways = yield from side_by_side([self.to_ends.least_way(one, rows) for one in few])
        return sorted(ways, key=lambda way: cost_of_moves(self.person, way.moves))

    def by_needed_changes(
        self, way: Way, helped: OthersHelped | None, donors: list[int]
    ) -> Questions[tuple[Way, OthersHelped | None]]:
        """A way by as few changes, all of which the score needs; the same one where none is found.

        Who starts below the floor may be led above it by a change that the score does not need.
        """
        best: tuple[Way, OthersHelped | None] = way, helped
        if self.graph.out_of_time:
            return best
        rows = self.graph.rows_of(donors)
        cost = cost_of_moves(self.person, way.moves)
        try:
            if not (yield from are_all_needed(self.graph, ends_of_ways([way]), rows))[0]:
                more = yield from self.by_fewest_changes(
                    donors, most=self._n_changes(way), only_needed=True
                )
                more = [one for one in more if cost_of_moves(self.person, one.moves)[0] <= cost[0]]
                if more:
                    fine = yield from are_all_needed(self.graph, ends_of_ways(more), rows)
                    more = [one for one, needed in zip(more, fine, strict=True) if needed]
                chosen, of_chosen = yield from self.most_helping(more, donors, only=True)
                best = best if chosen is None else (chosen, of_chosen)
        except OutOfTime:
            self.graph.out_of_time = True
        return best

    def _n_changes(self, way: Way) -> int:
        end = way.moves[-1].point
        return len(np.unique(self.person.group_of[end != self.person.factual]))

    def by_reduced_changes(self, donors: list[int], *, most: int | None) -> Questions[list[Way]]:
        """Take over all that a donor has, and put back what is not needed; the cheapest of some.

        It changes at most so many features, where a number is given.
        """
        graph = self.graph
        person = self.person
        points = graph.points[donors]
        swaps = Swaps(person, points)
        full = np.where(swaps.differs @ swaps.touched, points, person.factual)
        scores = yield from graph.states.scores_of(full, graph.rows_of(donors))
        passes = yield from graph.states.keep_floor(full, full, person.log_floor)
        # without what is fixed or too small to notice, a donor's values may not reach the target
        fine = passes & (scores >= person.min_score) & is_allowed_end(person, full)
        sound = [i for i in np.flatnonzero(fine).tolist() if swaps.differs[i].any()]
        reduced = []
        for i in sound[:_REDUCED]:
            rows = graph.rows_of([donors[i]])
            kept = yield from reduce_changes(
                graph, full[i], swaps.groups[swaps.differs[i]].tolist(), rows
            )
            made = np.isin(swaps.groups, kept)
            weight = float((made * swaps.weights).sum())
            effort = float((made * swaps.weights * swaps.sizes[i]).sum())
            if most is None or len(kept) <= most:
                reduced.append((round(weight, 9), round(effort, 9), i, kept, rows))
        for _, _, i, kept, rows in sorted(reduced, key=lambda one: one[:3]):
            end = np.where(person.columns_of(kept), full[i], person.factual)
            settled = yield from self.to_ends.settled_way(end, kept, rows)
            if settled is not None:
                return [(yield from self.to_ends.stop_at_target(settled))]
            way = yield from self.to_ends.way_to(end, kept, rows)
            if way is not None:
                return [(yield from self.to_ends.stop_at_target(way))]
        return []

    def by_mixed_changes(self, ways: list[Way], donors: list[int]) -> Questions[list[Way]]:
        """A cheaper way by fewer changes, of several donors; the ways themselves without one.

        It goes no further than one step may. When time is up meanwhile, the known ways are taken.
        """
        person = self.person
        way = ways[0]
        cost = cost_of_moves(person, way.moves)
        rows = self.graph.rows_of(donors)

        def find_cheaper_way(end: Array) -> Questions[Way | None]:
            if norms(end - person.factual) > person.max_step:
                return None
            groups = np.unique(person.group_of[end != person.factual]).tolist()
            found = yield from self.to_ends.settled_way(end, groups, rows)
            if found is not None:
                found = yield from self.to_ends.stop_at_target(found)
            else:
                found = yield from self.to_ends.way_to(end, groups, rows)
            if found is None or cost_of_moves(person, found.moves) >= cost:
                return None
            return found

        most = min(self._n_changes(way) - 1, _MOST_MIXED)
        if most == 0:
            return ways
        try:
            found = yield from find_way_by_mixing(
                self.graph, donors, most=most, find_way=find_cheaper_way
            )
        except OutOfTime:
            self.graph.out_of_time = True
            found = None
        return ways if found is None else [found]

    def by_least_effort(self, ways: list[Way], donors: list[int]) -> Questions[Way]:
        """A way of less effort than known ones, by as many changes as it takes.

        Where there is none, or time is up meanwhile, it is the least of the known ways.
        """
        known = self._within_limit(ways)
        if not self.graph.out_of_time and self.graph.goal is None:
            try:
                known = [*known, *(yield from self._ways_of_little_effort(known, donors))]
            except OutOfTime:
                self.graph.out_of_time = True
        return min(known, key=lambda way: effort_of_moves(self.person, way.moves))

    def _ways_of_little_effort(self, ways: list[Way], donors: list[int]) -> Questions[list[Way]]:
        """Ways to ends of less effort than those of known ways, where there are such ends."""
        graph = self.graph
        person = self.person
        rows = graph.rows_of(donors)
        ends = ends_of_ways(ways)
        grown = yield from find_ends_of_little_effort(
            graph,
            donors,
            log_floor=self.log_floor,
            most=self.plan.max_features,
            least=float(efforts_of(person, ends).min()),
        )
        shrunken = yield from find_shrunken_ends(graph, donors, ends)
        some = _of_least_effort(person, np.concatenate([grown, shrunken, ends]), _MOST_LESSENED)
        changes = Changes.of(person, graph.points[donors])
        less = yield from side_by_side([lessen_end(graph, changes, end, rows) for end in some])
        best = _of_least_effort(person, np.concatenate([np.stack(less), some]), _MOST_LEAST)
        found = yield from side_by_side(
            [self.to_ends.way_of_little_effort(end, rows) for end in best]
        )
        return [way for way in found if way is not None]

    def no_further_than_target(
        self, way: Way, helped: OthersHelped | None, donors: list[int]
    ) -> Questions[tuple[Way, OthersHelped | None]]:
        """Leave out the last moves of a way that has reached the target before them."""
        shorter = yield from self.to_ends.stop_at_target(way)
        if len(shorter.moves) < len(way.moves):
            way = shorter
            _, helped = yield from self.most_helping([way], donors, only=True)
        return way, helped

    def most_helping(
        self, ways: list[Way], donors: list[int], *, only: bool = False
    ) -> Questions[tuple[Way | None, OthersHelped | None]]:
        """One of some ways, the cheapest of which comes first, and how many others it helps.

        Where it is doubtful, more ways by as few changes are looked for, unless ``only`` these
        count. When time is up, the best so far is taken.
        """
        if not ways or self.graph.out_of_time:
            return (ways[0] if ways else None), None
        best: tuple[Way, OthersHelped | None] = (ways[0], None)
        try:
            way, helped = yield from self._choose(ways, donors)
            best = way, helped
            if doubt_of(helped) and not only:
                more = yield from self.by_fewest_changes(
                    donors, unlike=ways, most=self.plan.max_features
                )
                other, of_other = yield from self._choose([ways[0], *more], donors)
                if doubt_of(of_other) < doubt_of(helped):
                    best = other, of_other
        except OutOfTime:
            self.graph.out_of_time = True
        return best

    def _choose(self, ways: list[Way], donors: list[int]) -> Questions[tuple[Way, OthersHelped]]:
        """The way that helps most of those that cost hardly more than the first."""
        costs = [cost_of_moves(self.person, way.moves) for way in ways]
        chosen, helped = yield from choose_most_helping(
            self.person, ends_of_ways(ways), costs, self.graph.rows_of(donors)
        )
        return ways[chosen], helped


def _of_least_effort(person: Person, ends: Array, most: int) -> Array:
    """Different ends, at most so many, the least effort first."""
    ends = ends[are_first_of_equals(ends)]
    return np.asarray(ends[np.argsort(efforts_of(person, ends), kind="stable")[:most]])
