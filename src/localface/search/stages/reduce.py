"""Reduce: put back the changes to an end that neither the score nor the ground needs."""

from __future__ import annotations

import numpy as np

from localface.search.graph import LocalGraph
from localface.search.questions import Questions
from localface.search.stages.swaps import are_sound_ends, with_groups_from
from localface.types import Array, Ids

_TURNS = 6  # how often changes are put back, each a call of the model for each and for the chain


def reduce_changes(
    graph: LocalGraph, end: Array, groups: list[int], rows: Ids
) -> Questions[list[int]]:
    """Return the groups that are left: without any one more, the state would be no sound end."""
    person = graph.person
    kept = groups
    for _ in range(_TURNS):
        if len(kept) == 1:
            break
        without_each = ~np.eye(len(kept), dtype=bool)
        states = with_groups_from(person, end, kept, without_each)
        scores = yield from graph.states.scores_of(states, rows)
        fine = yield from are_sound_ends(person, states, scores)
        if not fine.any():
            break
        weights = np.array([person.weight_of((group,)) for group in kept])
        order = np.lexsort((-scores, -weights))
        order = order[fine[order]][: len(kept) - 1]
        turn = np.full(len(kept), len(order))
        turn[order] = np.arange(len(order))
        chain = with_groups_from(person, end, kept, turn > np.arange(len(order))[:, None])
        scores = yield from graph.states.scores_of(chain, rows)
        fine = yield from are_sound_ends(person, chain, scores)
        put_back = order[: int(np.flatnonzero(fine)[-1]) + 1] if fine.any() else order[:1]
        kept = [group for i, group in enumerate(kept) if i not in put_back]
    return kept
