"""Segments: the cover sweep against dense sampling, legs around flips."""

from __future__ import annotations

import numpy as np
import pytest

from localface.geometry.segments import fewest_rows_within, norms, split_at_flips

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
