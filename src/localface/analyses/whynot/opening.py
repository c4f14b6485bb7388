"""Which constraints would have to give way for someone who has no one to become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from localface.analyses.whynot.accounts import together
from localface.analyses.whynot.findings import joined
from localface.analyses.whynot.widening import widened
from localface.answers.disclosure import Disclosure
from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.data.box import Box
from localface.engine.engine import Engine, Request
from localface.search.plan import Plan

_PAIRS_UP_TO = 12  # constrained features up to which pairs are tried
_NAMED = 3  # sets of features that a sentence names


def opened(engine: Engine, plan: Plan, asked: Sequence[tuple[Request, Recourse]]) -> list[Recourse]:
    """Say, for those who have no one to become, which constraints would have to give way: singles, then pairs.

    Everyone else's answer is passed on as it is, and so is one that widening opened. Sets
    that leave nobody to become are told by counting; only the others are searched, all in
    lock-step. The rows that those searches see are added up: someone seen twice counts
    twice, so that the sum is an upper bound.
    """
    answers = widened(engine, plan, asked)
    shut = [i for i, (request, _) in enumerate(asked) if _is_shut(request, answers[i])]
    for size in (1, 2):
        trials = [(i, some) for i in shut for some in _sets(asked[i][0].box, size)]
        requests = [replace(asked[i][0], box=_freed(asked[i][0].box, some)) for i, some in trials]
        hopeful = engine.hopeful(requests) if requests else []
        worth = [
            (*trial, request)
            for trial, request, fine in zip(trials, requests, hopeful, strict=True)
            if fine
        ]
        for i, some, opens, seen in _tried(engine, plan, worth, answers):
            names = tuple(engine.schema.names[j] for j in some)
            spent = together([answers[i].disclosure, seen])
            answers[i] = replace(
                answers[i], disclosure=spent, opens=(*answers[i].opens, *([names] * opens))
            )
        shut = [i for i in shut if not answers[i].opens]
    return [
        replace(one, reason=f"{one.reason}; {_opens(one.opens)}") if one.opens else one
        for one in answers
    ]


def _is_shut(request: Request, answer: Recourse) -> bool:
    return answer.status is Status.NO_TARGET and request.goal is None


def _sets(box: Box, size: int) -> list[tuple[int, ...]]:
    """Sets of constrained features of one size; no pairs where there would be too many."""
    constrained = sorted(box.reasons)
    return (
        list(combinations(constrained, size))
        if size == 1 or len(constrained) <= _PAIRS_UP_TO
        else []
    )


def _freed(box: Box, features: Sequence[int]) -> Box:
    """The box without what it says of some features."""
    free = np.isin(np.arange(len(box.lower)), features)
    return Box(
        np.where(free, -np.inf, box.lower),
        np.where(free, np.inf, box.upper),
        {j: codes for j, codes in box.allowed.items() if j not in features},
        box.up & ~free,
        box.down & ~free,
        {j: why for j, why in box.reasons.items() if j not in features},
        {j: reach for j, reach in box.reaches.items() if j not in features},
    )


def _tried(
    engine: Engine,
    plan: Plan,
    trials: list[tuple[int, tuple[int, ...], Request]],
    answers: Sequence[Recourse],
) -> list[tuple[int, tuple[int, ...], bool, Disclosure]]:
    """Tell of each trial whether there is a way; a row budget is shared out among a person's trials."""
    quick, budget = replace(plan, strategy="guided"), engine.options.max_rows
    batches = [trials]
    if budget is not None:
        batches = [
            [trial for trial in trials if trial[0] == i]
            for i in dict.fromkeys(trial[0] for trial in trials)
        ]
    found = []
    for batch in batches:
        at = engine
        if budget is not None:
            share = (budget - answers[batch[0][0]].disclosure.rows) // len(batch)
            if share < 1:
                continue
            at = replace(engine, options=replace(engine.options, max_rows=share))
        opens = at.openings([request for _, _, request in batch], quick)
        found += [(i, some, *told) for (i, some, _), told in zip(batch, opens, strict=True)]
    return sorted(found, key=lambda one: one[:2])


def _opens(sets: Sequence[tuple[str, ...]]) -> str:
    """Name the sets of features whose constraints would have to give way."""
    some = [f"if {joined(names)} may move further" for names in sets[:_NAMED]]
    some += [f"in {len(sets) - _NAMED} other ways"] if len(sets) > _NAMED else []
    return (
        f"a way opens {', or '.join(some)} (the rows seen count the searches for this too, at most)"
    )
