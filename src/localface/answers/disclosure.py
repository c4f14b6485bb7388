"""What a search revealed of other people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from localface.answers.wording import format_count, format_percent


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
        return _unpickle_disclosure, (self.to_dict(),)

    @property
    def fraction(self) -> float:
        """The share of all rows that was seen."""
        return self.rows / self.of if self.of else 0.0

    @property
    def sentence(self) -> str:
        """What was revealed and what it took, for people."""
        asked = format_count(self.questions, "question", "questions")
        took = f"{asked}, {format_count(self.model_calls, 'model call', 'model calls')}"
        return f"{self.rows:,} of {self.of:,} rows ({format_percent(self.fraction)}), {took}"

    def __str__(self) -> str:
        return f"{self.rows:,} of {self.of:,} rows seen ({format_percent(self.fraction)})"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values that JSON can hold."""
        pieces = {one.name: getattr(self, one.name) for one in fields(self)}
        return {**pieces, "seconds": dict(self.seconds)}


def _unpickle_disclosure(pieces: dict[str, Any]) -> Disclosure:
    """Rebuild after pickling: a read-only mapping cannot be pickled itself."""
    return Disclosure(**pieces)
