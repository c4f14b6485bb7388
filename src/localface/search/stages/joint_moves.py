"""Joint moves: a route through many changes, where some of them have to be made together."""

from __future__ import annotations

import numpy as np

from localface.search.graph import LocalGraph
from localface.search.move import Move
from localface.search.person import Person
from localface.search.questions import Questions, ask_density_along
from localface.types import Array, Ids, Mask


def route_by_joint_moves(
    graph: LocalGraph, end: Array, groups: list[int], *, rows: Ids, log_floor: float
) -> Questions[tuple[Move, ...] | None]:
    """Go from state to state over common ground, by single changes wherever one can be made.

    Of single changes the one comes first that raises the score most. Where none can be made,
    the fewest that can be made together are: what is left of all when no more can be left out.
    None where not even all together can.
    """
    person = graph.person
    here = person.factual
    left = list(groups)
    above = log_floor >= person.log_floor
    moves: list[Move] = []
    while left:
        judge = _StepJudge(person, end, here, person.log_floor if above else log_floor)
        alone = np.eye(len(left), dtype=bool)
        fine = yield from judge.can_take(left, alone)
        made = alone[fine]
        if not fine.any():
            together = yield from _fewest_together(judge, left)
            if together is None:
                return None
            made = together[None, :]
        states = judge.states(left, made)
        scores = yield from graph.scores_of_states(states, rows)
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


def _fewest_together(judge: _StepJudge, groups: list[int]) -> Questions[Mask | None]:
    """Which changes must be made at once: leave out one after the other as long as it goes."""
    made = np.ones(len(groups), dtype=bool)
    if not (yield from judge.can_take(groups, made[None, :]))[0]:
        return None
    while made.sum() > 2:
        members = np.flatnonzero(made)
        fewer = np.repeat(made[None, :], len(members), axis=0)
        fewer[np.arange(len(members)), members] = False
        fine = yield from judge.can_take(groups, fewer)
        if not fine.any():
            break
        made = fewer[int(np.flatnonzero(fine)[0])]
    return made
