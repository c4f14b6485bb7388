"""A Gaussian kernel density summed in full, in log-space: the judge's own density."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from localface.errors import DataError
from localface.evaluation.metrics.reference_rows import ReferenceRows, evenly_spaced_numbers
from localface.evaluation.metrics.step_grid import points_along, points_around, straight_parts
from localface.types import Array, Ids, Mask

PER_BANDWIDTH = 8
"""Grid points on a step in each bandwidth of its length."""

_RANKED_ON = 20_000  # rows whose own density makes the scale
_TUNED_ON = 512  # rows on which the bandwidth is chosen, each against all others
_CANDIDATES = 48
_TOGETHER = 16  # points on a line that are summed over the same rows
_NEGLIGIBLE = 1e-8  # of a sum


def kernel_log_densities(
    points: Array, rows: ReferenceRows, bandwidth: float, *, left_out: Sequence[int] = ()
) -> Array:
    """log p(x), with p(x) = (1/n) sum_i (2 pi h^2)^(-d/2) exp(-|x - x_i|^2 / 2h^2).

    Rows ``left_out`` have no kernel, but n is always the number of all rows: leaving out a
    row can only lower p. Points that follow each other on a line are summed together, over
    the rows that matter to them.
    """
    logs = np.empty(len(points))
    for block, kept in _contributing_rows(points, rows, bandwidth, left_out):
        logs[block] = _log_kernel_sums(points[block], rows.points[kept], bandwidth)
    return logs + _log_normaliser(rows, bandwidth)


def _contributing_rows(
    points: Array, rows: ReferenceRows, h: float, left_out: Sequence[int]
) -> Iterator[tuple[slice, Ids]]:
    """A few points at a time, with the rows that may add more than 1e-8 / n of the sum there.

    All of the points are within r of their centre c. The nearest row is within |c - x*| + r of
    each point, any other no nearer than |c - x_i| - r, which must not be too much more.
    """
    blocks = [slice(first, first + _TOGETHER) for first in range(0, len(points), _TOGETHER)]
    centres = np.stack([(points[block][0] + points[block][-1]) / 2 for block in blocks])
    spare = 2 * h * h * (np.log(len(rows)) - np.log(_NEGLIGIBLE))
    for some in rows.block_slices(centres):
        all_squared = rows.squared_distances(centres[some])
        all_squared[:, list(left_out)] = np.inf
        for block, centre, squared in zip(blocks[some], centres[some], all_squared, strict=True):
            radius = np.sqrt(((points[block] - centre) ** 2).sum(axis=1).max())
            reach = radius + np.sqrt((np.sqrt(squared.min()) + radius) ** 2 + spare)
            yield block, np.flatnonzero(np.isfinite(squared) & (squared <= reach * reach))


def _log_kernel_sums(points: Array, rows: Array, bandwidth: float) -> Array:
    """The logarithm of the sum of kernels at each point; what all rows share is added last."""
    if not len(rows):
        return np.full(len(points), -np.inf)
    h2 = bandwidth * bandwidth
    exponents = (points / h2) @ rows.T
    exponents -= (rows * rows).sum(axis=1) / (2.0 * h2)
    return np.asarray(row_log_sums(exponents) - (points * points).sum(axis=1) / (2.0 * h2))


def leave_one_out_log_densities(
    rows: ReferenceRows, bandwidth: float, *, most: int = _RANKED_ON
) -> Array:
    """The log-density at each row without its own kernel, lowest first.

    Of evenly spaced rows where there are more than ``most``.
    """
    points = rows.points[evenly_spaced_numbers(len(rows), most)]
    found = [
        row_log_sums(squared / (-2.0 * bandwidth * bandwidth))
        for _, squared in rows.squared_distances_to_others_by_block(points)
    ]
    return np.sort(np.concatenate(found) + _log_normaliser(rows, bandwidth))


def fit_bandwidth(rows: ReferenceRows) -> float:
    """The bandwidth with the highest leave-one-out likelihood on at most 512 of the rows.

    The best of 48 candidates, in equal ratios from a quarter of the median distance to the
    nearest other row over the root of d, up to the median distance between rows.
    """
    if len(rows) < 2:
        raise DataError(
            "a density needs at least two different rows to be fitted: give more people"
        )
    tuned_on = rows.points[evenly_spaced_numbers(len(rows), _TUNED_ON)]
    squares = np.concatenate(
        [squared for _, squared in rows.squared_distances_to_others_by_block(tuned_on)]
    )
    width = rows.points.shape[1]
    widest = float(np.sqrt(np.median(squares[np.isfinite(squares)])))
    nearest = max(float(np.sqrt(np.median(squares.min(axis=1)))), 1e-9 * widest)
    candidates = np.geomspace(nearest / 4 / np.sqrt(width), max(widest, 2 * nearest), _CANDIDATES)
    likelihoods = [
        row_log_sums(squares / (-2.0 * h * h)).mean() - width * np.log(h) for h in candidates
    ]
    return float(candidates[int(np.argmax(likelihoods))])


def log_densities_along_step(
    ends: tuple[Array, Array],
    discrete: Mask,
    rows: ReferenceRows,
    bandwidth: float,
    *,
    matrix: Array | None = None,
    left_out: Sequence[int] = (),
) -> tuple[float, float]:
    """The lowest log-density along a step, and the logarithm of the mean density.

    First at eight points a bandwidth, then closer around the lowest of them. The kernels are
    round in the space that ``matrix`` maps points to from the right, where ``rows`` are.
    """
    lowest = np.inf
    weighted_logs = []
    for first, last, share in straight_parts(*ends, discrete):
        start = first if matrix is None else first @ matrix
        end = last if matrix is None else last @ matrix
        points, weights = points_along(start, end, apart=bandwidth / PER_BANDWIDTH)
        logs = kernel_log_densities(points, rows, bandwidth, left_out=left_out)
        weighted_logs.append(logs + np.log(share * weights))
        if logs.min() < lowest:
            finer = points_around(points, int(logs.argmin()))
            finer_logs = kernel_log_densities(finer, rows, bandwidth, left_out=left_out)
            lowest = min(float(logs.min()), float(finer_logs.min()))
    return lowest, float(row_log_sums(np.concatenate(weighted_logs)[None, :])[0])


def row_log_sums(logs: Array) -> Array:
    """The logarithm of the sum of exponentials, row by row; minus infinity for an empty sum."""
    top = logs.max(axis=1)
    shift = np.where(np.isfinite(top), top, 0.0)
    shifted = logs - shift[:, None]
    with np.errstate(divide="ignore"):
        return np.asarray(shift + np.log(np.exp(shifted, out=shifted).sum(axis=1)))


def _log_normaliser(rows: ReferenceRows, bandwidth: float) -> float:
    n, width = rows.points.shape
    return float(-np.log(n) - width / 2 * np.log(2 * np.pi * bandwidth * bandwidth))
