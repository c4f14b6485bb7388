"""The states between a person and an end, each with some of the changes made."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from localface.search.graph import LocalGraph
from localface.search.questions import Questions
from localface.types import Array, Ids

_PATIENCE = 12  # steps refused one by one before many are checked at a time
_MUCH_PATIENCE = 24  # and before those of several changes are

ColumnGroups = tuple[int, ...]
"""Groups of columns that are changed at once: one change."""


@lru_cache(maxsize=8)
def _subsets(n: int) -> tuple[Ids, Ids]:
    """For each subset of few changes, which it makes, and how many."""
    made = np.arange(2**n)[:, None] >> np.arange(n) & 1
    n_changes = made.sum(axis=1)
    made.flags.writeable = False
    n_changes.flags.writeable = False
    return made, n_changes


class Lattice:
    """The states between a person and an end, as subsets of the changes, and what is known of them.

    A state is a bit mask over ``changes``. Someone who starts below the floor may go no lower
    than where they start until they are above the floor: they must end above it, and once there
    never fall below it again, unless the person may on the way.
    """

    def __init__(
        self, graph: LocalGraph, end: Array, changes: Sequence[ColumnGroups], log_floor: float
    ) -> None:
        person = graph.person
        self.graph = graph
        self.person = person
        self.changes = changes
        self.log_floor = log_floor
        made, self.n_changes = _subsets(len(changes))
        touched = np.array([person.columns_of(one) for one in changes])
        self.states = np.where(made @ touched > 0, end, person.factual)
        self.scores: Array = np.full(len(made), np.nan)
        self._keeps_relations = person.keeps_relations(self.states)
        self._verdicts: dict[tuple[int, int], bool] = {}
        # For someone who starts below the floor: which states are above it.
        self._above_floor: dict[int, bool] = {}
        self._refused = 0
        self._checked = np.zeros(len(made), dtype=bool)
        # Whether a checked state reaches the floor; True for those that were not checked.
        self._dense = np.ones(len(made), dtype=bool)

    def ask_scores(self, donors: Ids, sizes: Sequence[int]) -> Questions[None]:
        """Have the model score the subsets of some sizes."""
        some = np.flatnonzero((self.n_changes[:, None] == np.array(sizes)).any(axis=1))
        if len(some):
            self.scores[some] = yield from self.graph.states.scores_of(self.states[some], donors)

    def allowed_ends(self, subsets: list[int]) -> Questions[list[int]]:
        """Those subsets at which a person may end: who starts below the floor must end above it."""
        if self.log_floor >= self.person.log_floor:
            return subsets
        fresh = [subset for subset in subsets if subset not in self._above_floor]
        if fresh:
            states = self.states[fresh]
            passes = yield from self.graph.states.keep_floor(states, states, self.person.log_floor)
            self._above_floor |= dict(zip(fresh, passes.tolist(), strict=True))
        return [subset for subset in subsets if self._above_floor[subset]]

    def can_take_step(self, start: int, end: int) -> Questions[bool]:
        """Tell whether a step between two states can be taken, asking once."""
        if (start, end) not in self._verdicts:
            yield from self._check_steps_from(start, [end])
        return self._verdicts[start, end]

    def can_take_steps(self, steps: list[tuple[int, int]]) -> Questions[list[bool]]:
        """Tell which steps between states can be taken, asking about all that are new at once.

        That costs less than asking about them one by one. What the steps of someone who starts
        below the floor have to keep depends on whether they begin above it.
        """
        fresh = [step for step in steps if step not in self._verdicts]
        if fresh:
            starts = sorted({start for start, _ in fresh})
            above = set((yield from self.allowed_ends(starts)))
            for log_floor, some in (
                (self.person.log_floor_of_steps, [step for step in fresh if step[0] in above]),
                (self.log_floor, [step for step in fresh if step[0] not in above]),
            ):
                if some:
                    yield from self._check_steps(some, log_floor)
        return [self._verdicts[step] for step in steps]

    def check_single_steps(self, within: list[int]) -> Questions[None]:
        """Find out which steps of one change between few states can be taken."""
        steps = [
            (start, end)
            for start in within
            for end in within
            if start & end == start and (start ^ end).bit_count() == 1
        ]
        yield from self.can_take_steps([step for step in steps if self.is_possible(step[0])])

    def _check_steps_from(self, start: int, ends: list[int]) -> Questions[None]:
        """Find out which steps from one state can be taken, in one question."""
        above_floor = bool((yield from self.allowed_ends([start])))
        log_floor = self.person.log_floor_of_steps if above_floor else self.log_floor
        yield from self._check_steps([(start, end) for end in ends], log_floor)

    def _check_steps(self, steps: list[tuple[int, int]], log_floor: float) -> Questions[None]:
        """Find out which steps can be taken above a floor."""
        starts = self.states[[start for start, _ in steps]]
        stops = self.states[[end for _, end in steps]]
        fine = np.array([self.is_possible(end) for _, end in steps])
        fine &= self.person.bounds.respects_one_way(starts, stops)
        if fine.any():
            n = int(fine.sum())
            starts = starts[fine]
            stops = stops[fine]
            if self.person.rule != "lowest":  # a mean says nothing of where the step ends
                starts = np.concatenate([starts, stops])
                stops = np.concatenate([stops, stops])
            passes = yield from self.graph.states.keep_floor(starts, stops, log_floor)
            fine[fine] = passes.reshape(-1, n).all(axis=0)
            self._refused += n - int(fine.sum())
        self._verdicts |= dict(zip(steps, fine.tolist(), strict=True))

    def is_possible(self, state: int) -> bool:
        """Whether anyone could be in a state, as far as is known."""
        return bool(self._keeps_relations[state] and self._dense[state])

    def check_steps_ahead(self, start: int, ends: list[int]) -> Questions[None]:
        """Once many steps have been refused, check all that lead on from a state at once.

        Steps of several changes are many more: they wait until more have been refused.
        """
        fresh = [end for end in ends if (start, end) not in self._verdicts]
        if self._refused < _MUCH_PATIENCE:
            fresh = [end for end in fresh if (end & ~start).bit_count() == 1]
        if self._refused >= _PATIENCE and fresh:
            yield from self._check_steps_from(start, fresh)

    def check_states_are_dense(self, states: Sequence[int]) -> Questions[None]:
        """Ask of many states at once whether they are dense: that costs less than one step."""
        fresh = [one for one in states if self._keeps_relations[one] and not self._checked[one]]
        if not fresh:
            return
        points = self.states[fresh]
        self._dense[fresh] = yield from self.graph.states.keep_floor(points, points, self.log_floor)
        self._checked[fresh] = True

    def missing_score(self, subset: int) -> float:
        """How much of the score a state still lacks."""
        return max(0.0, self.person.min_score - float(self.scores[subset]))

    def least_missing_scores_ahead(self, subset: int) -> Array:
        """The least that the states still ahead can lack, after 0, 1, 2, ... single changes."""
        inside = np.arange(subset + 1)
        inside = inside[(inside | subset) == subset]
        missing = np.maximum(0.0, self.person.min_score - self.scores[inside])
        made = self.n_changes[inside]
        least = [missing[made == n].min() for n in range(1, subset.bit_count() + 1)]
        return np.asarray(np.cumsum(np.array([*least, 0.0])[::-1])[::-1])
