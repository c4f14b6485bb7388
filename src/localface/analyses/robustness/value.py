"""What is known of the robustness of one answer, as a value that prints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from localface.analyses.robustness.noise import UNDECLARED, Noise
from localface.answers.disclosure import Disclosure
from localface.answers.target import Target
from localface.answers.wording import format_distinct_percents, format_percent, to_one_line


class ModelVerdict(NamedTuple):
    """What another model says of the end: its name or number, its score, whether that is enough."""

    name: str | int
    score: float
    valid: bool


@dataclass(frozen=True, slots=True)
class Robustness:
    """How well an answer stands up to noise, and to retrained models.

    ``success`` is the share of ``n`` small deviations from the followed actions that still
    reach the target, ``interval`` its 95 % Wilson interval; ``noise`` says by how much each
    changed feature was missed. ``score`` is that of the end itself; ``models`` has a
    ``(name, score, valid)`` for each other model. ``disclosure`` says what it took to tell.
    """

    success: float
    interval: tuple[float, float]
    n: int
    seed: int
    noise: tuple[Noise, ...]
    score: float
    target: Target
    models: tuple[ModelVerdict, ...] = ()
    disclosure: Disclosure | None = field(default=None, compare=False)

    @property
    def survives(self) -> float | None:
        """The share of the other models that the end is valid under; None where none were given."""
        if not self.models:
            return None
        return sum(one.valid for one in self.models) / len(self.models)

    def __repr__(self) -> str:
        low, high = format_distinct_percents(*self.interval)
        parts = [
            f"{format_percent(self.success)} of {self.n:,} small deviations still reach the target"
        ]
        parts[0] += f" (95 % interval: {low} to {high})" if self.noise else ""
        if self.models:
            n = len(self.models)
            valid = sum(one.valid for one in self.models)
            parts.append(f"valid under {valid} of {n} other model{'s' * (n > 1)}")
        return f"<Robustness: {', '.join(parts)}>"

    def __str__(self) -> str:
        score_text = self.target.format_score(self.score)
        lines = [f"  wanted: {self.target.sentence}; score of the end: {score_text}"]
        declared = [one for one in self.noise if one.declared]
        guessed = [one for one in self.noise if not one.declared]
        if declared:
            lines.append(f"  missed by up to one resolution: {', '.join(map(str, declared))}")
        if guessed:
            share = f"{format_percent(UNDECLARED)} of a standard deviation"
            reason = "as no resolution is declared"
            lines.append(f"  missed by up to {share}, {reason}: {', '.join(map(str, guessed))}")
        if not self.noise:
            lines.append("  nothing that changes can be missed by a little")
        for name, score, valid in self.models:
            verdict = "valid" if valid else "not valid"
            score_text = self.target.format_score(score)
            lines.append(f"  model {to_one_line(str(name))}: score {score_text}, {verdict}")
        return "\n".join([repr(self), *lines])
