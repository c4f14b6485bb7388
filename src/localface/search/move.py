"""One action of a person, in points."""

from __future__ import annotations

from dataclasses import dataclass

from localface.types import Array


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """The state after one action, its score, and which earlier moves must come first."""

    point: Array
    score: float
    follows: tuple[int, ...] = ()
