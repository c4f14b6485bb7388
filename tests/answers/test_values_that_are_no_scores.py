"""What a regressor predicts is called a value, what a classifier says a score."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from localface import LocalFACE
from localface.apps.web.views.view import answer_view

RNG = np.random.default_rng(0)
HOUSES = pd.DataFrame({"area": RNG.normal(120, 30, 300).round(), "rooms": RNG.integers(1, 8, 300)})
PRICES = 2500 * HOUSES["area"] + 9000 * HOUSES["rooms"]


@pytest.fixture(scope="module")
def explainer():
    model = LinearRegression().fit(HOUSES, PRICES)
    return LocalFACE(model, HOUSES, target="at least", min_score=350_000, each_row="house")


@pytest.fixture(scope="module")
def cheap():
    return HOUSES.loc[(PRICES - 300_000).abs().idxmin()]


def test_an_answer_of_a_regressor_speaks_of_values(explainer, cheap):
    answer = explainer.explain(cheap)
    text = str(answer)

    assert answer.found
    assert ", value 30" in repr(answer)
    assert "score" not in text
    assert answer_view(answer)["score"]["noun"] == "value"


def test_so_do_checks_alternatives_and_refusals(explainer, cheap):
    assert "score" not in str(explainer.alternatives(cheap))
    assert "score" not in str(explainer.check(cheap, wish={"rooms": 8}))
    assert "score" not in str(explainer.explain(cheap, where={"area": "never"}))
