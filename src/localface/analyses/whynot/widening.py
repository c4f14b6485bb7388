"""Widens how far features may move where no target is allowed, by as little as helps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.engine.engine import Engine
from localface.engine.requests import Request
from localface.search.pipeline import least_widening
from localface.search.plan import Plan

_NO_WIDER = "limits were widened only as far as the target needs: wider ones may do"
_BARELY = 1 + 1e-9  # so that a row exactly at the limit is inside


def answer_with_wider_limits(
    engine: Engine, plan: Plan, asked: Sequence[tuple[Request, Recourse]]
) -> list[Recourse]:
    """Answer again, with wider limits, those who asked to relax and have no target allowed.

    Only what is limited by a distance gives way ("within 25 years"), all of it by the same
    factor: the least under which some target is allowed. What never moves, bounds and
    directions stay. The answer states how far each feature goes that goes further than it
    was allowed.
    """
    answers = [answer for _, answer in asked]
    shut = [i for i, (request, answer) in enumerate(asked) if _may_widen(request, answer)]
    factors = _least_widening_factors(engine, [asked[i][0] for i in shut])
    opens = [
        (i, factor * _BARELY)
        for i, factor in zip(shut, factors, strict=True)
        if np.isfinite(factor)
    ]
    requests = [
        replace(asked[i][0], box=asked[i][0].box.with_distances_widened(factor))
        for i, factor in opens
    ]
    # Any path will do here: no rows are spent on proving that it is the shortest.
    near = replace(plan, slack=np.inf)
    for number, found in engine.answer_or_error(requests, near):  # a failure opens nothing
        i = opens[number][0]
        if isinstance(found, Recourse) and found.found:
            answers[i] = replace(found, widened=_distances_beyond_limits(asked[i][0], found))
    return answers


def go_on_within_wider_limits(
    asked: Sequence[tuple[Request, Recourse]],
    go_on: Callable[[list[tuple[Request, Recourse]]], list[Recourse]],
) -> list[Recourse]:
    """Go on from answers, from those whose limits were widened within the wider limits.

    What goes further than was allowed is told again of what is found.
    """
    answers = go_on([(_with_limits_of(request, answer), answer) for request, answer in asked])
    return [
        _with_widening_told(request, found) if answer.widened else found
        for (request, answer), found in zip(asked, answers, strict=True)
    ]


def _with_widening_told(request: Request, found: Recourse) -> Recourse:
    """Say how far an answer goes beyond the limits, or that they were no wider than was needed."""
    if found.found:
        return replace(found, widened=_distances_beyond_limits(request, found))
    return replace(found, reason=f"{found.reason}; {_NO_WIDER}")


def _with_limits_of(request: Request, answer: Recourse) -> Request:
    """The request with limits that are as wide as its answer needs."""
    if not answer.widened:
        return request
    limits = request.box.distance_limits
    factors = [far / limits[answer.schema.index(name)].by for name, far in answer.widened.items()]
    return replace(request, box=request.box.with_distances_widened(max(factors) * _BARELY))


def _least_widening_factors(engine: Engine, requests: Sequence[Request]) -> list[float]:
    """For each request how many times as wide its distances have to be; infinite: no help."""
    jobs = []
    for request in requests:
        free = engine.make_person(request.record, request.box.with_distances_widened(np.inf))
        distance_limits = np.full(len(engine.schema), np.inf)
        for j, reach in request.box.distance_limits.items():
            distance_limits[j] = reach.by
        jobs.append(
            engine.make_job(
                request,
                least_widening(free, request.record, distance_limits),
                engine.make_decoder([]),
            )
        )
    found = {number: factor for number, factor, _ in engine.driver.run(jobs)}
    return [found[number] for number in range(len(requests))]


def _may_widen(request: Request, answer: Recourse) -> bool:
    return (
        answer.status is Status.NO_TARGET
        and request.relax
        and request.goal is None
        and bool(request.box.distance_limits)
        and not request.clock.is_up
    )


def _distances_beyond_limits(request: Request, found: Recourse) -> dict[str, float]:
    """How far the features go that go further than was allowed, on the path or by the actions."""
    states = np.concatenate([found.records, found.with_actions_as_path().records])
    furthest = np.abs(states - request.record).max(axis=0)
    names = found.schema.names
    return {
        names[j]: float(furthest[j])
        for j, reach in request.box.distance_limits.items()
        if furthest[j] > reach.by * _BARELY
    }
