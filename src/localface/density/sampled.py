"""A density of the user's own, sampled along segments without a certificate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from localface.density.protocol import (
    DensityScale,
    LogFloor,
    SegmentDensities,
    compare_with_floor,
)
from localface.errors import DensityError
from localface.geometry.point_set import PointSet
from localface.geometry.segments import split_at_flips
from localface.types import Array, Ids, Mask

_SAMPLES = 33  # points on each leg of a segment

LogDensity = Callable[[Array], Array]
"""From points to log-densities."""


class SampledDensity:
    """Any function from points to log-densities; what happens between two samples is not known.

    It cannot leave a row out, so its quantiles are those of the rows as they are.
    """

    certified = False

    def __init__(self, log_density: LogDensity, point_set: PointSet, discrete: Mask) -> None:
        self._log_density = log_density
        self._discrete = discrete
        self._row_log_densities = log_density(point_set.points)
        _check_row_log_densities(self._row_log_densities)
        self.scale = DensityScale(np.sort(self._row_log_densities))

    def row_log_densities(self, ids: Ids) -> Array:
        """Return the log-densities of rows."""
        return np.asarray(self._row_log_densities[ids])

    def lowest_along(
        self, starts: Array, ends: Array, log_floor: LogFloor, *, askers: Array | None = None
    ) -> SegmentDensities:
        """Return the lowest of the samples along each segment."""
        lowest = np.array([logs.min() for logs in self._sample_log_densities(starts, ends)])
        return compare_with_floor(lowest, log_floor)

    def mean_along(
        self, starts: Array, ends: Array, log_floor: LogFloor, *, askers: Array | None = None
    ) -> SegmentDensities:
        """Return the logarithm of the mean of the samples along each segment."""
        means = np.array([_log_of_mean(logs) for logs in self._sample_log_densities(starts, ends)])
        return compare_with_floor(means, log_floor)

    def _sample_log_densities(self, starts: Array, ends: Array) -> list[Array]:
        along = np.linspace(0.0, 1.0, _SAMPLES)[:, None]
        points = []
        for start, end in zip(starts, ends, strict=True):
            legs = split_at_flips(start, end, self._discrete)
            points.append(np.concatenate([a + along * (b - a) for a, b in legs]))
        logs = self._log_density(np.concatenate(points))
        return np.split(logs, np.cumsum([len(some) for some in points])[:-1])


def wrap_user_density(density: Any, table_of: Callable[[Array], Any]) -> LogDensity:
    """Wrap a user's density so that it takes points and every answer is checked.

    ``density`` is a callable that gives densities, or a fitted estimator whose
    ``score_samples`` gives their logarithms; ``table_of`` turns points into what it takes.
    """
    gives_logs = hasattr(density, "score_samples")
    call = density.score_samples if gives_logs else density

    def log_density(points: Array) -> Array:
        try:
            values = np.asarray(call(table_of(points)), dtype=float)
        except Exception as error:
            raise DensityError(
                f"the density failed on {len(points)} record(s): {type(error).__name__}: {error}"
            ) from error
        _check_density_values(values, len(points), gives_logs=gives_logs)
        if gives_logs:
            return values
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(values))

    return log_density


def _check_density_values(values: Array, n: int, *, gives_logs: bool) -> None:
    if values.shape != (n,):
        raise DensityError(
            f"the density returned shape {values.shape} for {n} record(s); one value each is wanted"
        )
    if np.isnan(values).any() or np.isposinf(values).any():
        raise DensityError(
            "the density returned NaN or infinity; every density must be a finite number"
        )
    if not gives_logs and values.min() < 0:
        raise DensityError(
            f"the density returned a negative value ({values.min():.4g}); "
            "a density is never negative"
        )


def _check_row_log_densities(log_densities: Array) -> None:
    if np.isneginf(log_densities).any():
        raise DensityError(
            f"the density is 0 at {int(np.isneginf(log_densities).sum())} of "
            f"{len(log_densities)} rows, where people stand: it must be positive there "
            "(where it underflows, pass an object whose score_samples gives logarithms)"
        )
    if np.ptp(log_densities) == 0:
        raise DensityError(
            "the density is the same at every row, so that no state is more common than another: "
            "is it fitted?"
        )


def _log_of_mean(logs: Array) -> float:
    top = logs.max()
    if not np.isfinite(top):
        return -np.inf
    return float(top + np.log(np.exp(logs - top).mean()))
