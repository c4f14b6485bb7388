"""Small steps: no piece of a move is longer than a step may be, wherever that can be had."""

from __future__ import annotations

import numpy as np

from localface.search.move import Move
from localface.search.questions import DensityAlong, ScorePoints
from localface.search.stages.small_steps import break_into_small_steps
from scripted import Script, someone


def pieces_of(script: Script, moves, **options):
    person = someone([0.0, 0.0], **options)
    return script.run(break_into_small_steps(person, tuple(moves), 0.0))


ALONG = Move(np.array([3.0, 0.0]), 0.9)
THEN_UP = Move(np.array([3.0, 0.5]), 1.0, (0,))


def test_without_a_longest_step_moves_stay_as_they_are():
    script = Script(np.zeros((0, 2)))

    assert pieces_of(script, [ALONG, THEN_UP]) == (ALONG, THEN_UP)
    assert script.asked == []


def test_a_long_move_is_broken_and_what_follows_it_follows_its_last_piece():
    script = Script(np.zeros((0, 2)), score=lambda points: points[:, 0] / 10)

    pieces = pieces_of(script, [ALONG, THEN_UP], max_step=1.0)

    assert [piece.point.tolist() for piece in pieces] == [[1, 0], [2, 0], [3, 0], [3, 0.5]]
    assert [piece.follows for piece in pieces] == [(), (0,), (1,), (2,)]
    assert [piece.score for piece in pieces] == [0.1, 0.2, 0.9, 1.0]
    assert (script.n_asked(DensityAlong), script.n_asked(ScorePoints)) == (1, 1)


def test_a_later_move_is_broken_from_where_the_former_one_ends():
    far_up = Move(np.array([3.0, 2.0]), 1.0, (0,))

    pieces = pieces_of(Script(np.zeros((0, 2))), [ALONG, far_up], max_step=1.0)

    assert [piece.point.tolist() for piece in pieces] == [[1, 0], [2, 0], [3, 0], [3, 1], [3, 2]]


def test_where_a_piece_falls_below_the_floor_the_move_stays_whole():
    script = Script(np.zeros((0, 2)), log_density=lambda points: -points[:, 0])

    (piece,) = pieces_of(script, [ALONG], max_step=1.0)
    assert (piece.point == ALONG.point).all()
    assert script.n_asked(ScorePoints) == 0


def test_a_discrete_change_cannot_be_broken():
    script = Script(np.zeros((0, 2)))

    (piece,) = pieces_of(script, [ALONG], max_step=1.0, discrete=np.array([True, False]))

    assert (piece.point == ALONG.point).all()


def test_whole_numbers_are_broken_at_whole_numbers_in_more_pieces_if_need_be():
    script = Script(np.zeros((0, 2)))

    move = Move(np.array([5.0, 0.0]), 0.9)
    pieces = pieces_of(script, [move], max_step=1.7, snap=np.rint)

    assert [piece.point[0] for piece in pieces] == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_where_no_cut_is_fine_enough_the_finest_is_taken():
    script = Script(np.zeros((0, 2)))

    pieces = pieces_of(script, [ALONG], max_step=0.4, snap=np.rint)

    assert [piece.point[0] for piece in pieces] == [1.0, 2.0, 3.0]


def test_a_move_of_two_pieces_stays_whole_too_where_one_falls_below_the_floor():
    script = Script(np.zeros((0, 2)), log_density=lambda points: -points[:, 0])

    (piece,) = pieces_of(script, [ALONG], max_step=2.0)

    assert (piece.point == ALONG.point).all()


def test_of_cuts_whose_longest_pieces_are_as_long_the_one_of_fewer_pieces_stays():
    """Rounded, halves are six and four, and what is cut finer begins with six too."""
    rounded = {5.0: 6.0, 7.5: 8.0, 10 / 3: 6.0, 20 / 3: 8.0}

    def snap(point):
        near = [to for at, to in rounded.items() if abs(point[0] - at) < 1e-9]
        return np.array([*near, 10.0 * (point[0] > 5.0)][:1])

    script = Script(np.zeros((0, 1)))
    person = someone([0.0], max_step=5.5, snap=snap)

    pieces = script.run(break_into_small_steps(person, (Move(np.array([10.0]), 0.9),), 0.0))

    assert [piece.point.tolist() for piece in pieces] == [[6.0], [10.0]]
