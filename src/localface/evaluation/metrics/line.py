"""Places along a step, close enough together that nothing is missed between them."""

from __future__ import annotations

import numpy as np

from localface.types import Array, Mask

MOST = 401
"""Places on a leg at most, however long it is."""

_CLOSER = 8  # places between two neighbours, when a place is looked at more closely


def legs(start: Array, end: Array, discrete: Mask) -> list[tuple[Array, Array, float]]:
    """The straight parts of a step, and how much of it each is: categories flip in the middle."""
    flips = discrete & (start != end)
    if not flips.any():
        return [(start, end, 1.0)]
    middle = (start + end) / 2
    return [(start, np.where(flips, start, middle), 0.5), (np.where(flips, end, middle), end, 0.5)]


def places_along(start: Array, end: Array, *, apart: float) -> tuple[Array, Array]:
    """Places on a line no more than ``apart`` apart, both ends among them, and the part that each stands for.

    The parts are those of the trapezium rule, and sum to one.
    """
    length = float(np.sqrt(((end - start) ** 2).sum()))
    if length == 0.0:
        return start[None, :], np.ones(1)
    n = int(np.clip(np.ceil(length / apart), 2, MOST - 1)) if apart > 0 else MOST - 1
    places = start + np.linspace(0.0, 1.0, n + 1)[:, None] * (end - start)
    places[-1] = end
    parts = np.full(n + 1, 1.0 / n)
    parts[[0, -1]] /= 2
    return places, parts


def around(places: Array, i: int) -> Array:
    """More places between a place and its neighbours on the line."""
    first, last = places[max(i - 1, 0)], places[min(i + 1, len(places) - 1)]
    return np.asarray(first + np.linspace(0.0, 1.0, 2 * _CLOSER + 1)[:, None] * (last - first))
