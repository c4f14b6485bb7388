"""An axis-aligned box of points with one-way columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.types import Array, Mask


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """Where a person may go: an axis-aligned box of points, with one-way columns."""

    lower: Array
    upper: Array
    up: Mask
    down: Mask

    @classmethod
    def unlimited(cls, width: int) -> Bounds:
        """The box that holds every point of so many columns."""
        one_way = np.zeros(width, dtype=bool)
        return cls(np.full(width, -np.inf), np.full(width, np.inf), one_way, one_way)

    def seen_from(self, point: Array) -> Bounds:
        """Tighten the box to what is still ahead of someone who stands at ``point``."""
        if not (self.up.any() or self.down.any()):
            return self
        lower = np.where(self.up, np.maximum(self.lower, point), self.lower)
        upper = np.where(self.down, np.minimum(self.upper, point), self.upper)
        return Bounds(lower, upper, self.up, self.down)

    def only(self, column: int) -> Bounds:
        """The same limits on one column, and none on the others."""
        mine = np.arange(len(self.lower)) == column
        free = np.zeros(len(self.lower), dtype=bool)
        return Bounds(
            np.where(mine, self.lower, -np.inf), np.where(mine, self.upper, np.inf), free, free
        )

    def contain(self, points: Array) -> Mask:
        """Tell which points lie inside."""
        inside = ((points >= self.lower) & (points <= self.upper)).all(axis=-1)
        return np.asarray(inside, dtype=bool)

    def one_way(self, start: Array, end: Array) -> Mask:
        """Tell which steps go back on no one-way column."""
        forward = (end >= start) | ~self.up
        return np.asarray((forward & ((end <= start) | ~self.down)).all(axis=-1), dtype=bool)
