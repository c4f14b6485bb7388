"""Squared distances between many points, a chunk at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from localface.types import Array, Ids

_DISTANCES_AT_ONCE = 2**19


def squared_distances(points: Array, rows: Array) -> Array:
    """Return the squared distance of every point to every row, in one BLAS product."""
    found = points @ (-2.0 * rows.T)
    found += (points * points).sum(axis=1)[:, None]
    found += (rows * rows).sum(axis=1)
    return np.maximum(found, 0.0, out=found)


def chunks(n: int, width: int) -> Iterator[slice]:
    """Split ``n`` lines of ``width`` values each into slices that are small enough to hold."""
    step = max(1, _DISTANCES_AT_ONCE // max(1, width))
    return (slice(first, min(first + step, n)) for first in range(0, n, step))


def evenly_spread(n: int, most: int) -> Ids:
    """Return at most ``most`` of ``n`` rows, spread evenly: no chance involved.

    >>> evenly_spread(9, 3).tolist()
    [0, 4, 8]
    """
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))
