"""What the service says of how well an answer stands up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localface import LocalFACE, Recourse, Search, Status
from localface.answers.robustness import Lasting, ModelVerdict, Robustness
from localface.apps.web.bodies.responses import View
from localface.apps.web.views.view import answer_view
from localface.cases.moons import two_moons

LASTING = Lasting(0.8, (0.6, 0.9), 20, 16, wanted=0.9)


@pytest.fixture(scope="module")
def answer() -> Recourse:
    moons = two_moons(200, seed=0)
    explainer = LocalFACE(moons.model, moons.data, search=Search(n_neighbors=15))
    return explainer.explain(moons.person)


def test_a_view_tells_deviations_models_and_retraining(answer: Recourse) -> None:
    verdicts = (ModelVerdict(1, 0.8, True), ModelVerdict(2, 0.4, False))
    known = Robustness(success=0.9, n=200, models=verdicts, lasting=LASTING)

    view = answer_view(replace(answer, robustness=known))

    assert view["robustness"] == 0.9
    assert view["models"] == {"n": 2, "valid": 1}
    assert view["lasting"] == {
        "probability": 0.8,
        "low": 0.6,
        "high": 0.9,
        "wanted": 0.9,
        "text": LASTING.sentence,
    }
    assert View(**view).lasting is not None
    assert LASTING.sentence in view["closing"]


def test_a_view_of_an_answer_of_which_nothing_is_known_says_so(answer: Recourse) -> None:
    view = View(**answer_view(answer))

    assert (view.robustness, view.models, view.lasting, view.firmness) == (None,) * 4


def test_a_view_of_a_wish_that_was_not_kept_says_why_and_shows_no_plan(answer: Recourse) -> None:
    no = answer.without_path(Status.NOT_LASTING, "the most lasting plan found holds with 71 %")

    view = View(**answer_view(no))

    assert (view.status, view.word) == ("NOT_LASTING", "not lasting")
    assert "holds with 71 %" in view.reason
    assert not view.actions
    assert view.lasting is None


@pytest.mark.parametrize(
    ("known", "words"),
    [
        (
            Robustness(success=0.9, n=200),
            "if values end slightly off, it still works in 90 % of cases",
        ),
        (
            Robustness(success=0.9, n=200, models=(ModelVerdict(1, 0.8, True),) * 2),
            "holds under 2 of 2 other models",
        ),
        (
            Robustness(models=(ModelVerdict(1, 0.8, True),), lasting=LASTING),
            "a model fitted anew agrees in 80 % of cases",
        ),
    ],
)
def test_how_firm_an_answer_is_is_told_by_the_strongest_of_what_is_known(
    answer: Recourse, known: Robustness, words: str
) -> None:
    view = View(**answer_view(replace(answer, robustness=known)))

    assert view.firmness == words
