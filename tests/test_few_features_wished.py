"""A wish for few features: kept where a plan keeps it, told truly where none was found."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier

from localface import LocalFACE, Recourse, Schema, Search
from localface.answers.long_plans import PlanSize

SEEDS = (0, 1)


@cache
def job_seekers(seed: int, *, linked: bool = False) -> tuple[LocalFACE, Any]:
    """Invented job seekers, a boosted model with its notches, and some whom it refuses."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(size=500)
    data = pd.DataFrame(
        {
            "months": rng.poisson(np.exp(1.6 - 0.3 * skill)),
            "language": (3.5 + skill + rng.normal(0, 0.7, 500)).round().clip(1, 6),
            "applications": rng.poisson(6 + skill.clip(-3, 3)),
            "courses": rng.poisson(1 + 0.3 * np.exp(skill.clip(-2, 2))),
            "wage": (2000 + 300 * skill + rng.normal(0, 300, 500)).round(-1),
            "commute": rng.gamma(4, 10, 500).round(),
        }
    )
    luck = rng.normal(0, 0.5, 500)
    finds_work = skill + 0.1 * data["applications"] - 0.05 * data["months"] + luck > 0.6
    model = GradientBoostingClassifier(n_estimators=60, random_state=0).fit(data, finds_work)
    schema = Schema.infer(data)
    if linked:
        schema.link("language", "courses")
    refused = data[model.predict_proba(data)[:, 1] < 0.5].iloc[:60]
    explainer = LocalFACE(model, data, schema=schema, search=Search(n_neighbors=20))
    return explainer, refused


@cache
def plans(seed: int, *, linked: bool = False, **wishes: Any) -> list[Recourse]:
    explainer, refused = job_seekers(seed, linked=linked)
    return list(explainer.explain_many(refused, progress=False, **wishes))


def n_changes(answer: Recourse) -> int:
    """How many features a plan changes, linked ones counted as one."""
    return PlanSize.of(answer.schema, answer.actions).changes


def says_more_than_asked(answer: Recourse) -> bool:
    return any("more than was asked for (max_features=" in line for line in answer.cautions)


@pytest.mark.parametrize("prefer", ["features", "effort"])
@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("most", [1, 2])
def test_a_plan_by_more_features_than_asked_says_so_and_no_other_does(most, linked, prefer):
    asked = [
        plans(seed, linked=linked, max_features=most, prefer=prefer)
        for seed in (SEEDS if prefer == "features" else SEEDS[:1])
    ]
    every = [answer for answers in asked for answer in answers if answer.actions]

    assert any(says_more_than_asked(answer) for answer in every)
    for answer in every:
        assert says_more_than_asked(answer) == (n_changes(answer) > most)


def test_of_several_ways_each_says_truly_whether_it_changes_more_than_was_asked():
    explainer, refused = job_seekers(1)
    for _, person in refused.iloc[:20].iterrows():
        for way in explainer.alternatives(person, n=3, max_features=1):
            assert says_more_than_asked(way) == (n_changes(way) > 1)


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_wish_that_the_plan_keeps_unasked_leaves_it_as_it_is(seed, most):
    pairs = zip(plans(seed), plans(seed, max_features=most), strict=True)
    kept = [(free, wished) for free, wished in pairs if n_changes(free) <= most]

    assert len(kept) > 30
    for free, wished in kept:
        assert [one.changes for one in wished.actions] == [one.changes for one in free.actions]
        assert wished.effort == free.effort
