"""Pair tables: counted right, without some rows, and what each pair weighs."""

from __future__ import annotations

import numpy as np
import pytest
from made_tables import composed_records, phone_bills, phone_schema, space_and_points
from scipy.stats import chi2_contingency

from localface.density.common_states.bins import FeatureBins
from localface.density.common_states.pair_tables import PairTables
from localface.density.common_states.pair_weights import WeightedPairs, ridge_logistic

RECORDS = phone_bills(1500, seed=0)
SPACE, POINTS = space_and_points(RECORDS, phone_schema())
BINS = FeatureBins.fit(POINTS, SPACE)
BINNED = BINS.of(POINTS)
TABLES = PairTables.fit(BINS, BINNED, np.ones(len(POINTS)))
EVERY = np.arange(len(TABLES))
HALVES = np.arange(len(POINTS)) % 2
NOTHING = np.zeros(0, dtype=np.int64)


def binned_edges(j):
    """The edges of a feature's bins, as a histogram wants them."""
    if SPACE.schema.features[j].kind == "categorical":
        return np.arange(-0.5, BINS.n_bins[j] + 0.5)
    edges = BINS.edges[j][~np.isnan(BINS.edges[j])]
    return np.concatenate([[-np.inf], edges, [np.inf]])


def column_of(j):
    first = SPACE.first_columns[j]
    if SPACE.schema.features[j].kind == "categorical":
        return POINTS[:, first : first + BINS.n_bins[j]].argmax(axis=1)
    return POINTS[:, first]


@pytest.mark.parametrize("weighted", [False, True])
def test_counts_are_those_of_a_histogram(weighted):
    weights = np.random.default_rng(0).uniform(0.2, 1, len(POINTS)) if weighted else None
    given = np.ones(len(POINTS)) if weights is None else weights

    for table in PairTables.fit(BINS, BINNED, given).tables:
        j, k = table.first, table.second
        counts, _, _ = np.histogram2d(
            column_of(j), column_of(k), [binned_edges(j), binned_edges(k)], weights=weights
        )
        assert table.counts == pytest.approx(counts)
        assert table.expected == pytest.approx(
            np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
        )


def test_the_information_of_a_pair_is_what_a_test_of_independence_finds_beyond_chance():
    for table in TABLES.tables:
        counts = table.counts[table.counts.sum(axis=1) > 0][:, table.counts.sum(axis=0) > 0]
        found = chi2_contingency(counts, correction=False, lambda_="log-likelihood")
        beyond_chance = (found.statistic - found.dof) / 2
        assert table.information == pytest.approx(beyond_chance / len(POINTS))


def test_log_ratios_are_those_of_plain_counting_with_any_rows_left_out():
    chance = np.random.default_rng(1)
    composed = chance.permuted(BINNED, axis=0)[:20]  # some of their pairs nobody has
    states = np.vstack([BINNED[:40], composed])
    without = chance.integers(0, len(POINTS), (60, 2))
    without[:10] = -1  # nobody
    without[10:20, 1] = -1  # one row
    without[15:30, 0] = np.arange(15, 30)  # the state's own row
    left_out = np.where(without[..., None] < 0, -1, BINNED[without])

    plain = TABLES.cell_ratios(states, EVERY)
    found = TABLES.cell_ratios(states, EVERY, left_out)

    assert np.exp(plain).min() < 0.5
    for i in range(60):
        others = np.delete(BINNED, without[i][without[i] >= 0], axis=0)
        for number, table in enumerate(TABLES.tables):
            cell = states[i, [table.first, table.second]]
            expected = table.expected[tuple(cell)]

            def counted(rows, cell=cell, table=table):
                return (rows[:, [table.first, table.second]] == cell).all(axis=1).sum()

            assert plain[i, number] == pytest.approx(np.log((counted(BINNED) + 1) / (expected + 1)))
            assert found[i, number] == pytest.approx(np.log((counted(others) + 1) / (expected + 1)))


def test_leaving_out_more_rows_than_count_leaves_none():
    """Copies of one person count for less than a row each."""
    light = PairTables.fit(BINS, BINNED, np.full(len(POINTS), 0.3))
    ratios = light.log_ratios

    assert (np.diff(ratios, axis=0) <= 0).all()
    flat = np.concatenate([table.expected.ravel() for table in light.tables])
    assert (ratios >= np.log(1 / (flat + 1)) - 1e-12).all()


def test_pairs_that_depend_are_kept_and_plain_noise_is_not():
    pairs = set(zip(TABLES.first.tolist(), TABLES.second.tolist(), strict=True))

    assert {(0, 3), (1, 2), (0, 4)} <= pairs
    assert not any(5 in pair for pair in pairs)


def test_independent_columns_have_no_pairs_to_speak_of():
    chance = np.random.default_rng(4)
    found = 0
    for _ in range(20):
        binned = chance.integers(0, 4, (600, 6))
        binned[:, 1] = chance.integers(0, 3, 600)
        binned[:, 4] = chance.integers(0, 2, 600)
        found += len(PairTables.fit(BINS, binned, np.ones(600)))
    assert found <= 4  # of 300


