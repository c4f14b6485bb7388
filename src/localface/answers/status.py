"""How a search ended."""

from __future__ import annotations

from enum import Enum


class Status(Enum):
    """How a search ended; the value is the sentence that people read."""

    FOUND = "a path to the target was found"
    ALREADY_THERE = "the person already has the outcome: nothing needs to change"
    NO_TARGET = "no change that this person may make reaches the target"
    UNREACHABLE = (
        "people who reach the target exist, but no path through common enough states leads to them"
    )
    BUDGET = "the row budget ran out before a path was found"
    OUT_OF_TIME = "time was up before a path was found"

    @property
    def word(self) -> str:
        """The status in a word or two, for one-line reprs."""
        return self.name.lower().replace("_", " ")
