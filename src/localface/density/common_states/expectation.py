"""What to expect of each value, given what a person cannot change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.density.common_states.kernel_shape import CATEGORY_RIDGE
from localface.density.common_states.outliers import bring_in_outliers
from localface.types import Array, Mask

_KNOTS = np.array([-1.5, -0.75, 0.0, 0.75, 1.5])  # where an expectation may bend
_FURTHEST = 10.0  # beyond which an expectation stays what it is
_LARGEST_SPREAD = 1.5  # as a logarithm
_SMALL = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Expectation:
    """Ridge regressions of values, and of how far people are off, on what cannot change.

    Own categories count as they are, own numbers by a line that may bend. With its help,
    people of other ages still tell how uncommon someone is for their age.
    """

    discrete: Mask  # of the own columns
    centre: Array
    mean: Array
    slopes: Array  # (own columns, values)
    spread_slopes: Array  # the same, for the logarithm of the spread

    @classmethod
    def fit(cls, own: Array, discrete: Mask, values: Array) -> Expectation:
        """Regress values (rows, questions) on the own columns of the rows."""
        basis = _basis(own, discrete)
        values = bring_in_outliers(values)
        centre = basis.mean(axis=0)
        mean = values.mean(axis=0)
        basis = basis - centre
        inner = basis.T @ basis + CATEGORY_RIDGE * np.eye(basis.shape[1])
        slopes = np.linalg.solve(inner, basis.T @ (values - mean))
        off = np.abs(values - mean - basis @ slopes)
        logs = np.log(off + 0.05 * off.mean(axis=0) + _SMALL)
        spread_slopes = np.linalg.solve(inner, basis.T @ (logs - logs.mean(axis=0)))
        return cls(discrete, centre, mean, slopes, spread_slopes)

    def at(self, own: Array) -> tuple[Array, Array]:
        """Return the mean and the relative spread of each value for people with these columns."""
        basis = _basis(own, self.discrete) - self.centre
        logs = np.clip(basis @ self.spread_slopes, -_LARGEST_SPREAD, _LARGEST_SPREAD)
        return self.mean + basis @ self.slopes, np.exp(logs)


def _basis(own: Array, discrete: Mask) -> Array:
    """Return discrete columns as they are, and numbers as lines that may bend at the knots."""
    numbers = np.clip(own[:, ~discrete], -_FURTHEST, _FURTHEST)
    bends = np.maximum(numbers[:, :, None] - _KNOTS, 0.0).reshape(len(own), -1)
    return np.hstack([own[:, discrete], numbers, bends])
