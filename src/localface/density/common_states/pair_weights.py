"""How much each pair counts in a sum over all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from localface.density.common_states.composing import compose_records
from localface.density.common_states.distances import chunks, evenly_spread
from localface.density.common_states.pair_tables import NamedPair, PairTables
from localface.types import Array, Ids

_ROWS = 2000  # rows of each half that are held against as many composed ones
_RIDGE = 10.0
_ROUNDS = 12


@dataclass(frozen=True, slots=True, eq=False)
class WeightedPairs:
    """Pair tables, with weights learnt from either half of the rows: (2, pairs).

    A state is judged by the mean of both. What is expected of new people is learnt from rows
    that are judged by what the other half taught.
    ``considered`` are the pairs that count: those of which a person can change something.
    """

    tables: PairTables
    weights: Array
    considered: Ids

    @classmethod
    def fit(cls, tables: PairTables, binned: Ids, halves: Ids, own: Ids) -> WeightedPairs:
        """Learn what tells rows from records composed at random; no weight is below 0."""
        both_own = np.isin(tables.first, own) & np.isin(tables.second, own)
        weights = [_weights_of(tables, binned[halves == half]) for half in (0, 1)]
        return cls(tables, np.vstack(weights), np.flatnonzero(~both_own))

    def values(self, binned: Ids, without: Ids | None = None) -> Array:
        """Return the lowest log-ratio of states and their weighted sum: (states, 2).

        ``without`` are the bins of rows that are left out, as ``PairTables.cell_ratios`` has it.
        """

        def ratios(some: slice) -> Array:
            left_out = None if without is None else without[some]
            return self.tables.cell_ratios(binned[some], self.considered, left_out)

        return self._lowest_and_sum(len(binned), ratios)

    def values_of_rows(self, binned: Ids) -> Array:
        """Return the same for rows of the tables, each without itself."""
        return self._lowest_and_sum(
            len(binned),
            lambda some: self.tables.cell_ratios_of_rows(binned[some], self.considered),
        )

    def _lowest_and_sum(self, n: int, ratios_of: Callable[[slice], Array]) -> Array:
        weights = self.weights[:, self.considered].mean(axis=0)
        found = np.zeros((n, 2))
        for some in chunks(n if len(self.considered) else 0, len(self.considered)):
            ratios = ratios_of(some)
            found[some, 0] = ratios.min(axis=1)
            found[some, 1] = (ratios * weights).sum(axis=1)
        return found

    def name_lowest(self, binned: Ids, without: Ids, *, weighted: bool) -> NamedPair | None:
        """Name the pair of one state that occurs least, or that lowers the weighted sum most.

        ``binned`` and ``without`` are of this state alone: (1, features), (1, rows, features).
        None where no pair occurs less than by chance.
        """
        ratios = self.tables.cell_ratios(binned, self.considered, without)[0]
        if weighted:
            ratios = ratios * self.weights[:, self.considered].mean(axis=0)
        lowest = int(ratios.argmin())
        if ratios[lowest] >= 0:
            return None
        return self.tables.name_pair(int(self.considered[lowest]), binned[0])

    def cross_fitted_values(self, binned: Ids, halves: Ids) -> Array:
        """Return the same for rows of the tables, each without itself, by the other half."""
        pairs = self.considered
        weights = self.weights[::-1, pairs]
        found = np.zeros((len(binned), 2))
        for some in chunks(len(binned) if len(pairs) else 0, len(pairs)):
            ratios = self.tables.cell_ratios_of_rows(binned[some], pairs)
            found[some, 0] = ratios.min(axis=1)
            sums = ratios @ weights.T
            found[some, 1] = np.where(halves[some] == 0, sums[:, 0], sums[:, 1])
        return found


def _weights_of(tables: PairTables, binned: Ids) -> Array:
    """Fit rows, each without itself, against composed records."""
    pairs = np.arange(len(tables))
    if not len(binned) or not len(pairs):
        return np.zeros(len(tables))
    rows = binned[evenly_spread(len(binned), _ROWS)]
    random_rows = compose_records(rows, np.random.default_rng(0))
    ratios = np.vstack(
        [
            tables.cell_ratios_of_rows(rows, pairs),
            tables.cell_ratios(random_rows, pairs),
        ]
    )
    return np.maximum(ridge_logistic(ratios, np.repeat([1.0, 0.0], len(rows))), 0.0)


def ridge_logistic(features: Array, labels: Array) -> Array:
    """Fit a logistic regression by Newton's method; return the weights without the constant."""
    features = np.column_stack([features, np.ones(len(features))])
    weights = np.zeros(features.shape[1])
    ridge = np.full(features.shape[1], _RIDGE)
    ridge[-1] = 1e-6
    for _ in range(_ROUNDS):
        chance = 1 / (1 + np.exp(-np.clip(features @ weights, -30, 30)))
        slope = features.T @ (labels - chance) - ridge * weights
        curvature = (features * (chance * (1 - chance))[:, None]).T @ features + np.diag(ridge)
        step = np.linalg.solve(curvature, slope)
        weights += step
        if np.abs(step).max() < 1e-3:
            break
    return np.asarray(weights[:-1])
