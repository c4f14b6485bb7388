"""Rows with a round kernel on each, in the space that a matrix maps points to."""

from __future__ import annotations

import numpy as np

from localface.density.exact_segment import ExactLeg
from localface.density.segment_bounds import KernelProfile, Legs
from localface.geometry.point_set import PointSet
from localface.geometry.settling import is_rounded_away
from localface.types import Array, Ids, Mask

_NUMBERS_AT_ONCE = 2**18  # numbers held at a time: as many as fit the processor's cache
_NEAR_ROWS = 192  # rows summed at first, about: near ones, which nearly always suffice to accept
STATED_TO = 1e-7
"""Nats that rounding may take from a value that is stated: beyond, it is worked out again."""
_LONG = 1e4  # bandwidths beyond which a leg is worked out by itself to state its value


class RowKernels:
    """Rows with a round kernel on each of them, in the space that a matrix maps points to.

    Who lies at the end of a segment, and where its discrete columns flip, is told by the points
    themselves; all else goes by their places in that space. ``point_set`` are the rows there:
    ``places``, where they are known already.
    """

    def __init__(
        self,
        rows: PointSet,
        discrete: Mask,
        h: float,
        matrix: Array | None = None,
        places: Array | None = None,
    ) -> None:
        self.rows = rows
        self.discrete = discrete
        self.h = h
        self.matrix = matrix
        self.point_set = rows
        if matrix is not None:
            self.point_set = PointSet(map_points(rows.points, matrix) if places is None else places)
        self._stretch = 1.0 if matrix is None else float(np.linalg.norm(matrix))  # at most so much

    def places_of(self, points: Array) -> Array:
        """Return where points are in the space of the kernels."""
        return points if self.matrix is None else map_points(points, self.matrix)

    def legs_of(self, starts: Array, ends: Array) -> Legs:
        """Return the legs of segments between points, in the space of the kernels."""
        legs = Legs.of(starts, ends, self.discrete)
        if self.matrix is None:
            return legs
        return legs.between(self.places_of(legs.starts), self.places_of(legs.ends))

    def turn_into_log_kernels(self, squared: Array) -> Array:
        """Turn squared distances into logarithms of kernels, in place."""
        squared *= -0.5 / self.h**2
        return squared

    @property
    def resolution(self) -> float:
        """How far off a squared distance may be for a value to be stated."""
        return 2 * self.h**2 * STATED_TO

    def squared_distances(self, places: Array) -> Array:
        """Return the squared distances of rows from places, those of near rows well enough."""
        return self.point_set.settled_squared_distances(places, self.resolution)

    def may_be_long(self, starts: Array, ends: Array) -> bool:
        """Tell quickly whether any segment may have a leg that is long."""
        apart = ends - starts
        longest = float(np.sqrt((apart * apart).sum(axis=1).max(initial=0.0)))
        return longest * self._stretch > _LONG * self.h

    def is_long(self, legs: Legs) -> Mask:
        """Tell which legs are so long that their minimum must be worked out by itself."""
        return np.asarray(legs.lengths > _LONG * self.h)

    def is_rounded_away(self, legs: Legs) -> Mask:
        """Tell along which legs products would round the values that are to be stated."""
        ends = (is_rounded_away(one, self.resolution) for one in (legs.starts, legs.ends))
        return np.logical_or(*ends) | self.is_long(legs)

    def rounding_error(self, starts: Array, ends: Array) -> Array:
        """Return how far rounding may move the log-sums along each segment."""
        squares = (starts * starts).sum(axis=1) + (ends * ends).sum(axis=1)
        return np.asarray(
            self.point_set.rounding_error(2 * squares + self.point_set.largest) / self.h**2
        )

    def profile_of_near_rows(self, legs: Legs, own: Ids) -> KernelProfile:
        """Take some near rows along each leg: enough for a bound, which mostly decides already."""
        leg, rows = self.point_set.roughly_nearest_rows((legs.starts + legs.ends) / 2, _NEAR_ROWS)
        others = (rows[:, None] != own[leg]).all(axis=1)
        leg = leg[others]
        away = self.point_set.points[rows[others]] - legs.starts[leg]
        foot = np.einsum("ij,ij->i", away, legs.directions[leg])
        off_squared = np.maximum(np.einsum("ij,ij->i", away, away) - foot * foot, 0.0)
        return KernelProfile.of(leg, foot, off_squared, lengths=legs.lengths, h=self.h)

    def exact_leg(self, start: Array, end: Array, own: Ids) -> ExactLeg:
        """Take all rows along one leg, for sums in an order that no batch can change."""
        others = np.delete(self.point_set.points, own[own >= 0], axis=0)
        return ExactLeg.of(start, end, others, self.h)


def map_points(points: Array, matrix: Array) -> Array:
    """Map points linearly, rounded the same whatever the batch.

    What comes from one column only, as categories do, is one product: all else would add zeros.
    """
    from_one = np.flatnonzero(np.count_nonzero(matrix, axis=0) == 1)
    source = np.abs(matrix[:, from_one]).argmax(axis=0)
    found = np.empty((len(points), matrix.shape[1]))
    found[:, from_one] = points[:, source] * matrix[source, from_one]
    rest = np.setdiff1d(np.arange(matrix.shape[1]), from_one)
    weights = np.ascontiguousarray(matrix[:, rest].T)
    most = max(1, _NUMBERS_AT_ONCE // max(1, weights.size))
    for first in range(0, len(points), most):
        some = slice(first, first + most)
        found[some, rest] = (points[some, None, :] * weights).sum(axis=-1)
    return found
