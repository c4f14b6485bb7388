"""A density of the user's own, sampled along steps and marked as not certified."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from localface.density.protocol import DensityScale, Floor, SegmentDensities, judged
from localface.errors import DensityError
from localface.geometry.point_set import PointSet
from localface.geometry.segments import legs
from localface.types import Array, Ids, Mask

_SAMPLES = 33  # places on each leg of a step


class Sampled:
    """Any function from records to densities; what happens between two samples is not known.

    It cannot leave a row out, so its quantiles are those of the rows as they are.
    """

    certified = False

    def __init__(
        self, evaluate: Callable[[Array], Array], crowd: PointSet, discrete: Mask, *, reach: float
    ) -> None:
        self._evaluate = evaluate
        self._point_set = crowd
        self._reach = reach
        self._discrete = discrete
        self._known = evaluate(crowd.points)
        if np.isneginf(self._known).any():
            raise DensityError(
                f"the density is 0 at {int(np.isneginf(self._known).sum())} of {len(crowd)} rows, where people stand: "
                "it must be positive there (where it underflows, pass an object whose score_samples gives logarithms)"
            )
        if np.ptp(self._known) == 0:
            raise DensityError(
                "the density is the same at every row, so that no place is more common than another: is it fitted?"
            )
        self.scale = DensityScale(np.sort(self._known))

    def levels(self, ids: Ids) -> Array:
        """Return the log-densities of rows."""
        return np.asarray(self._known[ids])

    def count_near(self, points: Array) -> Ids:
        """Count the people near each place: as near as the tenth nearest is to an ordinary person."""
        return self._point_set.within(points, self._reach)

    def lowest(self, starts: Array, ends: Array, floor: Floor) -> SegmentDensities:
        """Return the lowest of the samples along each step."""
        return judged(np.array([logs.min() for logs in self._samples(starts, ends)]), floor)

    def mean(self, starts: Array, ends: Array, floor: Floor) -> SegmentDensities:
        """Return the logarithm of the mean of the samples along each step."""
        tops = [(logs.max(), logs) for logs in self._samples(starts, ends)]
        values = [
            top + np.log(np.exp(logs - top).mean()) if np.isfinite(top) else -np.inf
            for top, logs in tops
        ]
        return judged(np.array(values), floor)

    def _samples(self, starts: Array, ends: Array) -> list[Array]:
        along = np.linspace(0.0, 1.0, _SAMPLES)[:, None]
        pieces = [legs(a, b, self._discrete) for a, b in zip(starts, ends, strict=True)]
        places = [np.concatenate([a + along * (b - a) for a, b in piece]) for piece in pieces]
        logs = self._evaluate(np.concatenate(places))
        return np.split(logs, np.cumsum([len(place) for place in places])[:-1])


def log_density(density: Any, frame: Callable[[Array], Any]) -> Callable[[Array], Array]:
    """Turn a callable (densities) or a fitted estimator with ``score_samples`` (logs) into checked log-densities."""
    logs_already = hasattr(density, "score_samples")
    call = density.score_samples if logs_already else density

    def evaluate(points: Array) -> Array:
        try:
            values = np.asarray(call(frame(points)), dtype=float)
        except Exception as error:
            raise DensityError(
                f"the density failed on {len(points)} place(s): {type(error).__name__}: {error}"
            ) from error
        if values.shape != (len(points),):
            raise DensityError(
                f"the density returned shape {values.shape} for {len(points)} place(s); one value each is wanted"
            )
        if np.isnan(values).any() or np.isposinf(values).any():
            raise DensityError(
                "the density returned NaN or infinity; every density must be a finite number"
            )
        if not logs_already and values.min() < 0:
            raise DensityError(
                f"the density returned a negative value ({values.min():.4g}); a density is never negative"
            )
        with np.errstate(divide="ignore"):
            return values if logs_already else np.log(values)

    return evaluate
