"""What a target may be beside a class or a direction: a range, or any other class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from localface.errors import ModelError
from localface.types import Array

OTHER = "other"
"""The target of those who want any class but the one that they are in."""


@dataclass(frozen=True, slots=True)
class OtherThan:
    """Any class but this one."""

    label: Any


@dataclass(frozen=True, slots=True)
class ScoreRange:
    """A range of scores or values, both ends included; None where it is open."""

    low: float | None
    high: float | None

    @property
    def is_closed(self) -> bool:
        """Whether it has two ends."""
        return self.low is not None and self.high is not None

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends as numbers."""
        low = -np.inf if self.low is None else self.low
        return low, np.inf if self.high is None else self.high

    @property
    def direction(self) -> str:
        """Which way a range with one end is reached; up for one with two."""
        return "at most" if self.low is None else "at least"

    @property
    def threshold(self) -> float:
        """The score to reach: the end of a range with one, the lower end of one with two."""
        end = self.high if self.low is None else self.low
        assert end is not None
        return end

    def fold(self, values: Array) -> Array:
        """Return scores that reach the lower end just where values lie in the range.

        A value in the lower half of the range or below it is its own score; the others are
        mirrored at the middle of the range.
        """
        low, high = self.ends
        inside = np.maximum(low, low + (high - values))
        above = np.minimum(low - (values - high), np.nextafter(low, -np.inf))
        mirrored = np.where(values > high, above, inside)
        return np.where(values <= low + (high - low) / 2, values, mirrored)


def read_range(target: object) -> ScoreRange | None:
    """Read a target as a range; None where it is none."""
    if isinstance(target, ScoreRange):
        return target
    if not isinstance(target, tuple | list):
        return None
    ends = [None if end is None else _end_of_range(end, target) for end in target]
    if len(ends) != 2 or ends == [None, None]:
        raise _range_error(target)
    low, high = ends
    if low is not None and high is not None and low >= high:
        raise ModelError(
            f"target={target!r} is the wrong way round: give (low, high)", option="target"
        )
    return ScoreRange(low, high)


def refuse_range_of_no_probability(wanted: ScoreRange) -> None:
    """Refuse a range that no probability lies in."""
    low, high = wanted.ends
    if low > 1 or high < 0:
        raise ModelError(
            f"target={(wanted.low, wanted.high)!r} holds no probability: the model's score lies "
            "from 0 to 1, so give a range within, as in (0.5, 0.8)",
            option="target",
        )


def odds_against(scores: Array, column: int) -> Array:
    """Return how likely the likeliest other class is, against one class.

    It is a half where both are as likely, whatever the number of classes.
    """
    others = np.delete(scores, column, axis=1).max(axis=1)
    both = others + scores[:, column]
    return np.asarray(np.divide(others, both, out=np.full(len(scores), 0.5), where=both > 0))


def _end_of_range(end: Any, target: object) -> float:
    try:
        found = float(end)
    except (TypeError, ValueError):
        raise _range_error(target) from None
    if not np.isfinite(found):
        raise _range_error(target)
    return found


def _range_error(target: object) -> ModelError:
    return ModelError(
        f"target={target!r} is no range: give (low, high), with None for an end that is open, as "
        "in (None, 120)",
        option="target",
    )
