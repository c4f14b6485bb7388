"""Points along a step, close enough together that nothing is missed between them."""

from __future__ import annotations

import numpy as np

from localface.types import Array, Mask

MAX_POINTS = 401
"""Points on a straight part at most, however long it is."""

_FINER = 8  # points added between two neighbours when the grid is refined


def straight_parts(start: Array, end: Array, discrete: Mask) -> list[tuple[Array, Array, float]]:
    """The straight parts of a step with their share of it: categories flip in the middle."""
    flips = discrete & (start != end)
    if not flips.any():
        return [(start, end, 1.0)]
    middle = (start + end) / 2
    return [(start, np.where(flips, start, middle), 0.5), (np.where(flips, end, middle), end, 0.5)]


def points_along(start: Array, end: Array, *, apart: float) -> tuple[Array, Array]:
    """Points on a line at most ``apart`` apart, both ends included, with the weight of each.

    The weights are those of the trapezium rule, and sum to one.
    """
    length = float(np.sqrt(((end - start) ** 2).sum()))
    if length == 0.0:
        return start[None, :], np.ones(1)
    n = MAX_POINTS - 1
    if apart > 0:
        n = int(np.clip(np.ceil(length / apart), 2, MAX_POINTS - 1))
    points = start + np.linspace(0.0, 1.0, n + 1)[:, None] * (end - start)
    points[-1] = end
    weights = np.full(n + 1, 1.0 / n)
    weights[[0, -1]] /= 2
    return points, weights


def points_around(points: Array, i: int) -> Array:
    """More points between the i-th point and its neighbours on the line."""
    first = points[max(i - 1, 0)]
    last = points[min(i + 1, len(points) - 1)]
    return np.asarray(first + np.linspace(0.0, 1.0, 2 * _FINER + 1)[:, None] * (last - first))
