"""How many other people are near a path."""

from __future__ import annotations

import numpy as np

from localface.evaluation.metrics.reference_rows import ReferenceRows, evenly_spaced_numbers
from localface.evaluation.metrics.step_grid import points_along, straight_parts
from localface.types import Array, Mask

_PER_EPS = 8  # grid points on a step in each eps of its length


def people_within(
    starts: Array, ends: Array, discrete: Mask, rows: ReferenceRows, *, eps: float
) -> tuple[Array, Array]:
    """How many other rows are within ``eps`` along each step: the fewest, and on average."""
    fewest = np.zeros(len(starts))
    mean = np.zeros(len(starts))
    for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
        own = [*rows.rows_at(start), *rows.rows_at(end)]
        grids = [
            (*points_along(a, b, apart=eps / _PER_EPS), share)
            for a, b, share in straight_parts(start, end, discrete)
        ]
        counts = [_count_within(points, rows, eps, own) for points, _, _ in grids]
        fewest[i] = min(some.min() for some in counts)
        mean[i] = sum(
            share * (some @ weights)
            for some, (_, weights, share) in zip(counts, grids, strict=True)
        )
    return fewest, mean


def _count_within(points: Array, rows: ReferenceRows, eps: float, own: list[int]) -> Array:
    counts = np.empty(len(points))
    for block in rows.block_slices(points):
        near = rows.squared_distances(points[block]) <= eps * eps * (1 + 1e-9)
        near[:, own] = False
        counts[block] = near.sum(axis=1)
    return counts


def typical_eps(rows: ReferenceRows, *, k: int = 10) -> float:
    """The median distance from a row to its k-th nearest other row, over at most 512 rows."""
    points = rows.points[evenly_spaced_numbers(len(rows), 512)]
    k = min(k, len(rows) - 1)
    if not k:
        return 0.0
    return float(np.median(rows.nearest(points, k)[0][:, -1]))
