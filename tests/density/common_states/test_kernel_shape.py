"""The kernel's shape: covariance, bandwidth, leave-one-out sums and marginals."""

from __future__ import annotations

import numpy as np
import pytest
from made_tables import numbers_schema, phone_bills, phone_schema, space_and_points

from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.data.space import Space
from localface.density.common_states import kernel_shape
from localface.density.common_states.copies import Copies
from localface.density.common_states.joint_density import leave_one_out_log_sums
from localface.density.common_states.kernel_shape import (
    CATEGORY_RIDGE,
    KernelShape,
    _category_counts,
    _copies_narrow,
    _Directions,
    _shares_present,
    _units_of_categories,
    category_effects,
    shrunken_covariance,
)

SPACE, POINTS = space_and_points(phone_bills(600, seed=3), phone_schema())
SHAPE = KernelShape.fit(POINTS, SPACE, None)
NOBODY = Copies(None)


def plain_log_sum(point, rows, h, left_out=()):
    squares = ((rows - point) ** 2).sum(axis=1)
    squares = np.delete(squares, left_out)
    return float(np.log(np.exp(-squares / (2 * h * h)).sum()))


@pytest.mark.parametrize(("n", "width"), [(40, 6), (400, 3), (10, 25)])
def test_the_covariance_is_the_one_of_ledoit_and_wolf(n, width):
    covariance = pytest.importorskip("sklearn.covariance")
    chance = np.random.default_rng(0)
    rows = chance.normal(size=(n, width)) @ chance.normal(size=(width, width)) + 7

    expected, _ = covariance.ledoit_wolf(rows)

    assert shrunken_covariance(rows) == pytest.approx(expected)
    assert shrunken_covariance(rows / 1000) == pytest.approx(expected / 1e6), "in any unit"


def test_numbers_are_uncorrelated_after_the_map_and_categories_equally_far():
    white = POINTS @ SHAPE.matrix
    numeric = ~SPACE.discrete
    covariance = np.cov(white[:, numeric].T)
    steps = SHAPE.matrix[np.ix_(~numeric, ~numeric)]

    assert np.abs(covariance - np.diag(np.diag(covariance))).max() < 0.05 * covariance.max()
    units = np.array([1.0, 1.0, 1.0, 1.0])  # three plans and a contract
    assert steps == pytest.approx(steps[0, 0] * np.diag(units))


def test_another_category_is_one_unit_and_so_is_what_is_missing():
    schema = Schema(
        [
            Feature("plan", kind="categorical", categories=("a", "b", "c"), scale=3.0),
            Feature("lactate", scale=4.0),
            Feature("contract", kind="binary", scale=0.5),
        ]
    )
    records = np.array([[0.0, 1, 0], [1, 1, 0], [np.nan, 1, 0], [0, np.nan, 0], [0, 1, 1]])
    space = Space.fit(schema, records)

    codes = (space.points(records) * _units_of_categories(space))[:, space.discrete]

    assert np.linalg.norm(codes[1:] - codes[0], axis=1) == pytest.approx([1.0, 1.0, 1.0, 1.0])


def test_after_whitening_a_category_says_nothing_of_the_numbers():
    """Whoever pays what their plan costs is no further from people on other plans by that."""
    chance = np.random.default_rng(5)
    group = chance.integers(0, 2, 2000)
    shifted = np.column_stack([10.0 * group, -4.0 * group]) + chance.normal(size=(2000, 2))
    points = np.column_stack([group, shifted])

    found = _Directions.fit(points, np.array([1, 2]), np.array([0]), np.ones(2))
    alone = _Directions.fit(shifted, np.array([0, 1]), np.zeros(0, dtype=np.int64), np.ones(2))

    white = (points @ found.whitening(1.0))[:, 1:]
    assert white[group == 1].mean(axis=0) == pytest.approx(white[group == 0].mean(axis=0), abs=0.1)
    assert white[group == 0].std(axis=0) == pytest.approx(np.ones(2), abs=0.1)
    assert alone.effects.shape == (0, 2)


