"""Where a proposal ends: whether the model agrees, and who else is there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from localface.errors import DataError
from localface.evaluation.metrics.near import Rows, distinct
from localface.types import Array, Mask

Score = Callable[[Array], Array]
"""Scores records in the user's units; higher is nearer to the target."""

_TIED = 1e-9  # relative difference of squared distances that are equal but for rounding
_CROWDED = 1e-10  # keeps the density of people who stand on one spot finite, as scikit-learn does


def valid(records: Array, score: Score, *, min_score: float) -> Mask:
    """Whether each record reaches the target by a fresh call of the model; no score (NaN) is no."""
    return np.asarray(score(records) >= min_score) if len(records) else np.zeros(0, dtype=bool)


def ynn(places: Array, rows: Rows, reaches: Mask, *, k: int = 10) -> Array:
    """The share of the k nearest other rows that reach the target.

    Rows that are tied for the last places share them: the expected share if ties were
    broken by lot, so the order of rows does not matter.
    """
    _check_k(k)
    found = np.empty(len(places))
    wanted = np.asarray(reaches, dtype=np.float64)
    for some, apart in rows.others(places):
        there = np.minimum(np.isfinite(apart).sum(axis=1), k)
        last = np.partition(apart, min(k, len(rows)) - 1, axis=1)[:, min(k, len(rows)) - 1]
        last = np.where(np.isfinite(last), last, np.finfo(float).max / 4)[:, None]
        nearer = apart < last * (1 - _TIED)
        tied = (apart <= last * (1 + _TIED)) & ~nearer
        left = there - nearer.sum(axis=1)
        good = nearer @ wanted + left * (tied @ wanted) / np.maximum(tied.sum(axis=1), 1)
        found[some] = np.where(there > 0, good / np.maximum(there, 1), np.nan)
    return found


def knn_distance(places: Array, rows: Rows, *, k: int = 10) -> Array:
    """The mean distance to the k nearest other rows, in ordinary differences; NaN where there is no other."""
    _check_k(k)
    distances, _ = rows.nearest(places, k)
    there = np.isfinite(distances)
    total = np.where(there, distances, 0.0).sum(axis=1)
    return np.where(there.any(axis=1), total / np.maximum(there.sum(axis=1), 1), np.nan)


@dataclass(frozen=True, slots=True, eq=False)
class OutlierFactor:
    """The local outlier factor of places among rows: about 1 where people are, larger where it is lonelier.

    lof(x) = mean over the k nearest rows o of lrd(o) / lrd(x), and
    lrd(x) = 1 / mean over the k nearest rows o of max(k-distance(o), |x - o|).
    """

    rows: Rows
    k: int
    reach: Array
    lrd: Array

    @classmethod
    def of(cls, rows: Rows, *, k: int = 20) -> OutlierFactor:
        """Work out once how close to their neighbours the rows themselves are; equal rows count once."""
        _check_k(k)
        rows = distinct(rows.points)
        k = min(k, len(rows) - 1)
        if k < 1:
            return cls(rows, 0, np.zeros(len(rows)), np.zeros(len(rows)))
        distances, numbers = rows.nearest(rows.points, k)
        reach = distances[:, -1]
        return cls(rows, k, reach, _closeness(distances, reach[numbers]))

    def __call__(self, places: Array) -> Array:
        """The factor of each place; NaN where there is nobody to compare with."""
        if self.k < 1:
            return np.full(len(places), np.nan)
        distances, numbers = self.rows.nearest(places, self.k)
        return np.asarray(
            self.lrd[numbers].mean(axis=1) / _closeness(distances, self.reach[numbers])
        )


def _closeness(distances: Array, reaches: Array) -> Array:
    return np.asarray(1.0 / (np.maximum(distances, reaches).mean(axis=1) + _CROWDED))


def _check_k(k: int) -> None:
    if k < 1:
        raise DataError(f"k={k}: at least one neighbour is wanted")
