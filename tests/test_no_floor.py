"""Without a floor any state may be passed; values need not be round where that is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from localface import LocalFACE, Search

APART = 9.0
PERSON = {"a": 0.1, "b": 0.2}


@pytest.fixture(scope="module")
def two_groups() -> pd.DataFrame:
    """Two groups far apart, with nobody between them or beyond."""
    chance = np.random.default_rng(5)
    left = chance.normal([0.0, 0.0], 1.0, size=(150, 2))
    right = chance.normal([APART, APART], 1.0, size=(150, 2))
    return pd.DataFrame(np.concatenate([left, right]).round(3), columns=["a", "b"])


def reaches(people: Any) -> Any:
    """The score is 1 from 4.4444 of the first number on, in the middle of the gap."""
    return (np.asarray(people["a"], dtype=float) >= 4.4444).astype(float)


def test_a_floor_of_zero_refuses_no_state_however_rare(two_groups):
    """One change to the middle of the gap is enough; with the lowest floor nobody stands there."""
    explainer = LocalFACE(reaches, two_groups)

    free = explainer.explain(PERSON, min_density=0, prefer="effort")
    rare = explainer.explain(PERSON, min_density=1e-6, prefer="effort")

    assert free.found
    (change,) = free.changes
    assert (change.name, change.after) == ("a", pytest.approx(4.45, abs=0.03))
    assert free.densities[-1] == 0.0
    assert "any state: no floor was asked for" in str(free)
    assert not rare.found or rare.effort > 1.5 * free.effort


def test_a_floor_of_zero_holds_for_every_way_of_asking(two_groups):
    """Many at once, relaxed, safest and as a path only: nothing is refused, and nothing breaks."""
    people = pd.DataFrame({"a": [0.1, -1.0, 5.0], "b": [0.2, 30.0, 0.0]})
    plain = LocalFACE(reaches, two_groups, min_density=0)
    safest = LocalFACE(reaches, two_groups, min_density=0, search=Search(cost="safest"))

    many = plain.explain_many(people, progress=False)

    assert [one.status.name for one in many] == ["FOUND", "FOUND", "ALREADY_THERE"]
    for one, (_, person) in zip(many, people.iterrows(), strict=True):
        assert plain.explain(person).records.tolist() == one.records.tolist()
        assert plain.explain(person, relax=True).relaxed_to is None
        assert plain.explain(person, actions=False).status is one.status
        assert safest.explain(person).status is one.status


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    chance = np.random.default_rng(8)
    wealth = chance.normal(size=500)
    return pd.DataFrame(
        {
            "savings": 200 + 60 * wealth + 25 * chance.normal(size=500),
            "rate": 5 - wealth + chance.normal(size=500),
            "months": chance.integers(3, 60, 500),
        }
    )


@pytest.fixture(scope="module")
def forest(table: pd.DataFrame) -> RandomForestClassifier:
    good = table["savings"] / 60 - table["rate"] + table["months"] / 30 > -0.5
    return RandomForestClassifier(30, min_samples_leaf=5, random_state=0).fit(table, good)


def test_values_that_need_not_be_round_cost_less_effort_and_whole_numbers_stay_whole(table, forest):
    rounding = LocalFACE(forest, table, min_score=0.6)
    exact = LocalFACE(forest, table, min_score=0.6, search=Search(round_values=False))
    refused = table[forest.predict_proba(table)[:, 1] < 0.5].iloc[:24]
    shares = []
    for _, person in refused.iterrows():
        rounded, needed = (
            one.explain(person, prefer="effort", min_density=0) for one in (rounding, exact)
        )
        shares.append(needed.effort / rounded.effort)
        end = needed.records[-1]
        assert end[2] == round(end[2])
        assert forest.predict_proba(pd.DataFrame([end], columns=table.columns))[0, 1] >= 0.6

    assert np.median(shares) < 0.9995
    assert np.quantile(shares, 0.9) <= 1.001
