"""From several values of a state to one share of people, calibrated for every floor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.types import Array

_FACTORS = np.array([2.0, 2.0, 1.0])  # joint density and rarest pair refuse half as many each
_SMALL = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class ShareScale:
    """What people reach in each question, and the share that follows for any state.

    A state's rank in each question is the share of people who reach no more; the lowest of
    these, each times its factor, is ranked again among the same number of everybody: that
    makes ``share < a`` refuse a share ``a`` of new people. All of it only ever rises with the
    values, so that ``shares(values) >= a`` exactly where ``values >= thresholds(a)``.
    """

    values: Array  # of each question, lowest first
    ranks: Array  # the weight up to each of them, from 0
    lowest: Array  # everybody's lowest rank, lowest first
    lowest_ranks: Array  # the weight up to each of them, from 0
    n_effective: float

    @classmethod
    def fit(cls, values: Array, weights: Array, n_effective: float) -> ShareScale:
        """Take leave-one-out values (people, questions) and what each person counts."""
        order = np.argsort(values, axis=0, kind="stable")
        sums = np.cumsum(weights[order], axis=0)
        ranks = np.vstack([np.zeros(values.shape[1]), sums / sums[-1]])
        ordered = np.take_along_axis(values, order, axis=0)
        lowest = _lowest_ranks(values, ordered, ranks, extra=0.0)
        by_lowest = np.argsort(lowest, kind="stable")
        sums = np.cumsum(weights[by_lowest])
        lowest_ranks = np.concatenate([[0.0], sums / sums[-1]])
        return cls(ordered, ranks, lowest[by_lowest], lowest_ranks, n_effective)

    def shares(self, values: Array) -> Array:
        """Return how common new states are, from 0 to 1, given (states, questions)."""
        return self._ranked(_lowest_ranks(values, self.values, self.ranks, extra=self._extra))

    def row_shares(self, values: Array) -> Array:
        """Return how common states are that the scale was made of."""
        return self._ranked(_lowest_ranks(values, self.values, self.ranks, extra=0.0))

    def thresholds(self, share: float) -> Array:
        """Return what a state must reach in each question to be as common as ``share``."""
        at = int(np.searchsorted(self.lowest_ranks, share - _SMALL, "left")) - 1
        if at < 0:
            return np.full(self.values.shape[1], -np.inf)
        needed = self.lowest[min(at, len(self.lowest) - 1)] - _SMALL
        found = np.full(self.values.shape[1], np.inf)
        for question, factor in enumerate(_FACTORS):
            reached = (self.ranks[1:, question] + self._extra) * factor
            place = int(np.searchsorted(reached, needed, "left"))
            if place < len(reached):
                found[question] = self.values[place, question]
        return found

    @property
    def _extra(self) -> float:
        """What someone new adds to a rank: they count among the people themselves."""
        return 1.0 / len(self.lowest)

    def _ranked(self, lowest: Array) -> Array:
        places = np.searchsorted(self.lowest, lowest + _SMALL, "right")
        return np.asarray(self.lowest_ranks[places])


def _lowest_ranks(values: Array, ordered: Array, ranks: Array, *, extra: float) -> Array:
    """Return the lowest rank over all questions, each times its factor.

    Who is below everybody in one question has rank 0 there, with or without themselves.
    """
    found = np.empty(values.shape)
    for question in range(values.shape[1]):
        places = np.searchsorted(ordered[:, question], values[:, question], "right")
        rank = ranks[places, question]
        found[:, question] = np.where(places > 0, rank + extra, 0.0)
    return np.asarray((found * _FACTORS).min(axis=1))
