"""Tries whether a lower floor gives a plan without the steps that the score does not need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from localface.analyses.whynot.trials import Trial, run_trials
from localface.answers.cautions import is_about_own_state
from localface.answers.idle_steps import caution_about_idle_steps, with_plan_without
from localface.answers.long_plans import PlanSize
from localface.answers.page import changes_by_action
from localface.answers.purpose import purpose_besides_score
from localface.answers.recourse import Recourse
from localface.answers.wording import join_words, round_share_down
from localface.engine.engine import Engine, PlannedRequest
from localface.engine.requests import Request
from localface.search.pipeline import measure_path
from localface.search.plan import Plan
from localface.types import Array


def has_idle_steps(answer: Recourse) -> bool:
    """Tell whether a plan may have steps that the score does not need, from below the floor."""
    return bool(_idle_steps(answer))


def explain_idle_steps(
    engine: Engine, plan: Plan, asked: Sequence[tuple[Request, Recourse]]
) -> list[Recourse]:
    """Say which steps the score does not need, and with what lower floor a plan does without.

    The floor is that which the same plan keeps without these steps; it is told once a search has
    found a plan with it. None is tried where rows are limited, nor where more was wished of the
    answer than a plan with a lower floor would be known to keep.
    """
    answers = [answer for _, answer in asked]
    shares = _shares_without(engine, asked)
    told = {i: _caution_about(answers[i]) for i in shares}
    floors = {
        i: round_share_down(share) if share > 0 else 0.0
        for i, share in shares.items()
        if share < _floor_of(answers[i]) and _may_try(engine, *asked[i])
    }
    for i, found in _plans_without(engine, plan, asked, floors).items():
        changes = join_words([str(change) for change in found.changes])
        told[i] = with_plan_without(told[i], floors[i], changes)
    for i, caution in told.items():
        answers[i] = _with_caution(answers[i], caution)
    return answers


def _with_caution(answer: Recourse, caution: str) -> Recourse:
    """Put a caution on top; what may be mistaken in the record comes before it."""
    doubts = {one.sentence for one in answer.doubts}
    lines = answer.cautions
    about_record = [line in doubts or is_about_own_state(line) for line in lines]
    first = max((i + 1 for i, one in enumerate(about_record) if one), default=0)
    return replace(answer, cautions=(*lines[:first], caution, *lines[first:]))


def _idle_steps(answer: Recourse) -> tuple[int, ...]:
    """The actions that bring someone who starts below the floor no nearer to the target."""
    if not answer.actions or answer.densities[0] >= answer.min_density:
        return ()
    numbers = range(len(answer.actions))
    return tuple(i for i in numbers if purpose_besides_score(answer, i) is not None)


def _shares_without(engine: Engine, asked: Sequence[tuple[Request, Recourse]]) -> dict[int, float]:
    """How common the rarest state of each plan is without such steps, where the score allows that.

    No row is looked at.
    """
    trials = []
    for i, (request, answer) in enumerate(asked):
        states = _states_without(answer)
        if len(states):
            person = engine.make_person(request.record, request.box)
            path = partial(measure_path, person, engine.space.points(states))
            trials.append(Trial(i, request, path))
    shares = {}
    for trial, outcome in run_trials(engine, trials):
        if outcome.scores[-1] >= engine.score.min_score:
            lowest = min(outcome.log_densities.min(), outcome.step_log_densities.min())
            shares[trial.number] = float(engine.answers.scale.share_below(lowest))
    return shares


def _floor_of(answer: Recourse) -> float:
    return answer.min_density if answer.relaxed_to is None else answer.relaxed_to


def _states_without(answer: Recourse) -> Array:
    """The states that a plan leads through without such steps; none where it has none."""
    idle = _idle_steps(answer)
    states = [answer.records[0]]
    for i, action in enumerate(answer.actions):
        if idle and i not in idle:
            state = states[-1].copy()
            for name, value in action.changes.items():
                state[answer.schema.index(name)] = answer.schema[name].code(value)
            states.append(state)
    return np.array(states[1:])


def _caution_about(answer: Recourse) -> str:
    steps = {
        i + 1: join_words([str(one) for one in changes_by_action(answer, answer.actions[i])])
        for i in _idle_steps(answer)
    }
    return caution_about_idle_steps(steps, answer.target.noun, answer.schema.each_row)


def _may_try(engine: Engine, request: Request, answer: Recourse) -> bool:
    wished = request.lasting is not None or request.goal is not None or request.best_effort
    stopped = request.clock.is_up or answer.cut_short or engine.options.max_rows is not None
    return engine.options.edges != "cover" and not (wished or stopped)


def _plans_without(
    engine: Engine,
    plan: Plan,
    asked: Sequence[tuple[Request, Recourse]],
    floors: Mapping[int, float],
) -> dict[int, Recourse]:
    """The plans without such steps that searches with lower floors find."""
    numbers = list(floors)

    def planned() -> Iterator[PlannedRequest]:
        for i in numbers:
            at = engine.with_thresholds(min_density=floors[i])
            yield at, asked[i][0], replace(plan, walk_options=at.plan.walk_options)

    found = {}
    for number, answer in engine.answer_together(planned()):
        i = numbers[number]
        if isinstance(answer, Recourse) and _does_without(answer, asked[i][1]):
            found[i] = answer
    return found


def _does_without(found: Recourse, answer: Recourse) -> bool:
    """Tell whether a plan is sound, smaller than another one, and without such steps."""
    sound = found.found and found.relaxed_to is None and not found.cut_short
    sizes = [PlanSize.of(one.schema, one.actions).changes for one in (found, answer)]
    return sound and 0 < sizes[0] < sizes[1] and not _idle_steps(found)
