"""What every density promises.

Evidence comes from other people: a row that lies exactly on an end of a segment does not
count for that segment. The leave-one-out quantiles follow the same convention, so that a row
is judged on a segment just as it was judged when the floor was set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from localface.geometry.compiled.near import touch_holes
from localface.types import Array, Ids, Mask

FLOOR_TOLERANCE = 1e-9
"""How far below the floor a log-density may fall, by truncation or rounding, and be on it."""
RESTATED_TOLERANCE = 1e-6
"""The same for a log-density worked out again in another batch, whose sums round otherwise."""
_INSIDE = 1 - 1e-9  # share of a hole's radius that a segment must come within to touch it
_DECIMALS = 6  # nats below which densities are alike
_TOO_SHORT = 1e-12  # squared, beside its distance from a hole: a segment that is rounding
_NUMBERS_AT_ONCE = 2**18  # held at a time: as many as fit the processor's cache
LogFloor = Array | float | None
"""The log-density that a segment must keep: one for all, one for each, or None for no verdict."""


@dataclass(frozen=True, slots=True, eq=False)
class DensityScale:
    """Leave-one-out log-densities of the rows, lowest first: turns densities into shares."""

    log_densities: Array
    _levels: Array = field(init=False)  # the same, as alike as densities that differ by rounding
    _shares: Array = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_levels", np.round(self.log_densities, _DECIMALS))
        object.__setattr__(self, "_shares", np.linspace(0.0, 1.0, len(self.log_densities)))

    def quantile(self, share: float) -> float:
        """Return the log-density that ``share`` of people fall below."""
        return float(np.quantile(self.log_densities, share))

    def share_below(self, log_densities: Array | float) -> Array:
        """Return the share of people with a lower log-density: the inverse of ``quantile``.

        People in the same cell of a pair have the same value but for rounding, which must not
        choose among them.

        >>> scale = DensityScale(np.array([0.0, 1.0, 2.0]))
        >>> float(scale.share_below(scale.quantile(0.25)))
        0.25
        """
        found = np.interp(np.round(log_densities, _DECIMALS), self._levels, self._shares)
        return np.asarray(found)


@dataclass(frozen=True, slots=True, eq=False)
class Hole:
    """A ball in which every point is below the floor: no segment that touches it can pass.

    It is round in the space that ``matrix`` maps points to from the right, where its centre is;
    None for the space of points itself.
    """

    centre: Array
    radius: float
    matrix: Array | None = None

    def is_touched(self, starts: Array, ends: Array) -> Mask:
        """Tell which straight segments touch it, each start with each end, from one product.

        The squared area that two points span with the centre is the squared distance of their
        line from the centre times their squared distance from each other. What is too short
        to tell is left to be worked out.
        """
        if self.matrix is not None:
            starts = starts @ self.matrix
            ends = ends @ self.matrix
        to_start = starts - self.centre
        to_end = ends - self.centre
        product = to_start @ to_end.T
        at_start = (to_start**2).sum(axis=1)[:, None]
        at_end = (to_end**2).sum(axis=1)[None, :]
        return _is_near(product, at_start, at_end, self.radius)


@dataclass(frozen=True, slots=True, eq=False)
class Holes:
    """Holes of one density together; ``matrix`` is that of each."""

    centres: Array
    radii: Array

    @classmethod
    def of(cls, holes: Sequence[Hole]) -> Holes:
        """Put holes together."""
        centres = np.array([hole.centre for hole in holes])
        return cls(centres, np.array([hole.radius for hole in holes]))

    def since(self, first: int) -> Holes:
        """Return those from a number on."""
        return Holes(self.centres[first:], self.radii[first:])

    def are_touched(self, starts: Array, ends: Array) -> Mask:
        """Tell which straight segments, between points where holes are round, touch any of them."""
        found = touch_holes(self.centres, self.radii, starts, ends)
        if found is not None:
            return found
        touched = np.zeros(len(ends), dtype=bool)
        most = max(1, _NUMBERS_AT_ONCE // max(1, ends.size))
        for first in range(0, len(self.radii), most):
            some = slice(first, first + most)
            to_start = starts - self.centres[some, None]
            to_end = ends - self.centres[some, None]
            product = (to_end * to_start).sum(axis=-1)
            at_start = (to_start**2).sum(axis=-1)
            at_end = (to_end**2).sum(axis=-1)
            radii = self.radii[some, None]
            touched |= _is_near(product, at_start, at_end, radii).any(axis=0)
        return touched


def _is_near(product: Array, at_start: Array, at_end: Array, radius: Array | float) -> Mask:
    """Tell which segments come within a radius of a centre.

    ``product`` is that of the vectors from the centre to both ends, the others are their squares.
    """
    between = (product < at_start) & (product < at_end)  # the nearest point is on the segment
    area = at_start * at_end - product * product
    lengths = at_start + at_end - 2 * product
    near = area < (radius * _INSIDE) ** 2 * lengths
    return np.asarray(between & near & (lengths > _TOO_SHORT * (at_start + at_end)))


@dataclass(frozen=True, slots=True, eq=False)
class SegmentDensities:
    """A log-density per segment, whether it passes the floor, and the holes that were found.

    Of a segment that is refused, it is no lower than the lowest there. A hole comes with the
    number of the segment that runs into it.
    """

    log_densities: Array
    passes: Mask
    holes: tuple[tuple[int, Hole], ...] = ()

    def for_segments(self, first: int, last: int) -> SegmentDensities:
        """Return the answer for the segments from ``first`` up to ``last``."""
        holes = tuple((at - first, hole) for at, hole in self.holes if first <= at < last)
        return SegmentDensities(self.log_densities[first:last], self.passes[first:last], holes)

    def some(self, numbers: Ids) -> SegmentDensities:
        """Return the answer for some of the segments."""
        place = {number: i for i, number in enumerate(numbers.tolist())}
        holes = tuple((place[at], hole) for at, hole in self.holes if at in place)
        return SegmentDensities(self.log_densities[numbers], self.passes[numbers], holes)


def put_together(
    n: int, parts: Sequence[Ids], answers: Sequence[SegmentDensities]
) -> SegmentDensities:
    """Put the answers for parts of ``n`` segments together; each part says which they are."""
    log_densities = np.empty(n)
    passes = np.empty(n, dtype=bool)
    holes: list[tuple[int, Hole]] = []
    for some, answer in zip(parts, answers, strict=True):
        log_densities[some] = answer.log_densities
        passes[some] = answer.passes
        holes += [(int(some[at]), hole) for at, hole in answer.holes]
    return SegmentDensities(log_densities, passes, tuple(holes))


class Density(Protocol):
    """Log-densities of rows and along segments, and the scale that they are read on.

    A segment that ends where it starts stands for a point. With a floor, a density works out
    no more than the verdict needs; without one, it works out every value in full. Nobody vouches
    for themselves: rows at the ends do not count. Where nobody stands there, the row of whoever
    asks about the segment does not either: ``askers`` are the points where they stand.
    """

    @property
    def certified(self) -> bool:
        """Whether ``lowest_along`` is a proven bound rather than the lowest of some samples."""
        ...

    @property
    def scale(self) -> DensityScale:
        """The leave-one-out log-densities of the rows."""
        ...

    def row_log_densities(self, ids: Ids) -> Array:
        """Return the leave-one-out log-densities of rows."""
        ...

    def lowest_along(
        self, starts: Array, ends: Array, log_floor: LogFloor, *, askers: Array | None = None
    ) -> SegmentDensities:
        """Bound the lowest log-density along each segment from below."""
        ...

    def mean_along(
        self, starts: Array, ends: Array, log_floor: LogFloor, *, askers: Array | None = None
    ) -> SegmentDensities:
        """Return the logarithm of the mean density along each segment."""
        ...


def compare_with_floor(log_densities: Array, log_floor: LogFloor) -> SegmentDensities:
    """Compare values with a floor, within the tolerance; without a floor every segment passes."""
    if log_floor is None:
        return SegmentDensities(log_densities, np.ones(len(log_densities), dtype=bool))
    return SegmentDensities(log_densities, log_densities >= log_floor - FLOOR_TOLERANCE)
