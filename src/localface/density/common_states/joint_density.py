"""Log-sums of kernels over all rows: how common a whole state is."""

from __future__ import annotations

import numpy as np

from localface.density.common_states.copies import Copies
from localface.density.common_states.distances import chunks, squared_distances
from localface.density.kernel_sums import log_sum_exp
from localface.types import Array, Mask

_FEW_ROWS = 100  # rows a column below which a row's own part in the covariance is felt


def kernel_log_sums(points: Array, rows: Array, bandwidth: float) -> Array:
    """Return the log-sum of Gaussian kernels on all rows, at points of their space."""
    found = np.empty(len(points))
    for some in chunks(len(points), len(rows)):
        squares = squared_distances(points[some], rows)
        squares *= -0.5 / bandwidth**2
        found[some] = log_sum_exp(squares)
    return found


def leave_one_out_log_sums(rows: Array, bandwidth: float, copies: Copies, numeric: Mask) -> Array:
    """Return the log-sum at every row, of the kernels of everybody else.

    ``numeric`` marks the columns that were whitened by the rows themselves: where rows are
    few, that is undone for the row that is left out. A row without anybody else gets the
    lowest log-sum of all.
    """
    rows = rows - rows.mean(axis=0)
    few = len(rows) < _FEW_ROWS * int(numeric.sum())
    found = np.empty(len(rows))
    for some in chunks(len(rows), len(rows)):
        squares = squared_distances(rows[some], rows)
        if few:
            squares += _without_own_part(rows[some][:, numeric], rows[:, numeric])
        copies.exclude(squares, np.arange(some.start, some.stop))
        squares *= -0.5 / bandwidth**2
        found[some] = log_sum_exp(squares)
    alone = np.isneginf(found)
    found[alone] = found[~alone].min() if not alone.all() else 0.0
    return found


def _without_own_part(some: Array, rows: Array) -> Array:
    """Return what squared distances gain if each row had no part in the covariance.

    That is a change of rank one (Sherman and Morrison).
    """
    sizes = (some * some).sum(axis=1)
    part = np.minimum(sizes / len(rows), 0.5)
    along = sizes[:, None] - some @ rows.T
    return np.asarray(along * along / (len(rows) * (1 - part))[:, None])
