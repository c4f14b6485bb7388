"""LocalFACE's own rule for a step, judged by independent code."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.errors import DataError
from localface.evaluation.metrics.kernel_density import (
    kernel_log_densities,
    leave_one_out_log_densities,
    log_densities_along_step,
)
from localface.evaluation.metrics.reference_rows import ReferenceRows, distinct_rows
from localface.evaluation.metrics.step_densities import JUDGE_TOLERANCE, StepDensities
from localface.types import Array, Mask


@dataclass(frozen=True, slots=True, eq=False)
class TraversalRule:
    """No point of a step may be below the floor: all rows, in full, on a fine grid.

    A row at an end of the step has no kernel for that step, as it has none for itself when
    the floor is set.
    """

    rows: ReferenceRows
    discrete: Mask
    bandwidth: float
    log_floor: float

    @classmethod
    def fit(
        cls,
        points: Array | ReferenceRows,
        discrete: Mask,
        *,
        bandwidth: float,
        min_density: float = 0.05,
    ) -> TraversalRule:
        """Take the bandwidth of the explainer's density, and compute the floor anew."""
        rows = points if isinstance(points, ReferenceRows) else distinct_rows(points)
        if len(rows) < 2:
            raise DataError(
                "the rule needs at least two different rows to set a floor: give more people"
            )
        log_floor = float(np.quantile(leave_one_out_log_densities(rows, bandwidth), min_density))
        return cls(rows, np.asarray(discrete, dtype=bool), float(bandwidth), log_floor)

    def along(self, starts: Array, ends: Array) -> StepDensities:
        """The lowest and the mean log-density along each step, without the rows at its ends."""
        found = []
        for start, end in zip(starts, ends, strict=True):
            own = [*self.rows.rows_at(start), *self.rows.rows_at(end)]
            found.append(
                log_densities_along_step(
                    (start, end), self.discrete, self.rows, self.bandwidth, left_out=own
                )
            )
        return StepDensities.of(found)

    def log_densities_at_start(self, starts: Array, ends: Array) -> Array:
        """The log-density at the start of each step, with the same rows left out."""
        found = np.empty(len(starts))
        for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
            own = [*self.rows.rows_at(start), *self.rows.rows_at(end)]
            at_start = kernel_log_densities(start[None, :], self.rows, self.bandwidth, left_out=own)
            found[i] = at_start[0]
        return found

    def traversable(
        self, starts: Array, ends: Array, *, log_floor: Array | float | None = None
    ) -> Mask:
        """Which steps never fall below the floor; another may be given, or one for each step."""
        wanted = self.log_floor if log_floor is None else np.asarray(log_floor)
        return np.asarray(self.along(starts, ends).lowest_logs >= wanted - JUDGE_TOLERANCE)
