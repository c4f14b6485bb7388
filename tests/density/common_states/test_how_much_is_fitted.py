"""How much each part of a fit looks at: as much as it says, spread evenly, and not one row more."""

from __future__ import annotations

import numpy as np
import pytest
from made_tables import numbers_schema, space_and_points

from localface.density.common_states import pair_weights
from localface.density.common_states.bins import FeatureBins
from localface.density.common_states.copies import reach_of_copies
from localface.density.common_states.joint_density import are_few
from localface.density.common_states.pair_tables import PairTables
from localface.density.common_states.pair_weights import WeightedPairs
from localface.density.fit import _squared_distances_for_tuning
from localface.geometry.point_set import PointSet

CHANCE = np.random.default_rng(0)


def tables_of(records):
    space, points = space_and_points(records, numbers_schema(records.shape[1]))
    bins = FeatureBins.fit(points, space)
    binned = bins.of(points)
    return PairTables.fit(bins, binned, np.ones(len(binned))), binned


def test_of_many_dependent_pairs_the_four_hundred_are_kept_that_depend_most():
    """Thirty numbers of one person each have 435 pairs."""
    noise = np.linspace(0.1, 1.0, 30)
    records = CHANCE.normal(size=(600, 1)) + noise * CHANCE.normal(size=(600, 30))

    tables, _ = tables_of(records)

    every = [(j, k) for j in range(30) for k in range(j + 1, 30)]
    kept = list(zip(tables.first.tolist(), tables.second.tolist(), strict=True))
    assert len(kept) == len(tables) == 400
    assert kept == sorted(kept)
    left_out = set(every) - set(kept)
    assert np.mean([noise[j] + noise[k] for j, k in left_out]) > np.mean(
        [noise[j] + noise[k] for j, k in kept]
    )


def test_weights_are_learnt_from_two_thousand_rows_of_each_half(monkeypatch):
    common = CHANCE.normal(size=(4400, 1))
    tables, binned = tables_of(common + 0.5 * CHANCE.normal(size=(4400, 3)))
    taught = []
    plain = pair_weights.ridge_logistic

    def noting(features, labels):
        taught.append((len(features), labels.sum()))
        return plain(features, labels)

    monkeypatch.setattr(pair_weights, "ridge_logistic", noting)
    halves = np.arange(len(binned)) % 2
    own = np.zeros(0, dtype=np.int64)

    WeightedPairs.fit(tables, binned, halves, own)
    WeightedPairs.fit(tables, binned[:500], halves[:500], own)

    # as many records are composed as there are rows
    assert taught == [(4000, 2000), (4000, 2000), (500, 250), (500, 250)]


def test_how_near_copies_are_is_told_by_two_hundred_and_fifty_six_rows():
    rows = np.sort(CHANCE.exponential(size=(1200, 1)), axis=0)
    some = rows[np.linspace(0, 1199, 256).astype(int)]
    to_twentieth = np.sort(np.abs(some - rows.T), axis=1)[:, 20]

    assert reach_of_copies(rows) == pytest.approx(np.median(to_twentieth) / 2, rel=1e-12)


def test_a_plain_bandwidth_is_tuned_on_five_hundred_and_twelve_rows_against_all():
    rows = CHANCE.normal(size=(1500, 2))

    squares = _squared_distances_for_tuning(PointSet(rows))

    assert squares.shape == (512, 1500)
    assert (np.isinf(squares).sum(axis=1) == 1).all()  # each without itself
    assert np.isinf(squares[[0, -1], [0, -1]]).all()


def test_rows_are_few_below_a_hundred_for_each_number_that_was_whitened():
    numeric = np.array([True, False, True, True])

    assert are_few(299, numeric)
    assert not are_few(300, numeric)
