"""Swaps: which changes a person could take over, the states they lead to, and what they cost."""

from __future__ import annotations

import numpy as np
import pytest

from localface.search.stages.swaps import (
    ChangeSets,
    Swaps,
    are_sound_ends,
    is_allowed_end,
    with_groups_from,
)
from scripted import Script, box, someone


def swaps_of(*points, factual=(0.0, 0.0, 0.0), **options) -> Swaps:
    return Swaps(someone(factual, **options), np.asarray(points, dtype=float))


def listed(swaps: Swaps, sets: ChangeSets) -> set[tuple[int, tuple[int, ...]]]:
    """Sets of changes as donor and groups."""
    return {
        (int(donor), tuple(swaps.groups[made].tolist()))
        for donor, made in zip(sets.donors, sets.made, strict=True)
    }


def test_at_first_nothing_is_taken_over_from_anybody():
    swaps = swaps_of([1.0, 2.0, 0.0], [3.0, 0.0, 0.0])

    nothing = swaps.nothing_yet()

    assert listed(swaps, nothing) == {(0, ()), (1, ())}
    assert (swaps.states(nothing) == 0).all()


def test_every_set_makes_one_change_more_that_its_donor_has():
    swaps = swaps_of([1.0, 2.0, 0.0], [3.0, 0.0, 4.0])

    one = swaps.with_one_more(swaps.nothing_yet())
    two = swaps.with_one_more(one)

    assert listed(swaps, one) == {(0, (0,)), (0, (1,)), (1, (0,)), (1, (2,))}
    assert listed(swaps, two) == {(0, (0, 1)), (1, (0, 2))}
    assert len(swaps.with_one_more(two)) == 0


def test_states_have_what_is_taken_over_and_are_the_persons_own_elsewhere():
    swaps = swaps_of([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], factual=(9.0, 8.0, 7.0))
    sets = ChangeSets(np.array([0, 1]), np.array([[True, False, True], [False, True, False]]))

    assert swaps.states(sets).tolist() == [[1.0, 8.0, 3.0], [9.0, 5.0, 7.0]]


def test_of_sets_that_come_to_one_state_the_first_stays():
    swaps = swaps_of([1.0, 2.0, 0.0], [1.0, 3.0, 0.0])

    one = swaps.with_one_more(swaps.nothing_yet())

    assert listed(swaps, one) == {(0, (0,)), (0, (1,)), (1, (1,))}


def test_what_is_fixed_is_no_change():
    swaps = swaps_of([1.0, 2.0, 3.0], fixed=np.array([False, True, False]))

    assert swaps.groups.tolist() == [0, 2]
    full = ChangeSets(np.array([0]), np.ones((1, 2), dtype=bool))
    assert swaps.states(full).tolist() == [[1.0, 0.0, 3.0]]


def test_what_nobody_could_notice_is_no_change():
    low = np.array([-0.5, -0.5, -0.5])

    swaps = swaps_of([0.4, 0.5, -0.6], just_noticeable=(low, -low))

    assert swaps.groups.tolist() == [1, 2]
    assert swaps.differs.tolist() == [[True, True]]


def test_a_group_changes_as_one_and_is_noticed_by_any_of_its_columns():
    swaps = swaps_of(
        [0.1, 2.0, 0.0],
        group_of=np.array([0, 0, 1]),
        just_noticeable=(np.full(3, -0.5), np.full(3, 0.5)),
    )

    one = swaps.with_one_more(swaps.nothing_yet())

    assert listed(swaps, one) == {(0, (0,))}
    assert swaps.states(one).tolist() == [[0.1, 2.0, 0.0]]


def test_costs_are_the_number_of_changes_and_the_sum_of_their_sizes():
    swaps = swaps_of([3.0, 4.0, -2.0], group_of=np.array([0, 0, 1]))
    sets = ChangeSets(np.array([0, 0]), np.array([[True, False], [True, True]]))

    counts, efforts = swaps.costs(sets)

    assert counts.tolist() == [1.0, 2.0]
    assert efforts.tolist() == [5.0, 7.0]


def test_costs_are_by_weight():
    swaps = swaps_of([1.0, 2.0, 0.0], weights=np.array([3.0, 1.0, 1.0]))
    sets = ChangeSets(np.array([0]), np.array([[True, True]]))

    counts, efforts = swaps.costs(sets)

    assert (counts.tolist(), efforts.tolist()) == ([4.0], [5.0])


def test_somebody_like_the_person_has_nothing_to_take_over():
    swaps = swaps_of([0.0, 0.0, 0.0])

    assert len(swaps.with_one_more(swaps.nothing_yet())) == 0


def test_an_end_keeps_bounds_relations_and_directions():
    person = someone(
        [0.0, 0.0],
        bounds=box(2, upper=[2.0, 9.0], up=[1]),
        keeps_relations=lambda points: points[:, 0] != 1.0,
    )
    states = np.array([[2.0, 1.0], [2.5, 1.0], [1.0, 1.0], [2.0, -1.0]])

    assert is_allowed_end(person, states).tolist() == [True, False, False, False]


def test_some_groups_as_in_an_end():
    person = someone([0.0, 0.0, 0.0], group_of=np.array([4, 4, 7]))
    made = np.array([[True, False], [False, True], [True, True], [False, False]])

    states = with_groups_from(person, np.array([1.0, 2.0, 3.0]), [4, 7], made)

    assert states.tolist() == [[1, 2, 0], [0, 0, 3], [1, 2, 3], [0, 0, 0]]


@pytest.mark.parametrize(("value", "is_change"), [(0.9, False), (1.0, True), (-2.0, True)])
def test_a_value_at_the_edge_of_what_can_be_noticed_is_a_change(value, is_change):
    edges = (np.array([-2.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0]))
    swaps = swaps_of([value, 0.0, 0.0], just_noticeable=edges)

    assert len(swaps.with_one_more(swaps.nothing_yet())) == is_change


def test_an_end_with_just_the_score_that_is_needed_is_sound():
    script = Script(np.zeros((0, 1)), log_density=lambda points: 2.5 - points[:, 0])
    person = someone([0.0], bounds=box(1, upper=3.0))
    states = np.array([[1.0], [2.0], [3.0], [4.0]])

    found = script.run(are_sound_ends(person, states, np.array([0.49, 0.5, 0.6, 0.7])))

    assert found.tolist() == [False, True, False, False]
