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


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutDensity:
    """A Gaussian kernel density of held-out people, with its own scale of how common points are.

    The scale is the density at these people themselves, each without their own kernel.
    Equal rows count once.
    """

    rows: ReferenceRows
    discrete: Mask
    bandwidth: float
    row_log_densities: Array

    @classmethod
    def fit(
        cls, points: Array, discrete: Mask, *, bandwidth: float | None = None
    ) -> HeldOutDensity:
        """Fit to points; the bandwidth is chosen by leave-one-out likelihood unless given."""
        rows = distinct_rows(points)
        h = fit_bandwidth(rows) if bandwidth is None else float(bandwidth)
        row_log_densities = leave_one_out_log_densities(rows, h)
        return cls(rows, np.asarray(discrete, dtype=bool), h, row_log_densities)

    def log_densities(self, points: Array) -> Array:
        """The log-density at each point."""
        return kernel_log_densities(points, self.rows, self.bandwidth)

    def share(self, log_densities: Array | float) -> Array:
        """The share of held-out people whose own log-density is lower."""
        below = np.searchsorted(self.row_log_densities, log_densities, side="left")
        return np.asarray(below / len(self.row_log_densities))

    def log_floor(self, share: float) -> float:
        """The log-density that this share of held-out people is below."""
        return float(np.quantile(self.row_log_densities, share))

    def along(self, starts: Array, ends: Array) -> StepDensities:
        """The lowest and the mean log-density along each step."""
        return StepDensities.of(
            [
                log_densities_along_step(pair, self.discrete, self.rows, self.bandwidth)
                for pair in zip(starts, ends, strict=True)
            ]
        )

    def traversable(self, starts: Array, ends: Array, *, min_density: float = 0.05) -> Mask:
        """Which steps never fall below the log-density of that share of held-out people."""
        wanted = self.log_floor(min_density) - JUDGE_TOLERANCE
        return np.asarray(self.along(starts, ends).lowest_logs >= wanted)
