"""What a proposal changes: how many features, by how much, which of them needlessly."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from localface.data.schema import Schema
from localface.data.space import Space
from localface.evaluation.metrics.endpoints import Score, valid
from localface.evaluation.metrics.record_points import points_of_records
from localface.types import Array, Mask

_ROUNDING = 1e-9  # of the spread of a feature: less is no change


def changed_features(starts: Array, ends: Array, space: Space) -> Mask:
    """Which features differ between records, row by row; rounding is no change."""
    return np.asarray(np.abs(ends - starts) > _ROUNDING * space.scales)


def scaled_differences(starts: Array, ends: Array, schema: Schema, scales: Array) -> Array:
    """By how much each feature differs, in units of ``mad_scales`` or ``range_scales``.

    |a - b| / scale for numbers; 1 / scale for any two categories. Where the scale is 0,
    because everybody has the same value, any difference counts as one.
    """
    discrete = np.array([feature.discrete for feature in schema])
    apart = np.where(discrete, ends != starts, np.abs(ends - starts))
    known = scales > 0
    return np.where(known, apart / np.where(known, scales, 1.0), apart > 0)


def effort_by_feature(starts: Array, ends: Array, space: Space) -> Array:
    """How far apart records are in each feature, in points: standard deviations.

    A number counts by the difference of its normal scores, or of its values over the scale that
    the schema gives; another category of a feature counts 1 / scale, which is 1 by default.
    """
    apart = points_of_records(ends, space) - points_of_records(starts, space)
    squares = np.zeros((len(apart), len(space.schema)))
    for column, feature in enumerate(space.feature_of):
        squares[:, feature] += apart[:, column] ** 2
    return np.asarray(np.sqrt(squares))


def l0(starts: Array, ends: Array, space: Space) -> Array:
    """How many features change."""
    return np.asarray(changed_features(starts, ends, space).sum(axis=1), dtype=np.float64)


def l1(starts: Array, ends: Array, space: Space) -> Array:
    """The effort of all features together, in standard deviations."""
    return np.asarray(effort_by_feature(starts, ends, space).sum(axis=1))


def l2(starts: Array, ends: Array, space: Space) -> Array:
    """The distance between points: the root of the summed squares of the effort.

    It is the length that LocalFACE keeps short.
    """
    return np.asarray(np.sqrt((effort_by_feature(starts, ends, space) ** 2).sum(axis=1)))


def mad_scales(records: Array, schema: Schema) -> Array:
    """The median absolute deviation of each feature, as Wachter scales; 1 for categories.

    Where more than half of the people have the same value it is 0, and the standard
    deviation stands in for it.
    """
    mad = np.median(np.abs(records - np.median(records, axis=0)), axis=0)
    mad = np.where(mad > 0, mad, records.std(axis=0))
    return _with_ones_for_categories(np.where(np.ptp(records, axis=0) > 0, mad, 0.0), schema)


def range_scales(records: Array, schema: Schema) -> Array:
    """The largest less the smallest value of each feature, as Gower scales; 1 for categories."""
    return _with_ones_for_categories(np.ptp(records, axis=0), schema)


def redundancy(start: Array, end: Array, space: Space, score: Score, *, min_score: float) -> float:
    """The share of changed features that could be undone, one at a time, with the end still valid.

    NaN if nothing changes.
    """
    trials = single_undos(start, end, space)
    if not len(trials):
        return float("nan")
    return float(valid(trials, score, min_score=min_score).mean())


def single_undos(start: Array, end: Array, space: Space) -> Array:
    """The end with one changed feature as it was at the start: a record for each."""
    columns = np.flatnonzero(changed_features(start[None, :], end[None, :], space)[0])
    trials = np.repeat(end[None, :], len(columns), axis=0)
    trials[np.arange(len(columns)), columns] = start[columns]
    return trials


def diversity(start: Array, ends: Sequence[Array], space: Space) -> tuple[float, float]:
    """How different several proposals to one person are.

    The mean distance between ends, and the mean Jaccard distance of the features they
    change. NaN for fewer than two proposals; two that change nothing are the same.
    """
    if len(ends) < 2:
        return float("nan"), float("nan")
    records = np.stack(list(ends))
    masks = changed_features(np.broadcast_to(start, records.shape), records, space)
    first, second = np.array(list(combinations(range(len(ends)), 2))).T
    apart = l2(records[first], records[second], space)
    either = (masks[first] | masks[second]).sum(axis=1)
    both = (masks[first] & masks[second]).sum(axis=1)
    jaccard = np.where(either > 0, 1.0 - both / np.maximum(either, 1), 0.0)
    return float(apart.mean()), float(jaccard.mean())


def _with_ones_for_categories(scales: Array, schema: Schema) -> Array:
    return np.where([feature.discrete for feature in schema], 1.0, scales)
