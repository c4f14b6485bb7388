"""Joint moves: a route through many changes, where some of them have to be made together."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from localface.search.graph import LocalGraph
from localface.search.move import Move
from localface.search.person import Person
from localface.search.questions import Questions, ask_density_along
from localface.types import Array, Ids, Mask

_IN_EVERY_WAY = 3  # changes at once up to which every set is tried
_MOST_AT_ONCE = 128  # sets of one size that are tried


def route_by_joint_moves(
    graph: LocalGraph, end: Array, groups: list[int], *, rows: Ids, log_floor: float
) -> Questions[tuple[Move, ...] | None]:
    """Go from state to state over common ground, by single changes wherever one can be made.

    Of single changes the one comes first that raises the score most. Where none can be made,
    the fewest that can be made together are. None where not even all together can.
    """
    person = graph.person
    here = person.factual
    left = list(groups)
    above = log_floor >= person.log_floor
    moves: list[Move] = []
    while left:
        judge = _StepJudge(person, end, here, person.log_floor_of_steps if above else log_floor)
        alone = np.eye(len(left), dtype=bool)
        fine = yield from judge.can_take(left, alone)
        made = alone[fine]
        if not fine.any():
            made = yield from _fewest_together(judge, left)
            if not len(made):
                return None
        states = judge.states(left, made)
        scores = yield from graph.states.scores_of(states, rows)
        best = int(np.argmax(scores))
        here = states[best]
        moves.append(Move(here, float(scores[best])))
        left = [group for group, done in zip(left, made[best], strict=True) if not done]
        if not above:
            found = yield from ask_density_along(
                here[None, :], here[None, :], person.log_floor, person.rule
            )
            above = bool(found.passes[0])
    return tuple(moves)


class _StepJudge:
    """Tells which steps from one state can be taken."""

    def __init__(self, person: Person, end: Array, here: Array, log_floor: float) -> None:
        self.person = person
        self.end = end
        self.here = here
        self.log_floor = log_floor

    def states(self, groups: list[int], made: Mask) -> Array:
        """The states that changes lead to from here: a line of ``made`` each."""
        touched = np.array(groups)[:, None] == self.person.group_of
        return np.where(made @ touched, self.end, self.here)

    def can_take(self, groups: list[int], made: Mask) -> Questions[Mask]:
        """Tell which changes can be made from here, in one question."""
        person = self.person
        states = self.states(groups, made)
        fine = np.array(person.keeps_relations(states))
        if fine.any():
            ends = states[fine]
            starts = np.broadcast_to(self.here, ends.shape)
            if person.rule != "lowest":  # a mean says nothing of where the step ends
                starts = np.concatenate([starts, ends])
                ends = np.concatenate([ends, ends])
            found = yield from ask_density_along(starts, ends, self.log_floor, person.rule)
            fine[fine] = found.passes.reshape(-1, int(fine.sum())).all(axis=0)
        return fine


def _fewest_together(judge: _StepJudge, groups: list[int]) -> Questions[Mask]:
    """The smallest sets of changes that can be made at once, a line each; none where all cannot.

    Two and three are tried in every way. Of more, one after the other is left out of all.
    """
    every = np.ones((1, len(groups)), dtype=bool)
    for size in range(2, min(_IN_EVERY_WAY, len(groups) - 1) + 1):
        if comb(len(groups), size) > _MOST_AT_ONCE:
            break
        some = np.array(list(combinations(range(len(groups)), size)))
        sets = np.zeros((len(some), len(groups)), dtype=bool)
        sets[np.arange(len(some))[:, None], some] = True
        fine = yield from judge.can_take(groups, sets)
        if fine.any():
            return np.asarray(sets[fine])
    if not (yield from judge.can_take(groups, every))[0]:
        return every[:0]
    return (yield from _leave_out_one_by_one(judge, groups))[None, :]


def _leave_out_one_by_one(judge: _StepJudge, groups: list[int]) -> Questions[Mask]:
    """What is left of all changes when no more can be left out."""
    made = np.ones(len(groups), dtype=bool)
    while made.sum() > 2:
        members = np.flatnonzero(made)
        fewer = np.repeat(made[None, :], len(members), axis=0)
        fewer[np.arange(len(members)), members] = False
        fine = yield from judge.can_take(groups, fewer)
        if not fine.any():
            break
        made = fewer[int(np.flatnonzero(fine)[0])]
    return made
