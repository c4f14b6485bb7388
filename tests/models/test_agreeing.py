"""Several models that all must agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from localface import LocalFACE, Search
from localface.errors import InputError, ModelError

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


def models_at(*bounds: float) -> list[Any]:
    """Models that want the person to be further east than a bound each."""
    return [Beyond(bound) for bound in bounds]


class Beyond:
    """Scores a half at its bound, and 0.1 more for each unit further east; counts its calls."""

    def __init__(self, bound: float) -> None:
        self.bound = bound
        self.calls = 0

    def __call__(self, frame: Any) -> Any:
        self.calls += 1
        return np.clip(0.5 + 0.1 * (np.asarray(frame)[:, 0] - self.bound), 0, 1)


def test_an_end_is_reached_where_the_model_and_a_share_of_the_others_say_so() -> None:
    own, *others = models_at(0.0, -1.0, 0.5, 1.0, 2.5)

    answer = explainer(own, others=others, agree=0.75).explain(PERSON)

    end = answer.end["east"]
    assert answer.found
    assert 1.0 <= end < 2.5  # three of the four others, and the model itself
    assert "by the model and at least 3 of 4 others" in answer.target.sentence
    assert answer.robustness is not None
    assert [one.valid for one in answer.robustness.models] == [True, True, True, False]
    assert "holds under 3 of 4 other models" in str(answer)
    score = answer.with_actions_as_path().scores[-1]
    assert score == pytest.approx(0.5 + 0.1 * (end - 1.0), abs=1e-9)


def test_the_model_itself_must_agree_however_many_others_do() -> None:
    own, *others = models_at(2.0, -1.0, -1.0, -1.0)

    answer = explainer(own, others=others, agree=0.5).explain(PERSON)

    assert answer.end["east"] >= 2.0


def test_nine_of_ten_others_are_enough_unless_told_otherwise() -> None:
    own, *others = models_at(0.0, *[0.5] * 9, 2.9)

    assert explainer(own, others=others).explain(PERSON).end["east"] < 2.9
    assert explainer([own, *others]).explain(PERSON).end["east"] >= 2.9


def test_every_model_is_called_as_often_as_the_first() -> None:
    models = models_at(0.0, 0.5, 1.0)

    explainer(models[0], others=models[1:]).explain(PERSON)

    assert models[1].calls == models[2].calls
    assert models[0].calls <= models[1].calls <= models[0].calls + 1  # the verdicts on the end


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"agree": 0.9}, "agree=0.9 is for several models"),
        ({"others": EAST}, "others= is a LogisticRegression: give a list of models"),
        ({"others": [EAST], "agree": 0}, "agree=0: a share of the other models above 0"),
    ],
)
def test_what_makes_no_sense_of_several_models_is_refused(options: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        explainer(EAST, **options)
