"""Ways: what moves cost, and what is alike but for rounding."""

from __future__ import annotations

import numpy as np
import pytest

from localface.search.move import Move
from localface.search.stages.effort import efforts_of
from localface.search.stages.swaps import Swaps
from localface.search.stages.way import Way, cost_of_moves, effort_of_moves, ends_of_ways
from scripted import Script, someone

OWN = np.array([2.0, -1.0, 5.0])


def moves(*points, score=0.7):
    states = [Move(OWN + np.array(point), score) for point in points]
    return tuple(states)


def test_what_moves_cost_is_how_many_features_then_how_many_at_once_then_their_sizes():
    made = moves([3.0, 0.0, 0.0], [3.0, 4.0, 2.0])

    assert cost_of_moves(someone(OWN), made) == (3.0, 2, 9.0, -0.7)


def test_with_weights_a_dear_feature_counts_for_more():
    person = someone(OWN, weights=np.array([2.0, 1.0, 0.5]))

    assert cost_of_moves(person, moves([3.0, 0.0, 4.0])) == (2.5, 2, 8.0, -0.7)


def test_linked_features_are_one_change_of_one_size():
    person = someone(OWN, group_of=np.array([0, 0, 1]))

    assert cost_of_moves(person, moves([3.0, 4.0, 0.0])) == (1.0, 1, 5.0, -0.7)


def test_an_effort_is_how_far_moves_go_one_after_the_other():
    there_and_back = moves([3.0, 0.0, 0.0], [3.0, 4.0, 0.0], [3.0, 0.0, 0.0])

    assert effort_of_moves(someone(OWN), there_and_back) == (11.0, 1, -0.7)
    weighted = someone(OWN, weights=np.array([2.0, 1.0, 1.0]))
    assert effort_of_moves(weighted, there_and_back) == (14.0, 1, -0.7)


@pytest.mark.parametrize(("off", "alike"), [(3e-10, True), (3e-9, False)])
def test_sizes_that_differ_by_rounding_are_alike(off, alike):
    person = someone(np.zeros(2))
    states = np.array([[1.0, 0.0], [1.0 + off, 0.0]])
    swaps = Swaps(person, states)
    sets = swaps.with_one_more(swaps.nothing_yet())
    each = [(Move(state, 0.5),) for state in states]

    sizes = [
        [cost_of_moves(person, one)[2] for one in each],
        [effort_of_moves(person, one)[0] for one in each],
        efforts_of(person, states).tolist(),
        swaps.costs(sets)[1].tolist(),
    ]

    assert all((first == second) == alike for first, second in sizes)


def test_moves_that_were_not_looked_into_come_in_turn():
    way = Way(moves([1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]))

    assert [move.follows for move in way.moves_in_turn()] == [(), (0,), (1,)]
    assert [move.follows for move in way.up_to(2).moves_in_turn()] == [(), (0,)]
    assert ends_of_ways([way, way.up_to(1)]).tolist() == [(OWN + 1).tolist(), [3.0, -1.0, 5.0]]


def test_without_a_lattice_moves_are_what_they_are():
    way = Way(moves([1.0, 0.0, 0.0]))

    assert Script(np.zeros((0, 3))).run(way.ordered_moves()) is way.moves
