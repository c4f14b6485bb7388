"""One straight leg by itself: the referee, whose verdict counts to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from localface.density.exact_segment import ExactLeg, evenly_spaced_offsets
from localface.density.protocol import FLOOR_TOLERANCE

ROW = np.zeros((1, 2))


def log_sum_at(offset: float, leg: ExactLeg) -> float:
    return float(leg.log_sums_at(np.array([offset]))[0][0])


def test_a_floor_may_be_missed_by_half_the_tolerance_and_not_by_a_bit_more() -> None:
    """Where the only row is, the log-sum is 0 exactly."""
    leg = ExactLeg.of(ROW[0], ROW[0], ROW, 0.7)

    assert leg.stays_above(FLOOR_TOLERANCE / 2)
    assert not leg.stays_above(np.nextafter(FLOOR_TOLERANCE / 2, 1.0))


def test_between_samples_as_much_may_be_missed_as_the_whole_tolerance() -> None:
    """Two rows apart: the lowest is half way, between the samples that come first."""
    rows = np.array([[0.0, 0.0], [6.0, 0.0]])
    leg = ExactLeg.of(np.array([1.0, 0.0]), np.array([5.2, 0.0]), rows, 1.0)
    lowest = float(np.log(2.0) - 4.5)

    assert log_sum_at(2.0, leg) == pytest.approx(lowest, abs=1e-12)
    assert leg.stays_above(lowest)
    assert leg.stays_above(lowest + 0.4e-9)
    assert not leg.stays_above(lowest + 1.1e-9)


def test_without_rows_nothing_stays_above_anything() -> None:
    leg = ExactLeg.of(ROW[0], np.ones(2), ROW[:0], 0.7)

    assert not leg.stays_above(-1e300)
    assert leg.log_sums_at(np.array([0.0, 1.0]))[1].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("length", "n_samples"), [(0.0, 1), (0.1, 2), (5.0, 2), (5.1, 3), (10.0, 3), (1e9, 257)]
)
def test_a_leg_is_sampled_every_two_and_a_half_bandwidths_at_first(
    length: float, n_samples: int
) -> None:
    legs, offsets = evenly_spaced_offsets(np.array([length, 1.0]), h=2.0)

    assert legs.tolist() == [*[0] * n_samples, 1, 1]
    assert offsets[:n_samples] == pytest.approx(np.linspace(0, length, n_samples))


@pytest.mark.parametrize("width", [1, 3])
def test_slopes_are_those_of_the_log_sum(width: int) -> None:
    chance = np.random.default_rng(width)
    rows = chance.normal(size=(20, width)) + 3.0
    leg = ExactLeg.of(chance.normal(size=width), chance.normal(size=width) + 3, rows, 0.8)
    offsets = np.linspace(0, leg.length, 7)

    _, slopes = leg.log_sums_at(offsets)

    near = 1e-5
    rise = leg.log_sums_at(offsets + near)[0] - leg.log_sums_at(offsets - near)[0]
    assert slopes == pytest.approx(rise / (2 * near), abs=1e-6)
