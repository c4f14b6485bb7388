"""Values that many share, spread over the way to the next ones."""

from __future__ import annotations

import numpy as np

from localface.data.space import Space
from localface.types import Array

_FEW_VALUES = 64  # distinct values up to which a column is one of counts and marks
_LOOKED_AT = 256  # rows that mostly show that a column has more


def spread_ties(points: Array, space: Space) -> Array:
    """Spread each value of a column of few values over half the way to its neighbours.

    People are counted in whole numbers, and kernels that are to span the way from one to the
    next must not be tuned to fit each number by itself.
    """
    found = points.copy()
    chance = np.random.default_rng(0)
    for column in np.flatnonzero(~space.discrete):
        if len(np.unique(points[:_LOOKED_AT, column])) > _FEW_VALUES:
            continue
        values = np.unique(points[:, column])
        if 2 < len(values) <= _FEW_VALUES:
            which = np.searchsorted(values, points[:, column])
            gaps = np.diff(values)
            half = np.minimum(gaps, np.median(gaps)) / 2
            below = np.append(half[0], half)[which]
            above = np.append(half, half[-1])[which]
            found[:, column] += chance.random(len(points)) * (below + above) - below
    return found
