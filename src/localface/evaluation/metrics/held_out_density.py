"""The density of people whom no method was given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.evaluation.metrics.kernel_density import (
    fit_bandwidth,
    kernel_log_densities,
    leave_one_out_log_densities,
    log_densities_along_step,
)
from localface.evaluation.metrics.reference_rows import ReferenceRows, distinct_rows
from localface.evaluation.metrics.step_densities import JUDGE_TOLERANCE, StepDensities
from localface.types import Array, Mask

_SMALLEST_VARIANCE = 0.01  # no direction of points is stretched more than tenfold


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutDensity:
    """A Gaussian kernel density of held-out people, with its own scale of how common points are.

    The scale is the density at these people themselves, each without their own kernel.
    Equal rows count once.

    It is a second opinion, so it shares no row, no parameter and no question with the rule that
    LocalFACE searches by: kernels shaped by the covariance of the held-out rows, and no pairs,
    which would judge every method by our own model once more. Round kernels in the same points
    would be plainer still, but hardly refuse anything in many columns: they pass 83 % of records
    composed at random on the readiness cohort and 47 % on HELOC, these pass 32 % and 5 %.
    """

    rows: ReferenceRows  # where the kernels are round: points times the matrix
    discrete: Mask
    matrix: Array
    bandwidth: float
    row_log_densities: Array

    @classmethod
    def fit(
        cls,
        points: Array,
        discrete: Mask,
        *,
        bandwidth: float | None = None,
        matrix: Array | None = None,
    ) -> HeldOutDensity:
        """Fit to points; the bandwidth is chosen by leave-one-out likelihood unless given.

        ``matrix`` takes points from the right to where kernels are round; by default it takes
        the covariance of the rows, shrunken towards a multiple of the identity, to the identity.
        """
        distinct = distinct_rows(points)
        shape = whitening_matrix(distinct.points) if matrix is None else matrix
        rows = ReferenceRows(distinct.points @ shape)
        h = fit_bandwidth(rows) if bandwidth is None else float(bandwidth)
        row_log_densities = leave_one_out_log_densities(rows, h) + _log_volume(shape)
        return cls(rows, np.asarray(discrete, dtype=bool), shape, h, row_log_densities)

    def log_densities(self, points: Array) -> Array:
        """The log-density at each point."""
        found = kernel_log_densities(points @ self.matrix, self.rows, self.bandwidth)
        return np.asarray(found + _log_volume(self.matrix))

    def share(self, log_densities: Array | float) -> Array:
        """The share of held-out people whose own log-density is lower."""
        below = np.searchsorted(self.row_log_densities, log_densities, side="left")
        return np.asarray(below / len(self.row_log_densities))

    def log_floor(self, share: float) -> float:
        """The log-density that this share of held-out people is below."""
        return float(np.quantile(self.row_log_densities, share))

    def along(self, starts: Array, ends: Array) -> StepDensities:
        """The lowest and the mean log-density along each step."""
        found = [
            log_densities_along_step(
                pair, self.discrete, self.rows, self.bandwidth, matrix=self.matrix
            )
            for pair in zip(starts, ends, strict=True)
        ]
        steps = StepDensities.of(found)
        volume = _log_volume(self.matrix)
        return StepDensities(steps.lowest_logs + volume, steps.mean_logs + volume)

    def traversable(self, starts: Array, ends: Array, *, min_density: float = 0.05) -> Mask:
        """Which steps never fall below the log-density of that share of held-out people."""
        wanted = self.log_floor(min_density) - JUDGE_TOLERANCE
        return np.asarray(self.along(starts, ends).lowest_logs >= wanted)


def whitening_matrix(points: Array) -> Array:
    """The map from the right under which points are uncorrelated and of unit variance.

    The covariance is shrunken by the share of it that is noise (Ledoit and Wolf, 2004).
    """
    n, width = points.shape
    off = points - points.mean(axis=0)
    covariance = off.T @ off / n
    round_one = np.eye(width) * np.trace(covariance) / width
    noise = float(((off**2).sum(axis=1) ** 2).mean() - (covariance**2).sum()) / n
    signal = float(((covariance - round_one) ** 2).sum())
    share = min(1.0, noise / signal) if signal > 0 else 1.0
    values, vectors = np.linalg.eigh((1 - share) * covariance + share * round_one)
    return np.asarray(vectors / np.sqrt(np.maximum(values, _SMALLEST_VARIANCE)))


def _log_volume(matrix: Array) -> float:
    """What turns a density after a linear map into one of points."""
    return float(np.linalg.slogdet(matrix)[1])
