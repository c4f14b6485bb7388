"""Fits how likely something is by log-odds that rise with all that is known of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from localface.types import Array

_HELD = 0.1  # by which slopes are held to zero
_NEWTON_STEPS = 60
_STRENGTHS = np.geomspace(0.25, 64, 33)  # votes that what is expected may count for


def fit_rising(columns: Array, successes: Array, n: float, used: Sequence[int]) -> Array:
    """Fit a logistic regression of counts in which no column makes less likely.

    The first column is the constant; only the columns ``used`` are fitted, the others get zero, and
    so does each that would fall instead of rise.
    """
    kept = list(used)
    slopes = np.zeros(columns.shape[1])
    while True:
        slopes[:] = 0.0
        slopes[kept] = _fit_binomial(columns[:, kept], successes, n)
        falling = [j for j in kept if j and slopes[j] <= 0]
        if not falling:
            return slopes
        kept.remove(falling[-1])


def likeliest_strength(expected: Array, n_agree: Array, n: int) -> float:
    """Return how many votes an expectation counts for: the fewer, the more ends like these differ.

    ``n`` voted on an end, ``n_agree`` of them for it: the likelihood is that of a beta-binomial.
    """
    from scipy.special import betaln

    likelihoods = []
    for strength in _STRENGTHS:
        yes = strength * expected
        no = strength - yes
        each = betaln(yes + n_agree, no + n - n_agree) - betaln(yes, no)
        likelihoods.append(float(each.sum()))
    return float(_STRENGTHS[int(np.argmax(likelihoods))])


def from_log_odds(odds: Array) -> Array:
    """Return the probability that has these log-odds."""
    return np.asarray(1 / (1 + np.exp(-np.clip(odds, -30, 30))))


def _fit_binomial(columns: Array, successes: Array, n: float) -> Array:
    """Fit a logistic regression of counts by Newton's method, slopes held slightly to zero."""
    slopes = np.zeros(columns.shape[1])
    held = np.diag([0.0, *[_HELD] * (columns.shape[1] - 1)])
    for _ in range(_NEWTON_STEPS):
        expected = from_log_odds(columns @ slopes)
        uphill = columns.T @ (successes - n * expected) - held @ slopes
        weights = n * expected * (1 - expected)
        curved = (columns * weights[:, None]).T @ columns + held + 1e-9 * np.eye(len(slopes))
        step = np.linalg.solve(curved, uphill)
        slopes += np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-10:
            break
    return slopes
