"""What every answer is completed with once its search is done."""

from __future__ import annotations

from collections.abc import Sequence

from localface.analyses.best_effort import go_as_far_as_possible
from localface.analyses.idle_steps import explain_idle_steps, has_idle_steps
from localface.analyses.lasting import go_on_until_lasting
from localface.analyses.measurements import add_measurements
from localface.analyses.robustness.adding import add_robustness
from localface.analyses.shorter_plans import has_long_plan, offer_shorter_plans
from localface.analyses.whynot import explain_refusals
from localface.analyses.whynot.widening import go_on_within_wider_limits
from localface.answers.recourse import Recourse
from localface.engine.engine import Engine
from localface.engine.requests import Request
from localface.models.agreeing import AgreeingScorer
from localface.search.plan import Plan


def complete_answers(
    engine: Engine, plan: Plan, asked: Sequence[tuple[Request, Recourse]]
) -> list[Recourse]:
    """Say what would open a way where there is none, or a shorter one, what measuring could show,
    how many of several models agree, and how likely a retrained one does.

    Who asked for it is first brought as far as possible. What all of it revealed is told together.
    """
    answers = [answer for _, answer in asked]
    some = [i for i, one in enumerate(asked) if _is_incomplete(engine, *one)]
    if some:
        more = _completed(engine, plan, [asked[i] for i in some])
        for i, answer in zip(some, more, strict=True):
            answers[i] = answer
    return [
        engine.with_all_revealed(request, answer)
        for (request, _), answer in zip(asked, answers, strict=True)
    ]


def _is_incomplete(engine: Engine, request: Request, answer: Recourse) -> bool:
    """Tell whether there is more to say: no way, a long one, something to measure, other models."""
    other_models = isinstance(engine.score, AgreeingScorer) or engine.outcomes is not None
    to_mend = not answer.found or has_long_plan(answer) or has_idle_steps(answer)
    return to_mend or bool(request.box.absent) or other_models


def _completed(
    engine: Engine, plan: Plan, asked: Sequence[tuple[Request, Recourse]]
) -> list[Recourse]:
    requests = [request for request, _ in asked]
    answers = go_as_far_as_possible(engine, plan, asked)
    answers = explain_refusals(engine, plan, list(zip(requests, answers, strict=True)))
    answers = go_on_within_wider_limits(
        list(zip(requests, answers, strict=True)),
        lambda some: go_on_until_lasting(engine, plan, some),
    )
    answers = offer_shorter_plans(engine, plan, list(zip(requests, answers, strict=True)))
    answers = explain_idle_steps(engine, plan, list(zip(requests, answers, strict=True)))
    answers = add_measurements(engine, list(zip(requests, answers, strict=True)))
    return add_robustness(engine, list(zip(requests, answers, strict=True)))
