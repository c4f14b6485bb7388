"""The whole model: calibrated on new people, strict on composed records, safe on odd tables."""

from __future__ import annotations

import numpy as np
import pytest
from made_tables import composed_records, phone_bills

from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.density.common_states import CommonStates, category_counts
from localface.errors import DataError

RECORDS, SIZES = phone_bills(4000, seed=0)
KNOWN = RECORDS[:2500]
NEW = RECORDS[2500:]


def rare_condition(n, seed):
    """A condition that 3 % have, and three numbers that are all shifted by it."""
    chance = np.random.default_rng(seed)
    ill = (chance.random(n) < 0.03).astype(float)
    age = np.clip(chance.normal(50, 15, n), 18, 95).round()
    numbers = chance.normal(size=(n, 3)) + 3.0 * ill[:, None] + 0.02 * (age - 50)[:, None]
    return np.column_stack([ill, age, numbers]), [2, 0, 0, 0, 0]


@pytest.mark.parametrize("own", [(), (1,), (0, 4)], ids=["nothing own", "plan", "months, contract"])
def test_a_floor_of_five_percent_refuses_five_percent_of_new_people(own):
    shares = CommonStates.fit(KNOWN, SIZES, own=own).shares(NEW)
    assert 0.03 <= np.mean(shares < 0.05) <= 0.07


def test_other_floors_are_calibrated_too():
    shares = CommonStates.fit(KNOWN, SIZES).shares(NEW)
    for floor in (0.01, 0.02, 0.1, 0.3):
        error = 4 * np.sqrt(floor * (1 - floor) * (1 / len(NEW) + 1 / len(KNOWN)))
        assert abs(np.mean(shares < floor) - floor) <= error + 0.002


def test_composed_records_are_refused_much_more_often():
    shares = CommonStates.fit(KNOWN, SIZES).shares(composed_records(NEW, seed=1))
    assert np.mean(shares >= 0.05) < 0.1


@pytest.mark.parametrize("own", [(), (1, 0)])
def test_a_state_is_as_common_as_a_floor_exactly_where_it_reaches_all_thresholds(own):
    model = CommonStates.fit(KNOWN[:900], SIZES, own=own)
    states = np.vstack([NEW[:40], composed_records(NEW[:40], seed=3)])
    shares = model.shares(states)
    values = model.values(states)

    for floor in (0.005, 0.01, 0.05, 0.1, 0.3):
        for i, state in enumerate(states):
            reached = bool((values[i] >= model.scale(state).thresholds(floor)).all())
            assert reached == (shares[i] >= floor - 1e-12)


def test_thresholds_of_a_person_are_plain_log_sums_and_log_ratios():
    everybody = CommonStates.fit(KNOWN[:900], SIZES)
    given_own = CommonStates.fit(KNOWN[:900], SIZES, own=(1,))
    point = everybody.space.points(NEW[:1]) @ given_own.shape.matrix
    squares = ((given_own.rows - point) ** 2).sum(axis=1)
    log_sum = np.log(np.exp(-squares / (2 * given_own.shape.bandwidth**2)).sum())

    share = float(given_own.shares(NEW[:1])[0])

    assert share > 0
    assert log_sum >= given_own.thresholds(NEW[0], share)[0] - 1e-9


def test_a_rare_condition_is_called_uncommon_less_often_where_it_is_own():
    refused = np.zeros(2)
    for seed in range(3):
        records, sizes = rare_condition(3000, seed)
        known = records[:1800]
        new = records[1800:]
        ill = new[new[:, 0] == 1]
        for i, own in enumerate(((), (0,))):
            refused[i] += np.mean(CommonStates.fit(known, sizes, own=own).shares(ill) < 0.05) / 3

    assert refused[0] > 0.12
    assert refused[1] < 0.75 * refused[0]


def test_it_is_said_how_many_people_a_comparison_rests_on():
    records, sizes = rare_condition(1500, seed=2)
    model = CommonStates.fit(records, sizes, own=(0,))
    ill = records[records[:, 0] == 1]
    well = records[records[:, 0] == 0]

    assert model.scale(ill[0]).n_effective == pytest.approx(len(ill))
    assert model.scale(well[0]).n_effective == pytest.approx(len(well))


def test_the_rarest_pair_is_named_and_pairs_of_own_features_are_not():
    odd = np.array([1.0, 2.0, 70.0, 5000.0, 0.0, 1.0])

    named = CommonStates.fit(KNOWN, SIZES).rarest_pair(odd)
    without = CommonStates.fit(KNOWN, SIZES, own=(0, 3)).rarest_pair(odd)

    assert (named.first, named.second, named.count) == (0, 3, 0)
    assert (without.first, without.second) != (0, 3)


def test_the_same_records_give_the_same_shares():
    first = CommonStates.fit(KNOWN[:500], SIZES, own=(1,)).shares(NEW)
    again = CommonStates.fit(KNOWN[:500], SIZES, own=(1,)).shares(NEW)
    assert (first == again).all()


def odd_tables():
    chance = np.random.default_rng(0)
    numbers = chance.normal(size=(60, 3))
    constant = np.column_stack([numbers, np.full(60, 7.0)])
    outliers = numbers.copy()
    outliers[0] = [1e12, -1e12, 1e9]
    category = np.column_stack([numbers[:, 0], np.zeros(60)])
    return {
        "a constant column": (constant, [0, 0, 0, 0]),
        "only constants": (np.ones((5, 2)), [0, 0]),
        "one category": (category, [0, 1]),
        "two rows": (numbers[:2], [0, 0, 0]),
        "three rows": (numbers[:3], [0, 0, 0]),
        "one column": (numbers[:, :1], [0]),
        "duplicates": (np.repeat(numbers[:15], 4, axis=0), [0, 0, 0]),
        "only duplicates": (np.repeat(numbers[:1], 30, axis=0), [0, 0, 0]),
        "huge outliers": (outliers, [0, 0, 0]),
        "categories only": (chance.integers(0, 3, (80, 3)).astype(float), [3, 3, 3]),
        "one flag": (chance.integers(0, 2, (80, 1)).astype(float), [2]),
        "more columns than rows": (chance.normal(size=(10, 25)), [0] * 25),
    }


@pytest.mark.parametrize("own", [(), (0,)], ids=["nothing own", "own"])
@pytest.mark.parametrize("name", odd_tables())
def test_odd_tables_give_shares(name, own):
    records, sizes = odd_tables()[name]
    model = CommonStates.fit(records, sizes, own=own)
    new = np.vstack([records[:3], records[:1] + np.where(np.array(sizes) == 0, 1e6, 0)])

    shares = model.shares(new)

    assert ((shares >= 0) & (shares <= 1)).all()
    assert ((model.row_shares(np.arange(2)) >= 0) & (model.row_shares(np.arange(2)) <= 1)).all()
    model.rarest_pair(new[-1])
    assert model.pair_values_along(new[:1], new[1:2]).shape == (1, 2)


def test_one_row_is_refused():
    with pytest.raises(DataError, match="at least 2"):
        CommonStates.fit(np.ones((1, 2)), [0, 0])


def test_a_schema_says_how_many_categories_there_are():
    schema = Schema(
        [
            Feature("age", kind="integer"),
            Feature("unit", kind="categorical", categories=("a", "b", "c")),
            Feature("grade", kind="ordinal", categories=("low", "high")),
            Feature("sex", kind="binary", categories=("f", "m")),
        ]
    )
    assert category_counts(schema) == (0, 3, 0, 2)
