"""Metrics of a proposal's end: whether the model agrees, how close other rows are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from localface.errors import DataError
from localface.evaluation.metrics.reference_rows import ReferenceRows, distinct_rows
from localface.types import Array, Mask

Score = Callable[[Array], Array]
"""Scores records in the user's units; higher is nearer to the target."""

_TIED = 1e-9  # relative difference of squared distances that are equal but for rounding
_CROWDED = 1e-10  # keeps the density of equal points finite, as scikit-learn does


def valid(records: Array, score: Score, *, min_score: float) -> Mask:
    """Whether each record reaches the target by a fresh call of the model; NaN does not."""
    if not len(records):
        return np.zeros(0, dtype=bool)
    return np.asarray(score(records) >= min_score)


def ynn(points: Array, rows: ReferenceRows, reaches_target: Mask, *, k: int = 10) -> Array:
    """The share of the k nearest other rows that reach the target.

    Rows that are tied for the last rank share it: the expected share if ties were broken at
    random, so the order of rows does not matter.
    """
    _check_k(k)
    found = np.empty(len(points))
    wanted = np.asarray(reaches_target, dtype=np.float64)
    rank = min(k, len(rows)) - 1
    for block, squared in rows.squared_distances_to_others_by_block(points):
        present = np.minimum(np.isfinite(squared).sum(axis=1), k)
        last = np.partition(squared, rank, axis=1)[:, rank]
        last = np.where(np.isfinite(last), last, np.finfo(float).max / 4)[:, None]
        nearer = squared < last * (1 - _TIED)
        tied = (squared <= last * (1 + _TIED)) & ~nearer
        left = present - nearer.sum(axis=1)
        good = nearer @ wanted + left * (tied @ wanted) / np.maximum(tied.sum(axis=1), 1)
        found[block] = np.where(present > 0, good / np.maximum(present, 1), np.nan)
    return found


def knn_distance(points: Array, rows: ReferenceRows, *, k: int = 10) -> Array:
    """The mean distance to the k nearest other rows; NaN where there is no other row.

    In standard deviations wherever the rows are.
    """
    _check_k(k)
    distances, _ = rows.nearest(points, k)
    present = np.isfinite(distances)
    total = np.where(present, distances, 0.0).sum(axis=1)
    return np.where(present.any(axis=1), total / np.maximum(present.sum(axis=1), 1), np.nan)


@dataclass(frozen=True, slots=True, eq=False)
class OutlierFactor:
    """The local outlier factor of points among rows: about 1 in their midst, larger outside.

    lof(x) = mean over the k nearest rows o of lrd(o) / lrd(x), and
    lrd(x) = 1 / mean over the k nearest rows o of max(k-distance(o), |x - o|).
    """

    rows: ReferenceRows
    k: int
    k_distances: Array
    lrd: Array

    @classmethod
    def of(cls, rows: ReferenceRows, *, k: int = 20) -> OutlierFactor:
        """Compute the reachability density of the rows themselves; equal rows count once."""
        _check_k(k)
        rows = distinct_rows(rows.points)
        k = min(k, len(rows) - 1)
        if k < 1:
            return cls(rows, 0, np.zeros(len(rows)), np.zeros(len(rows)))
        distances, numbers = rows.nearest(rows.points, k)
        k_distances = distances[:, -1]
        return cls(rows, k, k_distances, _reachability_density(distances, k_distances[numbers]))

    def __call__(self, points: Array) -> Array:
        """The factor of each point; NaN where there is no other row to compare with."""
        if self.k < 1:
            return np.full(len(points), np.nan)
        distances, numbers = self.rows.nearest(points, self.k)
        own = _reachability_density(distances, self.k_distances[numbers])
        return np.asarray(self.lrd[numbers].mean(axis=1) / own)


def _reachability_density(distances: Array, k_distances: Array) -> Array:
    return np.asarray(1.0 / (np.maximum(distances, k_distances).mean(axis=1) + _CROWDED))


def _check_k(k: int) -> None:
    if k < 1:
        raise DataError(f"k={k}: at least one neighbour is wanted")
