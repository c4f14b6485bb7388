"""How far a score is past the threshold, on a scale where differences mean the same everywhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.models.scorer import Scorer
from localface.types import Array

_LEAST = 1e-4  # probabilities are kept so far from 0 and 1


@dataclass(frozen=True, slots=True)
class MarginScale:
    """Turns scores into margins: log-odds of probabilities, ordinary differences of values."""

    threshold: float
    spread: float | None  # None for log-odds

    @classmethod
    def of(cls, score: Scorer, scores: Array) -> MarginScale:
        """The scale of a model, given the scores of some rows."""
        if score.output.kind == "probability" and 0 < score.min_score < 1:
            return cls(score.min_score, None)
        return cls(score.min_score, float(np.std(scores)) or 1.0)

    def margins(self, scores: Array) -> Array:
        """Return how far scores are past the threshold."""
        if self.spread is not None:
            return np.asarray((scores - self.threshold) / self.spread)
        return _log_odds(scores) - _log_odds(np.array(self.threshold))

    def score_at(self, margin: float) -> float:
        """Return the score that has a margin."""
        if self.spread is not None:
            return self.threshold + margin * self.spread
        odds = float(_log_odds(np.array(self.threshold))) + margin
        return float(1 / (1 + np.exp(-odds)))


def _log_odds(scores: Array) -> Array:
    kept = np.clip(scores, _LEAST, 1 - _LEAST)
    return np.asarray(np.log(kept) - np.log1p(-kept))