def test_a_category_in_numbers_counts_by_what_it_lets_expect():
    """Someone on a large plan who pays its price is near others on it, whatever the plan costs."""
    chance = np.random.default_rng(5)
    group = chance.integers(0, 2, 400)
    discrete = np.column_stack([group == 0, group == 1]).astype(float)
    numbers = (10.0 * group + chance.normal(size=400))[:, None]

    effects = category_effects(discrete, numbers)

    assert effects[1, 0] - effects[0, 0] == pytest.approx(10, abs=0.4)


def test_a_category_that_few_have_lets_expect_less_than_their_mean():
    """Three people are not enough to trust how far they are from all others."""
    linear_model = pytest.importorskip("sklearn.linear_model")
    discrete = (np.arange(200) < 3).astype(float)[:, None]
    numbers = 10 * discrete

    (effect,) = category_effects(discrete, numbers).ravel()

    ridge = linear_model.Ridge(alpha=CATEGORY_RIDGE).fit(discrete, numbers)
    assert effect == pytest.approx(ridge.coef_.item())
    assert effect < 10 / 2


def test_leave_one_out_sums_are_those_of_plain_loops():
    rows = POINTS @ SHAPE.matrix
    many = np.zeros(rows.shape[1], dtype=bool)  # no column was whitened: nothing to undo
    chosen = np.arange(5, 25)

    found = leave_one_out_log_sums(rows, chosen, SHAPE.bandwidth, NOBODY, many)

    expected = [plain_log_sum(rows[i], rows, SHAPE.bandwidth, [i]) for i in chosen]
    assert found.plain == pytest.approx(expected)
    assert found.fair == pytest.approx(expected)


def test_where_rows_are_few_the_covariance_is_that_of_the_others():
    chance = np.random.default_rng(1)
    rows = chance.normal(size=(60, 4))
    rows -= rows.mean(axis=0)
    values, vectors = np.linalg.eigh(rows.T @ rows / len(rows))
    white = rows @ (vectors / np.sqrt(values))

    found = leave_one_out_log_sums(white, np.arange(60), 0.7, NOBODY, np.ones(4, dtype=bool))

    for i in (0, 7, 31):
        others = np.delete(rows, i, axis=0)
        precision = np.linalg.inv(others.T @ others / len(rows))
        away = others - rows[i]
        squares = np.einsum("ij,jk,ik->i", away, precision, away)
        expected = np.log(np.exp(-squares / (2 * 0.7**2)).sum())
        assert found.fair[i] == pytest.approx(expected)
        assert found.plain[i] == pytest.approx(plain_log_sum(white[i], white, 0.7, [i]))


def test_where_rows_are_few_it_does_not_matter_where_they_are():
    """They were whitened about their own middle, which need not be the origin."""
    white = np.random.default_rng(1).normal(size=(60, 4))
    every = np.arange(60)
    numeric = np.ones(4, dtype=bool)

    here = leave_one_out_log_sums(white, every, 0.7, NOBODY, numeric)
    there = leave_one_out_log_sums(
        white + np.array([3.0, -5.0, 0.5, 8.0]), every, 0.7, NOBODY, numeric
    )

    assert there.plain == pytest.approx(here.plain)
    assert there.fair == pytest.approx(here.fair)


def test_the_marginal_kernel_is_the_integral_of_the_joint_one():
    chance = np.random.default_rng(2)
    matrix = chance.normal(size=(3, 3))
    shape = KernelShape(matrix, 0.8, NOBODY, np.ones(3, dtype=bool))
    marginal = shape.marginal_matrix(np.array([True, True, False]))

    def integrated(own):
        rest = np.linspace(-60, 60, 40_001)
        points = np.column_stack([np.tile(own, (len(rest), 1)), rest]) @ matrix
        return np.exp(-(points**2).sum(axis=1) / (2 * 0.8**2)).sum()

    def direct(own):
        point = own @ marginal
        return np.exp(-(point**2).sum() / (2 * 0.8**2))

    here = np.array([0.3, -0.2])
    there = np.array([-0.4, 0.5])
    ratio = integrated(here) / integrated(there)
    assert direct(here) / direct(there) == pytest.approx(ratio, rel=1e-6)


