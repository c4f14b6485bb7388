"""Who is comparable with a person: people of the same own categories, near in own numbers."""

from __future__ import annotations

import numpy as np
import pytest
from made_tables import space_and_points

from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.data.space import Space
from localface.density.common_states.comparable import (
    ComparablePeople,
    effective_number,
    widened_weights,
)

SCHEMA = Schema(
    [
        Feature("plan", kind="categorical", categories=["a", "b", "c"], moves="never"),
        Feature("age", moves="never"),
        Feature("paid"),
    ]
)
CHANCE = np.random.default_rng(0)
PLANS = np.repeat([0.0, 1.0, 2.0], [600, 597, 3])
RECORDS = np.column_stack([PLANS, CHANCE.normal(50, 15, 1200), CHANCE.normal(size=1200)])
SPACE, POINTS = space_and_points(RECORDS, SCHEMA)
PEOPLE = ComparablePeople.fit(POINTS, SPACE, np.array([0, 1]), n_people=1200)


def plans_of(rows):
    return rows[:, SPACE.feature_of == 0].argmax(axis=1)


@pytest.mark.parametrize("plan", [0, 1])
def test_people_of_another_category_do_not_count(plan):
    someone = POINTS[np.flatnonzero(np.equal(PLANS, plan))[0]]

    rows, _ = PEOPLE.weigh(someone)

    assert set(plans_of(rows)) == {plan}


def test_a_category_that_hardly_anybody_shares_does_not_narrow_people_down():
    rows, _ = PEOPLE.weigh(POINTS[-1])

    assert len(rows) == 1200


@pytest.mark.parametrize(("people_a_row", "fewest"), [(1.0, 40), (4.0, 10), (10.0, 5), (1e3, 5)])
def test_a_category_narrows_people_down_that_forty_share_or_five_rows_show(people_a_row, fewest):
    def n_alike(n):
        rows = np.zeros((200, 1))
        rows[:n] = 1.0
        none = np.zeros(0, dtype=np.int64)
        people = ComparablePeople((np.array([0]),), none, none, rows, people_a_row)
        return len(people.weigh(np.array([1.0]))[0])

    assert n_alike(fewest) == fewest
    assert n_alike(fewest - 1) == 200


def test_who_is_nearer_in_age_counts_for_more_whatever_they_pay():
    someone = POINTS[0]
    rows, weights = PEOPLE.weigh(someone)
    age = int(np.flatnonzero(SPACE.feature_of == 1)[0])

    apart = np.abs(rows[:, age] - someone[age])

    assert (np.diff(weights[np.argsort(apart)]) <= 0).all()
    assert 0 < PEOPLE.count(someone) < len(rows)


@pytest.mark.parametrize("enough", [3.0, 20.0, 49.9, 1e9])
def test_weights_are_the_narrowest_that_are_worth_enough(enough):
    squares = 4.0 + np.linspace(0, 3, 100) ** 2  # nobody is near: the nearest counts in full

    weights = widened_weights(squares, enough)

    for step in range(20):
        wanted = np.exp((4.0 - squares) / (2 * (0.1 * 1.4**step) ** 2))
        if effective_number(wanted) >= min(enough, 50):  # half of them are enough
            break
    assert weights == pytest.approx(wanted)
    assert weights[0] == 1.0


def test_weights_are_widened_no_further_than_ten_ordinary_differences():
    squares = np.array([0.0, 1e4, 1e4])

    weights = widened_weights(squares, 3.0)

    widest = 0.1 * 1.4**14  # the first beyond 10
    assert weights == pytest.approx(np.exp(-squares / (2 * widest**2)))


def test_people_are_counted_whatever_the_number_of_rows():
    twice = ComparablePeople.fit(POINTS, SPACE, np.array([0, 1]), n_people=600)
    large = np.repeat(POINTS, 4, axis=0)
    sampled = ComparablePeople.fit(large, SPACE, np.array([0, 1]), n_people=1200)

    assert twice.people_a_row == 0.5
    assert (len(sampled.rows), sampled.people_a_row) == (2000, 0.6)
    assert sampled.count(POINTS[700]) == pytest.approx(PEOPLE.count(POINTS[700]), rel=0.1)
    for someone in POINTS[[0, 700]]:
        rows, weights = PEOPLE.weigh(someone)
        assert PEOPLE.count(someone) == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
        assert PEOPLE.count(someone) >= min(300, len(rows) / 2)


@pytest.mark.parametrize(("n", "narrows"), [(39, False), (40, True)])
def test_forty_people_of_a_category_are_comparable_by_themselves(n, narrows):
    plans = np.repeat([0.0, 1.0], [1000 - n, n])
    records = np.column_stack([plans, np.linspace(20, 80, 1000), np.arange(1000)])
    space, points = space_and_points(records, SCHEMA)
    people = ComparablePeople.fit(points, space, np.array([0, 1]), n_people=1000)

    rows, _ = people.weigh(points[-1])

    assert len(rows) == (n if narrows else 1000)


def test_whoever_lacks_something_is_compared_with_those_who_lack_it_too():
    schema = SCHEMA.with_("age", missing="may be measured")
    records = RECORDS.copy()
    records[::3, 1] = np.nan
    distinct = records[np.lexsort(records.T)]
    space = Space.fit(schema, distinct)
    points = space.points(distinct)
    people = ComparablePeople.fit(points, space, np.array([0, 1]), n_people=1200)
    lacks = (points[:, people.absence_columns] > 0).any(axis=1)

    with_gaps, _ = people.weigh(points[np.flatnonzero(lacks)[0]])
    without, _ = people.weigh(points[np.flatnonzero(~lacks)[0]])

    assert lacks.sum() == 400
    mine = points[np.flatnonzero(lacks)[0]]
    plan = space.feature_of == 0
    alike = lacks & (points[:, plan] == mine[plan]).all(axis=1)
    assert with_gaps.tolist() == points[alike].tolist()
    assert (without[:, people.absence_columns] > 0).any()  # what others lack does not count
    assert (without[:, people.absence_columns] == 0).any()


def test_weights_that_are_worth_just_enough_are_not_widened():
    """Of two rows that are far apart one is worth half of them."""
    weights = widened_weights(np.array([0.0, 1e4]), 300.0)

    assert weights.tolist() == [1.0, 0.0]
