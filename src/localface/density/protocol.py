"""What every density promises, and how its values become percentiles.

Evidence comes from other people: a kernel that sits exactly on an end of a step
does not count for that step. It is the convention of the leave-one-out quantiles,
so that a row is judged on a step just as it was judged when the floor was set.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from localface.types import Array, Ids, Mask

TOLERANCE = 1e-9
"""How far below the floor a log-density may fall by truncation and rounding and still count as on it."""
RESTATED_TOLERANCE = 1e-6
"""The same for a log-density worked out again in another batch, whose sums round otherwise."""
Floor = Array | float | None
"""What a step must reach: one value for all, one for each step, or nothing, which asks for values in full."""


@dataclass(frozen=True, slots=True, eq=False)
class DensityScale:
    """Log-densities of the rows themselves, leave-one-out, lowest first: the measure of "how usual"."""

    values: Array

    def quantile(self, share: float) -> float:
        """Return the log-density that ``share`` of people fall below."""
        return float(np.quantile(self.values, share))

    def share(self, values: Array | float) -> Array:
        """Return the share of people who stand on less common ground: the inverse of ``quantile``.

        >>> scale = DensityScale(np.array([0.0, 1.0, 2.0]))
        >>> float(scale.share(scale.quantile(0.25)))
        0.25
        """
        return np.asarray(np.interp(values, self.values, np.linspace(0.0, 1.0, len(self.values))))


@dataclass(frozen=True, slots=True, eq=False)
class Hole:
    """A ball in which every place is below the floor: no step that touches it can pass."""

    centre: Array
    radius: float


@dataclass(frozen=True, slots=True, eq=False)
class SegmentDensities:
    """A value per segment (higher is more common), whether it passes the floor, and holes that were found.

    A hole comes with the number of the segment that ran into it.
    """

    values: Array
    passes: Mask
    holes: tuple[tuple[int, Hole], ...] = ()

    def part(self, first: int, last: int) -> SegmentDensities:
        """The answer for some of the segments."""
        holes = tuple((at - first, hole) for at, hole in self.holes if first <= at < last)
        return SegmentDensities(self.values[first:last], self.passes[first:last], holes)


class Density(Protocol):
    """Log-densities at places and along steps, and the scale they are read on."""

    @property
    def certified(self) -> bool:
        """Whether ``lowest`` is a proven bound rather than the lowest of some samples."""
        ...

    @property
    def scale(self) -> DensityScale:
        """The leave-one-out log-densities of the rows."""
        ...

    def levels(self, ids: Ids) -> Array:
        """Return the leave-one-out log-densities of rows."""
        ...

    def count_near(self, points: Array) -> Ids:
        """Count the people near places: those who make them common."""
        ...

    def lowest(self, starts: Array, ends: Array, floor: Floor) -> SegmentDensities:
        """Bound the lowest log-density along each step from below."""
        ...

    def mean(self, starts: Array, ends: Array, floor: Floor) -> SegmentDensities:
        """Return the logarithm of the mean density along each step."""
        ...


def judged(values: Array, floor: Floor) -> SegmentDensities:
    """Hold values against a floor, with the tolerance; without one everything passes."""
    passes = np.ones(len(values), dtype=bool) if floor is None else values >= floor - TOLERANCE
    return SegmentDensities(values, passes)