def correlated(n):
    chance = np.random.default_rng(6)
    return chance.normal(size=(n, 3)) @ np.array([[1.0, 0.8, 0.0], [0.0, 0.5, 0.0], [0, 0, 1.0]])


def crowds(n):
    chance = np.random.default_rng(7)
    return chance.normal(size=(n, 3)) * 0.3 + 12 * chance.integers(0, 2, (n, 1))


@pytest.mark.parametrize("made", [correlated, crowds])
def test_the_bandwidth_is_where_the_others_make_each_row_likeliest(made):
    space, points = space_and_points(made(250), numbers_schema(3))
    shape = KernelShape.fit(points, space, None)
    rows = points @ shape.matrix
    squares = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)

    def likelihood(h):
        return np.log(np.exp(-squares / (2 * h * h)).sum(axis=1)).mean() - 3 * np.log(h)

    widths = shape.bandwidth * np.array([0.5, 0.8, 0.9, 1.1, 1.25, 2.0])
    assert likelihood(shape.bandwidth) >= max(likelihood(h) for h in widths)


def test_the_cost_of_another_category_is_likeliest_as_well():
    numeric = ~SPACE.discrete
    white = POINTS @ SHAPE.matrix
    squares = ((white[:, None, numeric] - white[None][..., numeric]) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    step = SHAPE.matrix[4, 4] if SPACE.discrete[4] else SHAPE.matrix[1, 1]
    codes = POINTS[:, ~numeric]
    differ = ((codes[:, None] - codes[None]) ** 2).sum(axis=2).round()
    chosen = step**2 / (2 * SHAPE.bandwidth**2)

    def likelihood(cost):
        log_sums = np.log(np.exp(-squares / (2 * SHAPE.bandwidth**2) - cost * differ).sum(axis=1))
        spent = np.log1p(2 * np.exp(-cost)) + np.log1p(np.exp(-cost))
        return log_sums.mean() - spent

    assert likelihood(chosen) >= max(likelihood(chosen * f) for f in (0.3, 0.6, 1.6, 3.0)) - 0.005


def test_the_whitening_is_as_strong_as_makes_the_rows_likeliest():
    strong, points = space_and_points(correlated(400), numbers_schema(3))
    white = points @ KernelShape.fit(points, strong, None).matrix
    assert np.cov(white.T) == pytest.approx(np.eye(3), abs=0.15)  # shrunken a little

    apart, points = space_and_points(crowds(400), numbers_schema(3))
    stretched = points @ KernelShape.fit(points, apart, None).matrix
    spreads = np.sqrt(np.linalg.eigvalsh(np.cov(stretched.T)))
    assert spreads[-1] > 2 * spreads[0]  # the gap was not whitened away


@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize(("made", "strongest"), [(correlated, True), (crowds, False)])
def test_of_three_strengths_the_likeliest_is_taken(made, strongest, width, monkeypatch):
    space, points = space_and_points(made(400)[:, :width], numbers_schema(width))
    every = KernelShape.fit(points, space, None).matrix

    alone = []
    for strength in (1.0, 0.5, 0.0):
        monkeypatch.setattr(kernel_shape, "_STRENGTHS", (strength,))
        alone.append(KernelShape.fit(points, space, None).matrix)

    same = [np.array_equal(every, one) for one in alone]
    assert same.count(True) == 1
    assert same[0] == strongest


@pytest.mark.parametrize(("width", "tried"), [(1, [1.0]), (2, [1.0, 0.5, 0.0])])
def test_one_number_alone_is_whitened_at_one_strength(width, tried, monkeypatch):
    """It has one direction: any other strength is another unit, and no other shape."""
    space, points = space_and_points(correlated(200)[:, :width], numbers_schema(width))
    strengths = []
    plain = _Directions.whitening

    def noting(directions, strength):
        strengths.append(strength)
        return plain(directions, strength)

    monkeypatch.setattr(_Directions, "whitening", noting)

    KernelShape.fit(points, space, None)

    assert strengths == tried


def test_where_numbers_are_missing_they_are_counted_where_they_are_not():
    """A discrete part of a record has as many categories: to be missing is one."""
    schema = Schema(
        [
            Feature("plan", kind="categorical", categories=("a", "b", "c")),
            Feature("lactate"),
            Feature("contract", kind="binary"),
            Feature("age"),
        ]
    )
    records = np.column_stack(
        [np.arange(12) % 3, np.arange(12.0), np.arange(12) % 2, np.arange(12.0)]
    )
    records[::3, 1] = np.nan
    space = Space.fit(schema, records)
    points = space.points(records)
    (gap,) = space.absence_columns.columns
    lactate = np.arange(space.width) == gap.first

    shares = _shares_present(points, space)
    nobody_has_it = np.where(np.arange(space.width) == gap.column, 1.0, points)

    assert shares == pytest.approx(np.where(lactate, 2 / 3, 1.0))
    few = _shares_present(nobody_has_it, space)
    assert few == pytest.approx(np.where(lactate, 1 / 12, 1.0))  # as if one row told it
    assert _category_counts(space) == [3, len(schema.features[2].categories or ()), 2]


def test_nobody_is_near_who_has_another_value_where_all_have_the_same():
    records = np.column_stack([np.random.default_rng(9).normal(size=(80, 2)), np.full(80, 7.0)])
    schema = Schema([Feature("a"), Feature("b"), Feature("always", scale=1.0)])
    space, points = space_and_points(records, schema)

    shape = KernelShape.fit(points, space, None)

    assert shape.numbers.tolist() == [True, True, False]
    assert shape.matrix[2].tolist() == [0.0, 0.0, 10.0]


def test_no_direction_is_stretched_without_end():
    chance = np.random.default_rng(8)
    first = chance.normal(size=300)
    records = np.column_stack([first, first + 1e-6 * chance.normal(size=300)])
    space, points = space_and_points(records, numbers_schema(2))

    matrix = KernelShape.fit(points, space, None).matrix

    assert np.linalg.svd(matrix, compute_uv=False)[0] <= 10.001


@pytest.mark.parametrize("n_numbers", [1, 3])
def test_copies_are_noticed_where_a_quarter_of_the_rows_has_kernels_much_too_wide(n_numbers):
    rows = np.arange(400.0)[:, None]
    power = 4 ** (1 / (n_numbers + 4))  # that many times wider are kernels of a quarter anyway

    def narrow(times, rows=rows, n_numbers=n_numbers):
        def tune(white, codes, *, copies):
            assert len(set(white.ravel().tolist())) == len(white) == len(codes) == 100
            assert not copies.any
            return 0.3 * power * times, 1.0, 0.0

        return _copies_narrow(0.3, rows, rows, n_numbers, tune)

    assert narrow(2.6)
    assert not narrow(2.4)
    assert not narrow(9.0, rows=rows[:399])  # fewer no longer show the shape of a crowd
    assert not narrow(9.0, n_numbers=0)


def test_hidden_copies_are_looked_for_by_the_width_of_numbers_not_by_that_of_categories(
    monkeypatch,
):
    """A quarter of the rows is much wider than all of them: copies had made these narrow."""
    points = np.random.default_rng(8).normal(size=(800, 2))
    space = Space.fit(numbers_schema(2), points)

    def tune(white, codes, *, n_numbers, n_categories, copies):
        return (0.3 if len(white) == 800 else 1.2), 3.0, 0.0

    monkeypatch.setattr(kernel_shape, "tune_bandwidths", tune)

    assert KernelShape.fit(points, space, None).copies.distance > 0
