"""An axis-aligned box of points with one-way columns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from localface.types import Array, Mask


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """The points that a person may go to.

    ``up`` and ``down`` mark the columns that may only grow, or only shrink, from step to step.
    ``entered_from`` holds pairs of columns of categories: a step may lead to the first only from
    the second.
    """

    lower: Array
    upper: Array
    up: Mask
    down: Mask
    entered_from: tuple[tuple[int, int], ...] = ()
    _is_one_way: bool = field(init=False)  # whether any column is

    def __post_init__(self) -> None:
        object.__setattr__(self, "_is_one_way", bool(self.up.any() or self.down.any()))

    @classmethod
    def unlimited(cls, width: int) -> Bounds:
        """Return the box that holds every point of so many columns."""
        one_way = np.zeros(width, dtype=bool)
        return cls(np.full(width, -np.inf), np.full(width, np.inf), one_way, one_way)

    @property
    def limits_anything(self) -> bool:
        """Whether there is a point that lies outside."""
        return bool((self.lower > -np.inf).any() or (self.upper < np.inf).any())

    @property
    def limit_steps(self) -> bool:
        """Whether there are steps between points inside that may not be taken."""
        return self._is_one_way or bool(self.entered_from)

    def reachable_from(self, point: Array) -> Bounds:
        """Tighten the box to what one-way columns leave to someone who is at ``point``."""
        if not self._is_one_way:
            return self
        lower = np.where(self.up, np.maximum(self.lower, point), self.lower)
        upper = np.where(self.down, np.minimum(self.upper, point), self.upper)
        return Bounds(lower, upper, self.up, self.down, self.entered_from)

    def with_only_column(self, column: int) -> Bounds:
        """Return the same limits on one column, and none on the others."""
        limited = np.arange(len(self.lower)) == column
        lower = np.where(limited, self.lower, -np.inf)
        upper = np.where(limited, self.upper, np.inf)
        one_way = np.zeros(len(self.lower), dtype=bool)
        return Bounds(lower, upper, one_way, one_way)

    def contain(self, points: Array) -> Mask:
        """Tell which points lie inside."""
        inside = ((points >= self.lower) & (points <= self.upper)).all(axis=-1)
        return np.asarray(inside, dtype=bool)

    def may_step(self, start: Array, end: Array) -> bool:
        """Tell whether one step goes back on no one-way column; see ``respects_one_way``."""
        return not self.limit_steps or bool(self.respects_one_way(start, end))

    def respects_one_way(self, start: Array, end: Array) -> Mask:
        """Tell which steps go back on no one-way column, and enter categories as they may."""
        if self._is_one_way:
            forward = (end >= start) | ~self.up
            fine = np.asarray((forward & ((end <= start) | ~self.down)).all(axis=-1), dtype=bool)
        else:
            alike = start.ndim == 1 or start.shape == end.shape
            shape = end.shape if alike else np.broadcast_shapes(start.shape, end.shape)
            fine = np.ones(shape[:-1], dtype=bool)
        for column, before in self.entered_from:
            entered = (end[..., column] > 0) & (start[..., column] <= 0)
            fine = fine & ~(entered & (start[..., before] <= 0))
        return np.asarray(fine, dtype=bool)
