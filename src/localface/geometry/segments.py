"""Vector maths of boxes, segments and the balls around people; nothing here knows what a record is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """Where a person may go: an axis-aligned box of points, with one-way columns."""

    lower: Array
    upper: Array
    up: Mask
    down: Mask

    def seen_from(self, point: Array) -> Bounds:
        """Tighten the box to what is still ahead of someone who stands at ``point``."""
        if not (self.up.any() or self.down.any()):
            return self
        lower = np.where(self.up, np.maximum(self.lower, point), self.lower)
        upper = np.where(self.down, np.minimum(self.upper, point), self.upper)
        return Bounds(lower, upper, self.up, self.down)

    def only(self, column: int) -> Bounds:
        """The same limits on one column, and none on the others."""
        mine = np.arange(len(self.lower)) == column
        free = np.zeros(len(self.lower), dtype=bool)
        return Bounds(np.where(mine, self.lower, -np.inf), np.where(mine, self.upper, np.inf), free, free)

    def contain(self, points: Array) -> Mask:
        """Tell which points lie inside."""
        inside = ((points >= self.lower) & (points <= self.upper)).all(axis=-1)
        return np.asarray(inside, dtype=bool)

    def one_way(self, start: Array, end: Array) -> Mask:
        """Tell which steps go back on no one-way column."""
        forward = (end >= start) | ~self.up
        return np.asarray((forward & ((end <= start) | ~self.down)).all(axis=-1), dtype=bool)


def norms(vectors: Array) -> Array:
    """Euclidean length of each row, summed in the same order whatever the batch."""
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=-1)))


def legs(start: Array, end: Array, discrete: Mask) -> list[tuple[Array, Array]]:
    """Split a step where its discrete columns flip: old values on the first half, new on the second."""
    flips = discrete & (start != end)
    if not flips.any():
        return [(start, end)]
    middle = (start + end) / 2
    return [(start, np.where(flips, start, middle)), (np.where(flips, end, middle), end)]


def intervals_within(start: Array, end: Array, rows: Array, eps: float) -> tuple[Array, Array, float]:
    """Where along the segment each row is within ``eps``: entry and exit, and the segment's length.

    Row i covers [s_i - sqrt(eps^2 - h_i^2), s_i + sqrt(eps^2 - h_i^2)], with s_i its
    foot on the line and h_i its distance from the line; rows that never come within
    ``eps`` are left out.
    """
    length = float(norms(end - start))
    away = rows - start
    if length == 0.0:
        near = norms(away) <= eps
        return np.zeros(int(near.sum())), np.zeros(int(near.sum())), 0.0
    foot = (away * ((end - start) / length)).sum(axis=1)
    spare = eps * eps - ((away * away).sum(axis=1) - foot * foot)
    touching = spare >= 0
    half = np.sqrt(spare[touching])
    return foot[touching] - half, foot[touching] + half, length


def fewest_within(start: Array, end: Array, rows: Array, eps: float) -> int:
    """Count the people within ``eps`` at the loneliest place of a segment: the cover sweep.

    >>> rows = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]])
    >>> fewest_within(rows[0], rows[1], rows, eps=0.5)
    1
    >>> fewest_within(rows[1], rows[2], rows, eps=0.5)
    0
    """
    return loneliest(start, end, rows, eps)[0]


def loneliest(start: Array, end: Array, rows: Array, eps: float) -> tuple[int, Array]:
    """The fewest people within ``eps`` of any place on a segment, and such a place."""
    enter, leave, length = intervals_within(start, end, rows, eps)
    if length == 0.0:
        return len(enter), start
    enter, leave = np.sort(np.clip(enter, 0, length)), np.sort(np.clip(leave, 0, length))
    marks = np.unique(np.concatenate([[0.0, length], enter, leave]))
    middles = (marks[:-1] + marks[1:]) / 2
    inside = np.searchsorted(enter, middles) - np.searchsorted(leave, middles)
    least = int(inside.argmin())
    return int(inside[least]), start + (end - start) * (middles[least] / length)


def may_deviate(first: Array, second: Array, end: Array, eps: float) -> bool:
    """Tell whether the segment first -> end stays within ``eps`` of ``first`` or ``second``.

    The paper's deviation theorem, corrected: for 0 < d = |second - first| <= 2 eps and
    |end - second| <= eps, the segment is covered exactly when d <= sqrt(2) eps or the
    cosine of the angle at ``first`` is at least d / (2 eps). See "Reading the paper".
    """
    step, across = end - first, second - first
    reach, d = float(norms(step)), float(norms(across))
    if d <= np.sqrt(2) * eps or reach == 0.0:
        return True
    return float((step * across).sum()) / (reach * d) >= d / (2 * eps)


def turned_within(first: Array, second: Array, end: Array, eps: float) -> Array:
    """Turn the segment first -> end towards ``second`` just far enough for ``may_deviate``."""
    if may_deviate(first, second, end, eps):
        return end
    across, step = second - first, end - first
    d, reach = float(norms(across)), float(norms(step))
    along = across / d
    sideways = step - (step * along).sum() * along
    if not sideways.any():
        return np.asarray(first + reach * along)
    cosine = min(1.0, d / (2 * eps))
    turned = cosine * along + np.sqrt(1 - cosine * cosine) * sideways / norms(sideways)
    return np.asarray(first + reach * turned)
