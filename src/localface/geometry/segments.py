"""Straight segments: lengths, legs around discrete flips, and the cover sweep."""

from __future__ import annotations

import numpy as np

from localface.types import Array, Mask


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


def intervals_within(
    start: Array, end: Array, rows: Array, eps: float
) -> tuple[Array, Array, float]:
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
