"""What to expect of a state, given what its person cannot change."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from localface.data.space import Space
from localface.density.common_states.expectation import Expectation
from localface.density.common_states.own_density import OwnDensity, without_own_kernel
from localface.types import Array, Mask

_MOST_KNOWN = 10_000  # people whose expectation is kept


@dataclass(frozen=True, slots=True, eq=False)
class OwnRows:
    """Rows in the columns that never change, with the sums that are asked for again and again."""

    points: Array
    log_sums: Array
    log_sums_of_others: Array  # without the row's own kernel

    @classmethod
    def of(cls, points: Array, density: OwnDensity) -> OwnRows:
        """Work out the sums once: on a large table they take as long as all else."""
        log_sums = density.log_sums(points)
        return cls(points, log_sums, without_own_kernel(log_sums))


@dataclass(frozen=True, slots=True, eq=False)
class GivenOwn:
    """How far values are off what is expected of people who are alike in what cannot change.

    That is a matter of the own columns of a point alone, which stay the same along every step
    of a person.
    """

    columns: Mask
    density: OwnDensity
    expectation: Expectation
    _known: dict[bytes, tuple[Array, Array]] = field(default_factory=dict)

    @classmethod
    def fit(cls, rows: OwnRows, values: Array, space: Space, *, density: OwnDensity) -> GivenOwn:
        """Fit on rows and their values (rows, questions), of which the first is a log-density."""
        columns = space.own_columns
        values = values.copy()
        values[:, 0] -= rows.log_sums_of_others
        expectation = Expectation.fit(rows.points, space.discrete[columns], values)
        return cls(columns, density, expectation)

    def for_rows(self, rows: OwnRows, *, left_out: bool) -> tuple[Array, Array]:
        """Return the same as ``at`` for many rows, each left out of its own expectation or not."""
        mean, spread = self.expectation.at(rows.points)
        mean[:, 0] += rows.log_sums_of_others if left_out else rows.log_sums
        return mean, spread

    def at(self, points: Array) -> tuple[Array, Array]:
        """Return what is expected at points: means and relative spreads, (points, questions).

        Each person's is worked out by itself and kept, so that it is the same in every batch.
        """
        own = points[:, self.columns]
        if len(own) and (own == own[0]).all():  # all of one person
            mean, spread = self._of_one(own[:1])
            return np.tile(mean, (len(own), 1)), np.tile(spread, (len(own), 1))
        found = [self._of_one(point[None, :]) for point in own]
        both = np.array(found).reshape(-1, 2, len(self.expectation.mean))
        return both[:, 0], both[:, 1]

    def _of_one(self, own: Array) -> tuple[Array, Array]:
        key = own.tobytes()
        if key not in self._known:
            mean, spread = self.expectation.at(own)
            mean[0, 0] += self.density.log_sums(own)[0]
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = (mean[0], spread[0])
        return self._known[key]
