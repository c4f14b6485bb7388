"""Normal scores: ranks as quantiles of the normal, ever flatter outwards, with gaps kept."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localface.data.lines import PiecewiseLines
from localface.data.normal_scores import NormalScores

CHANCE = np.random.default_rng(0)
NORMAL = CHANCE.normal(100, 15, 500)
SKEWED = np.exp(CHANCE.normal(0, 1, 500))
TIED = CHANCE.poisson(0.7, 500).astype(float)


def scores_of(column, values):
    """The scores of any values, by the map that a column gives."""
    fitted = NormalScores.fit(np.asarray(column, dtype=float))
    line = PiecewiseLines.through([fitted.values], [fitted.scores])
    return line(np.asarray(values, dtype=float)[:, None])[:, 0]


def by_rank(column, value):
    """The quantile of the normal distribution at the mid-rank of a value."""
    below = np.count_nonzero(column < value)
    same = np.count_nonzero(column == value)
    return NormalDist().inv_cdf((below + same / 2) / len(column))


@pytest.mark.parametrize("column", [NORMAL, TIED], ids=["normal", "tied"])
def test_a_score_is_the_normal_quantile_of_the_mid_rank(column):
    inner = [value for value in np.unique(column) if abs(by_rank(column, value)) < 1.5]

    found = scores_of(column, inner)

    assert found == pytest.approx([by_rank(column, value) for value in inner], abs=0.2)


def test_one_unit_is_one_standard_deviation_however_skewed_a_column_is():
    found = scores_of(SKEWED, SKEWED)

    assert found.std() == pytest.approx(1, abs=0.15)
    low, middle, high = scores_of(SKEWED, np.quantile(SKEWED, [0.16, 0.5, 0.84]))
    assert middle == pytest.approx(0, abs=0.01)
    assert high - low == pytest.approx(2, abs=0.2)


@pytest.mark.parametrize("apart", [10.0, 20.0, 1000.0])
def test_two_crowds_far_apart_stay_far_apart(apart):
    """By rank alone the crowds would stand side by side."""
    crowds = np.concatenate([CHANCE.normal(0, 1, 300), CHANCE.normal(apart, 1, 300)])
    left, right = np.sort(crowds)[[299, 300]]

    gap = np.diff(scores_of(crowds, [left, right]))[0]

    assert gap > 0.7 * min((right - left) / crowds.std(), 1.2)  # about as in the user's units
    assert gap > 50 * (by_rank(crowds, right) - by_rank(crowds, left))


def test_a_wider_gap_between_crowds_is_wider_in_scores():
    crowd = CHANCE.normal(0, 1, 200)
    gaps = []
    for apart in (6.0, 9.0, 15.0, 50.0, 1e4):
        crowds = np.sort(np.concatenate([crowd, crowd + apart]))
        gaps.append(np.diff(scores_of(crowds, crowds[199:201]))[0])

    assert (np.diff(gaps) > 0).all()


def test_chance_gaps_in_a_smooth_column_are_not_widened():
    inner = np.sort(NORMAL)[25:-25]

    found = scores_of(NORMAL, inner)

    assert found == pytest.approx([by_rank(NORMAL, value) for value in inner], abs=0.2)


@pytest.mark.parametrize("column", [NORMAL, SKEWED, TIED, CHANCE.uniform(size=500)])
def test_a_difference_counts_less_the_further_out_it_is_and_never_more(column):
    low, middle, high = np.quantile(column, [0.02, 0.5, 0.98])

    for inner, outer in ((middle, low), (middle, high)):
        steps = np.abs(np.diff(scores_of(column, np.linspace(inner, outer, 12))))
        assert (np.diff(steps) <= 0.05).all()


def test_a_flat_crowd_stays_flat():
    """Ranks would draw its edges out to tails."""
    column = np.linspace(0.0, 1.0, 1001)

    steps = np.diff(scores_of(column, np.linspace(0.0, 1.0, 21)))

    assert steps == pytest.approx(np.full(20, np.sqrt(12) / 20), rel=0.02)


@pytest.mark.parametrize("outlier", [1e3, 1e6, 1e9, 1e12])
def test_an_outlier_is_far_off_and_half_way_to_it_is_nobodys_place(outlier):
    column = np.append(CHANCE.normal(0, 1, 400), outlier)

    most, half, out = scores_of(column, [np.sort(column)[-2], outlier / 2, outlier])

    assert out - most > 5
    assert half - most > 2
    assert out < 200  # and yet not so far that it would choose the scale of everything


def test_outliers_leave_the_scores_of_the_others_as_they_are():
    others = np.sort(NORMAL)[50:-50]

    plain = scores_of(NORMAL, others)
    beside = scores_of(np.append(NORMAL, [1e9, -1e9]), others)

    assert beside == pytest.approx(plain, abs=0.05)


def test_a_heavy_tail_is_a_tail_and_no_row_of_gaps():
    column = CHANCE.standard_cauchy(2000)

    found = scores_of(column, column)

    assert np.abs(found).max() < 40
    assert np.mean(np.abs(found) > 3) < 0.02
    inner = np.abs(found) < 1.5
    expected = np.array([by_rank(column, value) for value in column[inner]])
    assert found[inner] == pytest.approx(expected, abs=0.2)  # at most 0.185 in 40 draws


def test_a_value_that_most_have_is_one_place_and_the_others_keep_their_order():
    column = np.concatenate([np.zeros(900), CHANCE.exponential(1.0, 100)])

    zero, *others = scores_of(column, [0.0, *np.sort(column[900:])])

    assert zero == pytest.approx(0, abs=0.05)
    assert others[0] - zero < 0.1  # how many have it is no distance to the next
    assert (np.diff([zero, *others]) > 0).all()


@pytest.mark.parametrize("seed", range(5))
def test_many_distinct_values_need_few_knots_and_lose_little(seed, monkeypatch):
    column = np.random.default_rng(seed).normal(size=20_000)

    few = NormalScores.fit(column)
    by_few = scores_of(column, column)
    monkeypatch.setattr("localface.data.normal_scores._MOST_KNOTS", len(column))
    by_all = scores_of(column, column)

    assert len(few.values) <= 512
    assert by_few == pytest.approx(by_all, abs=0.002)


def test_gaps_survive_where_knots_are_few():
    column = np.concatenate([CHANCE.normal(0, 1, 5000), CHANCE.normal(40, 1, 5000)])
    left, right = np.sort(column)[[4999, 5000]]

    assert np.diff(scores_of(column, [left, right]))[0] > 0.9


columns_of_numbers = st.lists(
    st.one_of(
        st.integers(-(10**6), 10**6).map(float),
        st.floats(-1e9, 1e9, allow_subnormal=False),
        st.sampled_from([0.0, 1.0, 1e9, -1e9]),
    ),
    min_size=1,
    max_size=60,
)


@given(columns_of_numbers)
def test_any_column_gives_finite_knots_that_rise_strictly(column):
    fitted = NormalScores.fit(np.array(column))

    assert len(fitted.values) >= 2
    assert np.isfinite(fitted.scores).all()
    assert (np.diff(fitted.values) > 0).all()
    assert (np.diff(fitted.scores) > 0).all()


@given(columns_of_numbers)
def test_any_column_keeps_its_order(column):
    values = np.unique(column)

    assert (np.diff(scores_of(column, values)) > 0).all()


@given(columns_of_numbers, st.floats(1e-3, 1e3), st.floats(-1e3, 1e3))
def test_units_make_no_difference(column, factor, shift):
    column = np.round(np.array(column))
    elsewhere = column * factor + shift
    values = np.unique(column)
    if len(values) != len(np.unique(elsewhere)) or len(values) == 1:
        return

    assert scores_of(elsewhere, np.unique(elsewhere)) == pytest.approx(
        scores_of(column, values), rel=1e-3, abs=1e-3
    )


@given(st.permutations(list(range(12))))
def test_the_order_of_the_rows_makes_no_difference(order):
    column = np.array([0, 0, 1, 2, 2, 3, 10, 10, 11, 12, 400, 1e7], dtype=float)

    shuffled = NormalScores.fit(column[order])

    assert shuffled.scores.tobytes() == NormalScores.fit(column).scores.tobytes()


@pytest.mark.parametrize("value", [0.0, 5.0, -1e18])
def test_a_constant_column_has_a_line_through_its_value(value):
    assert scores_of(np.full(10, value), [value]).tolist() == [0.0]
    assert np.isfinite(scores_of(np.full(10, value), [value - 1e6, value + 1e6])).all()


def test_hardly_different_values_give_finite_scores():
    assert np.isfinite(scores_of([0.0, 5e-324], [-1.0, 0.0, 5e-324, 1.0])).all()
