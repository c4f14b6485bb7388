"""Straight segments: lengths, legs around discrete flips, the cover sweep."""

from __future__ import annotations

import numpy as np

from localface.types import Array, Ids, Mask

_POINTS_AT_ONCE = 512
_ROUGH = 1e-9  # share of the squares that rounding may be off by, in a product of points


def norms(vectors: Array) -> Array:
    """Return the Euclidean length of each vector, summed in the same order whatever the batch."""
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=-1)))


def efforts(steps: Array, group_of: Ids, weights: Array | None = None) -> Array:
    """Return how far each step goes: columns of a group straight, groups added up, by weight.

    >>> efforts(np.array([[3.0, 4.0, 2.0]]), np.array([0, 0, 1])).tolist()
    [7.0]
    """
    is_in_group = np.unique(group_of)[:, None] == group_of
    sizes = norms(np.where(is_in_group, steps[:, None, :], 0.0))
    return np.asarray(sizes.sum(axis=1) if weights is None else sizes @ weights)


def nearest_distances(points: Array, others: Array) -> Array:
    """Return how far each point is from the nearest of others; infinite where there are none.

    Products tell roughly which others are nearest, and the distance of those is worked out as
    ``norms`` does.
    """
    nearest = np.full(len(points), np.inf)
    if not len(others):
        return nearest
    squares = (others * others).sum(axis=1)
    for first in range(0, len(points), _POINTS_AT_ONCE):
        some = points[first : first + _POINTS_AT_ONCE]
        rough = squares - 2 * (some @ others.T)  # but for the point's own square
        slack = _ROUGH * (squares.max() + (some * some).sum(axis=1))
        rows, columns = np.nonzero(rough <= (rough.min(axis=1) + slack)[:, None])
        np.minimum.at(nearest, first + rows, norms(some[rows] - others[columns]))
    return nearest


def split_at_flips(start: Array, end: Array, discrete: Mask) -> list[tuple[Array, Array]]:
    """Split a segment into straight legs: its discrete columns flip half way."""
    flips = discrete & (start != end)
    if not flips.any():
        return [(start, end)]
    middle = (start + end) / 2
    return [(start, np.where(flips, start, middle)), (np.where(flips, end, middle), end)]


def intervals_near_rows(
    start: Array, end: Array, rows: Array, eps: float
) -> tuple[Array, Array, float]:
    """Return where along a segment each row is within ``eps``: entries, exits, and its length.

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


def fewest_rows_within(start: Array, end: Array, rows: Array, eps: float) -> int:
    """Count the rows within ``eps`` of the point of a segment that has the fewest.

    >>> rows = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]])
    >>> fewest_rows_within(rows[0], rows[1], rows, eps=0.5)
    1
    >>> fewest_rows_within(rows[1], rows[2], rows, eps=0.5)
    0
    """
    return emptiest_point(start, end, rows, eps)[0]


def emptiest_point(start: Array, end: Array, rows: Array, eps: float) -> tuple[int, Array]:
    """Return the fewest rows within ``eps`` of any point on a segment, and such a point.

    The cover sweep: the count changes only where a row's interval begins or ends.
    """
    enter, leave, length = intervals_near_rows(start, end, rows, eps)
    if length == 0.0:
        return len(enter), start
    enter = np.sort(np.clip(enter, 0, length))
    leave = np.sort(np.clip(leave, 0, length))
    changes = np.unique(np.concatenate([[0.0, length], enter, leave]))
    middles = (changes[:-1] + changes[1:]) / 2
    counts = np.searchsorted(enter, middles) - np.searchsorted(leave, middles)
    least = int(counts.argmin())
    return int(counts[least]), start + (end - start) * (middles[least] / length)
