"""The probability that one more refit agrees with an end, given what the others say of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.analyses.lasting.opinions import Opinions
from localface.analyses.lasting.rising import fit_rising, from_log_odds
from localface.types import Array

_FEW_ENDS = 20  # and refits, below which nothing is learnt from leaving one of them out
_FEW_REFITS = 8
_NEVER_SURE = 0.1  # of a vote, for and against: however many agree, the next one may not
_INTERVAL = (0.05, 0.95)


@dataclass(frozen=True, slots=True)
class NextVote:
    """The log-odds that one more refit agrees: a sum of what speaks for an end, each weighed.

    How much each counts was learnt from refits that were left out in turn: what the others say was
    held against what the one said that they had not heard.
    """

    weights: tuple[float, ...]

    def probability(self, known: Opinions) -> tuple[Array, tuple[Array, Array]]:
        """Return the probability that one more refit agrees, and its 90 % interval.

        The interval is as wide as if nothing but the votes of as many refits were known.
        """
        from scipy.special import betaincinv

        n = known.n_refits
        foretold = _foretell(self.weights, known.evidence(range(n)))
        likely = (n * foretold + _NEVER_SURE) / (n + 2 * _NEVER_SURE)
        low, high = (betaincinv(n * likely, n * (1 - likely), end) for end in _INTERVAL)
        return likely, (np.minimum(low, likely), np.maximum(high, likely))


def can_learn(known: Opinions) -> bool:
    """Tell whether there are ends and refits enough to learn from leaving refits out."""
    return len(known.margins) >= _FEW_ENDS and known.n_refits >= _FEW_REFITS


def learn_next_vote(known: Opinions) -> NextVote:
    """Learn from the votes of each refit what the others foretell of them.

    One vote more for and against, spread over all ends, gives finite weights where all agree.
    """
    refits = range(known.n_refits)
    others = [[k for k in refits if k != one] for one in refits]
    columns = np.concatenate([np.column_stack(known.evidence(some)) for some in others])
    votes = known.agrees.astype(float).ravel()
    part = 1 / len(votes)
    weights = fit_rising(columns, votes + part, 1 + 2 * part, range(columns.shape[1]))
    return NextVote(tuple(weights.tolist()))


def _foretell(weights: tuple[float, ...], evidence: list[Array]) -> Array:
    """Return the probability that one more agrees, given what speaks for each end."""
    odds = np.zeros(len(evidence[0]))
    for weight, column in zip(weights, evidence, strict=True):
        odds = odds + weight * column
    return from_log_odds(odds)
