"""Ways to ends that were found: in the best order, each change no larger than needed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from localface.geometry.segments import norms
from localface.search.graph import LocalGraph
from localface.search.lattice import Lattice
from localface.search.plan import Plan
from localface.search.questions import Questions
from localface.search.stages.fewest import FewChanges
from localface.search.stages.joint_moves import route_by_joint_moves
from localface.search.stages.ordering import find_route
from localface.search.stages.reduce import reduce_changes
from localface.search.stages.settle import (
    Rounding,
    goes_further,
    round_onwards,
    rounder_ends,
    settle_values,
)
from localface.search.stages.swaps import is_allowed_end
from localface.search.stages.way import Way
from localface.types import Array, Ids

_FEW = 6  # changes up to which every order is tried


@dataclass(frozen=True, slots=True, eq=False)
class WaysToEnds:
    """Finds one person's ways to ends; ``log_floor`` is what their first steps must keep."""

    graph: LocalGraph
    plan: Plan
    log_floor: float

    def way_of_little_effort(self, end: Array, rows: Ids) -> Questions[Way | None]:
        """A way to an end, each change no larger than needed; None where there is none."""
        person = self.graph.person
        if norms(end - person.factual) > person.max_step:
            return None
        groups = np.unique(person.group_of[end != person.factual]).tolist()
        groups = yield from reduce_changes(self.graph, end, groups, rows)
        end = np.where(person.columns_of(groups), end, person.factual)
        most = self.plan.max_features
        if most is not None and len(groups) > most:
            return None
        found = yield from self.settled_way(end, groups, rows, onwards=person.round_closely)
        if found is not None:
            return (yield from self.stop_at_target(found))
        return (yield from self.way_to(end, groups, rows))

    def least_way(self, few: FewChanges, rows: Ids) -> Questions[Way]:
        """The way of a set of changes, each no larger than needed where that is sound."""
        end = few.lattice.states[few.route[-1]]
        groups = [group for change in few.lattice.changes for group in change]
        settled = yield from self.settled_way(end, groups, rows)
        if settled is None:
            return Way.through_lattice(few.lattice, few.route)
        return (yield from self.stop_at_target(settled))

    def settled_way(
        self, end: Array, groups: list[int], rows: Ids, *, onwards: Rounding | None = None
    ) -> Questions[Way | None]:
        """A way by the same changes, each no larger than needed; None where none is sound.

        Numbers end at round values, a little ``onwards`` where need be, and at multiples of their
        resolution, where such an end is sound.
        """
        onwards = self.graph.person.round_outwards if onwards is None else onwards
        settled = yield from settle_values(self.graph, end, groups, rows, onwards=onwards)
        rounded = yield from round_onwards(self.graph, settled, groups, rows)
        tried = [settled] if rounded is settled else [rounded, settled]
        found = yield from self._first_way(end, tried, groups, rows)
        if found is not None:
            return found
        rounder = yield from rounder_ends(self.graph, end, groups, rows, onwards=onwards)
        found = yield from self._first_way(end, rounder, groups, rows)
        if found is not None or not goes_further(self.graph.person, end, settled):
            return found
        settled = yield from settle_values(self.graph, end, groups, rows)
        return (yield from self._first_way(end, [settled], groups, rows))

    def _first_way(
        self, end: Array, tried: Iterable[Array], groups: list[int], rows: Ids
    ) -> Questions[Way | None]:
        """A way to the first of some ends to which there is one."""
        for one in tried:
            way = yield from self._way_to_settled(end, one, groups, rows)
            if way is not None:
                return way
        return None

    def way_to(self, end: Array, groups: list[int], rows: Ids) -> Questions[Way | None]:
        """A way by all changes to an end, in the best order where there are few."""
        if len(groups) > _FEW:
            moves = yield from route_by_joint_moves(
                self.graph, end, groups, rows=rows, log_floor=self.log_floor
            )
            return None if moves is None else Way(moves)
        lattice = Lattice(self.graph, end, [(group,) for group in groups], self.log_floor)
        yield from lattice.ask_scores(rows, range(len(groups) + 1))
        route = yield from find_route(lattice, len(lattice.states) - 1, self.plan.max_changes)
        return None if route is None else Way.through_lattice(lattice, route)

    def stop_at_target(self, way: Way) -> Questions[Way]:
        """Leave out the moves after the target is reached: smaller changes may need fewer of them.

        Who starts below the floor goes on until they are above it.
        """
        person = self.graph.person
        states = np.stack([move.point for move in way.moves])
        scores = np.array([move.score for move in way.moves])
        fine = (scores >= person.min_score) & is_allowed_end(person, states)
        if self.log_floor < person.log_floor and fine[:-1].any():
            ends = states[fine]
            fine[fine] = yield from self.graph.states.keep_floor(ends, ends, person.log_floor)
        first = np.flatnonzero(fine)
        return way.up_to(int(first[0]) + 1) if len(first) else way

    def _way_to_settled(
        self, end: Array, settled: Array, groups: list[int], rows: Ids
    ) -> Questions[Way | None]:
        """A way to what has become of an end; None where it is the same, or is not sound."""
        person = self.graph.person
        if (settled == end).all():
            return None
        alone = settled[None, :]
        passes = yield from self.graph.states.keep_floor(alone, alone, person.log_floor)
        if not passes[0]:
            return None
        return (yield from self.way_to(settled, groups, rows))
