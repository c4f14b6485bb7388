"""Fitting a density to rows, with a leave-one-out bandwidth."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from localface.density.kde import KDE
from localface.density.kernel_sums import log_sum_exp
from localface.density.knn import KNN
from localface.density.row_kernels import STATED_TO
from localface.geometry.point_set import PointSet
from localface.geometry.settling import settle_squared_distances
from localface.types import Array, Ids, Mask

_TUNED_ON = 512  # rows on which the bandwidth is chosen, each against all others
_RANKED_ON = 20_000  # rows whose leave-one-out density makes the scale
_DISTANCES_AT_ONCE = 8_000_000
_NEAR = 1e-3  # ordinary differences below which it is not told how near somebody is


def fit_kde(point_set: PointSet, discrete: Mask, *, bandwidth: float | None = None) -> KDE:
    """Fit a Gaussian KDE: the bandwidth maximises the leave-one-out likelihood.

    In-sample quantiles would call every new person unusual in many dimensions, so the
    scale is leave-one-out as well.
    """
    h = best_bandwidth(point_set) if bandwidth is None else bandwidth
    constant = -point_set.width / 2 * np.log(2 * np.pi * h * h) - np.log(len(point_set))
    return KDE(
        point_set,
        discrete,
        bandwidth=h,
        row_log_densities=_leave_one_out_log_densities(
            point_set,
            lambda squares: log_sum_exp(squares / (-2 * h * h)) + constant,
            resolution=2 * h * h * STATED_TO,
        ),
    )


def fit_knn(point_set: PointSet, discrete: Mask, *, k: int) -> KNN:
    """Fit a k-NN density: the distance to the k-th other person."""
    k = min(k, len(point_set) - 1)
    width = point_set.width
    return KNN(
        point_set,
        discrete,
        k=k,
        row_log_densities=_leave_one_out_log_densities(
            point_set,
            lambda squares: -width / 2 * np.log(_kth_smallest(squares, k)),
            resolution=_NEAR**2 * STATED_TO,
        ),
    )


def best_bandwidth(point_set: PointSet) -> float:
    """Choose the bandwidth under which the other rows make each row likeliest."""
    from scipy.optimize import minimize_scalar  # takes longer to import than all of localface

    squares = _squared_distances_for_tuning(point_set)
    width = point_set.width
    nearest = float(np.sqrt(np.median(squares.min(axis=1))))
    widest = max(float(np.sqrt(np.median(squares[np.isfinite(squares)]))), 2 * nearest)

    def negative_log_likelihood(log_h: float) -> float:
        h = np.exp(log_h)
        return float(-np.mean(log_sum_exp(squares / (-2 * h * h))) + width * log_h)

    span = (np.log(max(nearest, 1e-9 * widest) / 4 / np.sqrt(width)), np.log(widest))
    best = minimize_scalar(
        negative_log_likelihood, bounds=span, method="bounded", options={"xatol": 1e-3}
    )
    return float(np.exp(best.x))


def _leave_one_out_log_densities(
    point_set: PointSet, log_density: Callable[[Array], Array], *, resolution: float
) -> Array:
    """Work out log-densities of the rows that make the scale; NaN for the others.

    ``log_density`` turns squared distances to all other rows into log-densities; those to near
    rows are off by no more than ``resolution``.
    """
    chosen = _evenly_spread_rows(len(point_set), _RANKED_ON)
    found = np.full(len(point_set), np.nan)
    parts = _squared_distances_to_others(point_set, chosen, resolution)
    found[chosen] = np.concatenate([log_density(squares) for squares in parts])
    return found


def _squared_distances_for_tuning(point_set: PointSet) -> Array:
    chosen = _evenly_spread_rows(len(point_set), _TUNED_ON)
    return np.concatenate(list(_squared_distances_to_others(point_set, chosen)))


def _kth_smallest(squares: Array, k: int) -> Array:
    return np.asarray(np.partition(squares, k - 1, axis=1)[:, k - 1])


def _evenly_spread_rows(n: int, most: int) -> Ids:
    """Return at most ``most`` rows spread evenly over the canonical order: no chance involved."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))


def _squared_distances_to_others(
    point_set: PointSet, chosen: Ids, resolution: float = np.inf
) -> Iterator[Array]:
    """Yield squared distances of chosen rows to all rows, in chunks; infinite to themselves.

    Those to near rows are off by no more than ``resolution``.
    """
    step = max(1, _DISTANCES_AT_ONCE // len(point_set))
    for first in range(0, len(chosen), step):
        some = chosen[first : first + step]
        points = point_set.points[some]
        squares = point_set.squared_distances(points)
        settle_squared_distances(squares, points, point_set.points, resolution=resolution)
        np.maximum(squares, 0.0, out=squares)
        squares[np.arange(len(some)), some] = np.inf
        yield squares
