"""People who ask for different things, and processes that share the work."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from localface import LocalFACE, Search
from localface.answers.many import Recourses
from localface.errors import InputError

RNG = np.random.default_rng(0)
DATA = pd.DataFrame(RNG.uniform(-3, 3, (300, 2)), columns=["east", "north"])
PEOPLE = DATA[DATA["east"] < 0].iloc[:9]
DEADLY = 123.25


def score(frame: Any) -> Any:
    if (np.asarray(frame["north"]) == DEADLY).any():
        os._exit(1)
    return 1 / (1 + np.exp(-3 * np.asarray(frame["east"], dtype=float)))


@pytest.fixture(scope="module")
def explainer() -> LocalFACE:
    return LocalFACE(score, DATA, search=Search(n_neighbors=15), min_density=0.01)


def written(answers: Any) -> list[str]:
    """Answers as text, without the time and the work that they took."""
    return [
        replace(
            one, disclosure=replace(one.disclosure, seconds={}, rows_scored=0, model_calls=0)
        ).to_json()
        for one in answers
    ]


def test_each_person_may_have_limits_a_score_and_a_time_of_their_own(explainer: LocalFACE) -> None:
    people = PEOPLE.iloc[:3]
    where = [{"east": 4}, None, {"north": "never"}]
    scores = [0.6, 0.7, 0.9]

    many = explainer.explain_many(
        people, where=where, min_score=scores, max_seconds=[60, None, 60], progress=False
    )

    alone = [
        explainer.explain(people.iloc[i], where=where[i], min_score=scores[i]) for i in range(3)
    ]
    assert [one.records.tolist() for one in many] == [one.records.tolist() for one in alone]
    assert [one.target.min_score for one in many] == scores


def test_a_column_of_scores_will_do(explainer: LocalFACE) -> None:
    people = PEOPLE.assign(goal=np.linspace(0.5, 0.8, len(PEOPLE)))

    many = explainer.explain_many(people, min_score=people["goal"], progress=False)

    assert [one.target.min_score for one in many] == people["goal"].tolist()


def test_a_list_of_another_length_is_refused(explainer: LocalFACE) -> None:
    with pytest.raises(InputError, match="min_score= has 2 entries, and 9 people came") as caught:
        explainer.explain_many(PEOPLE, min_score=[0.5, 0.6])

    assert caught.value.option == "min_score"


def test_what_is_wrong_for_one_person_is_said_with_their_number(explainer: LocalFACE) -> None:
    with pytest.raises(InputError, match=r"person 1: .*'nroth'.*did you mean 'north'"):
        explainer.explain_many(PEOPLE.iloc[:2], where=[None, {"nroth": 1}])
    with pytest.raises(InputError, match="min_score='high'"):
        explainer.explain_many(PEOPLE.iloc[:2], min_score=[0.5, "high"])


def test_people_of_different_classes_each_go_to_another() -> None:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression().fit(DATA, np.digitize(DATA["east"], [-1, 1]))
    ready = LocalFACE(model, DATA, target="other", min_density=0.01)
    people = DATA.iloc[:6]

    many = ready.explain_many(people, progress=False)

    assert (model.predict(many.ends) != model.predict(people)).all()
    assert many.ends.index.tolist() == people.index.tolist()


def test_processes_give_the_same_answers(explainer: LocalFACE) -> None:
    alone = explainer.explain_many(PEOPLE, progress=False)

    shared = explainer.explain_many(PEOPLE, n_jobs=2, progress=False)

    assert written(shared) == written(alone)
    assert shared.labels == alone.labels == tuple(PEOPLE.index)


def test_processes_keep_errors_to_their_person(explainer: LocalFACE) -> None:
    people = [{"east": -1.0, "north": 0.0}, {"east": -1.0}, {"east": -2.0, "north": 0.0}]

    shared = explainer.explain_many(people, n_jobs=2, on_error="record", progress=False)

    assert shared.numbers == (0, 2)
    assert list(shared.errors) == [1]


def test_a_process_that_dies_loses_nothing_of_what_is_done(explainer: LocalFACE) -> None:
    people = pd.concat([PEOPLE] * 8, ignore_index=True)
    people.loc[len(people) - 1, "north"] = DEADLY

    with pytest.warns(UserWarning, match="a worker process died.*of 72 people"):
        shared = explainer.explain_many(people, n_jobs=2, progress=False)

    assert isinstance(shared, Recourses)
    assert len(shared) + shared.unfinished == 72
    assert 0 < shared.unfinished < 72
    for number, answer in list(zip(shared.numbers, shared, strict=True))[:3]:
        assert answer.records.tolist() == explainer.explain(people.iloc[number]).records.tolist()


@pytest.mark.parametrize("n_jobs", [0, -2, 1.5])
def test_a_number_of_processes_that_cannot_be_is_refused(explainer: LocalFACE, n_jobs: Any) -> None:
    with pytest.raises(InputError, match="n_jobs"):
        explainer.explain_many(PEOPLE, n_jobs=n_jobs)
