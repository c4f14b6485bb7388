"""For someone whose limits leave no one to become: how much wider they would have to be, and the way that opens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from localface.analyses.whynot.accounts import together
from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.engine.engine import Engine, Request
from localface.search.plan import Plan

_BARELY = 1 + 1e-9  # so that whoever stands exactly at the limit is inside


def widened(
    engine: Engine, plan: Plan, asked: Sequence[tuple[Request, Recourse]]
) -> list[Recourse]:
    """Widen, for those who asked to relax and have no one to become, how far features may move, by as little as helps.

    Only what is limited by a distance gives way ("within 25 years"), all of it by the same
    factor: the least under which someone who reaches the target is allowed. What never
    moves, bounds and directions stay. The answer states how far each feature goes that
    goes further than it was allowed.
    """
    answers = [answer for _, answer in asked]
    shut = [i for i, (request, answer) in enumerate(asked) if _may_widen(request, answer)]
    factors = engine.widenings([asked[i][0] for i in shut]) if shut else []
    opens = [
        (i, factor * _BARELY)
        for i, factor in zip(shut, factors, strict=True)
        if np.isfinite(factor)
    ]
    requests = [replace(asked[i][0], box=asked[i][0].box.widened(factor)) for i, factor in opens]
    near = replace(
        plan, slack=np.inf
    )  # it is as far as it is: no further rows are looked at to prove it the shortest
    for number, found in engine.tried(requests, near):  # a failure opens nothing
        i = opens[number][0]
        if isinstance(found, Recourse) and found.found:
            spent = together([answers[i].disclosure, found.disclosure])
            answers[i] = replace(found, widened=_beyond(asked[i][0], found), disclosure=spent)
    return answers


def _may_widen(request: Request, answer: Recourse) -> bool:
    return (
        answer.status is Status.NO_TARGET
        and request.relax
        and request.goal is None
        and bool(request.box.reaches)
    )


def _beyond(request: Request, found: Recourse) -> dict[str, float]:
    """How far the features go that go further than was allowed, on the path or by the actions."""
    states = np.concatenate([found.records, found.followed().records])
    furthest = np.abs(states - request.record).max(axis=0)
    names = found.schema.names
    return {
        names[j]: float(furthest[j])
        for j, reach in request.box.reaches.items()
        if furthest[j] > reach.by * _BARELY
    }
