"""Numbers by their normal scores: rank among the rows, as a quantile of the normal distribution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.types import Array, Ids

_MOST_KNOTS = 512  # half of them as many rows apart, the others as many scores, and beside gaps
_BESIDE = 0.25  # share of rows on each side of a gap that tell the scale there
_TIMES_BEYOND = 10.0  # as many rows as are beyond the gap, at most
_FEWEST_IN_CROWD = 0.05  # share of rows on both sides of a gap between two crowds
_FEWEST_BESIDE = 3  # distinct values that they have at least
_SMALLEST_GAP = 0.3  # in scores: what is narrower is chance
_TIMES_AS_WIDE = 3.0  # as by rank: the same
_HUGE_GAP = 3.0  # in scores: wider gaps count by their logarithm


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
        scores = _keep_gaps(values, scores, ranks)
        knots = _choose_knots(ranks, scores)
        return cls(values[knots], scores[knots])


def _keep_gaps(values: Array, scores: Array, ranks: Array) -> Array:
    """Widen what lies between two values where nobody is, if it is a gap beside its surroundings.

    By rank alone, two crowds far apart would stand side by side, and half way to a value a
    thousand times as large as any other would be an ordinary place to be. So a gap is at least
    as wide as the scale next to it makes it, or about the logarithm of that if it is huge.
    """
    gaps = np.diff(scores)
    natural = np.diff(values) * _slopes_beside_gaps(values, scores, ranks)
    with np.errstate(divide="ignore", invalid="ignore"):
        huge = _HUGE_GAP * (1 + np.log(natural / _HUGE_GAP))
    natural = np.where(natural > _HUGE_GAP, huge, natural)
    wide = (natural > _SMALLEST_GAP) & (natural > _TIMES_AS_WIDE * gaps)
    widened = np.concatenate([[0.0], np.cumsum(np.where(wide, natural, gaps))])
    middle = min(int(np.searchsorted(ranks, 0.5)), len(values) - 1)
    return np.asarray(widened - widened[middle] + scores[middle])


def _slopes_beside_gaps(values: Array, scores: Array, ranks: Array) -> Array:
    """Return how steep the scores are beside each gap, on its flatter side; NaN without sides.

    A side is a quarter of the rows, less in the tails, and some distinct values at least.
    Between two crowds it is the further half of it that tells, as the edges of a crowd are thin.
    """
    at = np.arange(len(values))
    beyond = np.minimum(ranks, 1 - ranks)
    between = beyond > _FEWEST_IN_CROWD
    reach = np.minimum(_BESIDE, _TIMES_BEYOND * beyond)
    sides = []
    for sign in (-1, 1):
        far = np.searchsorted(ranks, ranks + sign * reach)
        near = np.where(between, np.searchsorted(ranks, ranks + sign * reach / 2), at)
        far = np.where(sign * (far - near) < _FEWEST_BESIDE, near + sign * _FEWEST_BESIDE, far)
        far = np.clip(far, 0, len(values) - 1)
        near = np.clip(near, 0, len(values) - 1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            slopes = (scores[far] - scores[near]) / (values[far] - values[near])
        sides.append(np.where(np.abs(far - near) < _FEWEST_BESIDE, np.nan, slopes))
    below, above = sides
    return np.asarray(np.fmin(below[:-1], above[1:]))


def _choose_knots(ranks: Array, scores: Array) -> Ids:
    """Choose which distinct values the map goes through: all of them, or as many as serve."""
    if len(scores) <= _MOST_KNOTS:
        return np.arange(len(scores))
    part = _MOST_KNOTS // 4
    by_rank = np.searchsorted(ranks, np.linspace(ranks[0], ranks[-1], 2 * part))
    by_score = np.searchsorted(scores, np.linspace(scores[0], scores[-1], part))
    widest = np.argsort(-np.diff(scores), kind="stable")[: part // 2]
    return np.unique(np.concatenate([by_rank, by_score, widest, widest + 1]))
