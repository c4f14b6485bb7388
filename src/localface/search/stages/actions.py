"""Actions: few changes, in an order that a person could follow.

A step between two real people changes almost every number a little, and nobody can
act on that. Between the person and where the path ends lies a lattice of states, each
with some of the changes made. The model scores a whole lattice at a call; steps are
checked one by one, and only where a route would take them.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from localface.geometry.segments import norms
from localface.search.graph import LocalGraph
from localface.search.lattice import Change, Lattice, weight_of
from localface.search.questions import Asks, ask_density_along, ask_point_scores
from localface.types import Array, Ids, Mask

EXACT = 12
"""Changes up to which every subset and every order is considered; the smallest of more are made together."""

_TURNS = 5  # calls of the model spent on putting changes back, each way of doing it
_MOST = 2**8  # sets of changes whose routes are looked for
_CUTS = 8  # finer cuts that are tried where whole numbers make pieces too long
_PAIRS = 8  # changes up to which every pair is tried in the other order
Route = tuple[int, ...]  # states on the way, each a bit mask over the changes, from none to all


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """One action: the state after it, its score, what changes, and which earlier moves must come first."""

    point: Array
    score: float
    follows: tuple[int, ...] = ()


def act(
    graph: LocalGraph, end: int, *, log_floor: float, max_changes: int = 1, whole: bool = False
) -> Asks[tuple[Move, ...] | None]:
    """Reduce a change to few features and find an order for them; None where no route keeps the floor.

    The set of changes has as few members as possible and, among those, the smallest sum
    of changes; where changes have weights, members and sizes count by them. The route
    makes as few changes at once as it can and, among such routes, the score rises
    soonest. ``whole`` asks for every change, whatever the score needs.
    """
    for on_ground in (False,) if whole else (False, True):
        lattice = yield from _lattice(graph, end, log_floor, whole=whole, on_ground=on_ground)
        if lattice is None:
            continue
        route = yield from _first_route(lattice, graph.donors(end), max_changes, whole=whole)
        if route is not None:
            return (yield from _moves(lattice, route))
    return None


def _first_route(
    lattice: Lattice, donors: Ids, max_changes: int, *, whole: bool
) -> Asks[Route | None]:
    """The best subset that has a route, and the route; few changes are scored before many are."""
    left, n = _MOST, len(lattice.changes)
    in_turn = (
        [range(n + 1)]
        if whole or len(set(lattice.weights)) > 1
        else [range(3), range(3, 4), range(4, n + 1)]
    )
    for sizes in in_turn:
        yield from lattice.score(donors, sizes)
        everything = [len(lattice.states) - 1]
        candidates = (
            everything if whole else (yield from lattice.arriving(lattice.candidates(sizes)[:left]))
        )
        for subset in candidates:
            left -= 1
            yield from lattice.look(candidates)
            route = (
                (yield from _route(lattice, subset, max_changes))
                if lattice.conceivable(subset)
                else None
            )
            if route is not None:
                return route
    return None


def _lattice(
    graph: LocalGraph, end: int, log_floor: float, *, whole: bool, on_ground: bool
) -> Asks[Lattice | None]:
    """Put back what need not change, until few enough changes are left to try every subset of them."""
    person, target = graph.person, graph.points[end]
    apart = np.abs(target - person.factual)
    fixed = () if person.fixed is None else np.unique(person.group_of[person.fixed])
    groups = [int(group) for group in np.unique(person.group_of[apart > 0]) if group not in fixed]
    noticed = [
        group for group in groups if (apart >= person.resolution)[person.group_of == group].any()
    ]
    if on_ground:
        kept: list[int] | None = yield from _grounded(graph, end, groups, log_floor)
    else:
        kept = groups if whole else (yield from _needed(graph, end, noticed))
    if kept is None:  # what is too small to notice was needed after all
        kept = yield from _needed(graph, end, groups)
    if not kept:
        return None
    return Lattice(graph, target, _bundled(graph, target, kept), log_floor)


def _needed(graph: LocalGraph, end: int, groups: list[int]) -> Asks[list[int] | None]:
    """Put changes back, those the score needs least first, as long a run at a time as it allows.

    Each turn takes two calls of the model: every change put back by itself, then the
    whole chain in that order. None where the changes do not reach the target to begin with.
    """
    kept, target, donors = groups, graph.points[end], graph.donors(end)
    for _ in range(_TURNS // 2):
        if len(kept) <= EXACT:
            break
        none_or_one = np.vstack([np.ones(len(kept), dtype=bool), ~np.eye(len(kept), dtype=bool)])
        singles = yield from ask_point_scores(_states(graph, target, kept, none_or_one), donors)
        if singles[0] < graph.person.min_score:
            return None
        spare = (
            singles[1:] >= graph.person.min_score
        )  # of those that can go by themselves, the dearest first
        dear = np.where(spare, [weight_of(graph.person, (group,)) for group in kept], 0.0)
        order = [
            kept[i]
            for i in np.lexsort((np.array(kept), -singles[1:], -dear))
            if not _outside(graph, kept[i])
        ]
        if not order:
            break
        chain = _states(graph, target, kept, _put_back(kept, order))
        fine = np.flatnonzero(
            (yield from ask_point_scores(chain, donors)) >= graph.person.min_score
        )
        if len(fine) == 0:
            break
        kept = [group for group in kept if group not in order[: int(fine[-1]) + 1]]
    return kept


def _grounded(graph: LocalGraph, end: int, groups: list[int], log_floor: float) -> Asks[list[int]]:
    """Put changes back, the smallest first, as long as the state that is left is common and can be gone to straight.

    Where the few changes that the score needs lead nowhere common, others must come
    along: this keeps those. Each turn takes one call of the model.
    """
    target, donors = graph.points[end], graph.donors(end)
    sizes = {
        g: float(norms((target - graph.person.factual)[graph.person.group_of == g])) for g in groups
    }
    kept = groups
    loose = sorted(
        (g for g in groups if not _outside(graph, g)), key=lambda group: (sizes[group], group)
    )
    for _ in range(_TURNS):
        if not loose or len(kept) == 1:
            break
        chain = _states(graph, target, kept, _put_back(kept, loose))
        fine = (yield from ask_point_scores(chain, donors)) >= graph.person.min_score
        fine &= graph.person.keeps_relations(chain)
        for starts in (chain, np.broadcast_to(graph.person.factual, chain.shape)):
            if fine.any():
                ground = yield from ask_density_along(
                    starts[fine], chain[fine], log_floor, graph.person.rule
                )
                fine[fine] = ground.passes
        run = int(np.flatnonzero(fine)[-1]) + 1 if fine.any() else 0
        kept = [group for group in kept if group not in loose[:run]]
        loose = loose[run + 1 :]
    return kept


def _outside(graph: LocalGraph, group: int) -> bool:
    """Whether the person stands outside the box in a group: then it must not be put back."""
    mine, person = graph.person.group_of == group, graph.person
    return bool(
        ((person.factual < person.bounds.lower) | (person.factual > person.bounds.upper))[
            mine
        ].any()
    )


def _states(graph: LocalGraph, target: Array, groups: list[int], made: Mask) -> Array:
    """The states in which some of the changes are made: one row of ``made`` each, one column a group."""
    touched = np.array(groups)[:, None] == graph.person.group_of
    return np.where(made @ touched, target, graph.person.factual)


def _put_back(groups: list[int], order: list[int]) -> Mask:
    """Which changes are left when they are put back one after the other."""
    turn = {group: i for i, group in enumerate(order)}
    last = np.array([turn.get(group, len(order)) for group in groups])
    return np.asarray(last > np.arange(len(order))[:, None])


def _bundled(graph: LocalGraph, target: Array, groups: list[int]) -> list[Change]:
    """One change a group; where there are too many, the smallest are made together."""
    apart = np.abs(target - graph.person.factual)
    order = sorted(groups, key=lambda group: -float(norms(apart[graph.person.group_of == group])))
    single, rest = (order, []) if len(order) <= EXACT else (order[: EXACT - 1], order[EXACT - 1 :])
    return [(group,) for group in sorted(single)] + ([tuple(sorted(rest))] if rest else [])


def _route(lattice: Lattice, subset: int, max_changes: int) -> Asks[Route | None]:
    """The best traversable route through the lattice, by as few changes at once as possible."""
    for at_once in range(max_changes, max(max_changes, subset.bit_count()) + 1):
        if at_once > max_changes:
            yield from lattice.look(
                [state for state in range(subset + 1) if state | subset == subset]
            )
        route = yield from _cheapest(lattice, subset, at_once)
        if route is not None:
            return route
    return None


def _cheapest(
    lattice: Lattice, subset: int, at_once: int, *, before: tuple[int, int] | None = None
) -> Asks[Route | None]:
    """A* over states; a step is checked when its end is next in line.

    ``before=(i, j)`` asks whether there is any route at all on which change i is made earlier
    than change j: then whatever is nearest to the end goes first, and no cost is counted.
    """
    to_go = (
        lattice.least_missing(subset)
        if at_once == 1 and before is None
        else np.zeros(subset.bit_count() + 1)
    )
    heap: list[tuple[float, float, int, float, Route]] = [(0.0, 0.0, 0, 0.0, (0,))]
    done: set[int] = set()
    while heap:
        extra, _, _, cost, route = heapq.heappop(heap)
        here = route[-1]
        if here in done or (len(route) > 1 and not (yield from lattice.passable(*route[-2:]))):
            continue
        done.add(here)
        if here == subset:
            return route
        onward = [here | step for step in _steps(subset & ~here, at_once)]
        onward = [there for there in onward if there not in done and lattice.conceivable(there)]
        onward = [there for there in onward if not (before and _too_early(here, there, before))]
        yield from lattice.look_ahead(
            here, [there for there in onward if (there & ~here).bit_count() == 1]
        )
        for there in onward:
            left, more = (subset & ~there).bit_count(), (there & ~here).bit_count() - 1
            so_far = cost + lattice.missing(there)
            first = (
                float(left) if before else extra + more
            )  # changes made at once weigh first, then the missing score
            whole = round(so_far + to_go[-1 - left], 9)
            heapq.heappush(heap, (first, whole, left, so_far, (*route, there)))
    return None


def _steps(left: int, at_once: int) -> Iterator[int]:
    """The sets of changes that can be made next."""
    singles = [1 << i for i in range(left.bit_length()) if left >> i & 1]
    yield from singles
    for size in range(2, min(at_once, len(singles)) + 1):
        yield from map(sum, combinations(singles, size))


def _too_early(here: int, there: int, before: tuple[int, int]) -> bool:
    """Whether a step makes the second change when the first has not been made."""
    first, second = before
    return bool(there >> second & 1) and not here >> first & 1


def _moves(lattice: Lattice, route: Route) -> Asks[tuple[Move, ...]]:
    """Say for each move which earlier ones must come first: those that no route can have after it."""
    made = [after & ~before for before, after in pairwise(route)]
    moves = []
    for vertex, change in enumerate(made):
        earlier = range(vertex) if len(made) <= _PAIRS else range(max(0, vertex - 1), vertex)
        follows = []
        for other in earlier:
            if not (
                yield from _swappable(lattice, route[-1], (_lowest(change), _lowest(made[other])))
            ):
                follows.append(other)
        state = route[vertex + 1]
        moves.append(Move(lattice.states[state], float(lattice.scores[state]), tuple(follows)))
    return tuple(moves)


def _swappable(lattice: Lattice, subset: int, before: tuple[int, int]) -> Asks[bool]:
    """Tell whether any route makes one change before another: one by one if that will do, else several at once."""
    for at_once in dict.fromkeys((1, subset.bit_count())):
        if (yield from _cheapest(lattice, subset, at_once, before=before)) is not None:
            return True
    return False


def in_small_steps(
    graph: LocalGraph, moves: tuple[Move, ...], log_floor: float
) -> Asks[tuple[Move, ...]]:
    """Break moves that are longer than a step may be into pieces, where the ground bears every piece.

    A flip cannot be broken; a whole number is broken at whole numbers.
    """
    if not np.isfinite(graph.person.max_step):
        return moves
    here, pieces, last = graph.person.factual, list[Move](), list[int]()
    for move in moves:
        stops = _stops(graph, here, move.point)
        if len(stops) > 1:
            ground = yield from ask_density_along(
                np.stack([here, *stops[:-1]]), np.stack(stops), log_floor, graph.person.rule
            )
            stops = stops if ground.passes.all() else [move.point]
        scores = (
            [*(yield from ask_point_scores(np.stack(stops[:-1]))), move.score]
            if len(stops) > 1
            else [move.score]
        )
        first = tuple(last[other] for other in move.follows)
        for i, (stop, score) in enumerate(zip(stops, scores, strict=True)):
            pieces.append(Move(stop, float(score), (len(pieces) - 1,) if i else first))
        last.append(len(pieces) - 1)
        here = move.point
    return tuple(pieces)


def _stops(graph: LocalGraph, start: Array, end: Array) -> list[Array]:
    """Places at most a step apart between two states, the last of them the end."""
    person, best, shortest = graph.person, [end], np.inf
    least = max(1, int(np.ceil(float(norms((end - start)[~person.discrete])) / person.max_step)))
    for n in range(
        least, least + _CUTS
    ):  # rounding to whole numbers may call for a piece or two more
        parts = [
            np.where(person.discrete, start, start + (end - start) * i / n) for i in range(1, n)
        ]
        kept = [start, *(person.snap(part) for part in parts), end]
        stops = [after for before, after in pairwise(kept) if (before != after).any()]
        longest = max(float(norms(after - before)) for before, after in pairwise([start, *stops]))
        if longest < shortest:
            best, shortest = stops, longest
        if longest <= person.max_step:
            break
    return best


def _lowest(change: int) -> int:
    return (change & -change).bit_length() - 1
