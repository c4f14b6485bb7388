"""What is expected of people given what they cannot change."""

from __future__ import annotations

import numpy as np
import pytest
from made_tables import fit_on, numbers_schema, phone_bills, phone_schema, shares

from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.density.common_states.expectation import Expectation
from localface.density.common_states.given_own import GivenOwn, OwnRows
from localface.density.common_states.own_density import OwnDensity, without_own_kernel

CHANCE = np.random.default_rng(0)


def own_rows(given, points):
    """Rows in the columns that their people keep."""
    return OwnRows.of(points[:, given.columns], given.density)


def test_expectations_follow_categories_and_bent_lines():
    own = np.column_stack([CHANCE.integers(0, 2, 4000), CHANCE.normal(size=4000)])
    bent = np.where(own[:, 1] > 0, 2 * own[:, 1], 0.0)
    values = np.column_stack([3 * own[:, 0] + bent, -own[:, 1]])
    noisy = values + 0.1 * CHANCE.normal(size=values.shape)

    mean, _ = Expectation.fit(own, np.array([True, False]), noisy).at(own)

    assert np.abs(mean - values).max() < 0.15
    assert np.abs(mean - values).mean() < 0.02


@pytest.mark.parametrize("knot", [-1.5, -0.75, 0.0, 0.75, 1.5])
def test_a_line_may_bend_in_the_middle_and_at_either_side_of_it(knot):
    own = np.linspace(-2.5, 2.5, 4000)[:, None]
    bent = np.maximum(own - knot, 0.0)

    mean, _ = Expectation.fit(own, np.array([False]), bent).at(own)

    assert np.abs(mean - bent).max() < 0.05


def test_the_spread_follows_as_well():
    own = CHANCE.integers(0, 2, (4000, 1)).astype(float)
    values = np.where(own == 1, 3.0, 1.0) * CHANCE.normal(size=(4000, 1))

    _, spread = Expectation.fit(own, np.array([True]), values).at(np.array([[0.0], [1.0]]))

    assert spread[1, 0] / spread[0, 0] == pytest.approx(3, rel=0.15)


def test_nobody_is_so_special_that_spreads_run_away():
    own = CHANCE.normal(size=(200, 1))
    values = np.exp(3 * own) * CHANCE.normal(size=(200, 1))

    _, spread = Expectation.fit(own, np.array([False]), values).at(np.array([[-1e9], [1e9]]))

    assert (spread >= np.exp(-1.5)).all()
    assert (spread <= np.exp(1.5)).all()


def test_values_that_never_vary_are_survived():
    own = CHANCE.normal(size=(50, 2))

    mean, spread = Expectation.fit(own, np.array([False, False]), np.zeros((50, 3))).at(own)

    assert mean == pytest.approx(np.zeros((50, 3)))
    assert np.isfinite(spread).all()


def test_own_densities_are_sums_over_all_rows_with_and_without_oneself():
    points = CHANCE.integers(0, 4, (80, 2)).astype(float)
    matrix = np.array([[1.0, 0.3], [0.0, 2.0]])
    density = OwnDensity.fit(points, matrix, 0.6)

    found = density.log_sums(points)
    without = without_own_kernel(found)

    for i, point in enumerate(points):
        squares = (((points - point) @ matrix) ** 2).sum(axis=1)
        kernels = np.exp(-squares / (2 * 0.6**2))
        assert found[i] == pytest.approx(np.log(kernels.sum()))
        if kernels.sum() >= 2:
            assert without[i] == pytest.approx(np.log(np.delete(kernels, i).sum()))


@pytest.mark.parametrize("bandwidth", [0.01, 1.0])
def test_own_densities_far_out_are_as_near_as_they_are_stated(bandwidth):
    """A million bandwidths from 0, where products of points have no digits left."""
    points = 1e6 + bandwidth * np.arange(50.0)[:, None]
    places = points + 0.3 * bandwidth

    found = OwnDensity.fit(points, np.eye(1), bandwidth).log_sums(places)

    apart = (places - points.T) / bandwidth
    assert found == pytest.approx(np.log(np.exp(-(apart**2) / 2).sum(axis=1)), abs=1e-6)


def test_of_many_different_own_rows_some_stand_for_all():
    """Four thousand and ninety-six, spread evenly; each stands for as many as it takes."""
    points = np.arange(6000.0)[:, None]
    chosen = np.unique(np.linspace(0, 5999, 4096).astype(int)).astype(float)
    place = np.array([[2000.3]])

    found = OwnDensity.fit(points, np.eye(1), 2.0).log_sums(place)

    kernels = np.exp(-((chosen - 2000.3) ** 2) / (2 * 2.0**2))
    assert found[0] == pytest.approx(np.log(kernels.sum() * 6000 / len(chosen)))


