"""Squared distances worked out again by differences, where a product of large numbers rounds them.

|x|^2 - 2xq + |q|^2 is one BLAS product, and loses what is small beside |q|^2: two points side by
side at 1e9 are anything from 0 to 500 apart.
"""

from __future__ import annotations

import numpy as np

from localface.types import Array, Mask

_EPSILON = float(np.finfo(float).eps)


def rounding_of_products(squares: Array | float, width: int) -> Array:
    """Return how far off a squared distance may be, given both squared norms together."""
    return np.asarray(8.0 * (width + 4) * _EPSILON * squares)


def is_rounded_away(queries: Array, resolution: float) -> Mask:
    """Tell from which points the squared distances to near rows are off by more than that.

    Rows that are near have about the same norm; what is far is rounded by a share of its distance
    however it is worked out.
    """
    squares = (queries * queries).sum(axis=1)
    return np.asarray(rounding_of_products(3 * squares, queries.shape[1]) > resolution)


def settle_squared_distances(
    squares: Array, queries: Array, rows: Array, *, resolution: float
) -> Array:
    """Work out again, in place, lines that a product has rounded by more than ``resolution``."""
    for i in np.flatnonzero(is_rounded_away(queries, resolution)).tolist():
        away = rows - queries[i]
        squares[i] = (away * away).sum(axis=1)
    return squares
