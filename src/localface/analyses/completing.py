"""What every answer is completed with once its search is done."""

from __future__ import annotations

from collections.abc import Sequence

from localface.analyses.best_effort import go_as_far_as_possible
from localface.analyses.measurements import add_measurements
from localface.analyses.whynot import explain_refusals
from localface.answers.recourse import Recourse
from localface.engine.engine import Engine
from localface.engine.requests import Request
from localface.search.plan import Plan


def complete_answers(
    engine: Engine, plan: Plan, asked: Sequence[tuple[Request, Recourse]]
) -> list[Recourse]:
    """Say what would open a way where there is none, and what measuring could show.

    Who asked for it is first brought as far as possible. What all of it revealed is told together.
    """
    answers = [answer for _, answer in asked]
    some = [i for i, one in enumerate(asked) if _is_incomplete(*one)]
    if some:
        requests = [asked[i][0] for i in some]
        more = go_as_far_as_possible(engine, plan, [asked[i] for i in some])
        more = explain_refusals(engine, plan, list(zip(requests, more, strict=True)))
        more = add_measurements(engine, list(zip(requests, more, strict=True)))
        for i, answer in zip(some, more, strict=True):
            answers[i] = answer
    return [
        engine.with_all_revealed(request, answer)
        for (request, _), answer in zip(asked, answers, strict=True)
    ]


def _is_incomplete(request: Request, answer: Recourse) -> bool:
    """Tell whether there is more to say: there is no way, or something could be measured."""
    return not answer.found or bool(request.box.absent)
