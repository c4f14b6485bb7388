"""How well an answer stands up: to small deviations, to other models, to retraining."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from localface.answers.disclosure import Disclosure
from localface.answers.target import Target
from localface.answers.wording import (
    format_amount,
    format_number,
    format_percent,
    format_whole_percent,
    to_one_line,
)
from localface.data.feature import Feature

ROBUSTNESS_DRAWS = 200
"""Small deviations from the actions that the robustness of an answer is measured on."""

UNDECLARED = 0.01
"""How far a feature without a resolution is missed, as a share of its standard deviation."""


_NOTHING_TO_MISS = "nothing that changes can be missed by a little"


@dataclass(frozen=True, slots=True)
class Noise:
    """By how much one feature may be missed, either way.

    ``declared`` tells that the schema has a resolution for it.
    """

    feature: Feature
    amount: float
    declared: bool

    def __str__(self) -> str:
        name = to_one_line(self.feature.display_name)
        return f"{name} ± {format_amount(self.amount, self.feature.unit)}"


class ModelVerdict(NamedTuple):
    """What another model says of the end: its name or number, its score, whether that is enough."""

    name: str | int
    score: float
    valid: bool


@dataclass(frozen=True, slots=True)
class Lasting:
    """How likely a model that is trained again on people drawn anew agrees with the end.

    ``interval`` holds the probability of an end like this in 9 of 10 cases; ``n_refits`` is how
    many models were trained again to tell, ``n_agree`` how many of them agree. ``wanted`` is the
    probability that was asked for, where one was.
    """

    probability: float
    interval: tuple[float, float]
    n_refits: int
    n_agree: int
    wanted: float | None = None

    @property
    def sentence(self) -> str:
        """The probability in words, as an estimate."""
        likely = format_whole_percent(self.probability)
        low, high = map(format_whole_percent, self.interval)
        interval = f"(90 % interval: {low} to {high})"
        return f"holds under a retrained model with probability {likely} {interval}"


@dataclass(frozen=True, slots=True)
class Robustness:
    """How well an answer stands up to noise, to other models and to retraining.

    ``success`` is the share of ``n`` small deviations from the followed actions that still
    reach the target, ``interval`` its 95 % Wilson interval; ``noise`` says by how much each
    changed feature was missed. ``models`` has a ``(name, score, valid)`` for each other model;
    ``lasting`` says how likely a retrained model agrees. What was not asked for, or cannot be
    told, is None. Where it was measured apart from the answer, ``score`` is that of the end,
    ``target`` what is wanted, and ``disclosure`` says what it took to tell.
    """

    success: float | None = None
    interval: tuple[float, float] | None = None
    n: int = 0
    seed: int = 0
    noise: tuple[Noise, ...] = ()
    score: float | None = None
    target: Target | None = None
    models: tuple[ModelVerdict, ...] = ()
    lasting: Lasting | None = None
    disclosure: Disclosure | None = field(default=None, compare=False)

    @property
    def n_valid(self) -> int:
        """How many of the other models the end is valid under."""
        return sum(one.valid for one in self.models)

    @property
    def survives(self) -> float | None:
        """The share of the other models that the end is valid under; None where none were given."""
        return self.n_valid / len(self.models) if self.models else None

    @property
    def _is_met_exactly(self) -> bool:
        """Whether no deviation could be tried: categories are met or not."""
        return not self.noise and self.interval == (1.0, 1.0)

    @property
    def sentences(self) -> tuple[str, ...]:
        """All that is known, one sentence each: deviations, other models, retraining."""
        return tuple(self._sentences())

    def _sentences(self) -> Iterator[str]:
        if self._is_met_exactly:
            yield f"robust to noise: {_NOTHING_TO_MISS}"
        elif self.success is not None:
            draws = f"{self.n:,} small deviations"
            share = format_whole_percent(self.success)
            yield f"robust to noise: {share} of {draws} from it still reach the target"
        if self.models:
            n = len(self.models)
            yield f"holds under {self.n_valid} of {n} other model{'s' * (n > 1)}"
        if self.lasting is not None:
            yield self.lasting.sentence

    def __repr__(self) -> str:
        parts = []
        if self._is_met_exactly:
            parts.append(_NOTHING_TO_MISS)
        elif self.success is not None:
            share = f"{format_whole_percent(self.success)} of {self.n:,} small deviations"
            parts.append(f"{share} still reach the target")
        if self.noise and self.interval is not None:
            low, high = map(format_whole_percent, self.interval)
            parts[0] += f" (95 % interval: {low} to {high})"
        if self.models:
            n = len(self.models)
            parts.append(f"valid under {self.n_valid} of {n} other model{'s' * (n > 1)}")
        if self.lasting is not None:
            likely = format_whole_percent(self.lasting.probability)
            parts.append(f"lasting with probability {likely}")
        return f"<Robustness: {', '.join(parts)}>"

    def __str__(self) -> str:
        return "\n".join([repr(self), *(f"  {line}" for line in self._details())])

    def _details(self) -> Iterator[str]:
        if self.target is not None and self.score is not None:
            score = self.target.format_score(self.score)
            yield f"wanted: {self.target.sentence}; score of the end: {score}"
        declared = [one for one in self.noise if one.declared]
        guessed = [one for one in self.noise if not one.declared]
        if declared:
            yield f"missed by up to one resolution: {', '.join(map(str, declared))}"
        if guessed:
            share = f"{format_percent(UNDECLARED)} of a standard deviation"
            reason = "as no resolution is declared"
            yield f"missed by up to {share}, {reason}: {', '.join(map(str, guessed))}"
        if self.success is not None and not self.noise and not self._is_met_exactly:
            yield _NOTHING_TO_MISS
        for name, score_there, valid in self.models:
            verdict = "valid" if valid else "not valid"
            shown = format_number(score_there)
            if self.target is not None:
                shown = self.target.format_score(score_there)
            yield f"model {to_one_line(str(name))}: score {shown}, {verdict}"
        if self.lasting is not None:
            yield self.lasting.sentence
