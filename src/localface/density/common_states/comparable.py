"""Who is comparable: alike in what cannot change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.density.common_states.normal_scores import NormalScores, ScoreSpace
from localface.types import Array, Ids

_SHARED = 40  # people with a category from which on they alone are compared with
_ENOUGH = 300.0  # effective number of comparable people; everybody makes up for missing ones
_MOST = 1000  # comparable people looked at
_FIRST_WIDTH = 0.1  # of the weights, in normal scores
_WIDENING = 1.4
_WIDEST = 10.0


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The rows to compare with, and what each counts.

    ``n_effective`` is how many people alike that is worth, before others make up for missing
    ones.
    """

    rows: Ids
    weights: Array
    n_effective: float


@dataclass(frozen=True, slots=True, eq=False)
class ComparablePeople:
    """Finds the rows that are alike in what cannot change.

    Own categories are the same where enough people share them, the rarest first; own numbers
    count by Gaussian weights that widen until there are enough.
    """

    own: Ids
    categories: dict[int, Array]  # the codes of each own discrete feature
    numbers: dict[int, tuple[NormalScores, Array]]  # the scores of each own number

    @classmethod
    def fit(cls, space: ScoreSpace, own: Ids, records: Array) -> ComparablePeople:
        """Take the own features of records."""
        categories = {}
        numbers = {}
        for j in own.tolist():
            scores = space.normal_scores[j]
            if scores is None:
                categories[j] = records[:, j]
            else:
                numbers[j] = (scores, scores.scores_of(records[:, j]))
        return cls(own, categories, numbers)

    def with_record(self, record: Array) -> Comparison:
        """Return the rows that are comparable with one record."""
        n = self._n_rows
        some = self._same_categories(record)
        weights = widened_weights(self._squares(record, some))
        n_effective = effective_number(weights)
        everyone = np.full(n, max(_ENOUGH - n_effective, 0.0) / n)
        everyone[some] += weights * (n_effective / weights.sum())
        rows, kept = _sampled(everyone)
        return Comparison(rows, kept, n_effective)

    @property
    def _n_rows(self) -> int:
        columns = [*self.categories.values(), *(scores for _, scores in self.numbers.values())]
        return len(columns[0])

    def _same_categories(self, record: Array) -> Ids:
        """Return rows with the same own categories, as far as enough people share them."""
        some = np.arange(self._n_rows)
        alike = {j: codes == record[j] for j, codes in self.categories.items()}
        for j in sorted(alike, key=lambda j: int(alike[j].sum())):
            fewer = some[alike[j][some]]
            if len(fewer) >= _SHARED:
                some = fewer
        return some

    def _squares(self, record: Array, some: Ids) -> Array:
        """Return squared distances in own numbers, in normal scores."""
        found = np.zeros(len(some))
        for j, (scores, column) in self.numbers.items():
            found += (column[some] - scores.scores_of(record[j : j + 1])) ** 2
        return found


def widened_weights(squares: Array) -> Array:
    """Return Gaussian weights, of a width that grows until enough people count."""
    wanted = min(_ENOUGH, len(squares) / 2)
    squares = squares - squares.min()
    width = _FIRST_WIDTH
    while True:
        weights = np.exp(squares * (-0.5 / width**2))
        if effective_number(weights) >= wanted or width > _WIDEST:
            return np.asarray(weights)
        width *= _WIDENING


def effective_number(weights: Array) -> float:
    """Return how many equal weights these are worth (Kish).

    >>> effective_number(np.array([1.0, 1.0, 0.0]))
    2.0
    """
    return float(weights.sum() ** 2 / (weights * weights).sum())


def _sampled(weights: Array) -> tuple[Ids, Array]:
    """Keep some rows, as evenly as their weights allow: the same ones every time."""
    some = np.flatnonzero(weights > 0)
    if len(some) <= _MOST:
        return some, weights[some]
    sums = np.cumsum(weights)
    places = np.searchsorted(sums, (np.arange(_MOST) + 0.5) / _MOST * sums[-1])
    chosen, counts = np.unique(places, return_counts=True)
    return chosen, counts * (sums[-1] / _MOST)
