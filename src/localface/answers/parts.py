"""The pieces that an answer is made of: status, target, certificates, actions, disclosure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from types import MappingProxyType
from typing import Any

from localface.answers.move_evidence import MoveEvidence
from localface.answers.page import SAMPLED, more_unusual_than, number, people, percent, percents

_ON_THE_FLOOR = 1e-9  # how far below the floor a share may fall by rounding


class Status(Enum):
    """How a search ended; the value is the sentence that people read."""

    FOUND = "a path to the target was found"
    ALREADY_THERE = "the person already has the outcome: nothing needs to change"
    NO_TARGET = "nobody whom this person may become reaches the target"
    UNREACHABLE = "people who reach the target exist, but no path of steps over common enough ground leads to them"
    BUDGET = "the row budget ran out before a path was found"

    @property
    def word(self) -> str:
        """The status in a word or two, for one-line reprs."""
        return self.name.lower().replace("_", " ")


@dataclass(frozen=True, slots=True)
class Target:
    """What counts as arrived: a score of at least ``min_score`` (at most, for a value to come down to)."""

    label: str
    min_score: float
    at_most: bool = False
    kind: str = "probability"

    def reached(self, score: float) -> bool:
        """Tell whether a score has arrived."""
        return score <= self.min_score if self.at_most else score >= self.min_score

    def show(self, score: float) -> str:
        """Write a score with as many digits as it takes not to look arrived when it is not, nor the reverse."""
        if not math.isfinite(score):
            return str(score)
        start = (
            2
            if self.kind == "probability"
            else max(0, 3 - math.floor(math.log10(abs(score) or 1.0)))
        )
        for decimals in range(start, start + 8):
            if self.reached(float(f"{score:.{decimals}f}")) == self.reached(score):
                break
        return f"{score:.{decimals}f}" if self.kind == "probability" else number(score, decimals)

    @property
    def sentence(self) -> str:
        """What is wanted, for people."""
        if self.kind == "value":
            return f"{self.label} {number(self.min_score)}"
        wanted = f"score at {'most' if self.at_most else 'least'} {self.min_score:g}"
        return wanted if self.label == "score" else f"{self.label}, {wanted}"


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is known of one step: how common the ground is under all of it.

    ``length`` is counted in ordinary differences between people. ``lowest`` is the
    share of people who stand on less common ground than the least common place of the
    step (for the rule ``average``: than its mean), ``floor`` the share that was asked
    for. ``certified`` tells a proof from samples.
    """

    rule: str
    length: float
    lowest: float
    floor: float
    entry: bool = False
    certified: bool = True
    people: int | None = None
    radius: float | None = None

    @property
    def holds(self) -> bool:
        """Whether the step keeps the floor; an entry step need not, and says so by ``entry``."""
        return self.lowest >= self.floor - _ON_THE_FLOOR

    @property
    def sentence(self) -> str:
        """What the certificate says, for people."""
        return self._claim + ("" if self.certified else SAMPLED)

    @property
    def _claim(self) -> str:
        crosses = f"crosses ground {more_unusual_than(self.lowest)}"
        if self.entry:
            return f"entry: this first step {crosses}"
        if not self.holds:
            mean = "on average " if self.rule == "average" else ""
            return f"below the floor of {percents(self.floor, self.lowest)[0]}: this step {mean}{crosses}"
        if self.rule == "cover" and self.people is not None and self.radius is not None:
            near = f"within {number(self.radius)} ordinary differences of every place on this step"
            return f"there are at least {self.people:,} people {near}"
        if self.rule == "average":
            return f"this step passes on average through places as common as {people(self.lowest)}"
        return f"every place on this step is at least as common as {people(self.lowest)}"


@dataclass(frozen=True, slots=True)
class Disclosure:
    """What was revealed of other people, and what it took: ``rows`` out of ``of``."""

    rows: int
    of: int
    questions: int = 0
    model_calls: int = 0
    rows_scored: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "seconds", MappingProxyType(dict(self.seconds)))

    def __reduce__(self) -> tuple[Any, ...]:
        return _disclosure, (self._plain(),)

    @property
    def fraction(self) -> float:
        """The share of all rows that was seen."""
        return self.rows / self.of if self.of else 0.0

    @property
    def sentence(self) -> str:
        """What was revealed and what it took, for people."""
        took = f"{self.questions:,} questions, {self.model_calls:,} model calls"
        return f"{self.rows:,} of {self.of:,} rows ({percent(self.fraction)}), {took}"

    def __str__(self) -> str:
        return f"{self.rows:,} of {self.of:,} rows seen ({percent(self.fraction)})"

    def _plain(self) -> dict[str, Any]:
        return {
            **{one.name: getattr(self, one.name) for one in fields(self)},
            "seconds": dict(self.seconds),
        }


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do: what changes, from what to what, and where it leads.

    ``changes`` and ``before`` map features to values in the user's units; several features
    change where they only work together. ``follows`` holds the places in
    ``Recourse.actions`` of earlier actions that must come first, ``density`` the share of
    people who stand on less common ground than this leads to, ``people`` how many are near,
    ``evidence``, where there is longitudinal data, how many people really made such a move.
    """

    changes: Mapping[str, object]
    before: Mapping[str, object]
    score: float
    density: float
    people: int
    certificate: Certificate
    follows: tuple[int, ...] = ()
    evidence: MoveEvidence | None = None

    def __post_init__(self) -> None:
        for name in ("changes", "before"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> tuple[Any, ...]:
        return _action, ({**self._plain(), "certificate": self.certificate},)

    @property
    def together(self) -> bool:
        """Whether several features must change at once."""
        return len(self.changes) > 1

    def _plain(self) -> dict[str, Any]:
        pieces = {one.name: getattr(self, one.name) for one in fields(self)}
        return {**pieces, "changes": dict(self.changes), "before": dict(self.before)}


def _disclosure(pieces: dict[str, Any]) -> Disclosure:
    """Rebuild after pickling: a read-only mapping cannot be pickled itself."""
    return Disclosure(**pieces)


def _action(pieces: dict[str, Any]) -> Action:
    """Rebuild after pickling: a read-only mapping cannot be pickled itself."""
    return Action(**pieces)
