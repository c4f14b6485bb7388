"""Sums of Gaussian kernels in full, in log-space: the independent density of the judges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from localface.errors import DataError
from localface.evaluation.metrics.line import around, legs, places_along
from localface.evaluation.metrics.near import Rows, spread
from localface.types import Array, Ids, Mask

PER_BANDWIDTH = 8
"""Places on a step in each bandwidth of its length."""

_RANKED_ON = 20_000  # rows whose own density makes the scale
_TUNED_ON = 512  # rows on which the bandwidth is chosen, each against all others
_CANDIDATES = 48
_TOGETHER = 16  # places on a line that are summed over the same rows
_NEGLIGIBLE = 1e-8  # of a sum


def log_density(
    places: Array, rows: Rows, bandwidth: float, *, left_out: Sequence[int] = ()
) -> Array:
    """log p(x), p(x) = (1/n) sum_i (2 pi h^2)^(-d/2) exp(-|x - x_i|^2 / 2h^2), without the rows left out.

    n is always the number of all rows: leaving out someone can only lower it. Places that
    follow each other on a line are summed together, over the rows that matter to them.
    """
    logs = np.empty(len(places))
    for some, kept in _mattering(places, rows, bandwidth, left_out):
        logs[some] = _summed(places[some], rows.points[kept], bandwidth)
    return logs + _constant(rows, bandwidth)


def _mattering(
    places: Array, rows: Rows, h: float, left_out: Sequence[int]
) -> Iterator[tuple[slice, Ids]]:
    """A few places at a time, and the rows that may add more than 1e-8 / n of the sum at any of them.

    All of them are within r of their centre c. The nearest row is within |c - x*| + r of each
    place, any other no nearer than |c - x_i| - r, which must not be too much more.
    """
    parts = [slice(first, first + _TOGETHER) for first in range(0, len(places), _TOGETHER)]
    centres = np.stack([(places[part][0] + places[part][-1]) / 2 for part in parts])
    spare = 2 * h * h * (np.log(len(rows)) - np.log(_NEGLIGIBLE))
    for block in rows.blocks(centres):
        squared = rows.squared(centres[block])
        squared[:, list(left_out)] = np.inf
        for part, centre, apart in zip(parts[block], centres[block], squared, strict=True):
            radius = np.sqrt(((places[part] - centre) ** 2).sum(axis=1).max())
            reach = radius + np.sqrt((np.sqrt(apart.min()) + radius) ** 2 + spare)
            yield part, np.flatnonzero(np.isfinite(apart) & (apart <= reach * reach))


def _summed(places: Array, points: Array, bandwidth: float) -> Array:
    """The logarithm of the sum of kernels at some places; what all rows share is added last."""
    if not len(points):
        return np.full(len(places), -np.inf)
    h2 = bandwidth * bandwidth
    exponents = (places / h2) @ points.T
    exponents -= (points * points).sum(axis=1) / (2.0 * h2)
    return np.asarray(log_sums(exponents) - (places * places).sum(axis=1) / (2.0 * h2))


def levels(rows: Rows, bandwidth: float, *, most: int = _RANKED_ON) -> Array:
    """The log-density of the rows, each without itself, lowest first; of evenly spread rows where there are many."""
    places = rows.points[spread(len(rows), most)]
    found = [log_sums(apart / (-2.0 * bandwidth * bandwidth)) for _, apart in rows.others(places)]
    return np.sort(np.concatenate(found) + _constant(rows, bandwidth))


def likeliest(rows: Rows) -> float:
    """The bandwidth under which the other rows make each of at most 512 rows likeliest.

    The best of 48 candidates, in equal ratios from a quarter of the median distance to the
    nearest other row over the root of d, up to the median distance between rows.
    """
    if len(rows) < 2:
        raise DataError(
            "a density needs at least two different rows to be fitted: give more people"
        )
    squares = np.concatenate(
        [apart for _, apart in rows.others(rows.points[spread(len(rows), _TUNED_ON)])]
    )
    width = rows.points.shape[1]
    widest = float(np.sqrt(np.median(squares[np.isfinite(squares)])))
    nearest = max(float(np.sqrt(np.median(squares.min(axis=1)))), 1e-9 * widest)
    candidates = np.geomspace(nearest / 4 / np.sqrt(width), max(widest, 2 * nearest), _CANDIDATES)
    likelihoods = [
        log_sums(squares / (-2.0 * h * h)).mean() - width * np.log(h) for h in candidates
    ]
    return float(candidates[int(np.argmax(likelihoods))])


def under_step(
    ends: tuple[Array, Array],
    discrete: Mask,
    rows: Rows,
    bandwidth: float,
    *,
    left_out: Sequence[int] = (),
) -> tuple[float, float]:
    """The lowest log-density along a step, and the logarithm of the mean density.

    First at eight places a bandwidth, then closer around the lowest of them.
    """
    lowest, means = np.inf, []
    for start, end, part in legs(*ends, discrete):
        places, parts = places_along(start, end, apart=bandwidth / PER_BANDWIDTH)
        logs = log_density(places, rows, bandwidth, left_out=left_out)
        means.append(logs + np.log(part * parts))
        if logs.min() < lowest:
            closer = log_density(
                around(places, int(logs.argmin())), rows, bandwidth, left_out=left_out
            )
            lowest = min(float(logs.min()), float(closer.min()))
    return lowest, float(log_sums(np.concatenate(means)[None, :])[0])


def log_sums(logs: Array) -> Array:
    """The logarithm of the sum of exponentials, row by row; minus infinity where there is nothing to sum."""
    top = logs.max(axis=1)
    shift = np.where(np.isfinite(top), top, 0.0)
    shifted = logs - shift[:, None]
    with np.errstate(divide="ignore"):
        return np.asarray(shift + np.log(np.exp(shifted, out=shifted).sum(axis=1)))


def _constant(rows: Rows, bandwidth: float) -> float:
    n, width = rows.points.shape
    return float(-np.log(n) - width / 2 * np.log(2 * np.pi * bandwidth * bandwidth))
