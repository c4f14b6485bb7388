"""Bins of every feature, about as many rows in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from localface.types import Array, Ids

_ROWS_A_CELL = 30  # rows expected in a cell of two numbers
_FEWEST = 4
_MOST = 16


@dataclass(frozen=True, slots=True, eq=False)
class FeatureBins:
    """The bins of each feature: intervals of a number, the categories of a discrete feature.

    ``edges`` lie half way between values that occur, so that no row is on one; None for a
    discrete feature. ``lowest`` and ``highest`` are the values seen in each bin.
    """

    edges: tuple[Array | None, ...]
    n_bins: Ids
    lowest: tuple[Array, ...]
    highest: tuple[Array, ...]

    @classmethod
    def fit(cls, records: Array, n_categories: Sequence[int]) -> FeatureBins:
        """Choose bins of about equal mass; a value that many share has a bin of its own."""
        most = int(np.clip(round(np.sqrt(len(records) / _ROWS_A_CELL)), _FEWEST, _MOST))
        edges = tuple(
            None if n else bin_edges(records[:, j], most) for j, n in enumerate(n_categories)
        )
        lowest = []
        highest = []
        for column, n, ends in zip(records.T, n_categories, edges, strict=True):
            low, high = _extremes(column, ends, n)
            lowest.append(low)
            highest.append(high)
        n_bins = np.array([len(low) for low in lowest], dtype=np.int64)
        return cls(edges, n_bins, tuple(lowest), tuple(highest))

    def of(self, records: Array) -> Ids:
        """Return the bin of every value."""
        found = np.empty(records.shape, dtype=np.int64)
        for j, edges in enumerate(self.edges):
            column = records[:, j]
            found[:, j] = column if edges is None else np.searchsorted(edges, column, "right")
        return found


def bin_edges(column: Array, most: int) -> Array:
    """Return where the bins of a number end, about ``most`` of them.

    >>> bin_edges(np.array([0.0, 0.0, 0.0, 1.0, 2.0, 3.0]), most=2).tolist()
    [0.5]
    """
    values, counts = np.unique(column, return_counts=True)
    between = values[:-1] + np.diff(values) / 2
    if len(values) <= most:
        return np.asarray(between)
    full = len(column) / most
    found = []
    inside = 0
    for i, edge in enumerate(between.tolist()):
        inside += counts[i]
        if inside >= full or counts[i + 1] >= full:
            found.append(edge)
            inside = 0
    return np.array(found)


def _extremes(column: Array, edges: Array | None, n: int) -> tuple[Array, Array]:
    """Return the lowest and the highest value in each bin; categories are both."""
    if edges is None:
        codes = np.arange(float(n))
        return codes, codes
    values = np.unique(column)
    ends = np.searchsorted(values, edges)
    lowest = values[np.concatenate([[0], ends])]
    highest = values[np.concatenate([ends, [len(values)]]) - 1]
    return lowest, highest
