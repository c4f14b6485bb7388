"""Names what would open a way where there is none: the constraints, the floor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np

from localface.analyses.whynot.allowing import what_to_allow
from localface.analyses.whynot.floors import offer_lower_floors
from localface.analyses.whynot.trials import Trial, run_trials
from localface.analyses.whynot.widening import answer_with_wider_limits
from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.answers.wording import format_count
from localface.data.box import Box
from localface.engine.engine import Engine
from localface.engine.requests import Request
from localface.geometry.bounds import Bounds
from localface.search.outcome import Outcome
from localface.search.pipeline import count_targets, find_recourse
from localface.search.plan import Plan

_PAIRS_UP_TO = 12  # constrained features up to which pairs are tried
_MOST_SCORED = 120_000  # states that the model is asked about to tell which constraints to free
_MOST_SEARCHED = 6  # sets of features that are tried by a search for one person
_NAMED = 3  # sets of features that a sentence names


_Set = tuple[int, ...]  # features, by their index in the schema


def explain_refusals(
    engine: Engine, plan: Plan, asked: Sequence[tuple[Request, Recourse]]
) -> list[Recourse]:
    """Say, where there is no way, what would open one: each was tried before it is told.

    Every other answer is passed on as it is, and so is one that widening opened. All searches
    for one person share their time, and the budget of rows.
    """
    requests = [request for request, _ in asked]
    answers = answer_with_wider_limits(engine, plan, asked)
    answers = _name_constraints_to_free(engine, plan, requests, answers)
    return offer_lower_floors(engine, plan, list(zip(requests, answers, strict=True)))


def _name_constraints_to_free(
    engine: Engine, plan: Plan, requests: Sequence[Request], answers: list[Recourse]
) -> list[Recourse]:
    """Say, where no target is allowed, which constraints would have to give way.

    Single constraints are tried first, then pairs; what stays a person's own is not among them.
    Sets that leave no target are found by counting; of the others those are searched, in
    lock-step, that leave most.
    """
    shut = [i for i, one in enumerate(requests) if _has_no_allowed_target(one, answers[i])]
    constrained = {i: _features_that_limit(engine, requests[i]) for i in shut}
    for size in (1, 2):
        freed = [(i, some) for i in shut for some in _sets_of_features(constrained[i], size)]
        freed = _sets_with_targets(engine, requests, freed)
        quick = replace(plan, strategy="guided", existence_only=True)
        trials = [_trial_without(engine, requests, one, quick) for one in freed]
        for trial, outcome in run_trials(engine, trials):
            if outcome.status == "FOUND":
                answer = answers[trial.number]
                names = tuple(engine.schema.names[j] for j in trial.freed)
                answers[trial.number] = replace(answer, opens=(*answer.opens, names))
        shut = [i for i in shut if not answers[i].opens]
    return [
        _with_what_would_open(answer, request.box)
        for request, answer in zip(requests, answers, strict=True)
    ]


def _sets_with_targets(
    engine: Engine, requests: Sequence[Request], freed: Sequence[tuple[int, _Set]]
) -> list[tuple[int, _Set]]:
    """Those sets of constraints without which there is some target; no row is looked at.

    States that a person could take over are counted, or rows where that were too many to score:
    for each by their own sets, whoever else is asked about.
    """
    n_sets = Counter(number for number, _ in freed)
    trials = []
    for number, some in freed:
        states = n_sets[number] * engine.source.n_rows <= _MOST_SCORED
        request = requests[number]
        person = engine.make_person(request.record, _box_without_features(request.box, some))
        trials.append(Trial(number, request, partial(count_targets, person, states=states), some))
    targets = {
        (trial.number, trial.freed): counts.targets
        for trial, counts in run_trials(engine, trials)
        if counts.targets
    }
    return [one for one in freed if one in _likeliest(targets, one[0])]


def _likeliest(targets: Mapping[tuple[int, _Set], int], number: int) -> list[tuple[int, _Set]]:
    """The sets of one person that leave most targets: as many as are searched."""
    own = [one for one in targets if one[0] == number]
    return sorted(own, key=lambda one: -targets[one])[:_MOST_SEARCHED]


def _trial_without(
    engine: Engine, requests: Sequence[Request], freed: tuple[int, _Set], plan: Plan
) -> Trial[Outcome]:
    """A search without the constraints on some features; the way is not worked out."""
    number, some = freed
    request = requests[number]
    person = engine.make_person(request.record, _box_without_features(request.box, some))
    return Trial(number, request, partial(find_recourse, person, plan), some)


def _has_no_allowed_target(request: Request, answer: Recourse) -> bool:
    return answer.status is Status.NO_TARGET and request.goal is None


def _sets_of_features(constrained: list[int], size: int) -> list[_Set]:
    """Sets of constrained features of one size; no pairs where there would be too many."""
    if size > 1 and len(constrained) > _PAIRS_UP_TO:
        return []
    return list(combinations(constrained, size))


def _features_that_limit(engine: Engine, request: Request) -> list[int]:
    """The features whose constraints could give way, and would let in anything if they did.

    A feature that stays a person's own could not. Limits that the person and all rows keep, such
    as those that nature sets, let in nothing.
    """
    box = request.box
    named = [
        j for j in box.reasons if not engine.schema.features[j].own and j not in (box.absent or ())
    ]
    bounds = engine.space.bounds(box)
    return sorted(j for j in named if not _is_kept_by_all(engine, request, bounds, j))


def _is_kept_by_all(engine: Engine, request: Request, bounds: Bounds, feature: int) -> bool:
    """Tell whether a constraint is only an interval in which the person and all rows are."""
    box = request.box
    moves = box.up[feature] or box.down[feature] or feature in box.distance_limits
    if moves or feature in box.allowed or feature in box.only_from_own:
        return False
    if not box.lower[feature] <= request.record[feature] <= box.upper[feature]:
        return False
    column = int(engine.space.first_columns[feature])
    lowest, highest = (ends[column] for ends in engine.source.extremes)
    return bool(bounds.lower[column] <= lowest and highest <= bounds.upper[column])


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
        absent=box.absent,
        no_values=box.no_values,
    )


def _with_what_would_open(answer: Recourse, box: Box) -> Recourse:
    """Name the sets of features whose constraints would have to give way, where there are any."""
    if not answer.opens:
        return answer
    some = [f"if {what_to_allow(answer.schema, box, names)}" for names in answer.opens[:_NAMED]]
    left = len(answer.opens) - len(some)
    some += [f"in {format_count(left, 'other way', 'other ways')}"] if left else []
    return replace(answer, reason=f"{answer.reason}; a way opens {', or '.join(some)}")
