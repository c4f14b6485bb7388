"""Increasing, piecewise linear functions of many columns at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from localface.geometry.compiled.line_tables import LineTables
from localface.types import Array, Ids

_OUTER_PART = 20  # beyond the knots, the line of the outer twentieth of them goes on
_COMPARED_AT_ONCE = 2**16  # knots up to which comparing with all of them is quicker than searching
_STEEPEST = 1e300  # neither this slope nor its inverse turns 0 or infinity into no number


@dataclass(frozen=True, slots=True, eq=False)
class PiecewiseLines:
    """One function a column: strictly increasing, linear between knots and beyond them.

    Piece i of a column begins at knot i - 1, piece 0 ends at the first knot. Arrays have a line
    a column, padded on the right; nothing in a piece is higher than its ``tops``.
    """

    knots: Array
    anchors: Array
    heights: Array
    slopes: Array
    tops: Array
    compiled: LineTables | None = None

    @classmethod
    def through(cls, knots: Sequence[Array], heights: Sequence[Array]) -> PiecewiseLines:
        """Return the functions that take each knot to its height; at least two knots a column."""
        most = max((len(one) for one in knots), default=2)
        pieces = [_pieces(x, y) for x, y in zip(knots, heights, strict=True)]
        padded = pad_lines(knots, most)
        anchors, starts, slopes, tops = (
            pad_lines([piece[i] for piece in pieces], most + 1) for i in range(4)
        )
        compiled = LineTables.or_none(padded, anchors, starts, slopes, tops)
        return cls(padded, anchors, starts, slopes, tops, compiled)

    def __call__(self, columns: Array) -> Array:
        """Apply each column's function: (points, columns) to the same shape."""
        if self.compiled is not None:
            return self.compiled.apply(columns)
        n_pieces = self.anchors.shape[1]
        flat = count_knots_reached(columns, self.knots) + np.arange(len(self.anchors)) * n_pieces
        rise = (columns - self.anchors.take(flat)) * self.slopes.take(flat)
        return np.asarray(np.minimum(self.heights.take(flat) + rise, self.tops.take(flat)))


def count_knots_reached(columns: Array, knots: Array) -> Ids:
    """Count the knots of its column that every value reaches: (points, columns).

    ``knots`` has a line a column, ascending, padded with no number.

    >>> count_knots_reached(np.array([[0.0], [2.5]]), np.array([[1.0, 2.0, np.nan]])).tolist()
    [[0], [2]]
    """
    if columns.size * knots.shape[1] <= _COMPARED_AT_ONCE:
        return np.asarray((columns[..., None] >= knots).sum(axis=-1))
    found = np.empty(columns.shape, dtype=np.int64)
    for j, line in enumerate(knots):
        found[:, j] = np.searchsorted(line, columns[:, j], "right")
    return found


def _pieces(knots: Array, heights: Array) -> tuple[Array, Array, Array, Array]:
    """Return the anchors, heights, slopes and tops of the pieces of one function."""
    k = max(1, len(knots) // _OUTER_PART)
    with np.errstate(over="ignore", divide="ignore"):
        first = (heights[k] - heights[0]) / (knots[k] - knots[0])
        last = (heights[-1] - heights[-1 - k]) / (knots[-1] - knots[-1 - k])
        slopes = np.concatenate([[first], np.diff(heights) / np.diff(knots), [last]])
    return (
        np.concatenate([knots[:1], knots]),
        np.concatenate([heights[:1], heights]),
        np.clip(slopes, 1 / _STEEPEST, _STEEPEST),
        np.concatenate([heights, [np.inf]]),
    )


def pad_lines(lines: Sequence[Array], width: int) -> Array:
    """Stack lines of values, with no number on the right where they are short."""
    found = np.full((len(lines), width), np.nan)
    for line, values in zip(found, lines, strict=True):
        line[: len(values)] = values
    return found
