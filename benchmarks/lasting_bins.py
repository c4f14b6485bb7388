"""What is stated beside what is seen, in bins and one by one, and what chance makes of either."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

BINS = 5
DRAWS = 200  # of what would be seen
WITHIN = 0.05  # by which what is stated may differ from what is seen, in each bin
SURE = 1.96  # standard errors past that bound from which chance does not explain it
REFITS = 20  # that answers are stated from
Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers that state nearly the same, and how many of the unseen models agree with them.

    ``error`` is the standard error of ``apart`` that comes of the people asked about and of the
    models that judge; ``error_with_learnt`` adds that the refits which answers are stated from
    are as few draws themselves: other refits would state something else.
    """

    stated: float
    held: float
    error: float
    error_with_learnt: float
    n_answers: int
    n_people: int

    @property
    def apart(self) -> float:
        """By how much more holds than is stated."""
        return self.held - self.stated

    @property
    def is_off(self) -> bool:
        """Whether it is further off than is allowed, by more than chance explains."""
        return abs(self.apart) > WITHIN + SURE * self.error_with_learnt


def bins_of(stated: Array, votes: Array, people: Array, *, n_refits: int = REFITS) -> list[Bin]:
    """Put answers into bins of as many each; ``votes`` has a row for each, a column a model."""
    order = np.argsort(stated, kind="stable")
    return [
        _measured(stated[some], votes[some], people[some], n_refits)
        for some in np.array_split(order, BINS)
    ]


def typical_error(stated: Array, votes: Array) -> float:
    """By how much what one answer states is off, with the chance of those who judge taken out."""
    held = votes.mean(axis=1)
    by_judges = held * (1 - held) / (votes.shape[1] - 1)
    return float(np.sqrt(max(0.0, ((stated - held) ** 2 - by_judges).mean())))


def share_within(
    stated: Array, intervals: Array, votes: Array, *, n_refits: int = REFITS
) -> tuple[float, float]:
    """Share of answers whose interval has what is seen, and what it is if intervals are right.

    Few judges move what is seen out of intervals that have the truth: what is to be expected is
    drawn from the distribution that the intervals are of.
    """
    low, high = intervals.T
    held = votes.mean(axis=1)
    rng = np.random.default_rng(0)
    truth = rng.beta(n_refits * stated, n_refits * (1 - stated), (DRAWS, len(stated)))
    drawn = rng.binomial(votes.shape[1], truth) / votes.shape[1]
    seen = np.mean((low <= held) & (held <= high))
    return float(seen), float(np.mean((low <= drawn) & (drawn <= high)))


def _measured(stated: Array, votes: Array, people: Array, n_refits: int) -> Bin:
    apart = votes.mean(axis=1) - stated
    by_person = _variance_by_person(apart, people)
    one_model = votes.mean(axis=0).var(ddof=1)
    by_judges = one_model / votes.shape[1]
    return Bin(
        float(stated.mean()),
        float(votes.mean()),
        float(np.sqrt(by_person + by_judges)),
        float(np.sqrt(by_person + by_judges + one_model / n_refits)),
        len(stated),
        len(np.unique(people)),
    )


def _variance_by_person(apart: Array, people: Array) -> float:
    """The variance of the mean, of people drawn with all their answers."""
    _, whose = np.unique(people, return_inverse=True)
    sums = np.bincount(whose, weights=apart - apart.mean())
    n = len(sums)
    return float((sums**2).sum() / len(apart) ** 2 * n / max(n - 1, 1))
