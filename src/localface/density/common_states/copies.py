"""Which rows are the same person again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.density.common_states.distances import chunks, evenly_spread, squared_distances
from localface.types import Array, Ids

_TRIED = 256  # rows whose neighbours tell whether there are copies
_NEIGHBOUR = 20  # the neighbour that the nearest is compared with
_LIKE_A_COPY = 0.2  # the nearest is that much nearer than the twentieth: rare, but for copies
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
    twentieth. Where it often is, rows are taken for the same people again.
    """
    rows = evenly_spread(len(points), _TRIED)
    squares = squared_distances(points[rows], points)
    squares[np.arange(len(rows)), rows] = np.inf
    k = max(min(_NEIGHBOUR, len(points) - 2), 0)
    nearest, twentieth = np.sqrt(np.partition(squares, [0, k], axis=1)[:, [0, k]]).T
    if np.mean(nearest < _LIKE_A_COPY * twentieth) <= _MANY_COPIES:
        return 0.0
    return _COPY_REACH * float(np.median(twentieth))
