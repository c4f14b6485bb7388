"""Finds recourses that end at different values, also of the same features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from localface.analyses.alternatives.changes import (
    changed_by,
    changes_too_many,
    cost_of,
    distance_per_feature,
)
from localface.analyses.alternatives.value import MOST_BRANCHES, Alternatives
from localface.analyses.end_record import end_record
from localface.analyses.robustness.adding import add_robustness
from localface.answers.recourse import Recourse
from localface.data.box import Box
from localface.engine.engine import Engine
from localface.engine.requests import Request
from localface.geometry.segments import norms
from localface.search.plan import Plan

_SHARES = (0.5, 0.75, 0.25)  # of a change that a branch still allows
_BRANCHES_PER_OPTION = 10  # many end where another one does
_APART = 0.1  # standard deviations by which the ends of two options should differ
_LEAST_APART = 0.03  # where there are not enough of them, options may differ by so little


def find_alternatives_by_values(
    engine: Engine, request: Request, plan: Plan, n_paths: int
) -> Alternatives:
    """Find recourses whose ends differ: each branch lets one change go only part of the way.

    What one feature no longer does, others have to do. A category that changed is kept. All
    branches of a level are searched in lock-step, up to as many as are ever tried. Where too few
    ends are far apart, nearer ones fill up, those first that differ most from all others.
    """
    level = [request]
    kept: list[Recourse] = []
    near: list[Recourse] = []
    first: Recourse | None = None
    tried = 0
    most = max(MOST_BRANCHES, _BRANCHES_PER_OPTION * n_paths)
    while level and len(kept) < n_paths and tried < most:
        if first is not None and request.clock.is_up:
            break
        some = level[: most - tried]
        tried += len(some)
        answers = dict(engine.answer(some, plan))
        first = first or answers[0]
        level = []
        for i, asked in enumerate(some):
            too_many = bool(kept) and changes_too_many(answers[i], plan.max_features)
            if too_many or not (answers[i].found and answers[i].actions):
                continue
            if _distance(answers[i], kept) < _APART:
                near.append(answers[i])
                continue
            kept.append(answers[i])
            level += list(_narrower_requests(engine, asked, answers[i]))
    assert first is not None
    kept = _filled_up(kept, near, n_paths)
    chosen = sorted(kept[:n_paths], key=lambda one: cost_of(one, request.weights))
    chosen = add_robustness(engine, [(request, one) for one in chosen])
    exhausted = not level and len(kept) <= n_paths
    return Alternatives(
        tuple(chosen) or (first,),
        n_paths,
        exhausted,
        request.account.make_disclosure(engine.source.n_rows),
        weights=request.weights,
    )


def _distance(answer: Recourse, others: list[Recourse]) -> float:
    """How far an end is from the nearest of others', in standard deviations."""
    end = end_record(answer)
    found = [norms(distance_per_feature(answer, end, end_record(other))) for other in others]
    return float(min(found, default=np.inf))


def _filled_up(kept: list[Recourse], near: list[Recourse], n_paths: int) -> list[Recourse]:
    """Add options that are not far apart until there are enough, or none differs any more."""
    chosen = list(kept)
    left = {i: _distance(one, chosen) for i, one in enumerate(near)}
    while left and len(chosen) < n_paths:
        i = max(left, key=lambda one: left[one])
        if left.pop(i) < _LEAST_APART:
            break
        chosen.append(near[i])
        left = {j: min(far, _distance(near[j], [near[i]])) for j, far in left.items()}
    return chosen


def _narrower_requests(engine: Engine, request: Request, answer: Recourse) -> Iterator[Request]:
    """Return requests in which one of the changes may go only part of the way, or is left out."""
    end = end_record(answer)
    for name in sorted(changed_by(answer)):
        feature = engine.schema[name]
        j = engine.schema.index(name)
        now = float(request.record[j])
        if feature.discrete or np.isnan(now) or np.isnan(end[j]):
            yield replace(request, fixed=request.fixed | {name})
            continue
        for share in _SHARES:
            limit = now + share * (float(end[j]) - now)
            yield replace(request, box=_with_limit(request.box, j, now, limit))


def _with_limit(box: Box, j: int, now: float, limit: float) -> Box:
    """Return a box in which a feature goes no further than a limit from where it is now."""
    lower = box.lower.copy()
    upper = box.upper.copy()
    if limit > now:
        upper[j] = min(upper[j], limit)
    else:
        lower[j] = max(lower[j], limit)
    return replace(box, lower=lower, upper=upper)
