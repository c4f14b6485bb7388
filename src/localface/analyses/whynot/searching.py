"""Looks for a way to a wished state, and for the lower floor under which there is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from localface.analyses.whynot.findings import Overstep
from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.answers.wording import round_share_down
from localface.data.box import Box
from localface.engine.engine import Engine
from localface.engine.requests import Request
from localface.search.plan import Plan
from localface.types import Array

_LOWER = (1.0, 0.9, 0.5, 0.1)  # shares of the floor that should open a way, each tried in turn


@dataclass(frozen=True, slots=True, eq=False)
class TriedWish:
    """What a search for a wished state came to, the broken constraints widened.

    ``lowered`` is the floor under which a way was found, 0 where no floor is low enough and
    only none at all opens it; None where the floor stays, or where nothing opened it.
    ``status`` is that of the search that had to answer.
    """

    recourse: Recourse
    status: Status
    way: bool
    lowered: float | None

    @property
    def opens(self) -> bool:
        """Whether the wish can be reached, at a lower floor if need be."""
        return self.way or self.lowered is not None


def search_for_wish(
    engine: Engine, plan: Plan, request: Request, broken: Sequence[Overstep]
) -> TriedWish:
    """Look for a way to the wished state, at the least relaxation that opens one.

    A lower floor is tried before it is told of.
    """
    assert request.goal is not None
    outside = [engine.schema.index(one.feature) for one in broken if one.other is None]
    box = _box_widened_to_hold(request.box, request.goal, outside)
    wider = replace(request, box=box, relax=True, wished=True)
    walk_options = replace(plan.walk_options, momentum_steps=0)
    how = replace(
        plan, strategy="guided", walk_options=walk_options, actions=plan.actions and not broken
    )
    engine = _without_broken_relations(engine, broken)
    answer, lowered = _answer_and_floor(engine, how, wider)
    found = TriedWish(answer, answer.status, answer.found, None)
    if lowered is None:
        return found
    if lowered <= 0:
        return replace(found, way=False, lowered=0.0)
    return _with_floor_that_opens(engine, how, wider, replace(found, way=False), lowered)


def _without_broken_relations(engine: Engine, broken: Sequence[Overstep]) -> Engine:
    """The engine for someone whom the relations that a wish breaks do not bind."""
    pairs = {(one.feature, one.other) for one in broken}
    schema = engine.schema
    kept = [words for words in schema.relations if (words[0], words[2]) not in pairs]
    if len(kept) == len(schema.relations):
        return engine
    return replace(engine, schema=schema.with_relations(kept))


def _answer_and_floor(
    engine: Engine, plan: Plan, request: Request
) -> tuple[Recourse, float | None]:
    """Answer a wish; the floor that the way found needs, None where it keeps the one in use."""
    ((_, answer),) = engine.answer([request], plan)
    if answer.relaxed_to is None:
        return answer, None
    # A mean may hide that a state is uncommon.
    lowered = min(answer.relaxed_to, *answer.densities[1:])
    # Looking further out may have been all that it took.
    enough = lowered >= float(engine.answers.scale.share_below(engine.log_floor)) > 0
    return answer, None if enough else lowered


def _with_floor_that_opens(
    engine: Engine, plan: Plan, request: Request, found: TriedWish, lowered: float
) -> TriedWish:
    """Add the highest round floor, of a few below the one that should do, that opens a way."""
    quick = replace(plan, actions=False)
    for part in _LOWER:
        floor = round_share_down(part * lowered)
        at = engine.with_thresholds(min_density=floor)
        answer, still = _answer_and_floor(at, quick, request)
        found = replace(found, status=answer.status)
        if not answer.found:
            return found
        if still is None:
            return replace(found, lowered=floor)
    return found


def _box_widened_to_hold(box: Box, goal: Array, broken: Sequence[int]) -> Box:
    """The box, widened just enough to hold a state.

    Values may come and go only where the state itself has one that is not there, or lacks one.
    """
    wide = np.isin(np.arange(len(goal)), broken)
    comes_or_goes = any(j in (box.absent or ()) or not box.is_value(j, goal[j]) for j in broken)
    return Box(
        np.where(wide, np.fmin(box.lower, goal), box.lower),
        np.where(wide, np.fmax(box.upper, goal), box.upper),
        {
            j: codes | {int(goal[j])} if wide[j] and box.is_value(j, goal[j]) else codes
            for j, codes in box.allowed.items()
        },
        box.up & ~wide,
        box.down & ~wide,
        box.reasons,
        absent=None if comes_or_goes else box.absent,
        no_values=box.no_values,
    )
