"""Warns of steps that the score does not need: they keep to common states, from below the floor."""

from __future__ import annotations

from collections.abc import Mapping

from localface.answers.wording import format_percent, join_numbers, join_words
from localface.data.row_words import PEOPLE, RowWords

_NOT_FOR_SCORE = "there only to keep to common states"


def caution_about_idle_steps(
    steps: Mapping[int, str], noun: str = "score", rows: RowWords = PEOPLE
) -> str:
    """Say which steps, each with what it changes, the score does not need.

    >>> print(caution_about_idle_steps({1: "heating district -> oil"}).replace(": ", ":\\n"))
    the score does not need step 1 (heating district -> oil):
    it is there only to keep to common states, since this person starts below the floor
    """
    one = len(steps) == 1
    numbers = f"{'step' if one else 'steps'} {join_numbers(steps)}"
    changes = join_words(list(steps.values()))
    why = f"{'it is' if one else 'they are'} {_NOT_FOR_SCORE}"
    starts = f"since this {rows.one} starts below the floor"
    return f"the {noun} does not need {numbers} ({changes}): {why}, {starts}"


def with_plan_without(caution: str, min_density: float, plan: str) -> str:
    """Add the plan that does without such steps where the floor is lower.

    >>> with_plan_without("it is idle", 0.046, "solar panels 0 -> 1.8 kWp")
    'it is idle; with a floor of 4.6 % (min_density=0.046) the plan is solar panels 0 -> 1.8 kWp'
    """
    floor = f"with a floor of {format_percent(min_density)}" if min_density else "with no floor"
    return f"{caution}; {floor} (min_density={min_density:g}) the plan is {plan}"


def is_about_idle_steps(caution: str) -> bool:
    """Tell whether a caution is the one about steps that the score does not need."""
    return _NOT_FOR_SCORE in caution
