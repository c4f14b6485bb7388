"""The nearest different states that a person may take over from some rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from localface.geometry.projection import Projection
from localface.geometry.segments import norms
from localface.sources.protocol import Nearest, Neighbors
from localface.types import NO_ROWS, Array, Ids

_SPARE = 16  # rows looked at beyond k before it is known how many states they come to
_PROBES = 512  # rows from which the distance of the nearest k is guessed

Answer = Callable[[Sequence[Nearest]], list[Neighbors]]
RowsAt = Callable[[Ids], tuple[Ids, Array]]
"""Returns the ids and the points of the rows at some positions."""
RoughReach = Callable[[float], float]
"""Returns the most that a rough distance can be where the distance is no more than given."""


def answer_rows_and_states(
    questions: Sequence[Nearest], rows: Answer, states: Answer
) -> list[Neighbors]:
    """Answer questions for rows and for states, each kind together."""
    wants_states = [question.projection is not None for question in questions]
    if not any(wants_states):
        return rows(questions)
    for_states = iter(states([one for one in questions if one.projection is not None]))
    others = [one for one in questions if one.projection is None]
    for_rows = iter(rows(others) if others else [])
    return [next(for_states if state else for_rows) for state in wants_states]


def projection_of(question: Nearest) -> Projection:
    """The projection of a question that is known to have one."""
    assert question.projection is not None
    return question.projection


def no_states(question: Nearest) -> Neighbors:
    """The answer that holds nothing yet."""
    nothing = np.zeros(0)
    points = np.zeros((0, len(question.point)))
    return Neighbors(NO_ROWS, points, nothing, moved=nothing.astype(bool))


def gather_nearest_states(
    question: Nearest, found: Neighbors, rough: Array, *, rows_at: RowsAt, rough_reach: RoughReach
) -> Neighbors:
    """Add to the states found what rows have, until the k nearest of all are certain.

    ``rough`` are the rough distances of the states of all rows, infinite where a row is left
    out. Rows are taken by them, each once, and more and more at a time: however many come to
    one state, the work is that of looking at every row.
    """
    if question.k == 0 or len(rough) == 0:
        return found
    probed = np.sort(rough[:: max(1, len(rough) // _PROBES)])
    wanted = question.k + _SPARE
    done = -np.inf
    reach = rough_reach(furthest_of_interest(question, found))
    while done < reach:
        rank = int(np.ceil(1.2 * wanted / len(rough) * len(probed))) + 2
        edge = float(probed[rank]) if rank < len(probed) else np.inf
        edge = min(edge, reach)
        near = rough <= edge if edge < np.inf else rough < np.inf
        if done > -np.inf:
            near &= rough > done
        found = merge_states(question, found, *rows_at(np.flatnonzero(near)))
        reach = rough_reach(furthest_of_interest(question, found))
        done = edge
        wanted *= 4
    return found


def furthest_of_interest(question: Nearest, found: Neighbors) -> float:
    """The distance beyond which no state can be among the k nearest any more."""
    if len(found.distances) < question.k:
        return question.radius
    return float(found.distances.max(initial=0.0))


def merge_states(question: Nearest, found: Neighbors, ids: Ids, points: Array) -> Neighbors:
    """Return the k nearest of the states found and those that some rows come to."""
    if len(ids) == 0:
        return found
    states = projection_of(question).states_of(points)
    distances = norms(states - question.point)
    fine = distances <= furthest_of_interest(question, found)
    fine &= question.bounds.contain(states) & (states != question.point).any(axis=1)
    fine &= projection_of(question).admits(points)
    ids = np.concatenate([found.ids, ids[fine]])
    assert found.moved is not None
    moved = np.concatenate([found.moved, (states != points).any(axis=1)[fine]])
    states = np.concatenate([found.points, states[fine]])
    distances = np.concatenate([found.distances, distances[fine]])
    order = different_states(ids, states, distances)[: question.k]
    return Neighbors(ids[order], states[order], distances[order], moved=moved[order])


def different_states(ids: Ids, states: Array, distances: Array) -> Ids:
    """Return the positions of different states, nearest first, ties by id.

    Of equal states the one with the smallest id stands for all. Equal ones have the same
    distance; where distances tie, a second sum over the columns tells most states apart.
    """
    order = np.lexsort((ids, distances))
    if not (np.diff(distances[order]) == 0).any():
        return order
    weights = np.sqrt(np.arange(2.0, 2 + states.shape[1]))
    marks = (states * weights).sum(axis=1)
    order = np.lexsort((ids, marks, distances))
    maybe = np.flatnonzero((np.diff(distances[order]) == 0) & (np.diff(marks[order]) == 0))
    same = (states[order[maybe]] == states[order[maybe + 1]]).all(axis=1)
    if not same.all():  # two states have both in common: fall back on all their values
        order = np.lexsort((ids, *states.T, distances))
        maybe = np.arange(len(order) - 1)
        same = (states[order[:-1]] == states[order[1:]]).all(axis=1)
    first = np.ones(len(order), dtype=bool)
    first[maybe[same] + 1] = False
    order = order[first]
    return np.asarray(order[np.lexsort((ids[order], distances[order]))])
