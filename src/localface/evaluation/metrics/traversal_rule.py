"""LocalFACE's own rule for a step, judged by independent code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from localface.density.common_states import CommonStates
from localface.density.protocol import Density
from localface.errors import DataError
from localface.evaluation.metrics.common_ground import CommonGround
from localface.evaluation.metrics.kernel_density import (
    leave_one_out_log_densities,
    log_densities_along_step,
)
from localface.evaluation.metrics.reference_rows import ReferenceRows, distinct_rows
from localface.evaluation.metrics.step_densities import JUDGE_TOLERANCE, StepDensities
from localface.types import Array, Mask


class Ground(Protocol):
    """How common the states along a step are."""

    @property
    def rows(self) -> ReferenceRows:
        """The rows that count, as points."""
        ...

    @property
    def bandwidth(self) -> float:
        """The bandwidth of the kernels, where they are round."""
        ...

    def along(self, start: Array, end: Array, *, left_out: Sequence[int]) -> tuple[float, float]:
        """The lowest log-density along a step, and the logarithm of the mean density."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class RoundKernels:
    """Kernels that are round in points, as the paper has them: ``density="isotropic"``."""

    rows: ReferenceRows
    discrete: Mask
    bandwidth: float

    def along(
        self, start: Array, end: Array, *, left_out: Sequence[int] = ()
    ) -> tuple[float, float]:
        """The lowest log-density along a step, and the logarithm of the mean density."""
        return log_densities_along_step(
            (start, end), self.discrete, self.rows, self.bandwidth, left_out=left_out
        )


@dataclass(frozen=True, slots=True, eq=False)
class TraversalRule:
    """No point of a step may be below the floor: all rows, in full, on a fine grid.

    A row at an end of the step is no evidence for that step, as it is none for itself when
    the floor is set.
    """

    ground: Ground
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
        """Judge round kernels by their bandwidth, and compute the floor anew."""
        rows = points if isinstance(points, ReferenceRows) else distinct_rows(points)
        if len(rows) < 2:
            raise DataError(
                "the rule needs at least two different rows to set a floor: give more people"
            )
        log_floor = float(np.quantile(leave_one_out_log_densities(rows, bandwidth), min_density))
        ground = RoundKernels(rows, np.asarray(discrete, dtype=bool), float(bandwidth))
        return cls(ground, log_floor)

    @classmethod
    def of_density(
        cls, density: Density, rows: ReferenceRows, *, min_density: float = 0.05
    ) -> TraversalRule:
        """Judge what ``density="kde"`` searches by, from the numbers that were fitted.

        ``rows`` are those of the explainer, as points of the judge's own. The floor is the
        quantile of the log-densities that the explainer found for them as if each were new.
        """
        if not isinstance(density, CommonStates):
            raise DataError(
                f"the rule of a {type(density).__name__} cannot be judged: give the density of an "
                "explainer with density='kde', or the bandwidth of one with 'isotropic'"
            )
        fitted = density.rows.points
        if rows.points.shape != fitted.shape or not np.allclose(rows.points, fitted, atol=1e-6):
            raise DataError(
                f"the density was fitted on {len(fitted):,} other points than these {len(rows):,}: "
                "give the rows that the explainer was given, and its space (explainer.engine.space)"
            )
        log_floor = float(np.quantile(density.scale.log_densities, min_density))
        return cls(CommonGround.of(density, rows), log_floor)

    @property
    def rows(self) -> ReferenceRows:
        """The rows that count, as points."""
        return self.ground.rows

    def along(self, starts: Array, ends: Array, *, askers: Array | None = None) -> StepDensities:
        """The lowest and the mean log-density along each step, without the rows at its ends.

        Where nobody stands at either, the row of the person who asks is left out.
        """
        askers = starts if askers is None else askers
        found = [
            self.ground.along(start, end, left_out=self._rows_left_out(start, end, asker))
            for start, end, asker in zip(starts, ends, askers, strict=True)
        ]
        return StepDensities.of(found)

    def log_densities_at_start(
        self, starts: Array, ends: Array, *, askers: Array | None = None
    ) -> Array:
        """The log-density at the start of each step, with the same rows left out."""
        askers = starts if askers is None else askers
        found = [
            self.ground.along(start, start, left_out=self._rows_left_out(start, end, asker))[0]
            for start, end, asker in zip(starts, ends, askers, strict=True)
        ]
        return np.array(found)

    def traversable(
        self, starts: Array, ends: Array, *, log_floor: Array | float | None = None
    ) -> Mask:
        """Which steps never fall below the floor; another may be given, or one for each step."""
        wanted = self.log_floor if log_floor is None else np.asarray(log_floor)
        return np.asarray(self.along(starts, ends).lowest_logs >= wanted - JUDGE_TOLERANCE)

    def _rows_left_out(self, start: Array, end: Array, asker: Array) -> list[int]:
        at_ends = {*self.rows.rows_at(start), *self.rows.rows_at(end)}
        return sorted(at_ends or self.rows.rows_at(asker))
