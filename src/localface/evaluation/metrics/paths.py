"""The way itself: how long it is, how much a step asks for, whether the score ever falls."""

from __future__ import annotations

import numpy as np

from localface.data.space import Space
from localface.evaluation.metrics.change import changed
from localface.types import Array

_ROUNDING = 1e-9  # by which a score may fall and still count as level


def step_lengths(points: Array) -> Array:
    """The length of each step between points, in ordinary differences."""
    return np.asarray(np.sqrt((np.diff(points, axis=0) ** 2).sum(axis=1)))


def path_length(points: Array) -> float:
    """The length of all steps together."""
    return float(step_lengths(points).sum())


def detour(points: Array) -> float:
    """The length of the path over the straight line to its end: 1 is straight; NaN where nothing moves."""
    return over(path_length(points), float(np.sqrt(((points[-1] - points[0]) ** 2).sum())))


def over(length: float, optimum: float | None) -> float:
    """A length over the best there is; NaN where no best is known, or it is no way at all."""
    if optimum is None or not np.isfinite(optimum) or optimum <= 0:
        return float("nan")
    return length / optimum


def sparsity(states: Array, space: Space) -> tuple[float, float]:
    """How many features a step changes, on average and at most; NaN without steps."""
    if len(states) < 2:
        return float("nan"), float("nan")
    counts = changed(states[:-1], states[1:], space).sum(axis=1)
    return float(counts.mean()), float(counts.max())


def monotone(scores: Array) -> bool:
    """Whether the score never falls from state to state; a missing score (NaN) is a fall."""
    return bool((np.diff(scores) >= -_ROUNDING).all() and np.isfinite(scores).all())


def deepest_fall(scores: Array) -> float:
    """By how much the score ever falls below the best so far; 0 where it never does."""
    return float((np.maximum.accumulate(scores) - scores).max()) if len(scores) else 0.0
