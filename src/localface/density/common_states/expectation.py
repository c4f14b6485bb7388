"""What to expect of each value, given what a person cannot change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.density.common_states.kernel_shape import CATEGORY_RIDGE
from localface.density.common_states.normal_scores import ScoreSpace
from localface.types import Array, Ids

_KNOTS = np.array([-1.5, -0.75, 0.0, 0.75, 1.5])  # where an expectation may bend
_LARGEST_SPREAD = 1.5  # as a logarithm
_SMALL = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Expectation:
    """Ridge regressions of values, and of how far people are off, on what cannot change.

    Own categories count as they are, own numbers by a line that may bend. With its help,
    people of other ages still tell how uncommon someone is for their age.
    """

    space: ScoreSpace
    own: Ids
    centre: Array
    mean: Array
    slopes: Array  # (own columns, values)
    spread_slopes: Array  # the same, for the logarithm of the spread

    @classmethod
    def fit(cls, space: ScoreSpace, own: Ids, records: Array, values: Array) -> Expectation:
        """Regress values (rows, questions) on the own features of the rows."""
        basis = _basis(space, own, records)
        centre = basis.mean(axis=0)
        mean = values.mean(axis=0)
        basis = basis - centre
        inner = basis.T @ basis + CATEGORY_RIDGE * np.eye(basis.shape[1])
        slopes = np.linalg.solve(inner, basis.T @ (values - mean))
        off = np.abs(values - mean - basis @ slopes)
        logs = np.log(off + 0.05 * off.mean(axis=0) + _SMALL)
        spread_slopes = np.linalg.solve(inner, basis.T @ (logs - logs.mean(axis=0)))
        return cls(space, own, centre, mean, slopes, spread_slopes)

    def at(self, records: Array) -> tuple[Array, Array]:
        """Return the mean and the relative spread of each value for people with these records."""
        basis = _basis(self.space, self.own, records) - self.centre
        logs = np.clip(basis @ self.spread_slopes, -_LARGEST_SPREAD, _LARGEST_SPREAD)
        return self.mean + basis @ self.slopes, np.exp(logs)

    def standardised(self, records: Array, values: Array) -> Array:
        """Return values by how far they are off what is expected, in relative spreads."""
        mean, spread = self.at(records)
        return np.asarray((values - mean) / spread)


def _basis(space: ScoreSpace, own: Ids, records: Array) -> Array:
    columns = []
    for j in own:
        scores = space.normal_scores[j]
        if scores is None:
            codes = np.arange(space.n_categories[j])
            columns.append((records[:, j, None] == codes).astype(np.float64))
        else:
            placed = scores.scores_of(records[:, j])[:, None]
            columns.append(placed)
            columns.append(np.maximum(placed - _KNOTS, 0.0))
    return np.hstack(columns)
