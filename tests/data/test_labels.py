"""What features and categories are called in what people read."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from localface import LocalFACE, Recourse
from localface.apps.web.views.view import answer_view
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.errors import SchemaError

LABELLED = Schema(
    [
        Feature("sys_bp", label="blood pressure", unit="mmHg", resolution=1),
        Feature("tube", kind="binary", label="airway", category_labels={1: "tube", 0: "free"}),
    ]
)


@pytest.fixture(scope="module")
def answer() -> Recourse:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"sys_bp": rng.normal(120, 15, 400).round(), "tube": rng.integers(0, 2, 400)}
    )
    well = table["sys_bp"] + 40 * table["tube"] + rng.normal(0, 5, 400) < 125
    model = LogisticRegression(max_iter=500).fit(table, well)
    explainer = LocalFACE(model, table, schema=LABELLED)
    within_reach = {"sys_bp": (110, 160)}  # so that the airway has to change as well
    return explainer.explain({"sys_bp": 150.0, "tube": 1}, where=within_reach).require()


def test_everything_that_people_read_is_by_label(answer):
    shown = [
        str(answer),
        answer._repr_html_(),
        *(change["text"] for one in answer_view(answer)["actions"] for change in one["changes"]),
    ]

    assert any("tube -> free" in text for text in shown)
    assert any("blood pressure" in text for text in shown)
    assert not any("sys_bp" in text for text in shown)


def test_what_machines_read_is_by_name(answer):
    names = {name for action in answer.actions for name in action.changes}

    assert names <= {"sys_bp", "tube"}
    assert set(answer.end) == {"sys_bp", "tube"}
    assert Recourse.from_json(answer.to_json()).to_json() == answer.to_json()
    view = answer_view(answer)
    assert {one["name"] for one in view["features"]} <= {"sys_bp", "tube"}
    by_name = {one["name"]: one for one in view["features"]}
    assert by_name["tube"]["labels"] == ["free", "tube"]
    assert by_name["tube"]["text"] == "airway"


def test_a_refusal_and_a_constraint_are_by_label(answer):
    box = LABELLED.box(np.array([120.0, 1.0]), {"sys_bp": "never", "tube": "never"})

    assert box.reasons[0] == "blood pressure never moves"
    assert box.reasons[1] == "airway never moves"


def test_labels_are_written_to_files_and_read_back():
    assert Schema.from_toml(LABELLED.to_toml()) == LABELLED


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"label": ""}, "give it as text"),
        ({"label": 5}, "give it as text"),
        ({"category_labels": {1: "a"}}, "give a feature with categories"),
        ({"kind": "binary", "category_labels": {2: "a"}}, "give a text for some of '0'"),
        ({"kind": "binary", "category_labels": {1: 7}}, "give a text"),
        ({"kind": "binary", "category_labels": {1: "0"}}, "two categories the same"),
    ],
)
def test_labels_that_do_not_fit_are_refused(settings, message):
    with pytest.raises(SchemaError, match=message):
        Feature("x", **settings)
