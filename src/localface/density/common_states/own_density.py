"""How common it is to have what a person cannot change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.density.common_states.distances import chunks, evenly_spread, squared_distances
from localface.density.kernel_sums import log_sum_exp
from localface.density.row_kernels import STATED_TO
from localface.types import Array

_MOST_ROWS = 4096  # distinct rows that the sums are over


@dataclass(frozen=True, slots=True, eq=False)
class OwnDensity:
    """The marginal of the joint kernels over the columns that never change.

    The joint log-density minus this one is the log-density given what cannot change.
    """

    matrix: Array
    rows: Array  # distinct, mapped
    counts: Array
    bandwidth: float

    @classmethod
    def fit(cls, points: Array, matrix: Array, bandwidth: float) -> OwnDensity:
        """Count the distinct rows of these columns."""
        rows, counts = np.unique(points, axis=0, return_counts=True)
        some = evenly_spread(len(rows), _MOST_ROWS)
        scaled = counts[some] * (len(points) / counts[some].sum())
        return cls(matrix, rows[some] @ matrix, scaled, bandwidth)

    def log_sums(self, points: Array) -> Array:
        """Return the log-sum of kernels at points."""
        places, back = np.unique(points, axis=0, return_inverse=True)
        places = places @ self.matrix
        found = np.empty(len(places))
        for some in chunks(len(places), len(self.rows)):
            log_kernels = squared_distances(
                places[some], self.rows, resolution=2 * self.bandwidth**2 * STATED_TO
            )
            log_kernels *= -0.5 / self.bandwidth**2
            log_kernels += np.log(self.counts)
            found[some] = log_sum_exp(log_kernels)
        return np.asarray(found[back.ravel()])


def without_own_kernel(log_sums: Array) -> Array:
    """Return log-sums at rows, each without its own kernel."""
    return np.asarray(log_sums + np.log1p(-np.exp(-np.maximum(log_sums, np.log(2.0)))))
