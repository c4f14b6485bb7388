"""How often pairs of features meet, counted again by the judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from localface.evaluation.metrics.step_grid import straight_parts
from localface.types import Array, Ids, Mask

_DOUBT = 1.0  # rows' worth of doubt in a count, and in what chance would make of it
_SAME_PLACE = 1e-12  # parts of a step shorter than that are rounding


@dataclass(frozen=True, slots=True, eq=False)
class PairEvidence:
    """Counts of rows for pairs of features, bin by bin.

    ``edges`` are where the bins of each feature end, in the column of points that comes first
    in ``columns``; a feature with several columns has one for each category. ``pairs`` are
    numbers of two features (pairs, 2), ``weights`` what each pair adds to the weighted sum.
    ``counts`` and ``expected`` are the tables of all pairs, one after the other; that of a pair
    begins at ``firsts`` and has lines of ``widths`` cells.
    """

    columns: tuple[Ids, ...]
    edges: tuple[Array, ...]
    pairs: Ids
    weights: Array
    row_bins: Ids
    firsts: Ids
    widths: Ids
    counts: Array
    expected: Array

    @classmethod
    def count(
        cls,
        points: Array,
        row_weights: Array,
        *,
        columns: Sequence[Ids],
        edges: Sequence[Array],
        pairs: Ids,
        weights: Array,
    ) -> PairEvidence:
        """Count rows, each by its weight, in the bins that are given."""
        bins = _bins_of(points, columns, edges)
        both = zip(columns, edges, strict=True)
        n_bins = np.array([max(len(some), len(ends) + 1) for some, ends in both])
        counts = []
        expected = []
        for j, k in pairs:
            table = np.zeros((n_bins[j], n_bins[k]))
            np.add.at(table, (bins[:, j], bins[:, k]), row_weights)
            counts.append(table.ravel())
            by_chance = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
            expected.append(by_chance.ravel())
        widths = n_bins[pairs[:, 1]]
        firsts = np.cumsum([0, *(len(table) for table in counts)])[:-1]
        return cls(
            tuple(columns),
            tuple(edges),
            pairs,
            weights,
            bins,
            firsts,
            widths,
            np.concatenate(counts),
            np.concatenate(expected),
        )

    def values(self, points: Array, left_out: Sequence[int]) -> Array:
        """The lowest log-ratio of all pairs at points, and the weighted sum: (points, 2).

        A log-ratio is log((count + 1) / (expected + 1)), expected where the two features have
        nothing to do with each other. Rows that are left out are not counted, but expected.
        """
        bins = _bins_of(points, self.columns, self.edges)
        cells = self._cells_of(bins)
        counts = self.counts[cells]
        for row in left_out:
            counts = counts - (cells == self._cells_of(self.row_bins[[row]]))
        counts = np.maximum(counts, 0.0)
        ratios = np.log((counts + _DOUBT) / (self.expected[cells] + _DOUBT))
        return np.column_stack([ratios.min(axis=1), ratios @ self.weights])

    def _cells_of(self, bins: Ids) -> Ids:
        """Where the cells of all pairs are, given the bins of every feature."""
        first = bins[:, self.pairs[:, 0]]
        return np.asarray(self.firsts + first * self.widths + bins[:, self.pairs[:, 1]])

    def points_in_every_cell(self, start: Array, end: Array, discrete: Mask) -> Array:
        """A point in each cell that a step passes, and both of its ends."""
        found = [start[None, :], end[None, :]]
        for first, last, _ in straight_parts(start, end, discrete):
            crossings = [np.array([0.0, 1.0])]
            for some, ends in zip(self.columns, self.edges, strict=True):
                begin = first[some[0]]
                change = last[some[0]] - begin
                if change != 0.0:
                    places = (ends - begin) / change
                    crossings.append(places[(places > 0) & (places < 1)])
            sorted_places = np.sort(np.concatenate(crossings))
            apart = np.diff(sorted_places) > _SAME_PLACE
            middles = (sorted_places[:-1] + np.diff(sorted_places) / 2)[apart]
            found.append(first + middles[:, None] * (last - first))
        return np.concatenate(found)


def _bins_of(points: Array, columns: Sequence[Ids], edges: Sequence[Array]) -> Ids:
    found = [
        points[:, some].argmax(axis=1)
        if len(some) > 1
        else np.searchsorted(ends, points[:, some[0]], side="right")
        for some, ends in zip(columns, edges, strict=True)
    ]
    return np.column_stack(found).astype(np.int64)
