"""What is known of ends before another model is asked: what the refits say of them, and more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from localface.analyses.lasting.agreement import log_share
from localface.types import Array

_LEAST_SPREAD = 0.05  # of a margin: what refits at one are taken to differ by all the same
_FIRMEST = 6.0  # spreads past the threshold, beyond which nothing gets more likely


@dataclass(frozen=True, slots=True, eq=False)
class Opinions:
    """The margin that each refit gives each end and whether it agrees, and two facts of the end.

    ``by_refit`` and ``agrees`` have a row for each refit and a column for each end; ``margins`` are
    the model's own, ``densities`` the shares of states that are less common.
    """

    by_refit: Array
    agrees: Array
    margins: Array
    densities: Array

    @property
    def n_refits(self) -> int:
        """How many refits were asked."""
        return len(self.by_refit)

    @property
    def n_agree(self) -> Array:
        """How many refits agree with each end."""
        return np.asarray(self.agrees.sum(axis=0, dtype=np.int64))

    def evidence(self, asked: Sequence[int]) -> list[Array]:
        """What speaks for each end, to those who heard only some of the refits.

        A constant; by how many of their own spreads the refits are past the threshold; the
        log-odds of their votes; the model's own margin; and how common the end is.
        """
        yes = _sum(self.agrees[k].astype(float) for k in asked)
        votes = np.log(yes + 0.5) - np.log(len(asked) - yes + 0.5)
        firm = self._firmness(asked)
        return [np.ones_like(firm), firm, votes, self.margins, log_share(self.densities)]

    def _firmness(self, asked: Sequence[int]) -> Array:
        """The mean margin of some refits, in spreads between them."""
        mean = _sum(self.by_refit[k] for k in asked) / len(asked)
        around = _sum((self.by_refit[k] - mean) ** 2 for k in asked) / (len(asked) - 1)
        spread = np.sqrt(around + _LEAST_SPREAD**2)
        return np.asarray(np.clip(mean / spread, -_FIRMEST, _FIRMEST))


def _sum(parts: Iterable[Array]) -> Array:
    """Add one after the other, so that an end alone gets to the digit what it gets among many."""
    return np.asarray(sum(parts))