def test_what_is_expected_is_a_matter_of_own_columns_alone_and_the_same_in_any_batch():
    density = fit_on(phone_bills(800, seed=1), phone_schema(own=("months", "plan")))
    given = density.given_own
    points = density.rows.points[:30]
    elsewhere = np.where(given.columns, points, 7.0)

    means, spreads = given.at(points)

    for i in range(30):
        mean, spread = given.at(elsewhere[i : i + 1])
        assert mean.tobytes() == means[i].tobytes()
        assert spread.tobytes() == spreads[i].tobytes()
    together, _ = given.for_rows(own_rows(given, points), left_out=False)
    assert together == pytest.approx(means)
    assert given.columns.sum() == 4  # months, and a column a plan


def test_a_row_without_itself_has_less_to_expect():
    density = fit_on(phone_bills(800, seed=1), phone_schema(own=("months",)))

    rows = own_rows(density.given_own, density.rows.points)
    with_all, _ = density.given_own.for_rows(rows, left_out=False)
    without, _ = density.given_own.for_rows(rows, left_out=True)

    assert (without[:, 0] < with_all[:, 0]).all()
    assert without[:, 1:] == pytest.approx(with_all[:, 1:])


def test_the_first_question_is_about_a_density_and_the_others_are_taken_as_they_are():
    density = fit_on(phone_bills(800, seed=1), phone_schema(own=("months",)))
    rows = own_rows(density.given_own, density.rows.points)
    values = np.column_stack([rows.log_sums_of_others + 2.0, np.full(len(rows.points), 5.0)])

    given = GivenOwn.fit(rows, values, density.space, density=density.given_own.density)

    mean, _ = given.for_rows(rows, left_out=True)
    assert mean == pytest.approx(values)
    assert given.expectation.at(rows.points)[0][:, 0] == pytest.approx(2.0)


def rare_condition(n, seed):
    """A condition that 3 % have, and three numbers that are all shifted by it."""
    chance = np.random.default_rng(seed)
    ill = (chance.random(n) < 0.03).astype(float)
    age = np.clip(chance.normal(50, 15, n), 18, 95).round()
    numbers = chance.normal(size=(n, 3)) + 3.0 * ill[:, None] + 0.02 * (age - 50)[:, None]
    return np.column_stack([ill, age, numbers])


def condition_schema(own):
    moves = "never" if own else "freely"
    return Schema(
        [
            Feature("ill", kind="binary", moves=moves),
            Feature("age", kind="integer"),
            *numbers_schema(3),
        ]
    )


@pytest.mark.slow
def test_a_rare_condition_is_called_uncommon_much_less_often_where_it_is_own():
    refused = np.zeros(2)
    for seed in range(4):
        records = rare_condition(3000, seed)
        ill = records[1800:][records[1800:, 0] == 1]
        for i, own in enumerate((False, True)):
            density = fit_on(records[:1800], condition_schema(own))
            refused[i] += np.mean(shares(density, ill) < 0.05) / 4

    assert refused[0] > 0.12
    assert refused[1] < 0.65 * refused[0]
    assert refused[1] < 0.12


def test_a_floor_refuses_about_as_many_of_every_kind_of_people():
    records = phone_bills(4000, seed=0)
    density = fit_on(records[:2500], phone_schema(own=("plan",)))
    new = records[2500:]

    refused = shares(density, new) < 0.05

    for plan in range(3):
        assert 0.02 <= refused[new[:, 1] == plan].mean() <= 0.09


def test_a_few_values_far_off_do_not_decide_what_is_expected_of_others():
    chance = np.random.default_rng(1)
    own = chance.normal(size=(500, 1))
    values = own + 0.1 * chance.normal(size=(500, 1))
    odd = values.copy()
    odd[:3] = -1e12

    plain, _ = Expectation.fit(own, np.array([False]), values).at(own)
    beside, _ = Expectation.fit(own, np.array([False]), odd).at(own)

    assert np.abs(beside - plain).mean() < 0.3


def test_far_out_an_expectation_stays_what_it_is():
    own = CHANCE.normal(size=(300, 1))
    expectation = Expectation.fit(own, np.array([False]), own)

    mean, _ = expectation.at(np.array([[10.0], [1e3], [1e9]]))

    assert mean[1:].ravel().tolist() == [mean[0, 0]] * 2


def test_nobody_at_all_is_a_valid_question():
    density = fit_on(phone_bills(200, seed=1), phone_schema(own=("months",)))
    nobody = density.rows.points[:0]

    assert density.lowest_along(nobody, nobody, None).log_densities.shape == (0,)
    assert density.lowest_along(nobody, nobody, 0.0).passes.shape == (0,)
    assert density.mean_along(nobody, nobody, None).log_densities.shape == (0,)
