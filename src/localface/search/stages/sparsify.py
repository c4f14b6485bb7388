"""Sparsify: put back the changes that need not be made, until few enough are left.

What is left is small enough that every subset of the changes can be tried.
"""

from __future__ import annotations

import numpy as np

from localface.geometry.segments import norms
from localface.search.graph import LocalGraph
from localface.search.lattice import ColumnGroups, Lattice
from localface.search.person import Person
from localface.search.questions import Questions, ask_density_along, ask_point_scores
from localface.types import Array, Mask

MAX_EXACT = 12
"""Up to as many changes every subset is tried; the smallest of more are made together."""

_TURNS = 5  # calls of the model spent on putting changes back, each way of doing it


def lattice_of_few_changes(
    graph: LocalGraph, end: int, log_floor: float, *, every_change: bool, by_density: bool
) -> Questions[Lattice | None]:
    """The lattice over the changes that are left; None where none is left.

    ``by_density`` keeps the changes that a dense end needs, rather than those the score needs.
    """
    person = graph.person
    target = graph.points[end]
    groups = _changed_groups(person, target)
    kept: list[int] | None
    if by_density:
        kept = yield from _groups_needed_for_density(graph, end, groups, log_floor)
    elif every_change:
        kept = groups
    else:
        kept = yield from _groups_needed_for_score(
            graph, end, _noticeable_groups(person, target, groups)
        )
    if kept is None:  # what is too small to notice was needed after all
        kept = yield from _groups_needed_for_score(graph, end, groups)
    if not kept:
        return None
    return Lattice(graph, target, _bundle_changes(person, target, kept), log_floor)


def _changed_groups(person: Person, target: Array) -> list[int]:
    """The groups of columns in which a state differs, those that are fixed apart."""
    fixed = () if person.fixed is None else np.unique(person.group_of[person.fixed])
    changed = np.unique(person.group_of[np.abs(target - person.factual) > 0])
    return [int(group) for group in changed if group not in fixed]


def _noticeable_groups(person: Person, target: Array, groups: list[int]) -> list[int]:
    """The groups whose change anyone could notice."""
    low, high = person.just_noticeable
    large = (target <= low) | (target >= high)
    return [group for group in groups if large[person.group_of == group].any()]


def _groups_needed_for_score(
    graph: LocalGraph, end: int, groups: list[int]
) -> Questions[list[int] | None]:
    """Put changes back, those the score needs least first, as long a run at a time as it allows.

    Each turn takes two calls of the model: every change put back by itself, then the
    whole chain in that order. None where the changes do not reach the target to begin with.
    """
    kept = groups
    person = graph.person
    target = graph.points[end]
    donors = graph.donor_rows(end)
    for _ in range(_TURNS // 2):
        if len(kept) <= MAX_EXACT:
            break
        none_or_one = np.vstack([np.ones(len(kept), dtype=bool), ~np.eye(len(kept), dtype=bool)])
        singles = yield from ask_point_scores(
            _states_with_changes_made(person, target, kept, none_or_one), donors
        )
        if singles[0] < person.min_score:
            return None
        order = _least_needed_first(person, kept, singles[1:])
        if not order:
            break
        chain = _states_with_changes_made(
            person, target, kept, _changes_left_after_each(kept, order)
        )
        scores = yield from ask_point_scores(chain, donors)
        fine = np.flatnonzero(scores >= person.min_score)
        if len(fine) == 0:
            break
        kept = [group for group in kept if group not in order[: int(fine[-1]) + 1]]
    return kept


def _least_needed_first(person: Person, groups: list[int], scores: Array) -> list[int]:
    """Groups that may be put back: of those the target can spare, the most expensive first.

    ``scores`` are those of the states in which each group alone is put back.
    """
    spare = scores >= person.min_score
    weights = np.where(spare, [person.weight_of((group,)) for group in groups], 0.0)
    order = np.lexsort((np.array(groups), -scores, -weights))
    return [groups[i] for i in order if not _is_outside_box(person, groups[i])]


def _groups_needed_for_density(
    graph: LocalGraph, end: int, groups: list[int], log_floor: float
) -> Questions[list[int]]:
    """Put changes back, the smallest first, as long as what is left is dense.

    Where the few changes that the score needs lead to no dense state, others must come
    along: this keeps those. The state that is left must reach the floor, and so must the
    straight step to it. Each turn takes one call of the model.
    """
    person = graph.person
    target = graph.points[end]
    donors = graph.donor_rows(end)
    apart = target - person.factual
    sizes = {group: float(norms(apart[person.group_of == group])) for group in groups}
    kept = groups
    loose = [group for group in groups if not _is_outside_box(person, group)]
    loose.sort(key=lambda group: (sizes[group], group))
    for _ in range(_TURNS):
        if not loose or len(kept) == 1:
            break
        chain = _states_with_changes_made(
            person, target, kept, _changes_left_after_each(kept, loose)
        )
        fine = (yield from ask_point_scores(chain, donors)) >= person.min_score
        fine &= person.keeps_relations(chain)
        for starts in (chain, np.broadcast_to(person.factual, chain.shape)):
            if fine.any():
                found = yield from ask_density_along(
                    starts[fine], chain[fine], log_floor, person.rule
                )
                fine[fine] = found.passes
        run = int(np.flatnonzero(fine)[-1]) + 1 if fine.any() else 0
        kept = [group for group in kept if group not in loose[:run]]
        loose = loose[run + 1 :]
    return kept


def _is_outside_box(person: Person, group: int) -> bool:
    """Whether the person is outside the bounds in a group: then it must not be put back."""
    mine = person.group_of == group
    below = person.factual < person.bounds.lower
    above = person.factual > person.bounds.upper
    return bool((below | above)[mine].any())


def _states_with_changes_made(
    person: Person, target: Array, groups: list[int], made: Mask
) -> Array:
    """The states in which some changes are made: one row of ``made`` each, one column a group."""
    touched = np.array(groups)[:, None] == person.group_of
    return np.where(made @ touched, target, person.factual)


def _changes_left_after_each(groups: list[int], order: list[int]) -> Mask:
    """Which changes are left when they are put back one after the other."""
    turn = {group: i for i, group in enumerate(order)}
    last = np.array([turn.get(group, len(order)) for group in groups])
    return np.asarray(last > np.arange(len(order))[:, None])


def _bundle_changes(person: Person, target: Array, groups: list[int]) -> list[ColumnGroups]:
    """One change a group; where there are too many, the smallest are made together."""
    apart = np.abs(target - person.factual)
    order = sorted(groups, key=lambda group: -float(norms(apart[person.group_of == group])))
    if len(order) <= MAX_EXACT:
        return [(group,) for group in sorted(order)]
    single = sorted(order[: MAX_EXACT - 1])
    rest = sorted(order[MAX_EXACT - 1 :])
    return [*((group,) for group in single), tuple(rest)]
