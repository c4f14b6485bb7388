"""Pair tables: counted right, without oneself, exact along a step."""

from __future__ import annotations

import numpy as np
import pytest
from made_tables import composed_records, phone_bills

from localface.density.common_states.bins import FeatureBins, bin_edges
from localface.density.common_states.model import CommonStates
from localface.density.common_states.pair_tables import PairTables
from localface.density.common_states.pair_weights import ridge_logistic

RECORDS, SIZES = phone_bills(1500, seed=0)
TABLES = PairTables.fit(RECORDS, SIZES, np.ones(len(RECORDS)))
EVERY = np.arange(len(TABLES))


def in_bin(bins: FeatureBins, j: int, number: int) -> np.ndarray:
    """Which records are in a bin, by the values that it says it has."""
    column = RECORDS[:, j]
    return (column >= bins.lowest[j][number]) & (column <= bins.highest[j][number])


def test_each_value_is_in_the_bin_that_says_so():
    binned = TABLES.bins.of(RECORDS)
    for j in range(RECORDS.shape[1]):
        for number in range(TABLES.bins.n_bins[j]):
            assert (in_bin(TABLES.bins, j, number) == (binned[:, j] == number)).all()


def test_bins_hold_about_as_many_rows_and_a_frequent_value_has_its_own():
    column = np.concatenate([np.zeros(400), np.arange(1.0, 601.0)])
    edges = bin_edges(column, 10)
    counts = np.bincount(np.searchsorted(edges, column, "right"))
    assert counts[0] == 400
    assert counts[1:-1].min() >= 100
    assert counts[1:].max() <= 110


def test_counts_and_log_ratios_are_those_of_plain_counting():
    binned = TABLES.bins.of(RECORDS)
    ratios = TABLES.cell_ratios(binned[:40], EVERY)
    without = TABLES.cell_ratios(binned[:40], EVERY, leave_one_out=True)

    for i in range(40):
        for number, table in enumerate(TABLES.tables):
            first = in_bin(TABLES.bins, table.first, binned[i, table.first])
            second = in_bin(TABLES.bins, table.second, binned[i, table.second])
            both = np.count_nonzero(first & second)
            expected = first.sum() * second.sum() / len(RECORDS)
            assert ratios[i, number] == pytest.approx(np.log((both + 1) / (expected + 1)))
            assert without[i, number] == pytest.approx(np.log(both / (expected + 1)))


def test_pairs_that_depend_are_kept_and_plain_noise_is_not():
    pairs = set(zip(TABLES.first.tolist(), TABLES.second.tolist(), strict=True))
    assert {(0, 3), (1, 2), (0, 4)} <= pairs
    assert not any(5 in pair for pair in pairs)


def test_an_impossible_pair_is_named_with_its_count():
    record = np.array([1.0, 2.0, 70.0, 5000.0, 0.0, 1.0])  # 5,000 after one month at 70
    binned = TABLES.bins.of(record[None, :])[0]

    named = TABLES.rarest(binned, EVERY)

    assert (named.first, named.second) == (0, 3)
    assert named.count == 0
    assert named.expected > 1


def test_cells_along_a_step_are_those_of_a_fine_grid():
    model = CommonStates.fit(RECORDS, SIZES)
    chance = np.random.default_rng(5)
    starts = RECORDS[chance.integers(0, len(RECORDS), 60)]
    ends = composed_records(RECORDS, seed=1)[:60]
    starts[0] = ends[0]  # a step that stays where it is
    starts[1:20, 1:] = ends[1:20, 1:]  # steps in one feature

    exact = model.pair_values_along(starts, ends)

    parts = (np.arange(6000) + 0.5) / 6000
    for i in range(60):
        grid = np.repeat(starts[i : i + 1], len(parts), axis=0)
        for j, scores in enumerate(model.space.normal_scores):
            if scores is None:
                grid[:, j] = np.where(parts < 0.5, starts[i, j], ends[i, j])
            else:
                first, last = scores.scores_of(np.array([starts[i, j], ends[i, j]]))
                grid[:, j] = scores.values_of(first + (last - first) * parts)
        sampled = model.pairs.values(model.pairs.tables.bins.of(grid)).min(axis=0)
        assert (exact[i] <= sampled + 1e-9).all()
        if i < 20:  # few edges are crossed: a fine grid meets every cell
            assert exact[i] == pytest.approx(sampled)


def test_the_cells_of_a_whole_step_are_all_met_by_a_fine_grid():
    model = CommonStates.fit(RECORDS, SIZES)
    lower = np.array([2.0, 0.0, 20.0, 40.0, 0.0, 0.3])
    upper = np.array([70.0, 2.0, 70.0, 4900.0, 1.0, 3.0])

    exact = model.pair_values_along(lower[None, :], upper[None, :])[0]

    parts = (np.arange(200_000) + 0.5) / 200_000
    grid = np.repeat(lower[None, :], len(parts), axis=0)
    for j, scores in enumerate(model.space.normal_scores):
        grid[:, j] = np.where(parts < 0.5, lower[j], upper[j])
        if scores is not None:
            first, last = scores.scores_of(np.array([lower[j], upper[j]]))
            grid[:, j] = scores.values_of(first + (last - first) * parts)
    sampled = model.pairs.values(model.pairs.tables.bins.of(grid)).min(axis=0)
    assert exact == pytest.approx(sampled)


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
