"""Goes as far as possible where the target cannot be reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.answers.target import Target
from localface.engine.engine import Engine
from localface.engine.requests import Request
from localface.search.plan import Plan

_TRIES = 10  # searches for a lower score, beside the first
_CLOSE_ENOUGH = 0.005  # of the way from the person's score to the target's


def go_as_far_as_possible(
    engine: Engine, plan: Plan, asked: Sequence[tuple[Request, Recourse]]
) -> list[Recourse]:
    """Answer again, with the best score that can be reached, those who asked for it and need it."""
    return [
        _answer_at_best_score(engine, plan, request, answer)
        if request.best_effort and answer.status in (Status.NO_TARGET, Status.UNREACHABLE)
        else answer
        for request, answer in asked
    ]


def _answer_at_best_score(
    engine: Engine, plan: Plan, request: Request, answer: Recourse
) -> Recourse:
    """Find the way to the best score that can be reached; where there is none, say no as before.

    The score that is asked for is lowered by halving. Such an answer reaches the lowered target,
    and its first caution says that it is not the one that was wanted.
    """
    sign = engine.score.output.sign
    low = start = sign * answer.scores[0]
    high = engine.score.min_score
    best: Recourse | None = None
    cut_short = False
    for _ in range(_TRIES):
        if request.clock.is_up or high - low <= _CLOSE_ENOUGH * (engine.score.min_score - start):
            break
        level = (low + high) / 2
        ((_, trial),) = engine.with_thresholds(min_score=sign * level).answer([request], plan)
        if trial.found:
            best = trial
            low = max(level, sign * _reached_score(trial))
        else:
            high = level
            cut_short = cut_short or trial.status in (Status.BUDGET, Status.OUT_OF_TIME)
    if best is None or _looks_the_same(best, answer):
        return _no_nearer(answer, cut_short=cut_short)
    return _as_far_as_possible(replace(best, cut_short=best.cut_short or cut_short), answer.target)


def _no_nearer(answer: Recourse, *, cut_short: bool) -> Recourse:
    """Say of a refusal that no way through common states leads nearer to the target either."""
    noun = "value" if answer.target.kind == "value" else "score"
    limits = "within the rows or the time allowed" if cut_short else "through common enough states"
    note = f"best_effort=True: no way {limits} leads to a better {noun}"
    return replace(answer, reason="; ".join(part for part in (answer.reason, note) if part))


def _looks_the_same(best: Recourse, answer: Recourse) -> bool:
    """Tell whether the score that was reached is printed as the one that the person has."""
    written = answer.target.format_score
    return written(_reached_score(best)) == written(answer.scores[0])


def _as_far_as_possible(best: Recourse, wanted: Target) -> Recourse:
    """Say of an answer that it goes as far as possible, and what was wanted."""
    reached = _reached_score(best)
    far = "as far as was found with the rows or the time allowed" if best.cut_short else ""
    caution = (
        f"what is wanted cannot be reached ({wanted.sentence}): this goes "
        f"{far or 'as far as possible'}, to "
        f"a {'value' if wanted.kind == 'value' else 'score'} of {wanted.format_score(reached)}"
    )
    return replace(
        best,
        target=replace(best.target, min_score=best.target.threshold_below(reached)),
        cautions=(caution, *best.cautions),
        settings={**best.settings, "best_effort_for": wanted.min_score},
    )


def _reached_score(answer: Recourse) -> float:
    """The score that both the path and the actions reach."""
    ends = (answer.scores[-1], answer.with_actions_as_path().scores[-1])
    return max(ends) if answer.target.at_most else min(ends)
