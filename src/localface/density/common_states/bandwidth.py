"""How wide the kernels are: the widths under which the other rows make each row likeliest."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from localface.density.common_states.copies import Copies
from localface.density.common_states.distances import chunks, evenly_spread, squared_distances
from localface.density.kernel_sums import log_sum_exp
from localface.types import Array

_TUNED_ON = 256  # rows whose likelihood chooses the widths
_AGAINST = 4096  # rows that make it
_WIDTHS = (1e-3, 10.0)  # the bandwidths that are possible, in standard deviations
_COSTS = (1e-6, 50.0)  # what a different category may cost, in nats
_USUAL_COST = 1.5
_IN_CACHE = 4  # times fewer distances at once than fit in memory fit near the processor
_FAR_OFF = 10.0  # a row is out of reach that has nobody within so many standard deviations
_TIMES_AS_FAR = 20.0  # and is that much further from its nearest than others are


def tune_bandwidths(
    white: Array,
    discrete: Array,
    *,
    n_numbers: int,
    n_categories: Sequence[int],
    copies: Copies,
) -> tuple[float, float, float]:
    """Return the bandwidth of the numbers, how far apart two categories are to be, and how likely.

    The last is the mean log-likelihood of a row in the space of ``white``, under a product
    kernel: normal in the whitened numbers, and for each discrete feature one that gives every
    other category the same, smaller mass.
    """
    from scipy.optimize import minimize  # takes longer to import than all of localface

    squares, differ = _tuning_distances(white, discrete, copies)
    if not len(squares):  # everybody is one person
        return 1.0, float(np.sqrt(2 * _USUAL_COST)), -np.inf
    minus_likelihood = _minus_likelihood(squares, differ, n_numbers, n_categories)
    nearest = np.sqrt(np.median(squares.min(axis=1)))
    start = np.log([nearest / max(n_numbers, 1) ** 0.5 + 1e-3, _USUAL_COST])
    found = minimize(
        minus_likelihood,
        start,
        method="Nelder-Mead",
        options={"xatol": 0.03, "fatol": 0.005, "maxfev": 80},
    )
    width, cost = _widths(found.x)
    bandwidth = width if n_numbers else 1.0
    return bandwidth, float(np.sqrt(2 * cost) * bandwidth), -float(found.fun)


def _tuning_distances(white: Array, discrete: Array, copies: Copies) -> tuple[Array, Array]:
    """Return squared distances of some rows to others, and how many discrete features differ.

    The same person is infinitely far away; rows without anybody near are left out, as no kernel
    could reach them.
    """
    rows = evenly_spread(len(white), _TUNED_ON)
    others = evenly_spread(len(white), _AGAINST)
    squares = squared_distances(white[rows], white[others])
    differ = np.zeros((len(rows), len(others)))
    if discrete.shape[1]:
        differ = np.rint(squared_distances(discrete[rows], discrete[others]))
    if copies.groups is not None:
        squares[copies.groups[rows][:, None] == copies.groups[others]] = np.inf
    else:
        at = np.minimum(np.searchsorted(others, rows), len(others) - 1)
        itself = np.flatnonzero(others[at] == rows)
        squares[itself, at[itself]] = np.inf
    if copies.distance:
        squares[squares + differ < copies.distance**2] = np.inf
    nearest = squares.min(axis=1)
    usable = np.isfinite(nearest)
    if usable.any():
        usable &= nearest <= np.maximum(_TIMES_AS_FAR**2 * np.median(nearest[usable]), _FAR_OFF**2)
    return squares[usable], differ[usable]


def _minus_likelihood(
    squares: Array, differ: Array, n_numbers: int, n_categories: Sequence[int]
) -> Callable[[Array], float]:
    """Return the function to minimise, of the logarithms of the bandwidth and of the cost."""
    others = np.array(n_categories, dtype=np.float64) - 1
    counted = differ if len(others) else None

    def minus_likelihood(logs: Array) -> float:
        width, cost = _widths(logs)
        log_sums = _log_kernel_sums(squares, counted, -0.5 / width**2, cost)
        spent = n_numbers * np.log(width) + np.log1p(others * np.exp(-cost)).sum()
        return float(spent - log_sums.mean())

    return minus_likelihood


def _log_kernel_sums(squares: Array, differ: Array | None, factor: float, cost: float) -> Array:
    """Return the log-sum of kernels of each line, a few lines at a time as the cache holds them."""
    found = np.empty(len(squares))
    for some in chunks(len(squares), _IN_CACHE * squares.shape[1]):
        logs = squares[some] * factor
        if differ is not None:
            logs -= cost * differ[some]
        found[some] = log_sum_exp(logs)
    return found


def _widths(logs: Array) -> tuple[float, float]:
    """Turn logarithms into a bandwidth and a cost that are possible."""
    width = np.exp(np.clip(logs[0], *np.log(_WIDTHS)))
    cost = np.exp(np.clip(logs[1], *np.log(_COSTS)))
    return float(width), float(cost)
