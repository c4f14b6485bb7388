"""As far as possible, where the target cannot be reached."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from localface import LocalFACE, Recourse, Search, Status
from localface.errors import InputError

RNG = np.random.default_rng(0)
DATA = pd.DataFrame(RNG.uniform(-3, 3, (400, 2)), columns=["east", "north"])
PERSON = {"east": -2.0, "north": 0.0}
WHERE = {"east": 1.0, "north": "never"}


def score(frame: Any) -> Any:
    return 1 / (1 + np.exp(-np.asarray(frame["east"], dtype=float)))


@pytest.fixture(scope="module")
def explainer() -> LocalFACE:
    return LocalFACE(score, DATA, search=Search(n_neighbors=15), min_density=0.01)


def test_the_best_score_within_the_limits_is_come_to(explainer: LocalFACE) -> None:
    answer = explainer.explain(PERSON, where=WHERE, best_effort=True)

    best = 1 / (1 + np.exp(1.0))  # at east = -1, as far as they may go
    assert answer.found
    assert -2 < answer.end["east"] <= -1
    assert answer.target.min_score == pytest.approx(best, abs=0.02)
    assert answer.target.is_reached_by(answer.scores[-1])
    assert re.search(r"score 0\.\d\d -> 0\.\d\d,", repr(answer))  # no more digits than usual
    assert answer.settings["best_effort_for"] == 0.5
    assert answer.cautions[0].startswith("what is wanted cannot be reached (score at least 0.5)")
    assert Recourse.from_json(answer.to_json()).cautions == answer.cautions


def test_an_answer_that_there_is_stays_as_it_is(explainer: LocalFACE) -> None:
    plain = explainer.explain(PERSON)

    tried = explainer.explain(PERSON, best_effort=True)

    assert tried.records.tolist() == plain.records.tolist()
    assert tried.cautions == plain.cautions
    assert "best_effort_for" not in tried.settings


def test_where_nothing_is_nearer_the_refusal_stays(explainer: LocalFACE) -> None:
    answer = explainer.explain(PERSON, fixed=["east"], best_effort=True)

    assert answer.status is Status.NO_TARGET
    tried = "best_effort=True: no way through common enough states leads to a better score"
    assert tried in answer.reason


def test_a_value_that_is_to_come_down_comes_down_as_far_as_it_can() -> None:
    model = LinearRegression().fit(DATA, 10 * DATA["east"])
    ready = LocalFACE(model, DATA, target="at most", min_score=0, min_density=0.01)

    answer = ready.explain({"east": 2.5, "north": 0.0}, where=WHERE, best_effort=True)

    assert 15 <= answer.target.min_score <= 16
    assert answer.scores[-1] <= answer.target.min_score


def test_time_is_shared_by_all_tries(explainer: LocalFACE) -> None:
    answer = explainer.explain(PERSON, where=WHERE, best_effort=True, max_seconds=1e-6)

    assert not answer.found


def test_where_rows_ran_out_it_is_not_said_to_be_as_far_as_possible(explainer: LocalFACE) -> None:
    whole = explainer.explain(PERSON, where=WHERE, best_effort=True)
    said = []
    for rows in range(2, whole.disclosure.rows):
        few = LocalFACE(score, DATA, search=Search(n_neighbors=15), min_density=0.01, max_rows=rows)
        answer = few.explain(PERSON, where=WHERE, best_effort=True)
        if answer.found:
            said.append(answer.cautions[0])
            assert answer.cut_short or "as far as possible" in answer.cautions[0]
            assert answer.disclosure.rows <= rows
    assert any("as far as was found with the rows or the time allowed" in one for one in said)


def test_what_cannot_be_combined_is_refused(explainer: LocalFACE) -> None:
    with pytest.raises(InputError, match="cannot be had together"):
        explainer.explain(PERSON, best_effort=True, min_robustness=0.9)
    with pytest.raises(InputError, match="a range has none"):
        explainer.explain(PERSON, best_effort=True, target=(0.9, 0.95))
    with pytest.raises(InputError, match="check takes no best_effort="):
        explainer.check(PERSON, {"east": 1.0}, best_effort=True)


def test_many_are_each_brought_as_far_as_possible(explainer: LocalFACE) -> None:
    people = [PERSON, {"east": 2.0, "north": 0.0}, {"east": -1.5, "north": 1.0}]

    found = explainer.explain_many(people, where=WHERE, best_effort=True, progress=False)

    for answer, person in zip(found, people, strict=True):
        assert answer.cautions == explainer.explain(person, where=WHERE, best_effort=True).cautions
    assert ["as far as possible" in str(one) for one in found] == [True, False, True]


def test_a_gain_that_does_not_show_is_no_gain(explainer: LocalFACE) -> None:
    nearly_fixed = {"east": 0.001, "north": "never"}

    answer = explainer.explain(PERSON, where=nearly_fixed, best_effort=True)

    assert answer.status is Status.NO_TARGET
    assert "as far as possible" not in str(answer)


def test_a_plan_by_more_features_than_wanted_is_given_with_a_caution() -> None:
    def lower_of_both(frame: Any) -> Any:
        return 1 / (1 + np.exp(-np.minimum(frame["east"], frame["north"])))

    both = LocalFACE(lower_of_both, DATA, search=Search(n_neighbors=15), min_density=0.01)
    person = {"east": -2.0, "north": -2.0}
    answer = both.explain(
        person, where={"east": 1.0, "north": 1.0}, max_features=1, best_effort=True
    )

    changed = {name for action in answer.actions for name in action.changes}
    assert changed == {"east", "north"}
    assert "this goes as far as possible" in answer.cautions[0]
    assert "this one changes 2, more than was asked for (max_features=2)" in answer.cautions[1]
    assert "several features change at once" not in str(answer)


def test_a_refusal_says_that_its_best_score_asks_for_less_than_best_effort_keeps() -> None:
    """Far out, where hardly anybody is, the score would be higher than where a plan may end."""
    few = pd.DataFrame({"east": [3.0, 6.0, 6.5], "north": [9.0, 9.5, 9.0]})
    crowd = LocalFACE(score, pd.concat([DATA, few], ignore_index=True), min_density=0.05)
    asked = {"person": PERSON, "min_score": 0.9999, "where": {"north": "up"}}

    refusal = crowd.explain(**asked)
    effort = crowd.explain(**asked, best_effort=True)

    best = re.search(
        r"the best score is ([\d.]+), by changing .*, whatever the floor", refusal.reason
    )
    assert refusal.status is Status.NO_TARGET
    assert effort.found
    assert float(best[1]) > effort.target.min_score + 0.01
