"""The states between a person and an end, each with some of the changes made, and what is known of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from localface.geometry.segments import norms
from localface.search.graph import LocalGraph
from localface.search.person import Person
from localface.search.questions import Asks, ask_density_along, ask_point_scores
from localface.types import Array, Ids

_PATIENCE = 12  # steps refused one by one before states are looked at many at a time
Change = tuple[int, ...]
"""Groups of columns that are changed at once."""


class Lattice:
    """The states between a person and an end, as subsets of the changes, and what is known of them.

    Someone who stands below the floor may go on no lower than they stand, until they come to common
    ground: they must end there, and never leave it again.
    """

    def __init__(
        self, graph: LocalGraph, end: Array, changes: list[Change], log_floor: float
    ) -> None:
        person = graph.person
        self.person, self.changes, self.log_floor = person, changes, log_floor
        self.sizes = [
            float(norms((end - person.factual)[np.isin(person.group_of, change)]))
            for change in changes
        ]
        self.weights = [weight_of(person, change) for change in changes]
        made = (
            np.arange(2 ** len(changes))[:, None] >> np.arange(len(changes)) & 1
        )  # of each subset, each change
        touched = np.stack([np.isin(person.group_of, change) for change in changes])
        self.states = np.where(made @ touched > 0, end, person.factual)
        self.lawful = person.keeps_relations(self.states)
        self.counts = made.sum(axis=1)
        self.scores: Array = np.full(len(made), np.nan)
        self._verdicts: dict[tuple[int, int], bool] = {}
        self._arrived: dict[
            int, bool
        ] = {}  # for someone who starts below the floor: which states are above it
        self._refused = 0
        self._seen = np.zeros(len(made), dtype=bool)  # states that were looked at,
        self._common = np.ones(
            len(made), dtype=bool
        )  # and whether such a state is on common ground, else perhaps

    def score(self, donors: Ids, sizes: Sequence[int]) -> Asks[None]:
        """Have the model score the subsets of some sizes."""
        some = np.flatnonzero(np.isin(self.counts, sizes))
        if len(some):
            self.scores[some] = yield from ask_point_scores(self.states[some], donors)

    def candidates(self, sizes: Sequence[int]) -> list[int]:
        """Subsets that reach the target, the fewest changes first, then the smallest sum of changes, both weighted."""
        inside = self.person.bounds.contain(
            self.states
        )  # who stands outside the box must end inside
        fine = (
            (self.scores >= self.person.min_score)
            & self.lawful
            & inside
            & np.isin(self.counts, sizes)
        )
        reach = np.flatnonzero(fine).tolist()

        def order(subset: int) -> tuple[float, float, int]:
            made = [i for i in range(len(self.changes)) if subset >> i & 1]
            dear = sum(self.weights[i] for i in made)
            return (
                round(dear, 9),
                round(sum(self.weights[i] * self.sizes[i] for i in made), 9),
                subset,
            )

        return sorted((subset for subset in reach if subset), key=order)

    def arriving(self, subsets: list[int]) -> Asks[list[int]]:
        """Those at which someone may end: whoever starts below the floor must come above it."""
        if self.log_floor >= self.person.log_floor:
            return subsets
        fresh = [subset for subset in subsets if subset not in self._arrived]
        if fresh:
            vertices = self.states[fresh]
            ground = yield from ask_density_along(
                vertices, vertices, self.person.log_floor, self.person.rule
            )
            self._arrived |= dict(zip(fresh, ground.passes.tolist(), strict=True))
        return [subset for subset in subsets if self._arrived[subset]]

    def passable(self, start: int, end: int) -> Asks[bool]:
        """Tell whether a step between two states can be taken, asking once."""
        if (start, end) not in self._verdicts:
            yield from self._judge(start, [end])
        return self._verdicts[start, end]

    def _judge(self, start: int, ends: list[int]) -> Asks[None]:
        """Find out which steps from one state can be taken, in one question."""
        common = bool((yield from self.arriving([start])))
        a, b = np.repeat(self.states[[start]], len(ends), axis=0), self.states[ends]
        fine = np.array([self.conceivable(end) for end in ends]) & self.person.bounds.one_way(a, b)
        if fine.any():
            a, b, n = a[fine], b[fine], int(fine.sum())
            if (
                self.person.rule != "lowest"
            ):  # what is common on average must also end on common ground
                a, b = np.concatenate([a, b]), np.concatenate([b, b])
            ground = yield from ask_density_along(
                a, b, self.person.log_floor if common else self.log_floor, self.person.rule
            )
            fine[fine] = ground.passes.reshape(-1, n).all(axis=0)
            self._refused += n - int(fine.sum())
        self._verdicts |= {(start, end): bool(one) for end, one in zip(ends, fine, strict=True)}

    def conceivable(self, state: int) -> bool:
        """Whether anyone could come to a state, as far as is known."""
        return bool(self.lawful[state] and self._common[state])

    def look_ahead(self, start: int, ends: list[int]) -> Asks[None]:
        """Once steps have been refused again and again, judge all that lead on from a state at once."""
        fresh = [end for end in ends if (start, end) not in self._verdicts]
        if self._refused >= _PATIENCE and fresh:
            yield from self._judge(start, fresh)

    def look(self, states: Sequence[int]) -> Asks[None]:
        """Once steps have been refused again and again, ask of all states at once whether they are common at all."""
        fresh = [state for state in states if self.lawful[state] and not self._seen[state]]
        if self._refused < _PATIENCE or not fresh:
            return
        vertices = self.states[fresh]
        ground = yield from ask_density_along(vertices, vertices, self.log_floor, self.person.rule)
        self._seen[fresh], self._common[fresh] = True, ground.passes

    def missing(self, subset: int) -> float:
        """How much of the score a state still lacks."""
        return max(0.0, self.person.min_score - float(self.scores[subset]))

    def least_missing(self, subset: int) -> Array:
        """The least that the states still ahead can lack, for whoever has made 0, 1, 2, ... changes one by one."""
        inside = np.arange(subset + 1)
        inside = inside[(inside | subset) == subset]
        lacks, counts = (
            np.maximum(0.0, self.person.min_score - self.scores[inside]),
            self.counts[inside],
        )
        least = np.array(
            [lacks[counts == made].min() for made in range(1, subset.bit_count() + 1)] + [0.0]
        )
        return np.asarray(np.cumsum(least[::-1])[::-1])


def weight_of(person: Person, change: Change) -> float:
    """How dear a change is: as dear as the dearest of what it changes."""
    return (
        1.0
        if person.weights is None
        else float(person.weights[np.isin(person.group_of, change)].max())
    )
