"""From other people's points to states of one person."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from localface.geometry.bounds import Bounds
from localface.types import Array, Ids, Mask


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """Takes over from others what one person may change, as far as they may change it.

    A column goes as far as the bounds allow. Columns of one group (a feature's categories,
    linked features) are taken over together or not at all: where some of them would be cut
    short, all stay as in ``kept``, the person's own values or the nearest allowed ones. Columns
    that go ``part_of_the_way`` may be cut short all the same: a number whose group says besides
    whether there is one. Rows
    outside the ``comparable`` bounds are no examples to the person: nothing is taken over from
    them.
    """

    bounds: Bounds
    kept: Array
    group_of: Ids
    comparable: Bounds | None = None
    part_of_the_way: Mask = field(default_factory=lambda: np.zeros(0, dtype=bool))
    # Which columns have limits, or are in a group with one that has.
    limited: Mask = field(init=False)
    # The columns of each group that has several and limits on some.
    taken_together: tuple[Ids, ...] = field(init=False)

    def __post_init__(self) -> None:
        limits = (self.bounds.lower > -np.inf) | (self.bounds.upper < np.inf)
        columns: list[Ids] = []
        if limits.any():
            limits = np.isin(self.group_of, self.group_of[limits])
            groups, sizes = np.unique(self.group_of[limits], return_counts=True)
            columns = [np.flatnonzero(self.group_of == group) for group in groups[sizes > 1]]
        object.__setattr__(self, "limited", limits)
        object.__setattr__(self, "taken_together", tuple(columns))

    @property
    def limits_anything(self) -> bool:
        """Whether it does anything to rows."""
        return bool(self.limited.any())

    def deciding(self, columns: Ids) -> Ids:
        """Return those columns of a group that may not be cut short."""
        return columns[~self.part_of_the_way[columns]] if len(self.part_of_the_way) else columns

    def admits(self, points: Array) -> Mask:
        """Tell which people, at these points, are comparable to the person."""
        if self.comparable is None:
            return np.ones(len(points), dtype=bool)
        return self.comparable.contain(points)

    def states_of(self, points: Array) -> Array:
        """Return the states that the person may take over from people at these points."""
        # A limit stands for what equals it: numpy.clip takes either zero, by the processor.
        states = np.where(points > self.bounds.lower, points, self.bounds.lower)
        states = np.where(states < self.bounds.upper, states, self.bounds.upper)
        for columns in self.taken_together:
            decide = self.deciding(columns)
            cut = (states[:, decide] != points[:, decide]).any(axis=1)
            states[np.ix_(cut, columns)] = self.kept[columns]
        return states
