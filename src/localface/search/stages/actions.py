"""Actions: few changes, in an order that a person could follow.

A step between two real people changes almost every number a little, and nobody can
act on that. Between the person and where the path ends lies a lattice of states, each
with some of the changes made. The model scores a whole lattice at a call; steps are
checked one by one, and only where a route would take them.
"""

from __future__ import annotations

from localface.search.graph import LocalGraph
from localface.search.lattice import Lattice
from localface.search.move import Move
from localface.search.questions import Questions
from localface.search.stages.ordering import Route, find_route, moves_of_route
from localface.search.stages.sparsify import lattice_of_few_changes
from localface.types import Ids

_MAX_SUBSETS = 2**8  # sets of changes whose routes are looked for


def find_actions(
    graph: LocalGraph, end: int, *, log_floor: float, max_changes: int = 1, every_change: bool
) -> Questions[tuple[Move, ...] | None]:
    """Reduce a change to few features and order them; None where no route keeps the floor.

    The set of changes has as few members as possible and, among those, the smallest sum
    of changes; where changes have weights, members and sizes count by them. The route
    makes as few changes at once as it can and, among such routes, the score rises
    soonest. ``every_change`` asks for all changes, whatever the score needs.
    """
    for by_density in (False,) if every_change else (False, True):
        lattice = yield from lattice_of_few_changes(
            graph, end, log_floor, every_change=every_change, by_density=by_density
        )
        if lattice is None:
            continue
        route = yield from _route_to_best_subset(
            lattice, graph.donor_rows(end), max_changes, every_change=every_change
        )
        if route is not None:
            return (yield from moves_of_route(lattice, route))
    return None


def _route_to_best_subset(
    lattice: Lattice, donors: Ids, max_changes: int, *, every_change: bool
) -> Questions[Route | None]:
    """The route to the best subset that has one; few changes are scored before many are."""
    left = _MAX_SUBSETS
    for sizes in _subset_sizes_in_turn(lattice, every_change=every_change):
        yield from lattice.ask_scores(donors, sizes)
        if every_change:
            candidates = [len(lattice.states) - 1]
        else:
            candidates = yield from lattice.allowed_ends(
                lattice.subsets_reaching_target(sizes)[:left]
            )
        for subset in candidates:
            left -= 1
            yield from lattice.check_states_are_dense(candidates)
            if not lattice.is_possible(subset):
                continue
            route = yield from find_route(lattice, subset, max_changes)
            if route is not None:
                return route
    return None


def _subset_sizes_in_turn(lattice: Lattice, *, every_change: bool) -> list[range]:
    """Sizes of the subsets to score, turn by turn; with weights, more changes may cost less."""
    n = len(lattice.changes)
    if every_change or len(set(lattice.weights)) > 1:
        return [range(n + 1)]
    return [range(3), range(3, 4), range(4, n + 1)]
