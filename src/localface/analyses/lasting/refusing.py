"""What is said where no answer is as lasting as was wished."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

from localface.answers.cautions import is_about_more_features
from localface.answers.long_plans import PlanSize
from localface.answers.recourse import Recourse
from localface.answers.robustness import Lasting
from localface.answers.status import Status
from localface.answers.wording import format_count, format_distinct_percents


class LowerWish(NamedTuple):
    """A lower wish that is kept, and the answer that keeps it."""

    lasting: float
    answer: Recourse


def refuse_as_not_lasting(
    answers: tuple[Recourse, Recourse], most: Lasting, lower: LowerWish | None, *, late: bool
) -> Recourse:
    """Say no, how lasting the most lasting plan is, and which lower wish is kept.

    ``answers`` are the one without the wish and the most lasting one, ``late`` tells that time was
    up before all was tried.
    """
    first, best = answers
    assert most.wanted is not None
    found, wanted = format_distinct_percents(most.probability, most.wanted)
    sofar = " before time was up" if late else ""
    reason = (
        f"the most lasting plan found{sofar} holds under a retrained model with probability "
        f"{found}, and {wanted} was asked for (lasting={most.wanted:g})"
    )
    ways = f"best_effort=True gives the most lasting one{_by_more_than_asked(best)}"
    if lower is not None:
        more = _by_more_than_asked(lower.answer)
        ways = f"lasting={lower.lasting:g} finds a plan{more}, and {ways}"
    return replace(
        first.without_path(Status.NOT_LASTING, f"{reason}; {ways}"),
        cut_short=first.cut_short or late,
    )


def _by_more_than_asked(answer: Recourse) -> str:
    """Say by how many features a plan is, where they are more than were asked for."""
    if not any(map(is_about_more_features, answer.cautions)):
        return ""
    size = PlanSize.of(answer.schema, answer.actions)
    return f", by {format_count(size.features, 'feature', 'features')}{size.linked_words}"


def as_most_lasting(answer: Recourse, most: Lasting) -> Recourse:
    """Say of an answer that it is the most lasting one, and less so than was wished."""
    assert most.wanted is not None
    found, wanted = format_distinct_percents(most.probability, most.wanted)
    missed = (
        f"no answer was found that a retrained model agrees with at {wanted} "
        f"(lasting={most.wanted:g}); this is the most lasting one found, with {found}"
    )
    reason = "; ".join(part for part in (answer.reason, missed) if part)
    return replace(answer, reason=reason, cautions=(missed, *answer.cautions))


def round_wish_down(probability: float) -> float:
    """Round a probability down to a wish with two digits.

    >>> round_wish_down(0.7184), round_wish_down(0.004)
    (0.71, 0.0)
    """
    return math.floor(100 * probability) / 100
