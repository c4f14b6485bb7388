"""The straight legs of steps: each by itself, in the order of the steps."""

from __future__ import annotations

import numpy as np
import pytest

from localface.density.segment_bounds import Legs
from localface.geometry.segments import split_at_flips

DISCRETE = np.array([False, True, False])
RNG = np.random.default_rng(0)
STARTS = np.column_stack([RNG.normal(size=20), RNG.integers(0, 2, 20), RNG.normal(size=20)])
ENDS = np.column_stack([RNG.normal(size=20), RNG.integers(0, 2, 20), RNG.normal(size=20)])
ENDS[3] = STARTS[3]


def test_many_steps_have_the_legs_that_each_has_alone() -> None:
    legs = Legs.of(STARTS, ENDS, DISCRETE)

    alone = [(i, *leg) for i in range(20) for leg in split_at_flips(STARTS[i], ENDS[i], DISCRETE)]
    assert 20 < len(legs) == len(alone) < 40
    for number, (step, start, end) in enumerate(alone):
        assert legs.segment[number] == step
        assert legs.starts[number].tolist() == start.tolist()
        assert legs.ends[number].tolist() == end.tolist()
    assert legs.segment[legs.first_legs].tolist() == list(range(20))


def test_a_point_on_a_leg_is_so_far_from_its_start_on_the_way_to_its_end() -> None:
    legs = Legs.of(STARTS, ENDS, DISCRETE)

    np.testing.assert_allclose(legs.points_at(np.zeros(len(legs))), legs.starts)
    np.testing.assert_allclose(legs.points_at(legs.lengths), legs.ends, atol=1e-12)
    some = legs.subset(np.array([0, 5]))
    half = some.points_at(some.lengths / 2)
    np.testing.assert_allclose(half, (some.starts + some.ends) / 2)


def test_a_leg_of_no_length_leads_nowhere() -> None:
    legs = Legs.of(STARTS[[3]], ENDS[[3]], DISCRETE)

    assert legs.lengths.tolist() == [0.0]
    assert legs.directions.tolist() == [[0.0, 0.0, 0.0]]


def test_legs_between_other_points_stay_those_of_their_steps() -> None:
    legs = Legs.of(STARTS, ENDS, DISCRETE)

    doubled = legs.between(2 * legs.starts, 2 * legs.ends)

    assert doubled.segment.tolist() == legs.segment.tolist()
    assert doubled.lengths == pytest.approx(2 * legs.lengths)
    assert doubled.directions == pytest.approx(legs.directions)
