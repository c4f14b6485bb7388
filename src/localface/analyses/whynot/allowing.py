"""Says what features would have to be allowed for a way to open, and whose limits forbid it."""

from __future__ import annotations

from collections.abc import Sequence

from localface.analyses.whynot.lifting import ASKED, DECLARED, Limits, oversteps
from localface.answers.wording import format_amount, join_words
from localface.data.box import Box
from localface.data.feature import Feature
from localface.types import Array

_WHOSE = {ASKED: "your limit", DECLARED: "the schema"}


def what_to_allow(limits: Limits, features: Sequence[int], states: Array) -> str:
    """Say what features would have to be allowed for a way through some states, the person's first.

    What may not move at all can only be said to change; further is for what moves already. A
    limit that has to give way beyond that is named, with whose it is.
    """
    by_wish: dict[str, list[str]] = {}
    for j in features:
        wish = _wish_for_feature(limits, j, states[:, j])
        by_wish.setdefault(wish, []).append(limits.schema.features[j].display_name)
    return join_words([f"{join_words(some)} {wish}" for wish, some in by_wish.items()])


def _wish_for_feature(limits: Limits, j: int, values: Array) -> str:
    """What a feature has to do that it may not, and whose limit that is."""
    broken = [
        stage
        for stage in (ASKED, DECLARED)
        if limits.lets_in_more((j,), stage) and oversteps(limits.stages[stage - 1], j, values)
    ]
    if not broken:
        return "may change"
    feature = limits.schema.features[j]
    stage = broken[-1]
    limit = limits.stages[stage - 1]
    sides = oversteps(limit, j, values)
    wishes = [_wish(limits, feature, limit, side) for side in sorted(sides)]
    words = dict.fromkeys(rule for _, rule in wishes if rule)
    whose = f"{_WHOSE[stage]}: {' and '.join(words)}" if words else _WHOSE[stage]
    also = f"{_WHOSE[ASKED]}, and " if len(broken) > 1 else ""
    return f"{join_words([wish for wish, _ in wishes])} ({also}{whose})"


def _wish(limits: Limits, feature: Feature, limit: Box, side: str) -> tuple[str, str]:
    """What a feature has to do on one side, and the rule against it, where it is to be said."""
    j = limits.schema.index(feature.name)
    kept = limits.is_kept(j)
    one_way = limit.up[j] if side == "down" else limit.down[j]
    if one_way:
        only = "up only" if side == "down" else "down only"
        return f"may {'' if kept else 'also '}go {side}", only
    if side == "other":
        return "may change" if kept else "may take other values", ""
    far = limit.distance_limits.get(j)
    edge = limit.lower[j] if side == "down" else limit.upper[j]
    if far is not None and abs(edge - far.own) >= far.by:
        amount = format_amount(far.by, feature.unit)
        if kept:
            return f"may go {side} by more than {amount}", ""
        return "may move further", f"within {amount}"
    unit = f" {feature.unit}" if feature.unit else ""
    beyond = "below" if side == "down" else "above"
    return f"may go {beyond} {feature.format(float(edge))}{unit}", ""
