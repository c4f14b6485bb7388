"""How a search ended."""

from __future__ import annotations

from enum import Enum
from typing import Literal

StatusName = Literal[
    "FOUND",
    "ALREADY_THERE",
    "NO_TARGET",
    "UNREACHABLE",
    "NOT_LASTING",
    "BUDGET",
    "OUT_OF_TIME",
]
"""The names of the statuses, for descriptions of what programs read."""


class Status(Enum):
    """How a search ended; the value is the sentence that people read."""

    FOUND = "a path to the target was found"
    ALREADY_THERE = "the outcome is already there: nothing needs to change"
    NO_TARGET = "no allowed change that was tried reaches the target"
    UNREACHABLE = (
        "states that reach the target exist, but no path through common enough states leads to them"
    )
    NOT_LASTING = (
        "plans that reach the target exist, but none was found that a retrained model is likely "
        "enough to agree with"
    )
    BUDGET = "the row budget ran out before a path was found"
    OUT_OF_TIME = "time was up before a path was found"

    @property
    def word(self) -> str:
        """The status in a word or two, for one-line reprs."""
        return self.name.lower().replace("_", " ")
