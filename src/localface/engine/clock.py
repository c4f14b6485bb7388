"""The time that one person's answer may take, over all searches on their behalf."""

from __future__ import annotations

import time

_RESERVED = 0.1  # share of the time that is kept for closing what was begun
_MOST_RESERVED = 0.05  # seconds


class Clock:
    """Runs from the first search for a person until it is paused; every search shares it.

    Searches are told a little before time is up: what they have found has to be measured.
    """

    def __init__(self, seconds: float | None = None) -> None:
        given = float("inf") if seconds is None else float(seconds)
        self._left = given - min(_RESERVED * given, _MOST_RESERVED)
        self._deadline: float | None = None

    def start(self) -> float:
        """Let it run, unless it does already; returns when time is up, by ``perf_counter``."""
        if self._deadline is None:
            self._deadline = time.perf_counter() + self._left
        return self._deadline

    def pause(self) -> None:
        """Stop it while others are answered; what is left is kept."""
        if self._deadline is not None:
            self._left = max(0.0, self._deadline - time.perf_counter())
            self._deadline = None

    @property
    def is_up(self) -> bool:
        """Whether no time is left."""
        if self._deadline is None:
            return self._left <= 0
        return time.perf_counter() > self._deadline
