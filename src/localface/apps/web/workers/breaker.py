"""A circuit breaker: where the model ends or hangs again and again, nobody is sent there."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

_MAX_STRIKES = 5
_OPEN_SECONDS = 20.0


@dataclass(slots=True, eq=False)
class Breaker:
    """Counts failures in a row; refuses after five, and lets somebody try again later."""

    now: Callable[[], float]
    strikes: int = 0
    _open_until: float = 0.0

    @property
    def is_open(self) -> bool:
        """Whether nobody is let through now."""
        return self.now() < self._open_until

    @property
    def seconds_left(self) -> int:
        """Whole seconds until somebody may try again."""
        return max(1, math.ceil(self._open_until - self.now()))

    def count_failure(self) -> None:
        """Count a failure; where it is one too many, refuse for a while."""
        self.strikes += 1
        if self.strikes >= _MAX_STRIKES:
            self._open_until = self.now() + _OPEN_SECONDS
            self.strikes = _MAX_STRIKES - 1  # the next that tries decides

    def count_success(self) -> None:
        """Note that the model answers."""
        self.strikes = 0
        self._open_until = 0.0
