"""From three values of a state to one, on the scale of the first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.density.common_states.outliers import bring_in_outliers
from localface.types import Array

_FACTORS = (2.0, 2.0, 1.0)  # joint density and rarest pair refuse half as many each
_DECIMALS = 12  # to which equal values agree: sums of weighted counts round differently


@dataclass(frozen=True, slots=True, eq=False)
class CommonScale:
    """Brings the pair values of states to the scale of the joint density; the lowest counts.

    A pair value becomes the joint density that as many people, by the factors, fall below. All
    of it only ever rises with the values, so that a floor on the lowest is a floor on each.
    """

    values: tuple[Array, ...]  # of the rarest pair and of the weighted pairs, lowest first
    heights: tuple[Array, ...]  # the joint log-densities that they stand for

    @classmethod
    def fit(cls, people: Array) -> CommonScale:
        """Take the values of people: (people, 3)."""
        joint = np.sort(bring_in_outliers(people[:, :1])[:, 0])
        ranks = np.arange(1, len(people) + 1) / len(people)
        values = []
        heights = []
        for question in (1, 2):
            rounded = np.round(people[:, question], _DECIMALS)
            distinct, counts = np.unique(rounded, return_counts=True)
            reached = np.cumsum(counts) / len(people) * (_FACTORS[question] / _FACTORS[0])
            values.append(distinct)
            heights.append(np.interp(reached, ranks, joint))
        return cls(tuple(values), tuple(heights))

    def each(self, pair_values: Array) -> Array:
        """Return the joint density that each pair value stands for."""
        found = np.empty(pair_values.shape)
        for i, (values, heights) in enumerate(zip(self.values, self.heights, strict=True)):
            column = pair_values[:, i]
            below = np.minimum(column - values[0], 0.0)  # nobody is so rare: go on downwards
            found[:, i] = np.interp(column, values, heights) + below
        return found

    def lowest(self, pair_values: Array) -> Array:
        """Return the lower of the joint densities that both pair values stand for."""
        return np.asarray(self.each(pair_values).min(axis=1))
