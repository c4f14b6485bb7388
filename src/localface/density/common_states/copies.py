"""Which rows are the same person again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.density.common_states.distances import (
    chunks,
    evenly_spread,
    smallest_of_lines,
    squared_distances,
)
from localface.types import Array, Ids, Mask

_TRIED = 256  # rows whose neighbours tell whether there are copies
_NEIGHBOUR = 20  # the neighbour that the nearest is compared with
_RANKS = (0, _NEIGHBOUR // 4 - 1, _NEIGHBOUR // 2 - 1, _NEIGHBOUR - 1)
_FEW_ALIKE = 0.1  # share of all rows, so that others are left to compare with
_LIKE_A_COPY = 0.2  # the nearest is that much nearer than the twentieth: rare, but for copies
_BY_CHANCE = 0.02  # share of rows of different people whose nearest is so much nearer
_MANY_COPIES = 0.2  # share of rows with such a neighbour above which there are copies
_COPY_REACH = 0.5  # of the median distance to the twentieth neighbour: copies are nearer


@dataclass(frozen=True, slots=True, eq=False)
class Copies:
    """Which rows belong to one person, so that a person is left out as a whole.

    ``groups`` numbers the person of each row, None where nobody said. ``distance`` is how near
    two rows are that count as one person's, in the space of the kernels; 0 where none do.
    """

    groups: Ids | None
    distance: float = 0.0

    @property
    def any(self) -> bool:
        """Whether some rows may be the same person's."""
        return self.groups is not None or self.distance > 0

    def exclude(self, squares: Array, rows: Ids) -> None:
        """Make squared distances of some rows to all rows infinite where both are one person's."""
        if self.groups is not None:
            squares[self.groups[rows][:, None] == self.groups] = np.inf
        else:
            squares[np.arange(len(rows)), rows] = np.inf
        if self.distance:
            squares[squares < self.distance**2] = np.inf

    def row_weights(self, rows: Array) -> Array:
        """Return what each row counts, so that every person counts once."""
        if self.groups is not None:
            return np.asarray(1.0 / np.bincount(self.groups)[self.groups])
        found = np.ones(len(rows))
        if not self.distance:
            return found
        for some in chunks(len(rows), len(rows)):
            near = squared_distances(rows[some], rows) <= self.distance**2
            found[some] = 1.0 / np.count_nonzero(near, axis=1)
        return found

    def halves(self, n: int) -> Ids:
        """Split rows into two halves, 0 and 1, each person in one of them."""
        people = np.arange(n) if self.groups is None else self.groups
        return np.asarray(people % 2)


def copy_distance(numbers: Array, categories: Array) -> float:
    """Return how near copies are; 0 where hardly any row has a neighbour that looks like one.

    ``numbers`` are whitened, what the categories let expect taken off. Copies share every
    category. Where that leaves many rows to compare with, the nearest of them tells, else how
    near it is beside as many rows taken at random.
    """
    if len(numbers) < 2 * _NEIGHBOUR:
        return 0.0
    rows = evenly_spread(len(numbers), _TRIED)
    states = _number_states(categories)
    looks_copied = np.zeros(len(rows), dtype=bool)
    ranked = np.full((len(rows), len(_RANKS)), np.nan)
    for some in chunks(len(rows), len(numbers)):
        ids = rows[some]
        squares = squared_distances(numbers[ids], numbers)
        squares[np.arange(len(ids)), ids] = np.inf
        alike = states[ids][:, None] == states
        n_alike = np.count_nonzero(alike, axis=1) - 1
        many = n_alike >= _NEIGHBOUR
        few = ~many & (n_alike > 0) & (n_alike <= _FEW_ALIKE * len(numbers))
        looks_copied[some][few] = _nearer_than_at_random(squares[few], alike[few])
        squares[~alike] = np.inf
        ranked[some][many] = _ranked_distances(squares[many])
    many = ~np.isnan(ranked[:, 0])
    looks_copied[many] = _nearest_stands_out(ranked[many])
    if np.mean(looks_copied) <= _MANY_COPIES:
        return 0.0
    return reach_of_copies(np.hstack([numbers, categories]))


def _number_states(categories: Array) -> Ids:
    """Give rows the same number that have the same categories."""
    if not categories.shape[1]:
        return np.zeros(len(categories), dtype=np.int64)
    small = np.ascontiguousarray(categories, dtype=np.float32)
    states = small.view(f"V{small.itemsize * small.shape[1]}").ravel().tolist()
    numbers = {state: i for i, state in enumerate(dict.fromkeys(states))}
    return np.array([numbers[state] for state in states])


def reach_of_copies(points: Array) -> float:
    """Return how near copies are, where there are any."""
    rows = evenly_spread(len(points), _TRIED)
    nth = min(_NEIGHBOUR, len(points) - 1)  # a row's nearest is itself
    squares = smallest_of_lines(squared_distances(points[rows], points), nth + 1)[:, nth]
    return _COPY_REACH * float(np.median(np.sqrt(squares)))


def _ranked_distances(squares: Array) -> Array:
    """Return the distances to the nearest, the fifth, the tenth and the twentieth."""
    return np.asarray(np.sqrt(smallest_of_lines(squares, _NEIGHBOUR)[:, _RANKS]))


def _nearest_stands_out(ranked: Array) -> Mask:
    """Tell whose nearest neighbour is so much nearer than the twentieth as is rare by chance.

    How rare it is depends on the dimension of the crowd, which the fifth, the tenth and the
    twentieth tell: whole numbers are as good as lines from near, and a plane from afar.
    """
    if not len(ranked):
        return np.zeros(0, dtype=bool)
    nearest, fifth, tenth, twentieth = ranked.T
    dimension = min(_dimension(fifth, tenth), _dimension(tenth, twentieth))
    like_a_copy = min(_LIKE_A_COPY, (_BY_CHANCE / _NEIGHBOUR) ** (1 / dimension))
    return np.asarray(nearest < like_a_copy * twentieth)


def _dimension(distances: Array, of_twice_as_many: Array) -> float:
    """Tell the dimension of a crowd by how much further off twice as many neighbours are."""
    apart = distances > 0
    if not apart.any():
        return np.inf
    growth = float(np.median(np.log(of_twice_as_many[apart] / distances[apart])))
    return float(np.log(2)) / max(growth, 1e-9)


def _nearer_than_at_random(squares: Array, alike: Mask) -> Mask:
    """Tell to whom the nearest of those alike is nearer than as many at random would come."""
    nearest = np.where(alike, squares, np.inf).min(axis=1)
    n_alike = np.count_nonzero(alike, axis=1) - 1
    nearer = np.mean((squares < nearest[:, None]) & ~alike, axis=1)
    return np.asarray(1 - (1 - nearer) ** n_alike < _BY_CHANCE)
