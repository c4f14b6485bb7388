"""The deviation theorem against dense sampling."""

from __future__ import annotations

import numpy as np
import pytest

from localface.geometry.deviation import segment_stays_near, turn_until_segment_stays_near
from localface.geometry.segments import norms

SAMPLES = np.linspace(0, 1, 2001)


def _setting(rng: np.random.Generator, width: int):
    """Two rows at most two radii apart, and a point within one radius of the second."""
    eps = rng.uniform(0.5, 2.0)
    first = rng.normal(size=width)
    across = rng.normal(size=width)
    second = first + across / np.linalg.norm(across) * rng.uniform(0.05, 2.0) * eps
    away = rng.normal(size=width)
    end = second + away / np.linalg.norm(away) * eps * rng.uniform() ** (1 / width)
    return first, second, end, eps


def _worst_gap(first, second, end, eps):
    """How far outside both balls the segment gets, by sampling."""
    places = first + SAMPLES[:, None] * (end - first)
    return (np.minimum(norms(places - first), norms(places - second)) - eps).max()


@pytest.mark.parametrize("width", [2, 3, 8, 22])
def test_the_corrected_theorem_agrees_with_dense_sampling(width):
    rng = np.random.default_rng(width)
    undecided = 0
    for _ in range(3000):
        first, second, end, eps = _setting(rng, width)
        gap = _worst_gap(first, second, end, eps)
        if abs(gap) < 3e-3:  # the sampling, not the theorem, is too coarse to tell
            undecided += 1
            continue
        assert segment_stays_near(first, second, end, eps) == (gap <= 0)
    assert undecided < 600


@pytest.mark.parametrize("width", [2, 3, 8, 22])
def test_the_printed_bound_rejects_most_segments_that_are_admissible(width):
    rng = np.random.default_rng(width)
    admissible = rejected = 0
    for _ in range(3000):
        first, second, end, eps = _setting(rng, width)
        if not segment_stays_near(first, second, end, eps):
            continue
        admissible += 1
        d = np.linalg.norm(second - first)
        phi = (second - first) @ (end - first) / (d * np.linalg.norm(end - first))
        rejected += phi < (1 + d / eps) / 2
    assert rejected / admissible > 0.5  # the docs give the figure; it grows with the dimension


def test_turning_a_step_makes_it_admissible_and_keeps_its_length():
    rng = np.random.default_rng(0)
    turned_any = 0
    for _ in range(500):
        first, second, end, eps = _setting(rng, 3)
        turned = turn_until_segment_stays_near(first, second, end, eps)
        assert np.linalg.norm(turned - first) == pytest.approx(np.linalg.norm(end - first))
        d, step = np.linalg.norm(second - first), turned - first
        cosine = (second - first) @ step / (d * np.linalg.norm(step))
        assert d <= np.sqrt(2) * eps or cosine >= d / (2 * eps) - 1e-9
        if not np.array_equal(turned, end):
            turned_any += 1
            assert cosine == pytest.approx(d / (2 * eps))  # and no further than it has to be
            assert np.linalg.matrix_rank(np.array([second, end, turned]) - first, tol=1e-9) == 2
    assert turned_any > 10


def test_a_step_away_from_a_row_beyond_both_radii_is_turned_straight_to_it():
    first, second = np.zeros(2), np.array([5.0, 0.0])
    for end in ([-2.0, 0.0], [0.0, 2.0], [-1.2, 1.6]):
        turned = turn_until_segment_stays_near(first, second, np.array(end), 1.0)
        assert turned == pytest.approx([2.0, 0.0])


def test_a_step_of_no_length_stays_where_it_is():
    here = np.array([1.0, 2.0])
    assert segment_stays_near(here, here + 1.9, here, 1.0)
    assert turn_until_segment_stays_near(here, here + 1.9, here, 1.0).tolist() == here.tolist()


def test_a_step_straight_past_the_row_is_turned_nowhere():
    end = turn_until_segment_stays_near(
        np.zeros(2), np.array([1.0, 0.0]), np.array([3.0, 0.0]), 0.4
    )
    assert end.tolist() == [3.0, 0.0]


def test_columns_in_which_nothing_moves_leave_a_turn_as_it_is():
    """The plane that a step turns in may lie along the columns."""
    rng = np.random.default_rng(1)
    turned_any = 0
    for _ in range(200):
        first, second, end, eps = _setting(rng, 2)
        turned = turn_until_segment_stays_near(first, second, end, eps)
        beside = [np.insert(point, 1, 7.0) for point in (first, second, end)]
        assert turn_until_segment_stays_near(*beside, eps) == pytest.approx(
            np.insert(turned, 1, 7.0)
        )
        turned_any += not np.array_equal(turned, end)
    assert turned_any > 10
