"""A way: moves one after the other, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.geometry.segments import efforts, norms
from localface.search.lattice import Lattice
from localface.search.move import Move
from localface.search.person import Person
from localface.search.questions import Questions
from localface.search.stages.ordering import Route, moves_of_route
from localface.types import Array

Moves = tuple[Move, ...]
Cost = tuple[float, int, float, float]
"""What a way costs: how many changes by weight, most at once, their sizes, and less its score."""


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """Moves one after the other, and the route through a lattice that they take, if they do.

    Which of them has to follow which is found out last, of the way that is taken.
    """

    moves: Moves
    through: tuple[Lattice, Route] | None = None

    @classmethod
    def through_lattice(cls, lattice: Lattice, route: Route) -> Way:
        """The way that a route takes."""
        moves = [Move(lattice.states[one], float(lattice.scores[one])) for one in route[1:]]
        return cls(tuple(moves), (lattice, route))

    def up_to(self, n: int) -> Way:
        """The first moves of the way."""
        return Way(self.moves[:n], self.through)

    def moves_in_turn(self) -> Moves:
        """The moves, each after the one before it: what else would do is not found out."""
        turns = [(i - 1,) if i else () for i in range(len(self.moves))]
        return tuple(
            Move(move.point, move.score, follows)
            for move, follows in zip(self.moves, turns, strict=True)
        )

    def ordered_moves(self) -> Questions[Moves]:
        """The moves, each with the earlier ones that have to come first."""
        if self.through is None:
            return self.moves
        moves = yield from moves_of_route(*self.through)
        return moves[: len(self.moves)]


def ends_of_ways(ways: list[Way]) -> Array:
    """The states that ways end at, a line each."""
    return np.stack([way.moves[-1].point for way in ways])


def effort_of_moves(person: Person, moves: Moves) -> tuple[float, int, float]:
    """How far features go in all, by weight; of as far, fewer changes and then a higher score."""
    states = np.stack([person.factual, *(move.point for move in moves)])
    far = efforts(np.diff(states, axis=0), person.group_of, person.weights_of_groups)
    n_changes = len(np.unique(person.group_of[states[-1] != person.factual]))
    return round(float(far.sum()), 9), n_changes, -moves[-1].score


def cost_of_moves(person: Person, moves: Moves) -> Cost:
    """What moves cost: how many changes by weight, most at once, their sizes, and the score."""
    states = np.stack([person.factual, *(move.point for move in moves)])
    steps = states[1:] - states[:-1]
    at_once = [len(set(person.group_of[step != 0].tolist())) for step in steps]
    apart = moves[-1].point - person.factual
    groups = sorted(set(person.group_of[apart != 0].tolist()))
    weights = np.array([person.weight_of((group,)) for group in groups])
    sizes = norms(np.where(np.array(groups)[:, None] == person.group_of, apart, 0.0))
    effort = float((weights * sizes).sum())
    return round(float(weights.sum()), 9), max(at_once), round(effort, 9), -moves[-1].score
