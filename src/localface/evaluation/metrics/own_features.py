"""What is expected of people with the same own features, worked out again by the judge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.evaluation.metrics.kernel_density import row_log_sums
from localface.types import Array, Mask

_BENDS = (-1.5, -0.75, 0.0, 0.75, 1.5)  # in normal scores: where an expectation may bend
_FURTHEST = 10.0  # beyond which an expectation stays what it is
_LARGEST_SPREAD = 1.5  # as a logarithm


@dataclass(frozen=True, slots=True, eq=False)
class OwnFeatures:
    """Means and spreads of the three values of a state, given what its person cannot change.

    ``columns`` are the own columns of points, ``discrete`` which of them are of categories. The
    marginal density of these columns is a sum of kernels on ``rows``, counted ``counts`` times,
    round with ``bandwidth`` after ``matrix``. The rest is linear in the columns, and in how far
    numbers are above each bend.
    """

    columns: Mask
    discrete: Mask
    rows: Array
    counts: Array
    matrix: Array
    bandwidth: float
    centre: Array
    means: Array
    slopes: Array
    spread_slopes: Array

    def expected_at(self, point: Array) -> tuple[Array, Array]:
        """The mean and the relative spread of joint density, rarest pair and weighted pairs."""
        own = point[self.columns]
        numbers = np.clip(own[~self.discrete], -_FURTHEST, _FURTHEST)
        terms = [*own[self.discrete], *numbers]
        for number in numbers:
            terms += [max(number - bend, 0.0) for bend in _BENDS]
        off = np.array(terms) - self.centre
        means = self.means + off @ self.slopes
        means[0] += self._marginal_log_sum(own)
        spreads = np.exp(np.clip(off @ self.spread_slopes, -_LARGEST_SPREAD, _LARGEST_SPREAD))
        return means, spreads

    def _marginal_log_sum(self, own: Array) -> float:
        squares = ((self.rows - own @ self.matrix) ** 2).sum(axis=1)
        logs = np.log(self.counts) - squares / (2 * self.bandwidth**2)
        return float(row_log_sums(logs[None, :])[0])
