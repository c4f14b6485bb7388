"""Log-sums of kernels over all rows: how common a whole state is."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from localface.density.common_states.copies import Copies
from localface.density.common_states.distances import chunks, squared_distances
from localface.density.common_states.kernel_tiles import KernelTable, kernel_sums_of_others
from localface.density.common_states.outliers import bring_in_outliers
from localface.density.kernel_sums import log_sum_exp
from localface.density.row_kernels import STATED_TO
from localface.types import Array, Ids, Mask

_FEW_ROWS = 100  # rows a column below which a row's own part in the covariance is felt
SMALLEST_SUM = 1e-250
"""Of kernels that are not scaled: far more than those that came out as 0."""


@dataclass(frozen=True, slots=True, eq=False)
class RowLogSums:
    """Log-sums of the kernels of others at rows.

    ``plain`` leave out the row itself, ``fair`` all that is the same person's, and the row's own
    part in the whitening as well: what they would be for somebody new.
    """

    plain: Array
    fair: Array


def leave_one_out_log_sums(
    rows: Array,
    chosen: Ids,
    bandwidth: float,
    copies: Copies,
    numeric: Mask,
    one_hot: tuple[tuple[int, int], ...] = (),
) -> RowLogSums:
    """Return the log-sums at chosen rows, all of them in the space of the kernels.

    ``numeric`` marks the columns that were whitened by the rows themselves: where rows are
    few, that is undone for the row that is left out. ``one_hot`` are the columns of categorical
    features, first and after the last. A row without anybody else gets the lowest log-sum of all.
    """
    if are_few(len(rows), numeric):
        found = sums_row_by_row(rows, chosen, bandwidth, copies, numeric)
    else:
        found = _sums_of_pairs(rows, chosen, bandwidth, copies, one_hot)
    alone = np.isneginf(found.fair)
    found.fair[alone] = found.fair[~alone].min() if not alone.all() else 0.0
    return found


def are_few(n_rows: int, numeric: Mask) -> bool:
    """Tell whether rows are so few that a row's own part in the covariance is felt."""
    return n_rows < _FEW_ROWS * int(numeric.sum())


def _sums_of_pairs(
    rows: Array,
    chosen: Ids,
    bandwidth: float,
    copies: Copies,
    one_hot: tuple[tuple[int, int], ...],
) -> RowLogSums:
    """Work out the kernel of every two rows once; what is too small for that, row by row."""
    order = np.concatenate([chosen, np.setdiff1d(np.arange(len(rows)), chosen)])
    groups = None if copies.groups is None else copies.groups[order]
    table = KernelTable.of(rows[order], bandwidth, one_hot)
    sums = kernel_sums_of_others(table, len(chosen), bandwidth, replace(copies, groups=groups))
    unsure = np.minimum(*sums) < SMALLEST_SUM
    unsure |= table.is_rounded_away(STATED_TO)[: len(chosen)]
    with np.errstate(divide="ignore"):
        plain, fair = (np.log(one) for one in sums)
    if unsure.any():
        exact = sums_row_by_row(rows, chosen[unsure], bandwidth, copies)
        plain[unsure] = exact.plain
        fair[unsure] = exact.fair
    return RowLogSums(plain, fair)


def sums_row_by_row(
    rows: Array, chosen: Ids, bandwidth: float, copies: Copies, numeric: Mask | None = None
) -> RowLogSums:
    """Work out the sums of each row by itself; ``numeric`` where its own part is to be undone."""
    tame = bring_in_outliers(rows)
    centre = tame.mean(axis=0)
    tame = tame - centre
    rows = rows - centre
    resolution = 2 * bandwidth**2 * STATED_TO
    plain = np.empty(len(chosen))
    fair = np.empty(len(chosen))
    for some in chunks(len(chosen), len(rows)):
        ids = chosen[some]
        squares = squared_distances(rows[ids], rows, resolution=resolution)
        squares[np.arange(len(ids)), ids] = np.inf
        plain[some] = log_sum_exp(squares * (-0.5 / bandwidth**2))
        if numeric is not None:
            squares += _without_own_part(rows[:, numeric], tame[:, numeric], ids)
        copies.exclude(squares, ids)
        squares *= -0.5 / bandwidth**2
        fair[some] = log_sum_exp(squares)
    return RowLogSums(plain, fair)


def _without_own_part(rows: Array, tame: Array, ids: Ids) -> Array:
    """Return what squared distances gain if some rows had no part in the covariance.

    That is a change of rank one (Sherman and Morrison). ``tame`` are the rows as the covariance
    saw them.
    """
    parts = tame[ids]
    shares = np.minimum((parts * parts).sum(axis=1) / len(rows), 0.5)
    along = (parts * rows[ids]).sum(axis=1)[:, None] - parts @ rows.T
    return np.asarray(along * along / (len(rows) * (1 - shares))[:, None])
