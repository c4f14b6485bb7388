"""Ordering: which change comes first, which must come together, and what must wait."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from localface.search.lattice import Lattice
from localface.search.stages.ordering import (
    _has_route,
    _makes_second_change_first,
    _next_states,
    find_route,
    moves_of_route,
)
from localface.types import NO_ROWS
from scripted import Script, someone


def lattice_of(script: Script, n: int, **options) -> Lattice:
    graph = script.graph(someone(np.zeros(n), min_score=1.0, **options))
    lattice = Lattice(graph, np.ones(n), [(j,) for j in range(n)], 0.0)
    script.run(lattice.ask_scores(NO_ROWS, range(n + 1)))
    script.asked.clear()
    return lattice


def score(points):
    """The second column is worth most, then the first."""
    return 0.3 * points[:, 0] + 0.6 * points[:, 1] + 0.1 * points[:, 2:].sum(axis=1)


def never_alone(column):
    """Low density wherever one column has changed and the others have not."""

    def log_density(points):
        alone = (points[:, column] > 0.2) & (np.delete(points, column, axis=1) < 0.2).all(axis=1)
        return np.where(alone, -1.0, 1.0)

    return log_density


def test_the_score_rises_soonest():
    script = Script(np.zeros((0, 3)), score=score)
    lattice = lattice_of(script, 3)

    route = script.run(find_route(lattice, 0b111, 1))

    assert route == (0b000, 0b010, 0b011, 0b111)


def test_only_the_steps_of_the_route_are_checked_where_the_bound_is_exact():
    script = Script(np.zeros((0, 4)), score=lambda points: score(points[:, :3]))
    lattice = lattice_of(script, 4)

    script.run(find_route(lattice, 0b1111, 1))

    states, *steps = script.asked
    assert (states.starts == states.ends).all()
    assert sorted(states.starts.tolist()) == sorted(lattice.states[1:-1].tolist())
    assert [len(step.starts) for step in steps] == [1, 1, 1, 1]


def test_of_routes_that_are_alike_one_is_followed_to_its_end():
    """Each change adds as much: to go on costs what is bound to come anyway."""
    script = Script(np.zeros((0, 4)), score=lambda points: points.sum(axis=1) / 4)
    lattice = lattice_of(script, 4)

    route = script.run(find_route(lattice, 0b1111, 1))

    _, *steps = script.asked
    assert [len(step.starts) for step in steps] == [1, 1, 1, 1]
    assert route == (0b0000, 0b0001, 0b0011, 0b0111, 0b1111)


def test_whether_one_change_can_come_before_another_takes_one_route_to_its_end():
    script = Script(np.zeros((0, 5)), score=lambda points: points.sum(axis=1) / 5)
    lattice = lattice_of(script, 5)

    assert script.run(_has_route(lattice, 0b11111, (4, 0)))

    along = [len(one.starts) for one in script.asked]
    assert along == [1, 1, 1, 1, 1]


def test_all_steps_of_few_changes_are_asked_about_in_one_question():
    script = Script(np.zeros((0, 3)), score=score)
    lattice = lattice_of(script, 3)

    script.run(find_route(lattice, 0b111, 1))

    _, steps = script.asked
    assert len(steps.starts) == 12


def test_a_change_that_cannot_be_made_alone_comes_later():
    script = Script(np.zeros((0, 3)), score=score, log_density=never_alone(1))
    lattice = lattice_of(script, 3)

    route = script.run(find_route(lattice, 0b111, 1))
    moves = script.run(moves_of_route(lattice, route))

    assert route == (0b000, 0b001, 0b011, 0b111)
    assert [move.follows for move in moves] == [(), (), ()]
    assert [move.score for move in moves] == pytest.approx([0.3, 0.9, 1.0])


def test_what_no_route_has_earlier_must_wait():
    script = Script(np.zeros((0, 2)), score=score, log_density=never_alone(1))
    lattice = lattice_of(script, 2)

    route = script.run(find_route(lattice, 0b11, 1))
    moves = script.run(moves_of_route(lattice, route))

    assert route == (0b00, 0b01, 0b11)
    assert [move.follows for move in moves] == [(), (0,)]
    assert moves[-1].point.tolist() == [1.0, 1.0]


def only_together(points):
    """Low density wherever one of two columns has changed without the other."""
    return np.where(np.abs(points[:, 0] - points[:, 1]) > 0.3, -1.0, 1.0)


def test_what_cannot_be_done_one_by_one_is_done_at_once():
    script = Script(np.zeros((0, 3)), score=score, log_density=only_together)
    lattice = lattice_of(script, 3)

    route = script.run(find_route(lattice, 0b111, 1))
    moves = script.run(moves_of_route(lattice, route))

    assert route == (0b000, 0b011, 0b111)
    assert [move.follows for move in moves] == [(), ()]


def test_several_changes_at_once_are_taken_where_that_is_allowed():
    script = Script(np.zeros((0, 3)), score=score, log_density=only_together)
    lattice = lattice_of(script, 3)

    assert script.run(find_route(lattice, 0b011, 2)) == (0b000, 0b011)


def test_changes_are_made_one_by_one_where_that_will_do_even_if_more_are_allowed():
    script = Script(np.zeros((0, 3)), score=score)
    lattice = lattice_of(script, 3)

    assert script.run(find_route(lattice, 0b111, 3)) == (0b000, 0b010, 0b011, 0b111)


def test_where_no_step_can_be_taken_there_is_no_route():
    script = Script(np.zeros((0, 2)), score=score, log_density=lambda points: -points[:, 0])
    lattice = lattice_of(script, 2)

    assert script.run(find_route(lattice, 0b11, 1)) is None


def test_of_many_moves_only_neighbours_are_tried_in_the_other_order():
    n = 9
    script = Script(np.zeros((0, n)), score=lambda points: points.sum(axis=1) / n)
    lattice = lattice_of(script, n)

    route = script.run(find_route(lattice, 2**n - 1, 1))
    moves = script.run(moves_of_route(lattice, route))

    assert len(moves) == n
    assert all(move.follows == () for move in moves)


@pytest.mark.parametrize("n", [8, 9])
def test_of_many_moves_each_follows_the_one_before_it_where_it_needs_it(n):
    """A chain: nobody has one column changed without those before it."""

    def log_density(points):
        early = (points[:, 1:] > 0.2) & (points[:, :-1] < 0.8)
        return np.where(early.any(axis=1), -1.0, 1.0)

    script = Script(np.zeros((0, n)), score=lambda p: p.sum(axis=1) / n, log_density=log_density)
    lattice = lattice_of(script, n)
    route = tuple(2**i - 1 for i in range(n + 1))

    moves = script.run(moves_of_route(lattice, route))

    nearest = 1 if n > 8 else n  # of up to eight moves, every pair is tried
    follows = [tuple(range(max(0, i - nearest), i)) for i in range(n)]
    assert [move.follows for move in moves] == follows


def test_what_breaks_a_relation_is_no_state_on_the_route():
    script = Script(np.zeros((0, 2)), score=score)
    lattice = lattice_of(script, 2, keeps_relations=lambda points: points[:, 1] <= points[:, 0])

    route = script.run(find_route(lattice, 0b11, 1))

    assert route == (0b00, 0b01, 0b11)


def test_a_change_follows_the_one_that_it_needs_and_no_other():
    """The third column needs the second; the first can be changed at any time."""
    script = Script(
        np.zeros((0, 3)),
        score=score,
        log_density=lambda points: np.where(points[:, 2] > points[:, 1] + 0.2, -1.0, 1.0),
    )
    lattice = lattice_of(script, 3)

    route = script.run(find_route(lattice, 0b111, 1))
    moves = script.run(moves_of_route(lattice, route))

    assert route == (0b000, 0b010, 0b011, 0b111)
    assert [move.follows for move in moves] == [(), (), (0,)]


@pytest.mark.parametrize(
    ("here", "there", "too_soon"),
    [
        (0b000, 0b010, True),  # the second, and the first is still to be made
        (0b000, 0b011, True),  # both at once is not one before the other
        (0b001, 0b011, False),
        (0b000, 0b001, False),
        (0b000, 0b100, False),  # neither of the two
    ],
)
def test_a_change_is_made_too_soon_where_the_one_before_it_is_still_to_come(here, there, too_soon):
    assert _makes_second_change_first(here, there, (0, 1)) is too_soon


def test_where_many_steps_are_refused_those_of_several_changes_are_asked_about_together():
    """Nothing can be done before all is: from the start alone there are 63 steps."""

    def log_density(points):
        inside = (points.min(axis=1) < 0.9) & (points.max(axis=1) > 0.1)
        return np.where(inside, -1.0, 1.0)

    script = Script(np.zeros((0, 6)), score=score, log_density=log_density)
    lattice = lattice_of(script, 6)
    script.run(lattice.check_steps_ahead(0, [1 << i for i in range(6)]))
    assert not script.asked

    for end in range(1, 25):
        script.run(lattice.can_take_step(0, end))
    script.asked.clear()
    script.run(lattice.check_steps_ahead(0, list(range(1, 64))))

    assert [len(question.starts) for question in script.asked] == [63 - 24]
    assert script.run(find_route(lattice, 0b111111, 1)) is None


def test_that_a_change_cannot_be_made_at_all_takes_few_questions():
    def wall(points):
        return np.where(np.abs(points[:, 2] - 0.5) < 0.2, -1.0, 1.0)

    script = Script(np.zeros((0, 6)), score=score, log_density=wall)
    lattice = lattice_of(script, 6)

    assert script.run(find_route(lattice, 0b111111, 1)) is None
    assert len(script.asked) < 70  # 243 steps make the change, alone or with others


@pytest.mark.parametrize("n", [2, 3, 4])
def test_as_few_changes_at_once_are_made_as_any_route_needs(n):
    def only_together(points):  # none of the first n columns may be ahead of the others
        some = points[:, :n]
        return np.where(some.max(axis=1) - some.min(axis=1) > 0.2, -1.0, 1.0)

    script = Script(np.zeros((0, 5)), score=score, log_density=only_together)
    lattice = lattice_of(script, 5)

    route = script.run(find_route(lattice, 0b11111, 1))

    made = [after & ~before for before, after in pairwise(route)]
    assert sorted(one.bit_count() for one in made) == [*[1] * (5 - n), n]
    assert 2**n - 1 in made


@pytest.mark.parametrize(
    ("here", "end", "at_once", "following"),
    [
        (0b000, 0b101, 1, [0b001, 0b100]),
        (0b000, 0b101, 2, [0b001, 0b100, 0b101]),
        (0b001, 0b101, 2, [0b101]),
        (0b010, 0b111, 3, [0b011, 0b110, 0b111]),
        (0b111, 0b111, 2, []),
    ],
)
def test_what_comes_next_makes_changes_that_are_left_the_single_ones_first(
    here, end, at_once, following
):
    assert list(_next_states(here, end, at_once)) == following
