"""Segments: the cover sweep against dense sampling, legs around flips."""

from __future__ import annotations

import numpy as np
import pytest

from localface.geometry.segments import (
    emptiest_point,
    fewest_rows_within,
    intervals_near_rows,
    nearest_distances,
    norms,
    split_at_flips,
)

SAMPLES = np.linspace(0, 1, 2001)


@pytest.mark.parametrize("width", [2, 3, 8, 22])
def test_the_cover_sweep_agrees_with_dense_sampling(width):
    rng = np.random.default_rng(width)
    for _ in range(300):
        rows = rng.normal(size=(30, width))
        start, end = rng.normal(size=(2, width))
        eps = rng.uniform(0.3, 2.0) * np.sqrt(width / 2)
        places = start + SAMPLES[:, None] * (end - start)
        apart = norms(places[:, None, :] - rows)
        sampled = (apart <= eps).sum(axis=1).min()
        nudged = [(apart <= eps * (1 + change)).sum(axis=1).min() for change in (-2e-3, 2e-3)]
        fewest = fewest_rows_within(start, end, rows, eps)
        assert fewest <= sampled
        assert nudged[0] <= fewest <= nudged[1]


def test_two_balls_that_touch_leave_no_gap():
    rows = np.array([[0.0, 0.0], [2.0, 0.0]])
    assert fewest_rows_within(rows[0], rows[1], rows, eps=1.0) == 1
    assert fewest_rows_within(rows[0], rows[1], rows, eps=0.999) == 0


def test_a_step_of_no_length_counts_the_people_around_its_place():
    rows = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]])
    assert fewest_rows_within(rows[0], rows[0], rows, eps=1.0) == 2


def test_discrete_columns_flip_in_the_middle_of_a_step():
    start, end = np.array([0.0, 0.0]), np.array([2.0, 1.0])
    first, second = split_at_flips(start, end, np.array([False, True]))
    assert first[0].tolist() == [0.0, 0.0]
    assert first[1].tolist() == [1.0, 0.0]
    assert second[0].tolist() == [1.0, 1.0]
    assert second[1].tolist() == [2.0, 1.0]


def test_a_step_without_flips_is_one_leg():
    start = np.array([0.0, 1.0])
    end = np.array([2.0, 1.0])
    ((first, last),) = split_at_flips(start, end, np.array([False, True]))
    assert first.tolist() == [0.0, 1.0]
    assert last.tolist() == [2.0, 1.0]


@pytest.mark.parametrize("far", [0.0, 3.0, 1e6])
@pytest.mark.parametrize("n", [1, 3, 700])
def test_nearest_distances_are_those_of_brute_force_to_the_last_bit(n, far):
    rng = np.random.default_rng(n)
    others = rng.normal(size=(40, 5))
    points = np.concatenate([rng.normal(size=(n, 5)) + far, others[:2]])
    brute = norms(points[:, None, :] - others).min(axis=1)
    np.testing.assert_array_equal(nearest_distances(points, others), brute)
    brute = norms(others[:, None, :] - points).min(axis=1)
    np.testing.assert_array_equal(nearest_distances(others, points), brute)


def test_with_nobody_else_the_nearest_is_infinitely_far():
    assert nearest_distances(np.zeros((2, 3)), np.empty((0, 3))).tolist() == [np.inf, np.inf]


def test_the_emptiest_point_is_on_the_step_and_has_that_many_rows():
    rng = np.random.default_rng(5)
    for _ in range(200):
        rows = rng.normal(size=(12, 3))
        start, end = rng.normal(size=(2, 3))
        eps = rng.uniform(0.5, 2.0)
        fewest, point = emptiest_point(start, end, rows, eps)
        assert (norms(rows - point) <= eps).sum() == fewest
        assert norms(point - start) + norms(end - point) == pytest.approx(norms(end - start))


def test_a_row_is_near_a_step_between_where_its_ball_is_entered_and_left():
    start, end = np.array([1.0, 1.0]), np.array([1.0, 5.0])
    rows = np.array([[1.0, 2.0], [4.0, 4.0], [1.0, 9.0], [6.5, 3.0]])
    enter, leave, length = intervals_near_rows(start, end, rows, eps=5.0)
    assert length == 4.0
    assert enter.tolist() == [-4.0, -1.0, 3.0]  # the last is too far from the whole line
    assert leave.tolist() == [6.0, 7.0, 13.0]


def test_a_row_just_within_reach_of_a_place_counts_there():
    here = np.array([1.0, 1.0])
    rows = np.array([[1.0, 3.0], [1.0, 3.1], [1.0, 1.0]])
    enter, leave, length = intervals_near_rows(here, here, rows, eps=2.0)
    assert (enter.tolist(), leave.tolist(), length) == ([0.0, 0.0], [0.0, 0.0], 0.0)
    fewest, point = emptiest_point(here, here, rows, eps=2.0)
    assert fewest == 2
    assert point.tolist() == [1.0, 1.0]
