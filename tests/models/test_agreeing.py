"""Several models that all must agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from localface import LocalFACE, Search
from localface.errors import ModelError

RNG = np.random.default_rng(0)
DATA = pd.DataFrame(RNG.uniform(-3, 3, (400, 2)), columns=["east", "north"])
PERSON = {"east": -2.0, "north": -2.0}
EAST = LogisticRegression().fit(DATA, DATA["east"] > 0)
NORTH = LogisticRegression().fit(DATA.to_numpy(), DATA["north"] > 0)  # without names


def explainer(models: Any, **options: Any) -> LocalFACE:
    return LocalFACE(models, DATA, search=Search(n_neighbors=15), min_density=0.01, **options)


def test_all_models_give_the_target_at_the_end() -> None:
    answer = explainer([EAST, NORTH]).explain(PERSON)

    end = pd.DataFrame([answer.end])
    assert answer.found
    assert EAST.predict(end)[0]
    assert NORTH.predict(end.to_numpy())[0]
    assert "by all of 2 models" in answer.target.sentence
    lowest = min(EAST.predict_proba(end)[0, 1], NORTH.predict_proba(end.to_numpy())[0, 1])
    assert answer.with_actions_as_path().scores[-1] == pytest.approx(lowest, abs=1e-9)


def test_models_that_agree_take_a_score_and_a_target_of_the_call() -> None:
    ready = explainer([EAST, NORTH])

    higher = ready.explain(PERSON, min_score=0.9)
    other = ready.explain({"east": 2.0, "north": 2.0}, target=False)

    assert higher.scores[-1] >= 0.9
    assert not EAST.predict(pd.DataFrame([other.end]))[0]


def test_values_of_all_models_come_into_a_range() -> None:
    models = [LinearRegression().fit(DATA, DATA["east"] * k) for k in (1, 2)]

    answer = explainer(models, target=(0.5, 1.5)).explain(PERSON)

    ends = [model.predict(pd.DataFrame([answer.end]))[0] for model in models]
    assert all(0.5 <= end <= 1.5 for end in ends)
    assert answer.scores[0] == pytest.approx(-4)


def test_models_that_give_different_things_are_refused() -> None:
    with pytest.raises(ModelError, match="different things"):
        explainer(
            [EAST, lambda frame: -np.ones(len(frame)), LinearRegression().fit(DATA, DATA["east"])],
            target=True,
        )
    with pytest.raises(ModelError, match="empty"):
        explainer([])
