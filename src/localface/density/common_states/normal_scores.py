"""Numbers by their normal scores: rank among the rows, as a quantile of the normal distribution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from localface.types import Array, Ids, Mask

_OUTER_PART = 20  # beyond the data the line of the outer twentieth of distinct values goes on
_STEEPEST = 1e300  # keeps 0 times a slope at 0


@dataclass(frozen=True, slots=True, eq=False)
class NormalScores:
    """A strictly increasing, piecewise linear map from a number to its normal score.

    ``values`` are the distinct values of a column, at least two, ``scores`` those of their
    mid-ranks: one unit is one standard deviation wherever the rows are.
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
        return cls(values, np.asarray(ndtri((np.cumsum(counts) - counts / 2) / len(column))))

    def scores_of(self, values: Array) -> Array:
        """Return the normal scores of values."""
        return _on_line(values, self.values, self.scores)

    def values_of(self, scores: Array) -> Array:
        """Return the values that have these normal scores: the inverse of ``scores_of``."""
        return _on_line(scores, self.scores, self.values)


def _on_line(given: Array, knots: Array, heights: Array) -> Array:
    """Interpolate between knots; beyond them, go on with the line of the outer knots."""
    k = max(1, len(knots) // _OUTER_PART)
    with np.errstate(over="ignore"):
        first = min((heights[k] - heights[0]) / (knots[k] - knots[0]), _STEEPEST)
        last = min((heights[-1] - heights[-1 - k]) / (knots[-1] - knots[-1 - k]), _STEEPEST)
        below = np.minimum(given - knots[0], 0.0) * first
        above = np.maximum(given - knots[-1], 0.0) * last
    return np.asarray(np.interp(given, knots, heights) + below + above)


@dataclass(frozen=True, slots=True, eq=False)
class ScoreSpace:
    """Records as points: numbers by normal scores, two different categories one unit apart.

    ``n_categories`` says how many categories each feature has, 0 for a number; a feature with
    two has one column (0 or 1), one with more has a column a category.
    """

    n_categories: tuple[int, ...]
    normal_scores: tuple[NormalScores | None, ...]  # None for a discrete feature

    @classmethod
    def fit(cls, records: Array, n_categories: Sequence[int]) -> ScoreSpace:
        """Read the normal scores of all numbers off records."""
        found = [None if n else NormalScores.fit(records[:, j]) for j, n in enumerate(n_categories)]
        return cls(tuple(n_categories), tuple(found))

    @property
    def feature_of(self) -> Ids:
        """The feature of each column."""
        widths = [1 if n in (0, 2) else n for n in self.n_categories]
        return np.repeat(np.arange(len(widths)), widths)

    @property
    def numeric(self) -> Mask:
        """Whether each column is of a number."""
        return np.array([n == 0 for n in self.n_categories])[self.feature_of]

    def points(self, records: Array) -> Array:
        """Turn records into points."""
        parts = []
        for column, n, scores in zip(records.T, self.n_categories, self.normal_scores, strict=True):
            if scores is not None:
                parts.append(scores.scores_of(column)[:, None])
            elif n == 2:
                parts.append(column[:, None])
            else:
                parts.append(np.sqrt(0.5) * (column[:, None] == np.arange(n)))
        return np.hstack(parts)
