"""Normal scores: monotone, standard normal on the rows, and read backwards without loss."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localface.density.common_states.normal_scores import NormalScores, ScoreSpace

SKEWED = np.exp(np.random.default_rng(0).normal(0, 2, 500))
TIED = np.random.default_rng(1).poisson(0.7, 500).astype(float)


@pytest.mark.parametrize("column", [SKEWED, TIED], ids=["skewed", "tied"])
def test_a_score_is_the_normal_quantile_of_the_mid_rank(column):
    scores = NormalScores.fit(column)

    for value in np.unique(column)[::17]:
        below = np.count_nonzero(column < value)
        same = np.count_nonzero(column == value)
        expected = NormalDist().inv_cdf((below + same / 2) / len(column))
        assert scores.scores_of(np.array([value]))[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("column", [SKEWED, TIED], ids=["skewed", "tied"])
def test_scores_rise_strictly_and_read_backwards_give_the_value(column):
    reach = np.ptp(column)
    values = np.linspace(column.min() - reach, column.max() + reach, 2001)
    scores = NormalScores.fit(column)

    found = scores.scores_of(values)

    assert (np.diff(found) > 0).all()
    assert np.allclose(scores.values_of(found), values, rtol=1e-9, atol=1e-9 * reach)


@given(
    st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=40),
    st.lists(st.integers(-(2 * 10**6), 2 * 10**6), min_size=2, max_size=20, unique=True),
)
def test_any_column_gives_a_strictly_rising_map(column, values):
    scores = NormalScores.fit(np.array(column, dtype=float))
    places = np.sort(np.array(values, dtype=float))

    found = scores.scores_of(places)

    assert (np.diff(found) > 0).all()
    assert np.allclose(scores.values_of(found), places, rtol=1e-6, atol=1e-2)


@pytest.mark.parametrize("value", [0.0, 5.0, -1e18])
def test_a_constant_column_has_a_line_through_its_value(value):
    scores = NormalScores.fit(np.full(10, value))

    assert scores.scores_of(np.array([value])).tolist() == [0.0]
    assert np.isfinite(scores.scores_of(np.array([value - 1e6, value + 1e6]))).all()


def test_hardly_different_values_give_finite_scores():
    scores = NormalScores.fit(np.array([0.0, 5e-324]))
    assert np.isfinite(scores.scores_of(np.array([-1.0, 0.0, 5e-324, 1.0]))).all()


def test_two_different_categories_are_one_unit_apart():
    records = np.array([[0.0, 0.0], [1.0, 2.0], [1.0, 1.0]])
    space = ScoreSpace.fit(records, [2, 3])

    points = space.points(records)

    assert space.feature_of.tolist() == [0, 1, 1, 1]
    assert not space.numeric.any()
    assert np.linalg.norm(points[0] - points[1]) == pytest.approx(np.sqrt(2))
    assert np.linalg.norm(points[1] - points[2]) == pytest.approx(1)
