"""What is said of plans that nobody could follow, once a lower floor was tried."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from localface import LocalFACE
from localface.analyses.shorter_plans import has_long_plan
from localface.answers.long_plans import PlanSize


@pytest.fixture(scope="module")
def table():
    """Forty columns of three causes: hardly any of them can change without the others."""
    rng = np.random.default_rng(0)
    causes = rng.normal(size=(500, 3))
    noise = 0.1 * rng.normal(size=(500, 40))
    table = pd.DataFrame(causes @ rng.normal(size=(3, 40)) + noise).round(2)
    table.columns = [f"x{i}" for i in range(40)]
    table["fine"] = causes[:, 0] > 0
    return table


@pytest.fixture(scope="module")
def model(table):
    return LogisticRegression(C=0.01).fit(table, table.pop("fine"))


@pytest.fixture(scope="module")
def wide(model, table):
    return LocalFACE(model, table), table[model.predict_proba(table)[:, 1] < 0.3]


@pytest.fixture(scope="module")
def answers(wide):
    explainer, people = wide
    return list(explainer.explain_many(people.iloc[:12]))


def test_a_plan_that_nobody_could_follow_says_so_before_all_else(answers):
    long = [one for one in answers if PlanSize.of(one.schema, one.actions).is_long]

    assert long
    for one in long:
        said = one.cautions[0]
        assert said.startswith(f"this plan changes {len(one.changes)} of 40 features")
        assert str(one).startswith(f"caution: {said}")
        assert said in one._repr_html_()
        assert json.loads(one.to_json())["cautions"][0] == said
    assert [has_long_plan(one) for one in answers] == [one in long for one in answers]


def test_what_is_said_of_a_lower_floor_is_what_asking_for_it_gives(wide, answers):
    explainer, people = wide
    for i, one in enumerate(answers):
        if not has_long_plan(one):
            continue
        again = explainer.explain(people.iloc[i], min_density=0.01)
        size = PlanSize.of(again.schema, again.actions)
        if again.actions and size.is_shorter_than(PlanSize.of(one.schema, one.actions)):
            assert one.cautions[0].endswith(f"(min_density=0.01) it would be {size.words}")
        else:
            assert one.cautions[0].endswith("(min_density=0.01) makes it no shorter")


def test_the_caution_is_the_same_for_one_and_for_many(wide, answers):
    explainer, people = wide
    alone = [explainer.explain(people.iloc[i]).cautions for i in range(4)]

    assert alone == [one.cautions for one in answers[:4]]


@pytest.mark.parametrize("limits", [{"max_rows": 400}, {"min_density": 0}])
def test_nothing_is_tried_where_rows_are_limited_or_there_is_no_floor(wide, model, table, limits):
    found = LocalFACE(model, table, **limits).explain_many(wide[1].iloc[:12])
    told = [one.cautions[0] for one in found if has_long_plan(one)]

    assert told
    assert all(line.endswith("not as advice") for line in told)


def test_no_caution_about_a_plan_is_left_where_the_plan_is_taken_away(answers):
    long = next(one for one in answers if has_long_plan(one))

    assert not has_long_plan(long.without_path(long.status, "no more"))
