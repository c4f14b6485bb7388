"""Round numbers: between the two that were given, with no more digits than it takes."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localface.data.feature import Feature
from localface.data.rounding import roundest_between, roundest_between_each
from localface.data.schema import Schema
from localface.data.space import Space
from localface.data.stops import round_outwards

numbers = st.floats(-1e6, 1e6, allow_nan=False)


def n_digits(value: float) -> int:
    """How many digits a number is written with, zeros at either end apart."""
    return len(Decimal(repr(value)).normalize().as_tuple().digits)


@pytest.mark.parametrize(
    ("near", "far", "expected"),
    [
        (50.805, 53.0, 52.0),
        (50.805, 51.2, 51.0),
        (-1.234, -1.31, -1.3),
        (-1.234, -1.29, -1.25),
        (0.0123, 0.0129, 0.0125),
        (97.0, 104.0, 100.0),
        (104.0, 97.0, 100.0),
        (7.0, 7.0, 7.0),
        (0.0, 0.0, 0.0),
        (-3.0, 4.0, 0.0),
        (1234567.0, 1299999.0, 1250000.0),
    ],
)
def test_the_roundest_number_is_the_one_a_person_would_choose(near, far, expected):
    assert roundest_between(near, far) == expected


def test_of_equally_round_numbers_the_nearest_is_taken():
    assert roundest_between(41.0, 99.0) == 50.0
    assert roundest_between(99.0, 41.0) == 50.0
    assert roundest_between(11.0, 49.0) == 20.0
    assert roundest_between(49.0, 11.0) == 40.0


def test_zero_has_no_sign():
    assert str(roundest_between(1.0, -1.0)) == "0.0"


@pytest.mark.parametrize("far", [np.inf, -np.inf, np.nan])
def test_without_a_far_end_nothing_is_rounded(far):
    assert roundest_between(1.234, far) == 1.234


@given(numbers, numbers)
def test_a_round_number_lies_between(near, far):
    found = roundest_between(near, far)

    assert min(near, far) <= found <= max(near, far)


@given(numbers.filter(lambda value: abs(value) > 1e-3), st.floats(0.01, 0.5))
def test_no_more_digits_are_written_than_the_room_there_is_takes(near, room):
    """Between a number and one that is a hundredth larger there is one of three digits."""
    assert n_digits(roundest_between(near, near * (1 + room))) <= 3


@given(st.integers(-9999, 9999), st.integers(-9999, 9999))
def test_between_whole_numbers_a_whole_one_is_found(near, far):
    assert roundest_between(near, far) == int(roundest_between(near, far))


# in the units of a feature


def space_of(feature: Feature) -> Space:
    return Space.fit(Schema([feature]), np.random.default_rng(0).normal(0, 20, (200, 1)).round(1))


def rounded(feature: Feature, own: float, value: float) -> float:
    """What a value becomes for someone who has ``own``, both in the user's units."""
    space = space_of(feature)
    record = np.array([own])
    point = space.points(np.array([[value]]))[0]
    found = round_outwards(space, record, 0, point)
    return float(space.records(found[:, None])[0, 0])


@given(st.integers(-300, 300), st.integers(-300, 300))
def test_a_value_is_rounded_outwards_by_little(tenths, others):
    own = tenths / 10
    value = others / 10 + 0.0372

    found = rounded(Feature("x"), own, value)

    assert abs(found - own) >= abs(value - own) - 1e-9
    assert abs(found - own) <= 1.05 * abs(value - own) + 1e-9
    assert (found - own) * (value - own) >= 0


@pytest.mark.parametrize("step", [0.1, 0.25, 0.3, 2.0, 5.0, 100.0])
@given(own=st.integers(-30, 30), value=st.floats(-99.0, 99.0))
def test_a_value_is_a_multiple_of_the_resolution_with_no_stray_digits(step, own, value):
    found = rounded(Feature("x", resolution=step), own * step, value)

    assert Decimal(repr(found)) % Decimal(repr(step)) == 0
    assert abs(found - own * step) >= abs(value - own * step) - 1e-6


def test_whole_numbers_stay_whole():
    assert rounded(Feature("x", kind="integer"), 3.0, 7.4) == 7.0
    assert rounded(Feature("x", kind="integer"), 3.0, -7.6) == -8.0


@given(
    st.lists(
        st.tuples(
            st.floats(-1e12, 1e12, allow_subnormal=False),
            st.floats(-1e12, 1e12, allow_subnormal=False),
        ),
        max_size=8,
    )
)
def test_many_at_once_are_rounded_as_one_by_one(pairs):
    near = [one for one, _ in pairs]
    far = [other for _, other in pairs]
    expected = [roundest_between(one, other) for one, other in pairs]
    assert roundest_between_each(near, far) == expected
