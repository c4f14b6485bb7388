"""Squared distances between many points, a chunk at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from localface.geometry.settling import settle_squared_distances
from localface.types import Array, Ids

_DISTANCES_AT_ONCE = 2**19
_FEWEST_LINES = 16  # however long: what is worked out for each chunk of them takes its time too
_PART = 32  # values of a line that are looked at together


def squared_distances(points: Array, rows: Array, *, resolution: float = np.inf) -> Array:
    """Return the squared distance of every point to every row, in one BLAS product.

    Those to near rows are off by no more than ``resolution``.
    """
    found = points @ (-2.0 * rows.T)
    found += (points * points).sum(axis=1)[:, None]
    found += (rows * rows).sum(axis=1)
    settle_squared_distances(found, points, rows, resolution=resolution)
    return np.maximum(found, 0.0, out=found)


def smallest_of_lines(values: Array, count: int) -> Array:
    """Return the ``count`` smallest values of each line, lowest first.

    The smallest are among the parts of a line whose own smallest is smallest.

    >>> smallest_of_lines(np.array([[3.0, 1.0, 2.0, 5.0]]), 2).tolist()
    [[1.0, 2.0]]
    """
    n_lines, width = values.shape
    n_parts = width // _PART
    if n_parts > 2 * count:
        parts = values[:, : n_parts * _PART].reshape(n_lines, _PART, n_parts)
        chosen = np.argpartition(parts.min(axis=1), count - 1, axis=1)[:, None, :count]
        inside = np.take_along_axis(parts, chosen, axis=2).reshape(n_lines, count * _PART)
        values = np.hstack([inside, values[:, n_parts * _PART :]])
    return np.sort(np.partition(values, count - 1, axis=1)[:, :count], axis=1)


def chunks(n: int, width: int) -> Iterator[slice]:
    """Split ``n`` lines of ``width`` values each into slices that are small enough to hold."""
    step = max(_FEWEST_LINES, _DISTANCES_AT_ONCE // max(1, width))
    return (slice(first, min(first + step, n)) for first in range(0, n, step))


def evenly_spread(n: int, most: int) -> Ids:
    """Return at most ``most`` of ``n`` rows, spread evenly: no chance involved.

    >>> evenly_spread(9, 3).tolist()
    [0, 4, 8]
    """
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))
