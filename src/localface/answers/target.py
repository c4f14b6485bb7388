"""The score that a person is to reach."""

from __future__ import annotations

import math
from dataclasses import dataclass

from localface.answers.wording import format_number

_NEAR = 0.05  # share of a score by which a round one may be off it


@dataclass(frozen=True, slots=True)
class Target:
    """What counts as arrived: a score of at least ``min_score``.

    Where a value is to come down (``at_most``), it is a score of at most ``min_score``; where a
    range is wanted, it is one from ``min_score`` to ``max_score``.
    """

    label: str
    min_score: float
    at_most: bool = False
    kind: str = "probability"
    max_score: float | None = None

    def is_reached_by(self, score: float) -> bool:
        """Tell whether a score has arrived."""
        if self.max_score is not None:
            return self.min_score <= score <= self.max_score
        return score <= self.min_score if self.at_most else score >= self.min_score

    def distance_from(self, score: float) -> float:
        """Tell how far a score is from where it is wanted; 0 and below once it has arrived."""
        if self.max_score is not None:
            return max(self.min_score - score, score - self.max_score)
        return score - self.min_score if self.at_most else self.min_score - score

    def format_score(self, score: float) -> str:
        """Write a score with enough digits to stand on the right side of the target."""
        if not math.isfinite(score):
            return str(score)
        fewest = self._fewest_decimals(score)
        for decimals in range(fewest, fewest + 8):
            if self.is_reached_by(float(f"{score:.{decimals}f}")) == self.is_reached_by(score):
                break
        if self.kind == "probability":
            return f"{score:.{decimals}f}"
        return format_number(score, decimals)

    def threshold_below(self, score: float) -> float:
        """Return a round score to ask for that a score reaches, not far from it.

        >>> Target("score", 0.9).threshold_below(0.5895)
        0.58
        """
        if not math.isfinite(score):
            return score
        towards = math.ceil if self.at_most else math.floor
        fewest = self._fewest_decimals(score)
        for decimals in range(fewest, fewest + 8):
            rounded = towards(score * 10.0**decimals) / 10.0**decimals
            if abs(rounded - score) <= _NEAR * abs(score):
                return rounded
        return score

    @property
    def noun(self) -> str:
        """What is to be reached, in a word: a regressor predicts a value, anything else a score."""
        return "value" if self.kind == "value" else "score"

    @property
    def sentence(self) -> str:
        """What is wanted, for people."""
        if self.max_score is not None:
            ends = f"from {format_number(self.min_score)} to {format_number(self.max_score)}"
            if self.kind == "value":
                return f"value {ends}"
            return f"score {ends}" if self.label == "score" else f"{self.label}, score {ends}"
        if self.kind == "value":
            return f"{self.label} {format_number(self.min_score)}"
        wanted = f"score at {'most' if self.at_most else 'least'} {self.min_score:g}"
        return wanted if self.label == "score" else f"{self.label}, {wanted}"

    def _fewest_decimals(self, score: float) -> int:
        if self.kind == "probability":
            return 2
        return max(0, 3 - math.floor(math.log10(abs(score) or 1.0)))
