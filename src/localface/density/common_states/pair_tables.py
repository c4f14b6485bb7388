"""Tables of counts for pairs of features: how much more often two values meet than by chance."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from localface.density.common_states.bins import FeatureBins
from localface.types import Array, Ids

_DOUBT = 1.0  # rows' worth of doubt that a cell is anything but chance
_SIGNIFICANT = 4.0  # standard deviations of the chi-square by which a dependence stands out
_MOST_PAIRS = 400  # pairs that are kept, the most dependent ones


@dataclass(frozen=True, slots=True, eq=False)
class PairTable:
    """The counts of one pair of features, bin by bin, and what chance would make of them.

    ``information`` is the mutual information beyond what chance gives, in nats.
    """

    first: int
    second: int
    counts: Array
    expected: Array
    information: float

    def log_ratios_without(self, n_rows: int) -> Array:
        """How much more often each cell occurs than by chance, as a logarithm.

        Zero rows where a tenth of a row was expected is no evidence: one row's worth of doubt
        is added to both. ``n_rows`` that are in the cell themselves are left out; the
        expectation stays, so that a row alone in its cell is where a new one would be.
        """
        counts = np.maximum(self.counts - n_rows, 0)
        return np.asarray(np.log((counts + _DOUBT) / (self.expected + _DOUBT)))


@dataclass(frozen=True, slots=True)
class NamedPair:
    """The pair of features of a record that occurs least, by the numbers of its features.

    ``table`` is the number of their table, ``bins`` are the bins its two values are in, ``count``
    the rows that are in both, ``expected`` how many there would be if the features had nothing
    to do with each other.
    """

    table: int
    first: int
    second: int
    bins: tuple[int, int]
    count: float
    expected: float


@dataclass(frozen=True, slots=True, eq=False)
class PairTables:
    """The tables of all pairs that depend on each other, flat, for looking up many at once."""

    bins: FeatureBins
    tables: tuple[PairTable, ...]
    first: Ids
    second: Ids
    starts: Ids  # where the table of each pair begins
    log_ratios: Array  # (rows left out, cells): with all rows, without one in the cell, without two

    @classmethod
    def fit(cls, bins: FeatureBins, binned: Ids, weights: Array) -> PairTables:
        """Count all pairs; keep those that depend on each other beyond chance."""
        found = []
        for j, k in itertools.combinations(range(binned.shape[1]), 2):
            table = _count_pair(binned, bins, (j, k), weights)
            if table is not None:
                found.append(table)
        strongest = sorted(found, key=lambda table: -table.information)[:_MOST_PAIRS]
        return cls.of(bins, sorted(strongest, key=lambda table: (table.first, table.second)))

    @classmethod
    def of(cls, bins: FeatureBins, tables: Sequence[PairTable]) -> PairTables:
        """Lay tables out one after the other."""
        sizes = [table.counts.size for table in tables]
        left_out = [
            np.concatenate([np.zeros(0), *(one.log_ratios_without(n).ravel() for one in tables)])
            for n in range(3)
        ]
        return cls(
            bins,
            tuple(tables),
            first=np.array([table.first for table in tables], dtype=np.int64),
            second=np.array([table.second for table in tables], dtype=np.int64),
            starts=np.cumsum([0, *sizes])[:-1].astype(np.int64),
            log_ratios=np.stack(left_out),
        )

    def __len__(self) -> int:
        return len(self.tables)

    def cell_ratios(self, binned: Ids, pairs: Ids, without: Ids | None = None) -> Array:
        """Return the log-ratios of some pairs (columns) for states (lines), given their bins.

        ``without`` are the bins of up to two rows for each state that are left out of the
        counts: (states, rows, features), -1 where there is none.
        """
        cells = self._cells(binned, pairs)
        if without is None:
            return np.asarray(self.log_ratios[0].take(cells))
        n_left_out = (self._cells(without, pairs) == cells[:, None]).sum(axis=1)
        return np.asarray(self.log_ratios.take(cells + n_left_out * self.log_ratios.shape[1]))

    def cell_ratios_of_rows(self, binned: Ids, pairs: Ids) -> Array:
        """Return the same for rows of the tables, each left out of its own cells."""
        return np.asarray(self.log_ratios[1].take(self._cells(binned, pairs)))

    def _cells(self, binned: Ids, pairs: Ids) -> Ids:
        """Return the number of the cell that bins are in, for each pair; below 0 for bins of -1."""
        first = binned[..., self.first[pairs]]
        second = binned[..., self.second[pairs]]
        cells = first * self.bins.n_bins[self.second[pairs]] + second + self.starts[pairs]
        return np.asarray(np.where(first < 0, -1, cells))

    def rarest_of_each(self, binned: Ids, pairs: Ids) -> Ids:
        """Return the number of the table in which each record is rarest, one pair at least."""
        return np.asarray(pairs[self.cell_ratios(binned, pairs).argmin(axis=1)])

    def name_pair(self, number: int, binned: Ids) -> NamedPair:
        """Name the pair of a table, with what it counts for one record."""
        table = self.tables[number]
        cell = (int(binned[table.first]), int(binned[table.second]))
        return NamedPair(
            number,
            table.first,
            table.second,
            cell,
            count=float(table.counts[cell]),
            expected=float(table.expected[cell]),
        )


def _count_pair(
    binned: Ids, bins: FeatureBins, pair: tuple[int, int], weights: Array
) -> PairTable | None:
    """Count one pair; None where the two have nothing to do with each other."""
    j, k = pair
    shape = (int(bins.n_bins[j]), int(bins.n_bins[k]))
    cells = binned[:, j] * shape[1] + binned[:, k]
    flat = np.bincount(cells, weights, shape[0] * shape[1])
    counts: Array = flat.astype(np.float64).reshape(shape)
    total = float(weights.sum())
    across = counts.sum(axis=1)
    down = counts.sum(axis=0)
    expected = np.outer(across, down) / total
    filled = counts > 0
    gain = float((counts[filled] * np.log(counts[filled] / expected[filled])).sum())
    freedom = max(int((np.count_nonzero(across) - 1) * (np.count_nonzero(down) - 1)), 1)
    if 2 * gain <= freedom + _SIGNIFICANT * np.sqrt(2 * freedom):
        return None
    return PairTable(j, k, counts, expected, gain / total - freedom / (2 * total))
