"""Who is comparable with a person: people of the same own categories, near in own numbers."""

from __future__ import annotations

import numpy as np
import pytest
from made_tables import space_and_points

from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.density.common_states.comparable import ComparablePeople

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


def test_who_is_nearer_in_age_counts_for_more_whatever_they_pay():
    someone = POINTS[0]
    rows, weights = PEOPLE.weigh(someone)
    age = int(np.flatnonzero(SPACE.feature_of == 1)[0])

    apart = np.abs(rows[:, age] - someone[age])

    assert (np.diff(weights[np.argsort(apart)]) <= 0).all()
    assert 0 < PEOPLE.count(someone) < len(rows)
