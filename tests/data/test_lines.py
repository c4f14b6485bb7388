"""Piecewise lines: through their knots, rising everywhere, and back again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localface.data.lines import PiecewiseLines, count_knots_reached, pad_lines

KNOTS = [np.array([0.0, 1.0, 4.0]), np.array([-5.0, 5.0])]
HEIGHTS = [np.array([-1.0, 0.0, 1.0]), np.array([0.0, 100.0])]
LINES = PiecewiseLines.through(KNOTS, HEIGHTS)


def rising(n_most=12):
    """Lists of strictly rising numbers."""
    steps = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=n_most - 1)
    return st.tuples(st.floats(-1e6, 1e6), steps).map(
        lambda made: np.cumsum(np.array([made[0], *made[1]]))
    )


@st.composite
def functions(draw):
    """Knots and heights of one function."""
    knots = draw(rising())
    heights = draw(rising(len(knots)).filter(lambda found: len(found) >= 2))
    n = min(len(knots), len(heights))
    return knots[:n], heights[:n]


def plain(x, knots, heights):
    """The same function of one number, written down as one would on paper."""
    if len(knots) == 0:
        return x
    outer = max(1, len(knots) // 20)
    if x < knots[0]:
        slope = (heights[outer] - heights[0]) / (knots[outer] - knots[0])
        return heights[0] + (x - knots[0]) * slope
    if x >= knots[-1]:
        slope = (heights[-1] - heights[-1 - outer]) / (knots[-1] - knots[-1 - outer])
        return heights[-1] + (x - knots[-1]) * slope
    i = max(i for i in range(len(knots)) if knots[i] <= x)
    slope = (heights[i + 1] - heights[i]) / (knots[i + 1] - knots[i])
    return heights[i] + (x - knots[i]) * slope


def test_between_and_beyond_the_knots_it_is_linear():
    found = LINES(np.array([[0.5, 0.0], [2.5, -6.0], [-2.0, 6.0], [7.0, 5.0]]))

    assert found[:, 0].tolist() == pytest.approx([-0.5, 0.5, -3.0, 2.0])
    assert found[:, 1].tolist() == pytest.approx([50.0, -10.0, 110.0, 100.0])


def test_infinities_stay_infinite():
    ends = np.array([[-np.inf, -np.inf], [np.inf, np.inf]])

    assert LINES(ends).tolist() == ends.tolist()


def test_steep_and_flat_pieces_take_infinities_to_infinities_too():
    lines = PiecewiseLines.through([np.array([0.0, 5e-324])], [np.array([0.0, 1.0])])
    back = PiecewiseLines.through([np.array([0.0, 1.0])], [np.array([0.0, 5e-324])])
    ends = np.array([[-np.inf], [np.inf]])

    assert lines(ends).tolist() == ends.tolist()
    assert back(ends).tolist() == ends.tolist()


@given(functions(), st.floats(-1e9, 1e9))
def test_it_is_what_one_would_work_out_on_paper(function, x):
    knots, heights = function

    found = PiecewiseLines.through([knots], [heights])(np.array([[x]]))[0, 0]

    expected = plain(x, knots, heights)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 * (1 + np.abs(heights).max()))


@given(functions())
def test_every_knot_is_met_to_the_last_bit(function):
    knots, heights = function

    found = PiecewiseLines.through([knots], [heights])(knots[:, None])[:, 0]

    assert found.tobytes() == heights.tobytes()


@given(functions(), st.lists(st.floats(-1e8, 1e8), min_size=2, max_size=30))
def test_larger_is_never_lower(function, values):
    knots, heights = function
    near = np.concatenate([np.nextafter(knots, -np.inf), knots, np.nextafter(knots, np.inf)])
    places = np.sort(np.concatenate([near, values, [-np.inf, np.inf]]))

    found = PiecewiseLines.through([knots], [heights])(places[:, None])[:, 0]

    assert (found[1:] >= found[:-1]).all()


@given(functions(), st.floats(-1e6, 1e6))
def test_there_and_back_is_the_same_but_for_rounding(function, x):
    knots, heights = function
    there = PiecewiseLines.through([knots], [heights])
    back = PiecewiseLines.through([heights], [knots])
    slopes = np.diff(heights) / np.diff(knots)

    found = back(there(np.array([[x]])))[0, 0]

    reach = max(np.abs(heights).max(), abs(float(there(np.array([[x]]))[0, 0])))
    rounding = 1e-12 * (np.abs(knots).max() + abs(x) + reach / slopes.min())
    assert found == pytest.approx(x, abs=rounding)


@given(st.integers(0, 2**32), st.integers(1, 400))
def test_knots_are_counted_the_same_few_or_many_at_a_time(seed, n):
    chance = np.random.default_rng(seed)
    knots = pad_lines([np.unique(chance.normal(size=size).round(1)) for size in (3, 200, 60)], 200)
    columns = chance.normal(size=(n, 3)).round(1)

    together = count_knots_reached(columns, knots)

    for i in (0, n // 2, n - 1):
        assert (count_knots_reached(columns[i : i + 1], knots)[0] == together[i]).all()
    for j in range(3):
        expected = [(knots[j] <= x).sum() for x in columns[:, j]]
        assert together[:, j].tolist() == expected


def test_no_columns_give_none():
    assert PiecewiseLines.through([], [])(np.empty((3, 0))).shape == (3, 0)
