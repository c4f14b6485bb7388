"""How many people are alike in what cannot change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.data.space import Space
from localface.density.common_states.distances import evenly_spread
from localface.types import Array, Ids

_MOST_ROWS = 2000  # rows that are looked at; they stand for all
_SHARED = 40.0  # people with a category from which on they alone are comparable
_FEWEST_ROWS = 5  # rows that must show it
_ENOUGH = (
    300.0  # comparable people that are enough: own numbers are compared less closely until then
)
_FIRST_WIDTH = 0.1  # of the weights, in ordinary differences
_WIDENING = 1.4
_WIDEST = 10.0


@dataclass(frozen=True, slots=True, eq=False)
class ComparablePeople:
    """Rows by what cannot change, to count those that are comparable with somebody.

    Own categories are the same where enough people share them, the rarest first; all of them
    lack what the person lacks; own numbers
    count by Gaussian weights that widen until there are enough.
    """

    category_columns: tuple[Ids, ...]  # of points, for each own discrete feature
    absence_columns: Ids  # those that say that something is missing
    number_columns: Ids
    rows: Array  # points
    people_a_row: float  # people that one of these rows stands for

    @classmethod
    def fit(cls, points: Array, space: Space, own: Ids, *, n_people: float) -> ComparablePeople:
        """Keep some rows, evenly spread, and what is own of them.

        ``n_people`` is how many people the rows belong to.
        """
        some = evenly_spread(len(points), _MOST_ROWS)
        discrete = [j for j in own.tolist() if space.schema.features[j].discrete]
        return cls(
            category_columns=tuple(np.flatnonzero(space.feature_of == j) for j in discrete),
            absence_columns=space.absence_columns.numbers,
            number_columns=np.flatnonzero(np.isin(space.feature_of, own) & ~space.discrete),
            rows=points[some],
            people_a_row=n_people / len(some),
        )

    def count(self, point: Array) -> float:
        """Return the effective number of people who are comparable with a state."""
        _, weights = self.weigh(point)
        return effective_number(weights) * self.people_a_row if len(weights) else 0.0

    def weigh(self, point: Array) -> tuple[Array, Array]:
        """Return the rows that are comparable with a state, and how much each of them counts."""
        rows = self.rows[self._same_categories(point)]
        if not len(rows):
            return rows, np.empty(0)
        off = rows[:, self.number_columns] - point[self.number_columns]
        squares = np.einsum("ij,ij->i", off, off)
        return rows, widened_weights(squares, _ENOUGH / self.people_a_row)

    def _same_categories(self, point: Array) -> Ids:
        """Return rows with the same own categories, as far as enough people share them.

        What a person lacks all of them lack, however few; what others lack does not count.
        """
        fewest = max(_SHARED / self.people_a_row, _FEWEST_ROWS)
        alike = [
            (self.rows[:, columns] == point[columns]).all(axis=1)
            for columns in self.category_columns
        ]
        some = np.arange(len(self.rows))
        for same in sorted(alike, key=np.count_nonzero):
            fewer = some[same[some]]
            if len(fewer) >= fewest:
                some = fewer
        lacks = self.absence_columns[point[self.absence_columns] > 0]
        return some[(self.rows[np.ix_(some, lacks)] > 0).all(axis=1)]


def widened_weights(squares: Array, enough: float) -> Array:
    """Return Gaussian weights, widened until they are worth enough rows.

    ``squares`` are squared distances of rows in own numbers. Half of the rows are enough too.
    """
    wanted = min(enough, len(squares) / 2)
    squares = squares - squares.min()
    width = _FIRST_WIDTH
    while True:
        weights = np.exp(squares * (-0.5 / width**2))
        if effective_number(weights) >= wanted or width > _WIDEST:
            return weights
        width *= _WIDENING


def effective_number(weights: Array) -> float:
    """Return how many equal weights these are worth (Kish).

    >>> effective_number(np.array([1.0, 1.0, 0.0]))
    2.0
    """
    return float(weights.sum() ** 2 / (weights @ weights))
