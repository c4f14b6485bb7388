"""Tries whether a lower floor gives a plan that somebody could follow, where there is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from localface.answers.long_plans import PlanSize, is_about_long_plan, with_shorter_plan
from localface.answers.recourse import Recourse
from localface.answers.wording import round_share_down
from localface.engine.engine import Engine, PlannedRequest
from localface.engine.requests import Request
from localface.search.plan import Plan

_LOWER = 0.2  # share of the floor that is tried: less made plans no shorter on the tables tried


def has_long_plan(answer: Recourse) -> bool:
    """Tell whether a caution says that the plan is long."""
    return any(map(is_about_long_plan, answer.cautions))


def offer_shorter_plans(
    engine: Engine, plan: Plan, asked: Sequence[tuple[Request, Recourse]]
) -> list[Recourse]:
    """Add to the caution about a long plan what a search with a lower floor finds.

    Nothing is tried where rows are limited, nor where more was wished of the answer than a plan
    with a lower floor would be known to keep; nothing is said of a search that was cut short.
    """
    answers = [answer for _, answer in asked]
    long = [i for i, one in enumerate(asked) if _may_try(engine, *one)]
    floors = {i: round_share_down(_LOWER * answers[i].min_density) for i in long}

    def planned() -> Iterator[PlannedRequest]:
        for i in long:
            at = engine.with_thresholds(min_density=floors[i])
            yield at, asked[i][0], replace(plan, walk_options=at.plan.walk_options)

    for number, found in engine.answer_together(planned()):
        i = long[number]
        if isinstance(found, Recourse) and found.found and not found.cut_short:
            answers[i] = _with_trial(answers[i], found, floors[i])
    return answers


def _may_try(engine: Engine, request: Request, answer: Recourse) -> bool:
    wished = request.lasting is not None or request.goal is not None or request.best_effort
    lowered = answer.relaxed_to is not None or answer.min_density <= 0
    stopped = request.clock.is_up or answer.cut_short or engine.options.max_rows is not None
    return has_long_plan(answer) and not (wished or lowered or stopped)


def _with_trial(answer: Recourse, found: Recourse, min_density: float) -> Recourse:
    """Say of the plan's caution what the trial found."""
    before = PlanSize.of(answer.schema, answer.actions)
    size = PlanSize.of(found.schema, found.actions)
    shorter = bool(found.actions) and size.is_shorter_than(before)
    cautions = [
        with_shorter_plan(line, min_density, size if shorter else None)
        if is_about_long_plan(line)
        else line
        for line in answer.cautions
    ]
    return replace(answer, cautions=tuple(cautions))
