"""Names the constraints that would have to give way where no target is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from localface.analyses.whynot.findings import join_words
from localface.analyses.whynot.widening import answer_with_wider_limits
from localface.answers.disclosure import Disclosure
from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.data.box import Box
from localface.data.schema import Schema
from localface.engine.engine import Engine
from localface.engine.meter import sum_disclosures
from localface.engine.requests import Request
from localface.errors import InputError
from localface.search.pipeline import count_targets, find_recourse
from localface.search.plan import Plan

_PAIRS_UP_TO = 12  # constrained features up to which pairs are tried
_NAMED = 3  # sets of features that a sentence names


_Set = tuple[int, ...]  # features, by their index in the schema


def explain_refusals(
    engine: Engine, plan: Plan, asked: Sequence[tuple[Request, Recourse]]
) -> list[Recourse]:
    """Say, where no target is allowed, which constraints would have to give way.

    Single constraints are tried first, then pairs; what stays a person's own is not among them.
    Every other answer is passed on as it is, and so is one that widening opened. Sets that leave
    no target are found by counting; only the others are searched, all in lock-step. The rows that
    those searches see are added up: a row seen twice counts twice, so that the sum is an upper
    bound.
    """
    answers = answer_with_wider_limits(engine, plan, asked)
    shut = [
        i for i, (request, _) in enumerate(asked) if _has_no_allowed_target(request, answers[i])
    ]
    for size in (1, 2):
        trials = [
            _Trial(i, some, replace(asked[i][0], box=_box_without_features(asked[i][0].box, some)))
            for i in shut
            for some in _sets_of_constrained_features(engine.schema, asked[i][0].box, size)
        ]
        for trial, opens, seen in _run_trials_within_budget(
            engine, plan, _trials_with_targets(engine, trials), answers
        ):
            answer = answers[trial.number]
            names = tuple(engine.schema.names[j] for j in trial.freed)
            answers[trial.number] = replace(
                answer,
                disclosure=sum_disclosures([answer.disclosure, seen]),
                opens=(*answer.opens, names) if opens else answer.opens,
            )
        shut = [i for i in shut if not answers[i].opens]
    return [
        replace(one, reason=f"{one.reason}; {_what_would_open_sentence(engine.schema, one.opens)}")
        if one.opens
        else one
        for one in answers
    ]


@dataclass(frozen=True, slots=True, eq=False)
class _Trial:
    """A request without the constraints on some features, and the number of the person."""

    number: int
    freed: _Set
    request: Request


def _has_no_allowed_target(request: Request, answer: Recourse) -> bool:
    return answer.status is Status.NO_TARGET and request.goal is None


def _sets_of_constrained_features(schema: Schema, box: Box, size: int) -> list[_Set]:
    """Sets of constrained features of one size; no pairs where there would be too many.

    A feature that stays a person's own could not give way, and is in none of them.
    """
    constrained = sorted(
        j for j in box.reasons if not schema.features[j].own and j not in (box.absent or ())
    )
    if size > 1 and len(constrained) > _PAIRS_UP_TO:
        return []
    return list(combinations(constrained, size))


def _box_without_features(box: Box, features: Sequence[int]) -> Box:
    """The box without what it says of some features."""
    free = np.isin(np.arange(len(box.lower)), features)
    return Box(
        np.where(free, -np.inf, box.lower),
        np.where(free, np.inf, box.upper),
        {j: codes for j, codes in box.allowed.items() if j not in features},
        box.up & ~free,
        box.down & ~free,
        {j: why for j, why in box.reasons.items() if j not in features},
        {j: reach for j, reach in box.distance_limits.items() if j not in features},
    )


def _trials_with_targets(engine: Engine, trials: Sequence[_Trial]) -> list[_Trial]:
    """Those of the trials that leave some target to become; no row is looked at."""
    jobs = []
    for trial in trials:
        person = engine.make_person(trial.request.record, trial.request.box)
        jobs.append(engine.make_job(trial.request, count_targets(person), engine.make_decoder([])))
    found = {number: counts.targets > 0 for number, counts, _ in engine.driver.run(jobs)}
    return [trial for number, trial in enumerate(trials) if found[number]]


def _run_trials_within_budget(
    engine: Engine, plan: Plan, trials: Sequence[_Trial], answers: Sequence[Recourse]
) -> list[tuple[_Trial, bool, Disclosure]]:
    """Tell of each trial whether there is a way; a row budget is shared among one's trials."""
    budget = engine.options.max_rows
    if budget is None:
        found = _run_trials(engine, plan, trials, max_rows=None)
    else:
        found = []
        for number in dict.fromkeys(trial.number for trial in trials):
            own = [trial for trial in trials if trial.number == number]
            share = (budget - answers[number].disclosure.rows) // len(own)
            if share >= 1:
                found += _run_trials(engine, plan, own, max_rows=share)
    return sorted(found, key=lambda one: (one[0].number, one[0].freed))


def _run_trials(
    engine: Engine, plan: Plan, trials: Sequence[_Trial], *, max_rows: int | None
) -> list[tuple[_Trial, bool, Disclosure]]:
    """Tell of each trial whether there is a way, with what it took; the way is not worked out."""
    quick = replace(plan, strategy="guided", existence_only=True)
    jobs = []
    for trial in trials:
        request = trial.request
        person = engine.make_person(request.record, request.box)
        jobs.append(
            engine.make_job(
                request, find_recourse(person, quick), engine.make_decoder([request.record])
            )
        )
    found = []
    for number, outcome, seen in engine.driver.run_or_error(jobs, max_rows=max_rows, apart=True):
        opens = not isinstance(outcome, InputError) and outcome.status == "FOUND"
        found.append((trials[number], opens, seen))  # a failure opens nothing
    return found


def _what_would_open_sentence(schema: Schema, sets: Sequence[tuple[str, ...]]) -> str:
    """Name the sets of features whose constraints would have to give way."""
    shown = [[schema[name].display_name for name in names] for names in sets[:_NAMED]]
    some = [f"if {join_words(names)} may move further" for names in shown]
    some += [f"in {len(sets) - _NAMED} other ways"] if len(sets) > _NAMED else []
    return (
        f"a way opens {', or '.join(some)} (the rows seen count the searches for this too, at most)"
    )
