"""The probability that a retrained model agrees with an end, given its margin and its density."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.analyses.lasting.rising import fit_rising, from_log_odds, likeliest_strength
from localface.types import Array

_RARE = 0.01  # added to the share of less common states before its logarithm is taken
_FEW_ENDS = 20  # ends below which the map counts for hardly more than a vote
_WEAK = 1.0
_NEVER_SURE = 0.1  # of a vote, for and against: however many agree, the next one may not
_INTERVAL = (0.05, 0.95)


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
        return from_log_odds(odds + self.by_density * log_share(densities))

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
    columns = np.column_stack([np.ones(len(margins)), margins, log_share(densities)])
    used = [0, 1, 2] if len(margins) >= _FEW_ENDS else [0, 1]
    slopes = fit_rising(columns, n_agree + _NEVER_SURE, n_votes + 2 * _NEVER_SURE, used)
    expected = from_log_odds(columns @ slopes)
    strength = _WEAK
    if len(margins) >= _FEW_ENDS:
        strength = min(likeliest_strength(expected, n_agree, n_votes), float(n_votes))
    intercept, by_margin, by_density = slopes.tolist()
    return AgreementMap(intercept, by_margin, by_density, strength)


def knows_nothing() -> AgreementMap:
    """Return the map of who has seen no end: a retrained model agrees or not."""
    return AgreementMap(0.0, 0.0, 0.0, _WEAK)


def log_share(densities: Array) -> Array:
    """Return the logarithm of the share of less common states, rare ones not told far apart."""
    return np.asarray(np.log(_RARE + densities))


def _log_odds(share: float) -> float:
    return float(np.log(share) - np.log1p(-share))
