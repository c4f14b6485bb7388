"""Steps that the score does not need, of someone who starts below the floor."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from localface import LocalFACE
from localface.analyses.idle_steps import has_idle_steps

PERSON = {"income": -0.4, "tenure": 1.3, "debt": 2.6}
"""Hardly anybody has such a debt with this tenure, and the score is of the income alone."""


def score(frame):
    return 1 / (1 + np.exp(-3 * np.asarray(frame["income"], dtype=float)))


def crowd(seed=3):
    values = np.random.default_rng(seed).normal(size=(500, 3))
    return pd.DataFrame(values, columns=["income", "tenure", "debt"]).round(1)


@pytest.fixture(scope="module")
def explainer():
    return LocalFACE(score, crowd())


@pytest.fixture(scope="module")
def answer(explainer):
    return explainer.explain(PERSON)


def test_a_caution_on_top_says_which_step_it_is_and_what_it_is_for(answer):
    (number,) = [i for i, one in enumerate(answer.actions, 1) if "debt" in one.changes]
    said = answer.cautions[0]

    assert answer.densities[0] < answer.min_density
    assert said.startswith(f"the score does not need step {number} (debt 2.6 -> ")
    assert "since this person starts below the floor" in said
    assert str(answer).startswith(f"caution: {said}")


def test_what_is_said_of_a_lower_floor_is_what_asking_for_it_gives(explainer, answer):
    floor, plan = re.search(
        r"\(min_density=([\d.]+)\) the plan is (.*)$", answer.cautions[0]
    ).groups()

    again = explainer.explain(PERSON, min_density=float(floor))

    assert [str(one) for one in again.changes] == [plan]
    assert set(again.actions[0].changes) == {"income"}
    assert not has_idle_steps(again)
    assert not again.cautions


def test_it_is_the_same_for_one_and_for_many(explainer, answer):
    people = pd.DataFrame([{"income": -1.0, "tenure": 0.0, "debt": 0.0}, PERSON])

    plain, same = explainer.explain_many(people, progress=False)

    assert same.cautions == answer.cautions
    assert not plain.cautions


NOTHING_MORE = "since this person starts below the floor"


def test_no_floor_is_tried_where_more_is_wished(explainer):
    assert explainer.explain(PERSON, best_effort=True).cautions[0].endswith(NOTHING_MORE)


def test_no_floor_is_tried_where_rows_are_limited():
    found = LocalFACE(score, crowd(), max_rows=400).explain(PERSON)

    assert found.cautions[0].endswith(NOTHING_MORE)


def test_whoever_is_rarer_than_anybody_is_told_the_plan_that_no_floor_gives():
    explainer = LocalFACE(score, crowd(1))
    person = {"income": -0.1, "tenure": -2.6, "debt": -1.8}
    found = explainer.explain(person)

    about_record, about_plan = found.cautions
    assert "are they right?" in about_record, "what may be mistaken in the record comes first"
    assert about_plan.startswith("the score does not need step 1 (tenure -2.6 -> ")
    plan = re.search(r"; with no floor \(min_density=0\) the plan is (.*)$", about_plan).group(1)
    again = explainer.explain(person, min_density=0)
    assert [str(one) for one in again.changes] == [plan]


def test_a_step_that_the_score_needs_in_the_end_is_not_among_them():
    """It brings the score no nearer by itself, and without it the other one would not either."""

    def of_both(frame):
        income, tenure = frame["income"].to_numpy(float), frame["tenure"].to_numpy(float)
        return 1 / (1 + np.exp(-3 * np.where(tenure > -2.5, income, -1)))

    found = LocalFACE(of_both, crowd()).explain({"income": -1.2, "tenure": -3.1, "debt": 0.8})

    assert [list(one.changes) for one in found.actions] == [["tenure"], ["income"]]
    assert found.actions[0].score < found.scores[0]
    assert has_idle_steps(found)
    assert not any("does not need" in line for line in found.cautions)


def test_no_such_caution_is_left_where_the_plan_is_taken_away(answer):
    assert not answer.without_path(answer.status, "no more").cautions
