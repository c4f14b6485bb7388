"""Targets beside a class or a direction: ranges, and any class but the present one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.svm import LinearSVC

from localface import LocalFACE, Recourse, Search
from localface.errors import InputError, ModelError
from localface.models.wanted import ScoreRange, odds_against, read_range

RNG = np.random.default_rng(0)
DATA = pd.DataFrame(RNG.uniform(-3, 3, (400, 2)), columns=["east", "north"])
VALUE = 10 * DATA["east"] + DATA["north"]
PERSON = {"east": -2.0, "north": 0.0}


def explainer(model: Any, **options: Any) -> LocalFACE:
    return LocalFACE(model, DATA, search=Search(n_neighbors=15), min_density=0.01, **options)


@pytest.fixture(scope="module")
def regressor() -> LinearRegression:
    return LinearRegression().fit(DATA, VALUE)


@pytest.fixture(scope="module")
def three() -> LogisticRegression:
    return LogisticRegression().fit(DATA, np.digitize(DATA["east"], [-1, 1]))


def test_a_range_is_read_with_open_ends() -> None:
    assert read_range((1, 2)) == ScoreRange(1.0, 2.0)
    assert read_range([None, 2]) == ScoreRange(None, 2.0)
    assert read_range("at least") is None


@pytest.mark.parametrize("target", [(1,), (None, None), (1, "high"), (0, float("nan")), (2, 1)])
def test_what_is_no_range_is_refused(target: Any) -> None:
    with pytest.raises(ModelError, match=r"give \(low, high\)") as caught:
        read_range(target)

    assert caught.value.option == "target"


def test_folded_values_reach_the_lower_end_just_where_they_lie_in_the_range() -> None:
    wanted = ScoreRange(0.1, 0.3)
    values = np.array([0.0, 0.1, 0.15, 0.3, np.nextafter(0.3, 1), 0.5, 1e300])

    reached = wanted.fold(values) >= 0.1

    assert reached.tolist() == [False, True, True, True, False, False, False]


def test_the_odds_against_a_class_are_even_where_another_is_as_likely() -> None:
    scores = np.array([[0.4, 0.4, 0.2], [0.5, 0.3, 0.2], [0.0, 0.0, 0.0]])

    assert odds_against(scores, 0).tolist() == pytest.approx([0.5, 0.375, 0.5])


@pytest.mark.parametrize("start", [-2.0, 2.0])
def test_a_value_in_a_range_is_reached_from_either_side(
    regressor: LinearRegression, start: float
) -> None:
    answer = explainer(regressor, target=(4, 8)).explain({"east": start, "north": 0.0})

    assert answer.found
    assert answer.scores[0] == pytest.approx(10 * start)  # the model's value, not the search's
    assert 4 <= regressor.predict(pd.DataFrame([answer.end]))[0] <= 8
    assert 4 <= answer.actions[-1].score <= 8
    assert answer.target.sentence == "value from 4 to 8"
    assert Recourse.from_json(answer.to_json()).target == answer.target


def test_someone_within_the_range_is_already_there(regressor: LinearRegression) -> None:
    answer = explainer(regressor, target=(4, 8)).explain({"east": 0.5, "north": 0.0})

    assert answer.status.name == "ALREADY_THERE"


def test_a_range_may_be_open_and_may_be_of_a_score() -> None:
    model = LogisticRegression().fit(DATA, DATA["east"] > 0)

    low = explainer(model, target=(None, 0.2)).explain({"east": 2.0, "north": 0.0})
    middle = explainer(model, target=(0.4, 0.6)).explain({"east": 2.0, "north": 0.0})

    assert model.predict_proba(pd.DataFrame([low.end]))[0, 1] <= 0.2
    assert 0.4 <= model.predict_proba(pd.DataFrame([middle.end]))[0, 1] <= 0.6
    assert middle.scores[0] > 0.9


def test_a_forest_is_read_for_a_range_as_it_is_for_a_direction() -> None:
    forest = RandomForestRegressor(n_estimators=20, random_state=0).fit(DATA, VALUE)

    answer = explainer(forest, target=(4, 8)).explain(PERSON)

    assert 4 <= forest.predict(pd.DataFrame([answer.end]))[0] <= 8


def test_a_target_may_be_said_with_the_call(three: LogisticRegression) -> None:
    ready = explainer(three, target=2)

    other = ready.explain(PERSON, target=1)

    alone = explainer(three, target=1).explain(PERSON)
    assert other.records.tolist() == alone.records.tolist()
    assert other.target == alone.target
    assert ready.explain(PERSON).target.label == "class 2"


def test_the_score_is_told_for_any_target(three: LogisticRegression) -> None:
    ready = explainer(three, target=2)
    shares = three.predict_proba(pd.DataFrame([PERSON]))[0]

    assert ready.score(PERSON) == pytest.approx(shares[2], abs=1e-9)
    assert ready.score(PERSON, target=0) == pytest.approx(shares[0], abs=1e-9)
    assert ready.score(pd.Series(PERSON)) == ready.explain(PERSON).scores[0]


@pytest.mark.parametrize("east", [-2.0, 0.0, 2.0])
def test_any_class_but_the_present_one(three: LogisticRegression, east: float) -> None:
    person = {"east": east, "north": 0.0}
    present = three.predict(pd.DataFrame([person]))[0]

    for ready, options in (
        (explainer(three, target="other"), {}),
        (explainer(three, target=1), {"target": "other"}),
    ):
        answer = ready.explain(person, **options)

        assert answer.target.label == f"any class but {present}"
        assert three.predict(pd.DataFrame([answer.end]))[0] != present


def test_the_other_of_two_classes_is_its_own_target() -> None:
    model = LogisticRegression().fit(DATA, np.where(DATA["east"] > 0, "yes", "no"))

    there = explainer(model, target="other").explain({"east": -2.0, "north": 0.0})
    back = explainer(model, target="other").explain({"east": 2.0, "north": 0.0})

    assert model.predict(pd.DataFrame([there.end, back.end])).tolist() == ["yes", "no"]


def test_a_model_that_only_decides_has_another_class_too(three: LogisticRegression) -> None:
    svm = LinearSVC().fit(DATA, np.digitize(DATA["east"], [-1, 1]))

    answer = explainer(svm, target="other", min_score=0.0).explain(PERSON)

    assert svm.predict(pd.DataFrame([answer.end]))[0] != svm.predict(pd.DataFrame([PERSON]))[0]


def test_a_class_of_that_name_is_meant_where_there_is_one() -> None:
    model = LogisticRegression().fit(DATA, np.where(DATA["east"] > 0, "other", "this"))

    assert explainer(model, target="other").explain(PERSON).target.label == "class other"


def test_a_function_has_no_other_class() -> None:
    with pytest.raises(ModelError, match="function has no classes: pass a classifier"):
        explainer(lambda frame: np.ones(len(frame)), target="other")


def test_a_regressor_without_a_target_is_refused_with_the_choices(
    regressor: LinearRegression,
) -> None:
    with pytest.raises(
        ModelError, match=r"'at least' or target='at most'.*\(low, high\)"
    ) as caught:
        explainer(regressor)

    assert caught.value.option == "target"


def test_a_classifier_whose_classes_are_words_asks_which_is_wanted() -> None:
    model = LogisticRegression().fit(DATA, np.where(DATA["east"] > 0, "yes", "no"))

    with pytest.raises(ModelError, match=r"which class is to be reached.*'no', 'yes'"):
        explainer(model)


def test_a_classifier_of_three_classes_asks_which_is_wanted_even_if_one_is_called_1() -> None:
    model = LogisticRegression().fit(DATA, np.digitize(DATA["east"], [-0.5, 0.5]))

    with pytest.raises(ModelError, match=r"which class is to be reached.*0, 1, 2, or 'other'"):
        explainer(model)
    assert explainer(model, target=2).explain(PERSON).target.label == "class 2"


def test_a_range_and_a_score_contradict_each_other(regressor: LinearRegression) -> None:
    with pytest.raises(InputError, match="contradict each other"):
        explainer(regressor, target=(4, 8)).explain(PERSON, min_score=3)


def test_a_model_of_several_outputs_is_refused_with_what_to_do(regressor: Any) -> None:
    labels = np.column_stack([DATA["east"] > 0, DATA["north"] > 0]).astype(int)
    several = [
        MultiOutputClassifier(LogisticRegression()).fit(DATA, labels),
        RandomForestClassifier(n_estimators=3).fit(DATA, labels),
        LinearRegression().fit(DATA, np.column_stack([VALUE, VALUE])),
        RandomForestRegressor(n_estimators=3).fit(DATA, np.column_stack([VALUE, VALUE])),
    ]
    for model in several:
        with pytest.raises(ModelError, match=r"has 2 outputs.*lambda rows"):
            explainer(model, target="at least" if "Regress" in type(model).__name__ else 1)


def test_a_bare_torch_module_is_refused_at_once() -> None:
    kind = type("Module", (), {"__module__": "torch.nn.modules.module", "__call__": print})
    net = type("Net", (kind,), {})()

    with pytest.raises(ModelError, match=r"Net is a bare torch module.*torch.tensor"):
        explainer(net)


def test_noise_and_other_models_are_judged_against_the_range(regressor: LinearRegression) -> None:
    ready = explainer(regressor, target=(4, 8))
    answer = ready.explain(PERSON)

    found = ready.robustness(answer, models={"same": regressor}, n=20)

    assert 4 <= found.score <= 8
    assert found.models[0].valid


def test_an_audit_shows_the_value_and_not_the_mirrored_one(regressor: LinearRegression) -> None:
    ready = explainer(regressor, target=(4, 8))

    (finding,) = ready.audit([PERSON], [{"east": 2.0, "north": 0.0}], progress=False)

    assert finding.score == pytest.approx(20)
    assert not finding.valid


@pytest.mark.parametrize("target", ["at most", "at least"])
def test_a_regressor_is_asked_how_much_is_wanted(regressor: LinearRegression, target: str) -> None:
    with pytest.raises(ModelError, match="min_score= does not say how much is wanted") as refused:
        explainer(regressor, target=target)
    assert refused.value.option == "min_score"
    with pytest.raises(ModelError, match="min_score= does not say"):
        explainer([regressor, regressor], target=target)
    assert explainer(regressor, target=target, min_score=0).options.min_score == 0
    assert explainer(regressor, target=(None, 5)).explain(PERSON).target.min_score == 5


@pytest.mark.parametrize("target", [(1.5, 2), (1.01, None), (None, -0.1)], ids=str)
def test_a_range_that_no_probability_lies_in_is_refused_at_once(target: Any) -> None:
    model = LogisticRegression().fit(DATA, DATA["east"] > 0)
    with pytest.raises(ModelError, match="holds no probability"):
        explainer(model, target=target)
    with pytest.raises(InputError, match="holds no probability"):
        explainer(model).explain(PERSON, target=target)
    assert explainer(model, target=(0.6, 1.2)).explain(PERSON).found


def test_a_score_that_no_probability_is_is_refused_with_the_share_that_is_meant() -> None:
    model = LogisticRegression().fit(DATA, DATA["east"] > 0)

    with pytest.raises(ModelError, match=r"from 0 to 1; for 60 %, min_score=0.6") as refused:
        explainer(model, min_score=60)
    assert refused.value.option == "min_score"
    with pytest.raises(InputError, match=r"min_score=1.5 is no probability"):
        explainer([model, model]).explain(PERSON, min_score=1.5)
    with pytest.raises(InputError, match=r"give a number from 0 to 1$"):
        explainer(model).explain(PERSON, min_score=-0.2)


def test_a_score_that_is_no_probability_may_be_any(regressor: LinearRegression) -> None:
    margin = LinearSVC().fit(DATA, DATA["east"] > 0)

    assert explainer(margin, min_score=1.2).explain(PERSON, min_score=1.1).found
    assert explainer(lambda people: people["east"] + 3, min_score=3.5).explain(PERSON).found
    assert explainer(regressor, target="at least", min_score=-5).explain(PERSON, min_score=4).found
