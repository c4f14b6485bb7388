"""Fitting a density to rows: bandwidth and quantiles, both leave-one-out."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from localface.density.kde import KDE
from localface.density.kernel_sums import log_sums
from localface.density.knn import KNN
from localface.geometry.point_set import PointSet
from localface.types import Array, Ids, Mask

_TUNED_ON = 512  # rows on which the bandwidth is chosen, each against all others
_RANKED_ON = 20_000  # rows whose leave-one-out density makes the scale
_NEAR = 10  # people whom an ordinary person has near
_CHUNK = 8_000_000  # distances held at a time


def fit_kde(crowd: PointSet, discrete: Mask, *, bandwidth: float | None = None) -> KDE:
    """Fit a Gaussian KDE: the bandwidth maximises the leave-one-out likelihood.

    In-sample quantiles would call every new person unusual in many dimensions, so the
    scale is leave-one-out as well.
    """
    h = best_bandwidth(crowd) if bandwidth is None else bandwidth
    constant = -crowd.width / 2 * np.log(2 * np.pi * h * h) - np.log(len(crowd))
    known = _ranked(crowd, lambda squares: log_sums(squares / (-2 * h * h)) + constant)
    return KDE(crowd, discrete, bandwidth=h, known=known, reach=ordinary_reach(crowd))


def fit_knn(crowd: PointSet, discrete: Mask, *, k: int) -> KNN:
    """Fit a k-NN density: how near the k-th other person is."""
    k, width = min(k, len(crowd) - 1), crowd.width
    known = _ranked(
        crowd, lambda squares: -width / 2 * np.log(np.partition(squares, k - 1, axis=1)[:, k - 1])
    )
    return KNN(crowd, discrete, k=k, known=known, reach=ordinary_reach(crowd))


def _ranked(crowd: PointSet, level: Callable[[Array], Array]) -> Array:
    """Leave-one-out levels of the rows that make the scale; NaN for those that are not worked out."""
    chosen = _spread(len(crowd), _RANKED_ON)
    known = np.full(len(crowd), np.nan)
    known[chosen] = np.concatenate([level(squares) for squares in _apart(crowd, chosen)])
    return known


def best_bandwidth(crowd: PointSet) -> float:
    """Choose the bandwidth under which the other rows make each row likeliest."""
    from scipy.optimize import (
        minimize_scalar,
    )  # here, as it takes longer to import than all of localface

    squares, width = (
        np.concatenate(list(_apart(crowd, _spread(len(crowd), _TUNED_ON)))),
        crowd.width,
    )
    nearest = float(np.sqrt(np.median(squares.min(axis=1))))
    widest = max(float(np.sqrt(np.median(squares[np.isfinite(squares)]))), 2 * nearest)

    def unlikelihood(log_h: float) -> float:
        h = np.exp(log_h)
        return float(-np.mean(log_sums(squares / (-2 * h * h))) + width * log_h)

    span = (np.log(max(nearest, 1e-9 * widest) / 4 / np.sqrt(width)), np.log(widest))
    return float(
        np.exp(
            minimize_scalar(unlikelihood, bounds=span, method="bounded", options={"xatol": 1e-3}).x
        )
    )


def ordinary_reach(crowd: PointSet) -> float:
    """How far from an ordinary person the tenth nearest other stands: within it, people count as near."""
    k = min(_NEAR, len(crowd) - 1)
    squares = np.concatenate(list(_apart(crowd, _spread(len(crowd), _TUNED_ON))))
    return float(np.sqrt(np.median(np.partition(squares, k - 1, axis=1)[:, k - 1])))


def _spread(n: int, most: int) -> Ids:
    """At most ``most`` places spread evenly over n rows in canonical order: no chance, no row order."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))


def _apart(crowd: PointSet, chosen: Ids) -> Iterator[Array]:
    """Squared distances of chosen rows to all rows, a chunk at a time; infinite to themselves."""
    step = max(1, _CHUNK // len(crowd))
    for first in range(0, len(chosen), step):
        some = chosen[first : first + step]
        apart = crowd.squared(crowd.points[some])
        np.maximum(apart, 0.0, out=apart)
        apart[np.arange(len(some)), some] = np.inf
        yield apart
