"""Which rows are the same person again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.density.common_states.distances import chunks, evenly_spread, squared_distances
from localface.types import Array, Ids

_TRIED = 256  # rows whose neighbours tell whether there are copies
_NEIGHBOUR = 20  # the neighbour that the nearest is compared with
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


def copy_distance(points: Array) -> float:
    """Return how near copies are; 0 where hardly any row has a neighbour that looks like one.

    In a table of different people the nearest neighbour is rarely much nearer than the
    twentieth: how rarely depends on the dimension of the crowd, which the tenth and the
    twentieth tell. Where it often is, rows are taken for the same people again.
    """
    if len(points) < 2 * _NEIGHBOUR:
        return 0.0
    rows = evenly_spread(len(points), _TRIED)
    squares = squared_distances(points[rows], points)
    squares[np.arange(len(rows)), rows] = np.inf
    ranks = [0, _NEIGHBOUR // 2 - 1, _NEIGHBOUR - 1]
    nearest, tenth, twentieth = np.sqrt(np.partition(squares, ranks, axis=1)[:, ranks]).T
    apart = tenth > 0
    growth = np.median(np.log(twentieth[apart] / tenth[apart])) if apart.any() else 0.0
    dimension = np.log(2) / max(float(growth), 1e-9)
    like_a_copy = min(_LIKE_A_COPY, (_BY_CHANCE / _NEIGHBOUR) ** (1 / dimension))
    if np.mean(nearest < like_a_copy * twentieth) <= _MANY_COPIES:
        return 0.0
    return _COPY_REACH * float(np.median(twentieth))
