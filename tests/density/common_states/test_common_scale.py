"""Three values brought to one scale: monotone, and refusing as many as it says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localface.density.common_states.common_scale import CommonScale


def people(seed=0, n=2000, tied=False):
    values = np.random.default_rng(seed).normal(size=(n, 3)) @ (np.eye(3) + 0.5)
    return np.round(values, 1) if tied else values


@pytest.mark.parametrize("tied", [False, True])
def test_a_pair_value_stands_for_the_joint_density_that_as_many_people_fall_below(tied):
    values = people(tied=tied)
    scale = CommonScale.fit(values)
    everything = values.max(axis=0)

    for question, factor in ((1, 1.0), (2, 0.5)):
        for value in np.quantile(values[:, question], [0.02, 0.1, 0.3, 0.45]):
            value = values[np.abs(values[:, question] - value).argmin(), question]
            alone = everything[1:].copy()
            alone[question - 1] = value
            below = np.mean(values[:, question] <= value) * factor
            expected = np.sort(values[:, 0])[max(round(below * len(values)) - 1, 0)]
            assert scale.lowest(alone[None, :])[0] == pytest.approx(expected, abs=0.02)


def test_the_lower_of_both_counts():
    values = people()
    scale = CommonScale.fit(values)
    high = values.max(axis=0)[1:]

    both = scale.lowest(values[:, 1:])
    first = scale.lowest(np.column_stack([values[:, 1], np.full(len(values), high[1])]))
    second = scale.lowest(np.column_stack([np.full(len(values), high[0]), values[:, 2]]))

    assert both == pytest.approx(np.minimum(first, second))


def test_below_everybody_it_goes_on_downwards():
    values = people()
    scale = CommonScale.fit(values)
    lowest = values[:, 1:].min(axis=0)

    deeper = scale.lowest(np.array([[lowest[0] - depth, 9.0] for depth in (0.0, 1.0, 5.0)]))

    assert np.diff(deeper) == pytest.approx([-1.0, -4.0])


@given(
    st.integers(0, 50),
    st.booleans(),
    st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=2, max_size=20),
)
def test_a_higher_value_never_stands_for_less(seed, tied, pairs):
    scale = CommonScale.fit(people(seed, n=60, tied=tied))
    low = np.minimum.accumulate(np.array(pairs)[::-1])[::-1]

    found = scale.lowest(low)

    assert (np.diff(found) >= 0).all()


@pytest.mark.parametrize("floor", [0.01, 0.05, 0.2])
def test_each_question_refuses_its_part_of_a_floor(floor):
    """Half of the share each for the joint density and the rarest pair, all for the sum."""
    values = people(n=20_000)
    scale = CommonScale.fit(values)
    height = np.quantile(values[:, 0], floor / 2)
    high = values.max(axis=0)

    rarest = scale.lowest(np.column_stack([values[:, 1], np.full(20_000, high[2])]))
    weighted = scale.lowest(np.column_stack([np.full(20_000, high[1]), values[:, 2]]))

    assert np.mean(rarest < height) == pytest.approx(floor / 2, abs=0.001)
    assert np.mean(weighted < height) == pytest.approx(floor, abs=0.001)


def test_people_who_are_far_off_everybody_leave_the_scale_as_it_is():
    values = people()
    odd = values.copy()
    odd[:3, 0] = -1e15

    plain = CommonScale.fit(values).lowest(values[:, 1:])
    beside = CommonScale.fit(odd).lowest(values[:, 1:])

    assert beside.min() > -50
    assert np.median(np.abs(beside - plain)) < 0.01
