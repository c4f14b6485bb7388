"""Bins of every feature, about as many rows in each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.data.lines import count_knots_reached, pad_lines
from localface.data.space import Space
from localface.types import Array, Ids, Mask

_ROWS_A_CELL = 30  # rows expected in a cell of two numbers
_FEWEST = 4
_MOST = 16
_GAP = 0.5  # in standard deviations: a bin does not go across so wide a gap
_TIMES_AS_WIDE = 5.0  # as those between other values
_PART_OF_A_BIN = 0.25  # if it is so full by then


@dataclass(frozen=True, slots=True, eq=False)
class FeatureBins:
    """The bins of each feature: intervals of a number, the categories of a discrete feature.

    ``edges`` has a line a feature, in the column of points that ``columns`` names; they lie half
    way between values that occur, so that no row is on one. A feature with a column a category
    (``one_hot``: feature, first column, the column after the last) has none. ``lowest`` and
    ``highest`` are the values of the column seen in each bin. What is missing, or a code for a
    reason, has a bin of its own after the others (``absences``: feature, column, bin).
    """

    columns: Ids
    edges: Array
    one_hot: tuple[tuple[int, int, int], ...]
    n_bins: Ids
    lowest: tuple[Array, ...]
    highest: tuple[Array, ...]
    absences: tuple[tuple[int, int, int], ...] = ()

    @classmethod
    def fit(cls, points: Array, space: Space) -> FeatureBins:
        """Choose bins of about equal mass; a value that many share has a bin of its own."""
        most = int(np.clip(round(np.sqrt(len(points) / _ROWS_A_CELL)), _FEWEST, _MOST))
        columns = space.first_columns
        ends = [*columns[1:].tolist(), space.width]
        edges = []
        one_hot = []
        lowest = []
        highest = []
        absences = []
        for j, feature in enumerate(space.schema):
            first = int(columns[j])
            if feature.kind == "categorical":
                one_hot.append((j, first, ends[j]))
                edges.append(np.zeros(0))
                low = high = np.arange(float(ends[j] - first))
            else:
                gaps = np.arange(first + 1, ends[j])  # the columns that say that it is missing
                values = points[(points[:, gaps] == 0).all(axis=1), first]
                edges.append(bin_edges(values, most) if len(values) else np.zeros(0))
                low, high = _extremes(values, edges[-1])
                absences += [(j, int(gap), len(low) + i) for i, gap in enumerate(gaps)]
                low, high = (np.append(ends_, np.full(len(gaps), np.nan)) for ends_ in (low, high))
            lowest.append(low)
            highest.append(high)
        return cls(
            columns,
            pad_lines(edges, max(map(len, edges), default=0)),
            tuple(one_hot),
            np.array([len(low) for low in lowest], dtype=np.int64),
            tuple(lowest),
            tuple(highest),
            tuple(absences),
        )

    def of(self, points: Array) -> Ids:
        """Return the bin of every feature: (points, features)."""
        found = count_knots_reached(points[:, self.columns], self.edges)
        for j, first, last in self.one_hot:
            found[:, j] = points[:, first:last].argmax(axis=1)
        for j, column, number in self.absences:
            found[points[:, column] > 0, j] = number
        return found


def bin_edges(column: Array, most: int) -> Array:
    """Return where the bins of a number end, about ``most`` of them.

    None of them has two crowds in it that are far apart.

    >>> bin_edges(np.array([0.0, 0.0, 0.0, 1.0, 2.0, 3.0]), most=2).tolist()
    [0.5]
    """
    values, counts = np.unique(column, return_counts=True)
    between = values[:-1] + np.diff(values) / 2
    if len(values) <= most:
        return np.asarray(between)
    full = len(column) / most
    gaps = np.diff(values)
    gap_follows = gaps > max(_GAP, _TIMES_AS_WIDE * float(np.median(gaps)))
    return np.asarray(between[_last_of_bins(counts, full, gap_follows)])


def _last_of_bins(counts: Ids, full: float, gap_follows: Mask) -> Ids:
    """Return the last value of each bin but the last one.

    A bin ends where it is full, before a value that fills one by itself, and at a gap if it is
    full enough.
    """
    reached = np.cumsum(counts)
    before_many = np.flatnonzero(counts[1:] >= full)
    before_gaps = np.flatnonzero(gap_follows)
    found = []
    first = 0
    inside = 0  # rows in bins that have ended
    while first < len(counts) - 1:
        ends = [int(np.searchsorted(reached, inside + full))]
        ends += before_many[np.searchsorted(before_many, first) :][:1].tolist()
        some = np.searchsorted(reached[before_gaps], inside + _PART_OF_A_BIN * full)
        ends += before_gaps[some:][:1].tolist()
        if min(ends) >= len(counts) - 1:
            break
        found.append(min(ends))
        first = found[-1] + 1
        inside = int(reached[found[-1]])
    return np.array(found, dtype=np.int64)


def _extremes(column: Array, edges: Array) -> tuple[Array, Array]:
    """Return the lowest and the highest value in each bin."""
    values = np.sort(column) if len(column) else np.zeros(1)
    ends = np.searchsorted(values, edges)
    lowest = values[np.concatenate([[0], ends])]
    highest = values[np.concatenate([ends, [len(values)]]) - 1]
    return lowest, highest