def test_an_impossible_pair_is_named_with_its_count():
    record = np.array([[1.0, 2.0, 70.0, 5000.0, 0.0, 1.0]])  # 5,000 after one month at 70
    binned = BINS.of(SPACE.points(record))[0]

    (number,) = TABLES.rarest_of_each(binned[None, :], EVERY)
    named = TABLES.name_pair(int(number), binned)

    assert (named.first, named.second) == (0, 3)
    assert named.bins == (binned[0], binned[3])
    assert named.count == 0
    assert named.expected > 1


def test_the_rarest_pair_and_the_weighted_sum_are_what_they_say():
    pairs = WeightedPairs.fit(TABLES, BINNED, HALVES, NOTHING)
    ratios = TABLES.cell_ratios(BINNED, EVERY)

    values = pairs.values(BINNED)

    assert values[:, 0] == pytest.approx(ratios.min(axis=1))
    assert values[:, 1] == pytest.approx(ratios @ pairs.weights.mean(axis=0))


def test_a_row_is_judged_without_itself_by_what_the_other_half_taught():
    pairs = WeightedPairs.fit(TABLES, BINNED, HALVES, NOTHING)
    ratios = TABLES.cell_ratios(BINNED, EVERY, BINNED[:, None])

    values = pairs.cross_fitted_values(BINNED, HALVES)

    assert values[:, 0] == pytest.approx(ratios.min(axis=1))
    assert values[0, 1] == pytest.approx(ratios[0] @ pairs.weights[1])
    assert values[1, 1] == pytest.approx(ratios[1] @ pairs.weights[0])


def test_each_half_teaches_its_own_weights():
    noise = BINS.of(SPACE.points(composed_records(RECORDS, seed=3)))
    mixed = np.where((HALVES == 0)[:, None], BINNED, noise)

    pairs = WeightedPairs.fit(TABLES, mixed, HALVES, NOTHING)

    assert pairs.weights[0].sum() > 3 * pairs.weights[1].sum()


def test_pairs_of_own_features_do_not_count():
    pairs = WeightedPairs.fit(TABLES, BINNED, HALVES, np.array([0, 3]))

    counted = {(TABLES.first[i], TABLES.second[i]) for i in pairs.considered}

    assert (0, 3) not in counted
    assert (0, 4) in counted
    assert len(counted) == len(TABLES) - 1


def test_weights_tell_rows_from_composed_records_and_none_is_negative():
    pairs = WeightedPairs.fit(TABLES, BINNED, HALVES, NOTHING)
    fresh = BINS.of(SPACE.points(phone_bills(500, seed=9)))
    composed = BINS.of(SPACE.points(composed_records(phone_bills(500, seed=9), seed=1)))

    real = pairs.values(fresh)[:, 1]
    made = pairs.values(composed)[:, 1]

    assert (pairs.weights >= 0).all()
    assert (real[:, None] > made).mean() > 0.95


def test_a_ridge_logistic_regression_is_at_its_optimum():
    chance = np.random.default_rng(2)
    features = chance.normal(size=(300, 3))
    labels = (features[:, 0] + chance.normal(size=300) > 0).astype(float)

    def loss(weights):
        best = np.inf
        for constant in np.linspace(-0.5, 0.5, 201):
            signs = (features @ weights + constant) * (2 * labels - 1)
            best = min(best, np.log1p(np.exp(-signs)).sum() + 5 * (weights**2).sum())
        return best

    found = ridge_logistic(features, labels)

    for j in range(3):
        for step in (-0.05, 0.05):
            assert loss(found) <= loss(found + step * np.eye(3)[j]) + 1e-6


def test_the_information_of_a_pair_is_what_counts_say_beyond_chance():
    """Counts of chance alone have half a nat a degree of freedom, shared among the rows."""
    for table in TABLES.tables:
        counts = table.counts
        used = counts[np.ix_(counts.sum(axis=1) > 0, counts.sum(axis=0) > 0)]
        statistic = chi2_contingency(used, lambda_="log-likelihood", correction=False)
        beyond_chance = (statistic.statistic - statistic.dof) / (2 * counts.sum())
        assert table.information == pytest.approx(beyond_chance)


@pytest.mark.parametrize("share", [0.5, 0.03])
def test_a_ridge_holds_weights_back_and_leaves_the_constant_alone(share):
    linear_model = pytest.importorskip("sklearn.linear_model")
    chance = np.random.default_rng(0)
    features = chance.normal(size=(600, 3)) + 1.0
    chances = 1 / (1 + np.exp(-(features @ [1.0, -0.5, 0.0]))) * 2 * share
    labels = (chance.random(600) < chances).astype(float)

    found = ridge_logistic(features, labels)

    other = linear_model.LogisticRegression(C=1 / 10, tol=1e-10, max_iter=1000)
    assert found == pytest.approx(other.fit(features, labels).coef_[0], abs=1e-4)


def test_a_pair_is_named_only_where_it_occurs_less_than_by_chance():
    """What no weight is learnt for lowers no sum, however rare it is."""
    weightless = WeightedPairs(TABLES, np.zeros((2, len(TABLES))), EVERY)
    odd = BINNED[:1].copy()
    odd[0, 0], odd[0, 3] = 0, BINS.n_bins[3] - 1  # after few months much was paid
    nobody = np.full((1, 1, odd.shape[1]), -1)

    assert weightless.name_lowest(odd, nobody, weighted=True) is None
    assert weightless.name_lowest(odd, nobody, weighted=False) is not None
