"""Metrics of a path: how long it is, how much a step changes, whether the score falls."""

from __future__ import annotations

import numpy as np

from localface.data.space import Space
from localface.evaluation.metrics.changes import changed_features
from localface.types import Array

_ROUNDING = 1e-9  # by which a score may fall and still count as level


def step_lengths(points: Array) -> Array:
    """The length of each step between points, in standard deviations."""
    return np.asarray(np.sqrt((np.diff(points, axis=0) ** 2).sum(axis=1)))


def path_length(points: Array) -> float:
    """The length of all steps together."""
    return float(step_lengths(points).sum())


def detour(points: Array) -> float:
    """The length of the path over that of a straight line; NaN where nothing moves."""
    straight = float(np.sqrt(((points[-1] - points[0]) ** 2).sum()))
    return over_optimum(path_length(points), straight)


def over_optimum(length: float, optimum: float | None) -> float:
    """A length over the shortest there is; NaN where that is unknown, or not positive."""
    if optimum is None or not np.isfinite(optimum) or optimum <= 0:
        return float("nan")
    return length / optimum


def sparsity(states: Array, space: Space) -> tuple[float, float]:
    """How many features a step changes, on average and at most; NaN without steps."""
    if len(states) < 2:
        return float("nan"), float("nan")
    counts = changed_features(states[:-1], states[1:], space).sum(axis=1)
    return float(counts.mean()), float(counts.max())


def monotone(scores: Array) -> bool:
    """Whether the score never falls from state to state; a missing score (NaN) is a fall."""
    return bool((np.diff(scores) >= -_ROUNDING).all() and np.isfinite(scores).all())


def deepest_fall(scores: Array) -> float:
    """By how much the score ever falls below the best so far; 0 where it never does."""
    if not len(scores):
        return 0.0
    return float((np.maximum.accumulate(scores) - scores).max())
