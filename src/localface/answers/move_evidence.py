"""How many similar people made a move that a person is to make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from localface.answers.intervals import wilson_interval
from localface.errors import InputError, list_names

FEWEST = 5
"""The fewest people of whom a percentage is given; below, the counts say it all."""

CAUTION = "what others did is counted, not tested: it shows no cause, and is no advice"
"""What must stand beside every such count."""

_COUNTS = (
    "similar",
    "moved",
    "with_outcome",
    "fared_well",
    "others_with_outcome",
    "others_fared_well",
)
_NAMES = ("features", "ignored", "untold")


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveEvidence:
    """How many real people made a comparable move, and how they fared.

    ``similar`` people were once in a state like the one where the move begins, and were
    seen again; ``moved`` of them made the move ``within`` so much time. Of these the outcome
    of ``with_outcome`` is known, and ``fared_well`` of them had the good one; ``others_``
    counts the same for the similar people who did not move. Each person counts once.
    ``features`` are those that similarity was judged by, ``radius`` how far a similar state
    may be in them, ``ignored`` the others; ``untold`` are features of the move itself of
    which the table knows nothing. ``size`` is the share of the move that counts as having
    made it.
    """

    similar: int
    moved: int
    within: float
    unit: str = ""
    with_outcome: int = 0
    fared_well: int = 0
    others_with_outcome: int = 0
    others_fared_well: int = 0
    features: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    untold: tuple[str, ...] = ()
    radius: float | None = None
    size: float = 0.5
    people: str = "people"
    well: str = ""

    def __post_init__(self) -> None:
        for name in _NAMES:
            object.__setattr__(self, name, tuple(str(one) for one in getattr(self, name)))
        _check_counts(self)

    @property
    def share(self) -> float | None:
        """The share of those who moved that fared well; None where no outcome is known."""
        return self.fared_well / self.with_outcome if self.with_outcome else None

    def interval(self) -> tuple[float, float] | None:
        """The 95 % Wilson interval of ``share``; None where no outcome is known."""
        if not self.with_outcome:
            return None
        return wilson_interval(self.fared_well / self.with_outcome, self.with_outcome)

    @property
    def sentence(self) -> str:
        """What people did, for people; never what it would do for this person."""
        if self.untold:
            unknown = f"the longitudinal data knows nothing of {list_names(self.untold)}"
            return f"{unknown}: nobody can be seen to do this"
        if not self.similar:
            return "nobody in the longitudinal data was in a similar state"
        of_similar = (
            f"{_format_count_or_none(self.moved)} of {self.similar:,} similar {self.people}"
        )
        did = f"{of_similar} did this {self._time_limit_phrase}"
        if not (self.well and self.moved):
            return did
        return f"{did}; {self._outcome_phrase}{self._others_phrase}"

    def to_dict(self) -> dict[str, Any]:
        """Return the evidence as plain values that JSON can hold."""
        return {**asdict(self), **{name: list(getattr(self, name)) for name in _NAMES}}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> MoveEvidence:
        """Build the evidence from what ``to_dict`` returned."""
        return cls(**{one.name: plain[one.name] for one in fields(cls)})

    @property
    def _time_limit_phrase(self) -> str:
        return f"within {self.within:g} {self.unit}".rstrip()

    @property
    def _outcome_phrase(self) -> str:
        if not self.with_outcome:
            who = "they" if self.moved > 1 else "that one"
            return f"how {who} fared is not known"
        if self.moved == 1:
            return f"that one {'went' if self.fared_well else 'did not go'} on to {self.well}"
        known = "" if self.with_outcome == self.moved else " whose outcome is known"
        rate = _rate_with_interval(self.fared_well, self.with_outcome)
        well = f"{_format_count_or_none(self.fared_well)} of the {self.with_outcome:,}{known}"
        return f"{well} went on to {self.well}{rate}"

    @property
    def _others_phrase(self) -> str:
        """The same of the similar people who did not move: a share means nothing without it."""
        well = self.others_fared_well
        known = self.others_with_outcome
        if not (self.with_outcome and known):
            return ""
        if known == 1:
            return f"; the one other {'went' if well else 'did not go'} on to {self.well}"
        it_was = f"{_format_count_or_none(well)}{_rate_with_interval(well, known)}"
        return f"; among the {known:,} others it was {it_was}"


def _format_count_or_none(count: int) -> str:
    return f"{count:,}" if count else "none"


def _rate_with_interval(good: int, of: int) -> str:
    """A share with its interval, where there are people enough to speak of one."""
    if of < FEWEST:
        return ""
    low, high = wilson_interval(good / of, of)
    return f" ({100 * good / of:.0f} %, {100 * low:.0f} to {100 * high:.0f} %)"


def _check_counts(evidence: MoveEvidence) -> None:
    """Refuse counts that cannot be counts of the same people."""
    counts = {name: getattr(evidence, name) for name in _COUNTS}
    for name, count in counts.items():
        if type(count) is not int or count < 0:
            raise InputError(f"{name} of the evidence of a move is {count!r}: a count is wanted")
    pairs = [
        ("moved", evidence.similar),
        ("with_outcome", evidence.moved),
        ("fared_well", evidence.with_outcome),
        ("others_with_outcome", evidence.similar - evidence.moved),
        ("others_fared_well", evidence.others_with_outcome),
    ]
    for name, most in pairs:
        if counts[name] > most:
            raise InputError(
                f"{name} of the evidence of a move is {counts[name]}, and can be {most} at most"
            )
    for name in ("unit", "people", "well"):
        if type(getattr(evidence, name)) is not str:
            raise InputError(
                f"{name} of the evidence of a move is {getattr(evidence, name)!r}: text is wanted"
            )
