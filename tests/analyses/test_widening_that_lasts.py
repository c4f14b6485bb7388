"""Limits that were widened stay so while a more lasting answer is looked for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from localface import LocalFACE, Status

LIMITS = {"income": 1.5, "debt": 1.0}


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"income": rng.normal(40, 10, 400).round(1), "debt": rng.normal(10, 4, 400).round(1)}
    )
    repaid = table["income"] - 2 * table["debt"] + rng.normal(0, 8, 400) > 22
    model = RandomForestClassifier(60, min_samples_leaf=5, random_state=0).fit(table, repaid)
    refused = table[model.predict_proba(table)[:, 1] < 0.35]
    return LocalFACE(model, table, y=repaid, n_refits=10), refused


def test_a_lasting_answer_is_looked_for_within_the_wider_limits_and_tells_them(world):
    explainer, refused = world
    answers = explainer.explain_many(refused.iloc[:25], where=LIMITS, relax=True, lasting=0.8)
    kept = [one for one in answers if one.found and one.widened]

    assert kept, "within the limits as they were there is no target at all"
    for one in kept:
        assert one.robustness.lasting.probability >= 0.8
        for name, far in one.widened.items():
            states = one.with_actions_as_path().records[:, one.schema.index(name)]
            assert far >= np.abs(states - states[0]).max() > LIMITS[name]
            assert f"relaxed: {name} moves by" in str(one)


def test_a_wish_that_is_missed_says_that_limits_were_widened_no_further_than_needed(world):
    explainer, refused = world
    answers = explainer.explain_many(refused.iloc[:6], where=LIMITS, relax=True, lasting=0.9)
    missed = [one for one in answers if one.status is Status.NOT_LASTING]

    assert any(
        "limits were widened only as far as the target needs" in one.reason for one in missed
    )
    without = explainer.explain_many(refused.iloc[:6], lasting=0.9999)
    assert not any("limits were widened" in one.reason for one in without)
