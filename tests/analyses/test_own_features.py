"""No sentence names what stays a person's own as something that could move."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from localface import Feature, LocalFACE, Recourse, Schema, Search, Status

OWN = [
    {"moves": "never"},
    {"moves": "grows", "within": 1},
    {"protected": True},
    {"protected": True, "moves": "grows", "within": 1},
]
PERSON = {"years": 2, "dose": 1.0}


def table() -> pd.DataFrame:
    """Only those who are older than the person are served, whatever the dose."""
    rng = np.random.default_rng(0)
    return pd.DataFrame({"years": rng.integers(0, 9, 300), "dose": rng.normal(1, 1, 300)})


def is_old(frame: Any) -> Any:
    return (np.asarray(frame["years"]) > 4).astype(float)


def explainer(years: dict[str, Any], through: str = "rows") -> LocalFACE:
    schema = Schema([Feature("years", kind="integer", unit="y", **years), Feature("dose")])
    search = Search(n_neighbors=20, through=through)
    data = table()
    return LocalFACE(is_old, data, schema=schema, search=search)


def every_word(answer: Recourse) -> str:
    """All that is said, save by what others are alike."""
    words = "\n".join([str(answer), repr(answer), answer._repr_html_(), answer.reason])
    return words.replace("alike in years", "")


def test_what_may_move_is_named_as_before():
    answer = explainer({"within": 1}).explain(PERSON)

    assert answer.status is Status.NO_TARGET
    assert answer.opens == (("years",),)
    assert "'years within 1 of 2 y' alone rules out" in answer.reason
    assert "a way opens if years may move further" in answer.reason


@pytest.mark.parametrize("through", ["rows", "states"])
@pytest.mark.parametrize("own", OWN, ids=str)
@pytest.mark.parametrize(
    "asked", [{}, {"relax": True}, {"where": {"dose": 0.1}}, {"avoid": ["dose"]}], ids=str
)
def test_without_recourse_no_sentence_and_no_remedy_names_it(own, asked, through):
    answer = explainer(own, through).explain(PERSON, **asked)

    assert answer.status is Status.NO_TARGET
    assert all("years" not in names for names in answer.opens)
    assert dict(answer.widened) == {}
    assert "years" not in every_word(answer)
    what = "open to this person" if through == "states" else "in the data have it"
    if "avoid" in asked:
        what = "nothing may change: everything is kept as it is"
    assert what in answer.reason


@pytest.mark.parametrize("own", OWN, ids=str)
def test_many_are_told_the_same(own):
    people = pd.DataFrame([PERSON, {"years": 1, "dose": 0.5}])

    answers = explainer(own).explain_many(people, relax=True)

    assert all("years" not in every_word(one) for one in answers)


@pytest.mark.parametrize("own", OWN, ids=str)
def test_a_wish_that_changes_it_is_refused_and_nothing_is_offered(own):
    found = explainer(own).check(PERSON, {"years": 6, "dose": 1.2})

    assert not found.allowed
    assert [one.feature for one in found.broken] == ["years"]
    assert found.relaxation.widen == ()
    assert not found.relaxation.enough
    assert found.relaxation.sentence == ("nothing opens it: it would change what is kept as it is")
    assert "may be" not in str(found)


def test_a_relation_with_what_is_own_is_not_offered_to_give_way():
    schema = Schema(
        [Feature("first", moves="never"), Feature("last")], relations=[("first", "<=", "last")]
    )
    rng = np.random.default_rng(0)
    first = rng.normal(0, 1, 200)
    data = pd.DataFrame({"first": first, "last": first + rng.uniform(0, 3, 200)})
    model = lambda frame: 1 / (1 + np.exp(-np.asarray(frame["last"])))  # noqa: E731
    served = LocalFACE(model, data, schema=schema)

    found = served.check({"first": 0.5, "last": 1.0}, {"last": 0.0})

    assert [one.other for one in found.broken] == ["last"]
    assert found.relaxation.widen == ()
    assert "may exceed" not in str(found)


def test_waiting_is_told_though_it_is_no_remedy():
    answer = explainer({"moves": "grows", "protected": True}).explain(PERSON)

    assert answer.opens == ()
    assert "with time alone the score comes to 1.00, at years 5 y: this is how" in answer.reason
