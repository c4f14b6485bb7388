"""Small steps: moves that are longer than a step may be, broken into pieces."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from localface.geometry.segments import norms
from localface.search.move import Move
from localface.search.person import Person
from localface.search.questions import Questions, ask_density_along, ask_point_scores
from localface.types import Array

_MAX_CUTS = 8  # finer cuts that are tried where whole numbers make pieces too long


def break_into_small_steps(
    person: Person, moves: tuple[Move, ...], log_floor: float
) -> Questions[tuple[Move, ...]]:
    """Break long moves into pieces, where the density along every piece reaches the floor.

    A discrete change cannot be broken; a whole number is broken at whole numbers.
    """
    if not np.isfinite(person.max_step):
        return moves
    here = person.factual
    pieces: list[Move] = []
    last: list[int] = []  # of each move, the number of its last piece
    for move in moves:
        stops = yield from _passable_stops(person, here, move.point, log_floor)
        scores = [move.score]
        if len(stops) > 1:
            scores = [*(yield from ask_point_scores(np.stack(stops[:-1]))), move.score]
        follows = tuple(last[other] for other in move.follows)
        for stop, score in zip(stops, scores, strict=True):
            pieces.append(Move(stop, float(score), follows))
            follows = (len(pieces) - 1,)
        last.append(len(pieces) - 1)
        here = move.point
    return tuple(pieces)


def _passable_stops(
    person: Person, start: Array, end: Array, log_floor: float
) -> Questions[list[Array]]:
    """Stops between two states; only the end where some piece falls below the floor."""
    stops = _states_between(person, start, end)
    if len(stops) > 1:
        starts = np.stack([start, *stops[:-1]])
        found = yield from ask_density_along(starts, np.stack(stops), log_floor, person.rule)
        if not found.passes.all():
            return [end]
    return stops


def _states_between(person: Person, start: Array, end: Array) -> list[Array]:
    """States at most a step apart between two states, the last of them the end."""
    best = [end]
    shortest = np.inf
    smooth = float(norms((end - start)[~person.discrete]))
    fewest = max(1, int(np.ceil(smooth / person.max_step)))
    for n in range(fewest, fewest + _MAX_CUTS):  # rounding may call for a piece or two more
        stops = _cut_into_pieces(person, start, end, n)
        longest = max(float(norms(after - before)) for before, after in pairwise([start, *stops]))
        if longest < shortest:
            best = stops
            shortest = longest
        if longest <= person.max_step:
            break
    return best


def _cut_into_pieces(person: Person, start: Array, end: Array, n: int) -> list[Array]:
    """Cut a move into ``n`` pieces, fewer where rounding makes some of them empty."""
    between = [start + (end - start) * i / n for i in range(1, n)]
    parts = [np.where(person.discrete, start, point) for point in between]
    states = [start, *(person.snap(part) for part in parts), end]
    return [after for before, after in pairwise(states) if (before != after).any()]
