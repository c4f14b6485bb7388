"""Swaps: what a person could take over from others, feature by feature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.geometry.point_set import are_first_of_equals
from localface.geometry.segments import norms
from localface.search.person import Person
from localface.search.questions import Questions, ask_density_along
from localface.types import Array, Ids, Mask


@dataclass(frozen=True, slots=True, eq=False)
class ChangeSets:
    """Sets of changes that a person could take over: from which donor, and which groups."""

    donors: Ids  # positions in ``Swaps.points``
    made: Mask  # (sets, groups)
    states: Array | None = None  # that they lead to, where these are worked out already

    def __len__(self) -> int:
        return len(self.donors)

    def subset(self, some: Ids) -> ChangeSets:
        """Return some of the sets."""
        states = None if self.states is None else self.states[some]
        return ChangeSets(self.donors[some], self.made[some], states)


class Swaps:
    """The changes that a person could take over from donors, group of columns by group.

    What is fixed, and what nobody could notice, is no change.
    """

    def __init__(self, person: Person, points: Array) -> None:
        self.person = person
        self.points = points
        low, high = person.just_noticeable
        changes = ((points <= low) | (points >= high)) & (points != person.factual)
        if person.fixed is not None:
            changes &= ~person.fixed
        self.groups = np.unique(person.group_of[changes.any(axis=0)])
        self.touched = self.groups[:, None] == person.group_of
        self._touching = np.searchsorted(self.groups, person.group_of).clip(
            max=max(0, len(self.groups) - 1)
        )
        self._is_touched = self.touched.any(axis=0)
        self.differs = (changes[:, None, :] & self.touched).any(axis=2)
        apart = points - person.factual
        self.sizes = norms(np.where(self.touched, apart[:, None, :], 0.0))
        self.weights = np.array([person.weight_of((int(group),)) for group in self.groups])

    def nothing_yet(self) -> ChangeSets:
        """Return the sets without any change, one a donor."""
        every = np.arange(len(self.points))
        return ChangeSets(every, np.zeros((len(every), len(self.groups)), dtype=bool))

    def with_one_more(self, sets: ChangeSets) -> ChangeSets:
        """Return all sets that make one change more; of those that come to one state, the first."""
        which, group = np.nonzero(self.differs[sets.donors] & ~sets.made)
        made = sets.made[which]
        made[np.arange(len(which)), group] = True
        donors = sets.donors[which]
        more = ChangeSets(donors, made, self.states(ChangeSets(donors, made)))
        first = are_first_of_equals(self.states(more))
        return more if first.all() else more.subset(np.flatnonzero(first))

    def states(self, sets: ChangeSets) -> Array:
        """Return the states that sets of changes lead to."""
        if sets.states is not None:
            return sets.states
        if not len(self.groups):
            return np.repeat(self.person.factual[None, :], len(sets), axis=0)
        changed = sets.made[:, self._touching] & self._is_touched
        return np.where(changed, self.points[sets.donors], self.person.factual)

    def costs(self, sets: ChangeSets) -> tuple[Array, Array]:
        """Return the number of changes and the sum of their sizes, both by weight."""
        efforts = (sets.made * self.weights * self.sizes[sets.donors]).sum(axis=1)
        return np.round(sets.made @ self.weights, 9), np.round(efforts, 9)


def is_allowed_end(person: Person, states: Array) -> Mask:
    """Tell which states a person may end at, whatever their score and density."""
    allowed = person.bounds.contain(states) & person.keeps_relations(states)
    return np.asarray(allowed & person.bounds.respects_one_way(person.factual, states))


def are_sound_ends(person: Person, states: Array, scores: Array) -> Questions[Mask]:
    """Tell which states reach the target on common ground."""
    fine = (scores >= person.min_score) & is_allowed_end(person, states)
    if fine.any():
        some = states[fine]
        found = yield from ask_density_along(some, some, person.log_floor, person.rule)
        fine[fine] = found.passes
    return fine


def with_groups_from(person: Person, end: Array, groups: Ids | list[int], made: Mask) -> Array:
    """The states in which some groups are as in ``end``: a line of ``made`` each."""
    touched = np.asarray(groups)[:, None] == person.group_of
    return np.where(made @ touched, end, person.factual)
