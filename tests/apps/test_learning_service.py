"""A service that is told what became of people learns before it answers, not while it does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from localface import LocalFACE
from localface.analyses.lasting import has_learnt
from localface.apps.web.serving import make_serving

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(3)
ROWS = RNG.normal(size=(300, 3))
READY = (ROWS[:, 0] + ROWS[:, 1] + RNG.normal(scale=0.5, size=300) > 0).astype(int)
MODEL = LogisticRegression().fit(ROWS, READY)
PERSON = {"x0": -0.5, "x1": -0.4, "x2": 0.0}


@pytest.fixture(scope="module")
def explainer() -> LocalFACE:
    return LocalFACE(MODEL, ROWS, y=READY, n_refits=4)


@pytest.fixture(scope="module")
def client(explainer: LocalFACE) -> Iterator[httpx.Client]:
    assert not has_learnt(explainer.engine)
    with (
        make_serving(explainer, workers=0).start() as running,
        httpx.Client(base_url=running.url, timeout=60) as connected,
    ):
        yield connected


def asked(client: httpx.Client, **more: Any) -> Any:
    return client.post("/recourse", json={"person": PERSON, **more}).json()["view"]


def test_it_has_learnt_before_it_answers_and_every_answer_says_how_lasting_it_is(
    client: httpx.Client, explainer: LocalFACE
) -> None:
    assert has_learnt(explainer.engine)
    view = asked(client)
    lasting = explainer.explain(PERSON).robustness.lasting
    assert view["lasting"]["probability"] == lasting.probability


def test_for_another_target_nobody_waits_until_models_are_fitted_again(
    client: httpx.Client, explainer: LocalFACE
) -> None:
    before = dict(explainer.engine.outcomes.learnt)
    view = asked(client, min_score=0.7)
    assert view["status"] == "FOUND"
    assert view["lasting"] is None
    assert explainer.engine.outcomes.learnt == before


def test_who_asks_for_a_lasting_answer_gets_one_for_any_target(client: httpx.Client) -> None:
    view = asked(client, min_score=0.6, lasting=0.6)
    assert view["lasting"]["wanted"] == 0.6
