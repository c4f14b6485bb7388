"""Ordering: the best route through a lattice, one change after the other where that will do."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import combinations, pairwise

from localface.search.lattice import Lattice
from localface.search.move import Move
from localface.search.questions import Questions
from localface.search.side_by_side import side_by_side

_ASKED_AT_ONCE = 3  # changes up to which all single steps are asked about in one question
_ALL_PAIRS = 8  # moves up to which every pair is tried in the other order

Route = tuple[int, ...]
"""States on the way, each a bit mask over the changes, from none to all."""


def find_route(lattice: Lattice, subset: int, max_changes: int) -> Questions[Route | None]:
    """The best traversable route through the lattice, by as few changes at once as possible."""
    within = [state for state in range(subset + 1) if state | subset == subset]
    yield from lattice.check_states_are_dense([one for one in within if one not in (0, subset)])
    if subset.bit_count() <= _ASKED_AT_ONCE:
        yield from lattice.check_single_steps(within)
    route = yield from _cheapest_route(lattice, subset, max_changes)
    if route is not None:
        return route
    at_once = yield from _fewest_at_once(lattice, subset, max_changes + 1)
    return None if at_once is None else (yield from _cheapest_route(lattice, subset, at_once))


def _fewest_at_once(lattice: Lattice, subset: int, first: int) -> Questions[int | None]:
    """How many changes at once a route needs, from a number on; None where there is no route.

    Where single changes lead nowhere, mostly nothing does. So it is found out first which states
    can be reached at all, by many steps in one question, before a best route is looked for.
    """
    reached = {0}
    for at_once in range(first, subset.bit_count() + 1):
        fresh = reached
        while fresh:
            steps = [
                (start, end)
                for start in reached
                for end in _next_states(start, subset, at_once)
                if end not in reached and lattice.is_possible(end)
            ]
            passes = yield from lattice.can_take_steps(steps)
            fresh = {end for (_, end), fine in zip(steps, passes, strict=True) if fine}
            reached |= fresh
        if subset in reached:
            return at_once
    return None


def moves_of_route(lattice: Lattice, route: Route) -> Questions[tuple[Move, ...]]:
    """The moves of a route, each with the earlier ones that no route can have after it."""
    made = [after & ~before for before, after in pairwise(route)]
    pairs = [
        (i, other)
        for i in range(len(made))
        for other in (range(i) if len(made) <= _ALL_PAIRS else range(max(0, i - 1), i))
    ]
    swapped = [(_lowest_change(made[i]), _lowest_change(made[other])) for i, other in pairs]
    in_other_order: list[bool] = []
    if pairs:
        in_other_order = yield from side_by_side(
            [_has_route(lattice, route[-1], before) for before in swapped]
        )
    follows: dict[int, list[int]] = {}
    for (i, other), has_route in zip(pairs, in_other_order, strict=True):
        if not has_route:
            follows.setdefault(i, []).append(other)
    return tuple(
        Move(lattice.states[state], float(lattice.scores[state]), tuple(follows.get(i, ())))
        for i, state in enumerate(route[1:])
    )


def _cheapest_route(
    lattice: Lattice, subset: int, at_once: int, *, before: tuple[int, int] | None = None
) -> Questions[Route | None]:
    """A* over states; a step is checked when its end is next in the queue.

    ``before=(i, j)`` asks whether there is any route at all on which change i is made earlier
    than change j: then the state nearest to the end goes first, and no cost is counted.
    """
    to_go = [0.0] * (subset.bit_count() + 1)
    if at_once == 1 and before is None:
        to_go = lattice.least_missing_scores_ahead(subset).tolist()
    heap: list[tuple[float, float, int, float, Route]] = [(0.0, 0.0, 0, 0.0, (0,))]
    done: set[int] = set()
    while heap:
        extra, _, _, cost, route = heapq.heappop(heap)
        here = route[-1]
        if here in done or (len(route) > 1 and not (yield from lattice.can_take_step(*route[-2:]))):
            continue
        done.add(here)
        if here == subset:
            return route
        onward = [there for there in _next_states(here, subset, at_once) if there not in done]
        onward = [there for there in onward if lattice.is_possible(there)]
        onward = [
            there
            for there in onward
            if not (before and _makes_second_change_first(here, there, before))
        ]
        yield from lattice.check_steps_ahead(here, onward)
        for there in onward:
            left = (subset & ~there).bit_count()
            so_far = cost + lattice.missing_score(there)
            # Changes made at once weigh first, then the missing score.
            first = float(left) if before else extra + _n_changes_made(here, there) - 1
            total = round(so_far + to_go[-1 - left], 9)
            heapq.heappush(heap, (first, total, left, so_far, (*route, there)))
    return None


def _next_states(here: int, subset: int, at_once: int) -> Iterator[int]:
    """The states that can come next, those that are one change away first."""
    left = subset & ~here
    singles = [1 << i for i in range(left.bit_length()) if left >> i & 1]
    for size in range(1, min(at_once, len(singles)) + 1):
        for some in combinations(singles, size):
            yield here | sum(some)


def _n_changes_made(here: int, there: int) -> int:
    """How many changes a step makes."""
    return (there & ~here).bit_count()


def _makes_second_change_first(here: int, there: int, before: tuple[int, int]) -> bool:
    """Whether a step makes the second change when the first has not been made."""
    first, second = before
    return bool(there >> second & 1) and not here >> first & 1


def _has_route(lattice: Lattice, subset: int, before: tuple[int, int]) -> Questions[bool]:
    """Tell whether any route makes one change before another, singly or several at once."""
    for at_once in dict.fromkeys((1, subset.bit_count())):
        if (yield from _cheapest_route(lattice, subset, at_once, before=before)) is not None:
            return True
    return False


def _lowest_change(made: int) -> int:
    """The lowest change of a set."""
    return (made & -made).bit_length() - 1
