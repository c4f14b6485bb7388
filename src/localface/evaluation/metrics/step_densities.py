"""The density along steps, summed up for whole paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from localface.evaluation.metrics.kernel_density import row_log_sums
from localface.types import Array

JUDGE_TOLERANCE = 1e-6
"""How far below a floor a log-density may fall by rounding and still count as on it."""


class StepDensities(NamedTuple):
    """One value a step: the lowest log-density, and the logarithm of the mean density."""

    lowest_logs: Array
    mean_logs: Array

    @classmethod
    def of(cls, pairs: Sequence[tuple[float, float]]) -> StepDensities:
        """Stack (lowest, mean) pairs, one a step."""
        columns = np.array(pairs, dtype=np.float64).reshape(len(pairs), 2)
        return cls(columns[:, 0], columns[:, 1])


def path_log_densities(steps: StepDensities, lengths: Array) -> tuple[float, float]:
    """The lowest log-density of a whole path, and the logarithm of its mean density.

    Each step weighs as much as it is long.
    """
    with np.errstate(divide="ignore"):
        logs = steps.mean_logs + np.log(length_weights(lengths))
    return float(steps.lowest_logs.min()), float(row_log_sums(logs[None, :])[0])


def length_weights(lengths: Array) -> Array:
    """The share that each step has in the length of a path; equal shares where nothing moves."""
    total = lengths.sum()
    if total > 0:
        return np.asarray(lengths / total)
    return np.full(len(lengths), 1 / len(lengths))
