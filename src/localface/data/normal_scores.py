"""Numbers by their normal scores: rank among the rows, as a quantile of the normal distribution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.types import Array, Ids

_MOST_KNOTS = 512  # half of them with as many rows between them, half as many scores apart
_FAR_APART = 5.0  # ranges of the rest of its side: a few values beyond such a gap are outliers
_FEW_BEYOND = 1e-3  # share of rows that are few


@dataclass(frozen=True, slots=True, eq=False)
class NormalScores:
    """The knots of a strictly increasing map from a number to its normal score.

    ``values`` are values of a column, at least two, ``scores`` those of their mid-ranks: one unit
    is one standard deviation wherever the rows are. Between and beyond them the map is linear.
    """

    values: Array
    scores: Array

    @classmethod
    def fit(cls, column: Array) -> NormalScores:
        """Read the map off a column; a constant one gets a line through its value."""
        from scipy.special import ndtri  # takes longer to import than all of localface

        values, counts = np.unique(column, return_counts=True)
        if len(values) == 1:
            step = max(1.0, abs(float(values[0])))
            return cls(np.array([values[0], values[0] + step]), np.array([0.0, 1.0]))
        ranks = (np.cumsum(counts) - counts / 2) / len(column)
        scores = np.asarray(ndtri(ranks))
        scores = _set_outliers_apart(values, scores, ranks)
        knots = _choose_knots(ranks, scores)
        return cls(values[knots], scores[knots])


def _set_outliers_apart(values: Array, scores: Array, ranks: Array) -> Array:
    """Move the scores of outliers away from the others, the further the wider the gap.

    By rank alone, half way to a value a thousand times as large as any other would be an
    ordinary place to be.
    """
    above = _extra_scores(values, ranks)
    below = _extra_scores(-values[::-1], 1 - ranks[::-1])[::-1]
    return np.asarray(scores + above - below)


def _extra_scores(values: Array, ranks: Array) -> Array:
    """Return what gaps add to the scores of the values above them."""
    middle = values[min(int(np.searchsorted(ranks, 0.5)), len(values) - 1)]
    gaps = np.diff(values)
    rest = values[:-1] - middle
    few = 1 - ranks[1:] < max(_FEW_BEYOND, 1.5 * (1 - ranks[-1]))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        wide = few & (rest > 0) & (gaps > _FAR_APART * rest)
        extra = np.where(wide, np.log(gaps / (_FAR_APART * rest)), 0.0)
    return np.concatenate([[0.0], np.cumsum(extra)])


def _choose_knots(ranks: Array, scores: Array) -> Ids:
    """Choose which distinct values the map goes through: all of them, or as many as serve."""
    if len(scores) <= _MOST_KNOTS:
        return np.arange(len(scores))
    half = _MOST_KNOTS // 2
    by_rank = np.searchsorted(ranks, np.linspace(ranks[0], ranks[-1], half))
    by_score = np.searchsorted(scores, np.linspace(scores[0], scores[-1], half))
    return np.unique(np.concatenate([by_rank, by_score]))
