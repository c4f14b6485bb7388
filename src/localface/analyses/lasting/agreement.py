"""The probability that a retrained model agrees with an end, given its margin and its density."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.types import Array

_RARE = 0.01  # added to the share of less common states before its logarithm is taken
_STRENGTHS = np.geomspace(0.25, 64, 33)  # votes that the map may count for
_FEW_ENDS = 20  # ends below which the map counts for hardly more than a vote
_WEAK = 1.0
_NEVER_SURE = 0.1  # of a vote, for and against: however many agree, the next one may not
_INTERVAL = (0.05, 0.95)
_NEWTON_STEPS = 60


@dataclass(frozen=True, slots=True)
class AgreementMap:
    """A monotone map from the margin and the density of an end to how likely models agree.

    The log-odds rise with the margin and with the logarithm of the share of states that are less
    common. Ends that look alike differ all the same: where the refits' own votes on an end are
    known, the map counts for ``strength`` votes beside them (a beta-binomial).
    """

    intercept: float
    by_margin: float
    by_density: float
    strength: float

    def expected(self, margins: Array, densities: Array) -> Array:
        """Return the probability that a retrained model agrees, before any has voted."""
        odds = self.intercept + self.by_margin * margins
        return _logistic(odds + self.by_density * _log_share(densities))

    def given_votes(
        self, expected: Array, n_agree: Array, n: int
    ) -> tuple[Array, tuple[Array, Array]]:
        """Return the probability once ``n`` refits have voted, and its 90 % interval."""
        from scipy.special import betaincinv

        yes = self.strength * expected + n_agree + _NEVER_SURE
        no = self.strength * (1 - expected) + n - n_agree + _NEVER_SURE
        low, high = (betaincinv(yes, no, end) for end in _INTERVAL)
        return yes / (yes + no), (low, high)

    def margin_lacking(self, present: float, wanted: float) -> float:
        """Return by how much a margin has to grow for models to agree with another probability."""
        if self.by_margin <= 0:
            return np.inf
        return float((_log_odds(wanted) - _log_odds(present)) / self.by_margin)


def fit_agreement_map(
    margins: Array, densities: Array, n_agree: Array, n_votes: int
) -> AgreementMap:
    """Learn the map from the votes of refits on ends; what would fall instead of rise is left out.

    A part of a vote for and against is added to each end, so that ends on which all agree give a
    finite map. The same few refits vote on all ends, so that the map counts for no more
    votes than there are refits.
    """
    columns = np.column_stack([np.ones(len(margins)), margins, _log_share(densities)])
    used = [0, 1, 2] if len(margins) >= _FEW_ENDS else [0, 1]
    slopes = np.zeros(3)
    while True:
        slopes[:] = 0.0
        slopes[used] = _fit_binomial(
            columns[:, used], n_agree + _NEVER_SURE, n_votes + 2 * _NEVER_SURE
        )
        falling = [j for j in used if j and slopes[j] <= 0]
        if not falling:
            break
        used.remove(falling[-1])
    expected = _logistic(columns @ slopes)
    strength = _WEAK
    if len(margins) >= _FEW_ENDS:
        strength = min(_likeliest_strength(expected, n_agree, n_votes), float(n_votes))
    intercept, by_margin, by_density = slopes.tolist()
    return AgreementMap(intercept, by_margin, by_density, strength)


def knows_nothing() -> AgreementMap:
    """Return the map of who has seen no end: a retrained model agrees or not."""
    return AgreementMap(0.0, 0.0, 0.0, _WEAK)


def _fit_binomial(columns: Array, successes: Array, n: float) -> Array:
    """Fit a logistic regression of counts by Newton's method, slopes held slightly to zero."""
    slopes = np.zeros(columns.shape[1])
    held = np.diag([0.0, *[0.1] * (columns.shape[1] - 1)])
    for _ in range(_NEWTON_STEPS):
        expected = _logistic(columns @ slopes)
        uphill = columns.T @ (successes - n * expected) - held @ slopes
        weights = n * expected * (1 - expected)
        curved = (columns * weights[:, None]).T @ columns + held + 1e-9 * np.eye(len(slopes))
        step = np.linalg.solve(curved, uphill)
        slopes += np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-10:
            break
    return slopes


def _likeliest_strength(expected: Array, n_agree: Array, n: int) -> float:
    """Return how many votes the map counts for: the fewer, the more ends like these differ."""
    from scipy.special import betaln

    likelihoods = []
    for strength in _STRENGTHS:
        yes = strength * expected
        no = strength - yes
        each = betaln(yes + n_agree, no + n - n_agree) - betaln(yes, no)
        likelihoods.append(float(each.sum()))
    return float(_STRENGTHS[int(np.argmax(likelihoods))])


def _log_share(densities: Array) -> Array:
    return np.asarray(np.log(_RARE + densities))


def _log_odds(share: float) -> float:
    return float(np.log(share) - np.log1p(-share))


def _logistic(odds: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(odds, -30, 30))))
