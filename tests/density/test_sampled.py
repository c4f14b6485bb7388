"""A user's own density is checked."""

from __future__ import annotations

import numpy as np
import pytest

from localface.density.sampled import SampledDensity, wrap_user_density
from localface.errors import DensityError
from localface.geometry.point_set import PointSet


def _cloud(width, n=400, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, width)) @ (np.eye(width) + 0.3 * rng.normal(size=(width, width)))


@pytest.mark.parametrize(
    ("lie", "message"),
    [
        (lambda places: -np.ones(len(places)), "negative"),
        (lambda places: np.arange(len(places)) - 0.5, r"negative value \(-0.5\)"),
        (lambda places: np.full(len(places), np.nan), "NaN"),
        (lambda places: np.ones((len(places), 2)), "shape"),
        (lambda places: np.ones(len(places)), "same at every row"),
        (lambda places: 1 / 0, "ZeroDivisionError"),
        (lambda places: places[:, 0] - places[:, 0].min(), "is 0 at 1 of 400 rows"),
    ],
)
def test_a_density_that_lies_is_told_what_it_said(lie, message):
    with pytest.raises(DensityError, match=message):
        SampledDensity(
            wrap_user_density(lie, lambda points: points),
            PointSet(_cloud(2)),
            np.zeros(2, dtype=bool),
        )


@pytest.mark.parametrize("lie", [np.nan, np.inf])
@pytest.mark.parametrize("gives_logs", [True, False], ids=["logarithms", "densities"])
def test_one_value_that_is_no_number_is_enough_to_refuse_a_density(lie, gives_logs):
    def values_at(places):
        return np.where(np.arange(len(places)) == 3, lie, places[:, 0] ** 2 + 1)

    class Fitted:
        score_samples = staticmethod(values_at)

    wrapped = wrap_user_density(Fitted() if gives_logs else values_at, lambda points: points)

    with pytest.raises(DensityError, match="NaN or infinity"):
        wrapped(_cloud(2))


def test_each_leg_of_a_step_is_sampled_at_thirty_three_places_ends_included():
    asked = []

    def noting(places):
        asked.append(places)
        return 1 / (1 + (places**2).sum(axis=1))

    density = SampledDensity(
        wrap_user_density(noting, lambda points: points),
        PointSet(_cloud(2)),
        np.array([False, True]),
    )
    asked.clear()

    density.lowest_along(np.array([[0.0, 0.0], [0.0, 0.0]]), np.array([[1.0, 0.0], [2.0, 1.0]]), 0)

    (places,) = asked
    along = np.linspace(0, 1, 33)
    zero, one = np.zeros(33), np.ones(33)
    straight = np.column_stack([along, zero])
    bent = [np.column_stack([along, zero]), np.column_stack([1 + along, one])]
    assert places == pytest.approx(np.concatenate([straight, *bent]))


def test_along_a_step_the_lowest_and_the_mean_are_those_of_the_density_itself():
    def bump(places):
        return 1 / (1 + (places**2).sum(axis=1))

    density = SampledDensity(
        wrap_user_density(bump, lambda points: points), PointSet(_cloud(2)), np.zeros(2, dtype=bool)
    )
    starts, ends = np.array([[-1.0, 1.0], [3.0, 0.0]]), np.array([[2.0, 1.0], [-1.0, 0.0]])

    lowest = density.lowest_along(starts, ends, None).log_densities
    means = density.mean_along(starts, ends, None).log_densities

    whole = [(np.arctan(2**0.5) + np.arctan(0.5**0.5)) / 2**0.5, np.arctan(3.0) + np.arctan(1.0)]
    assert lowest == pytest.approx(np.log([1 / 6, 1 / 10]))
    assert means == pytest.approx(np.log(np.array(whole) / [3, 4]), abs=0.02)
    assert density.lowest_along(starts, ends, np.log(0.15)).passes.tolist() == [True, False]
    assert density.mean_along(starts, ends, np.log(0.42)).passes.tolist() == [False, True]
