"""Any model: whatever scores records can be explained, and a fresh call agrees with the answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC, OneClassSVM

from localface import LocalFACE, Recourse, Search, Status
from localface.errors import ModelError
from localface.models.scorer import signed
from worlds import make_explainer

N = 300


def plane(seed: int = 0) -> pd.DataFrame:
    """One broad crowd in the plane: every place in it can be reached."""
    return pd.DataFrame(np.random.default_rng(seed).normal(size=(N, 2)), columns=["east", "north"])


def ward(seed: int = 0) -> pd.DataFrame:
    """A raw table of mixed kinds, as a hospital would have it."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"age": rng.integers(40, 80, N), "fio2": rng.normal(0.4, 0.08, N).round(2)}
    )
    return frame.assign(unit=rng.choice(["medical", "surgical"], N), sedated=rng.random(N) < 0.3)


DATA = plane()
IS_EAST = (DATA["east"] > 0.5).astype(int)
WESTERNER = {"east": -0.6, "north": 0.1}


def last(answer: Recourse) -> Any:
    """Where the path ends, as a table of one row like the data."""
    assert answer.status is Status.FOUND, answer
    return answer.path.iloc[[-1]].reset_index(drop=True)


def explained(model: Any, data: Any = DATA, person: Any = WESTERNER, **options: Any) -> Recourse:
    return make_explainer(model, data, n_neighbors=25, **options).explain(person)


def test_a_scikit_learn_estimator() -> None:
    model = LogisticRegression().fit(DATA, IS_EAST)
    answer = explained(model, min_score=0.7)
    assert model.predict_proba(last(answer))[0, 1] >= 0.7
    assert answer.scores[-1] == pytest.approx(model.predict_proba(last(answer))[0, 1])


def test_an_estimator_that_was_fitted_on_arrays_is_called_with_arrays() -> None:
    model = RandomForestClassifier(20, random_state=0).fit(DATA.to_numpy(), IS_EAST)
    assert model.predict_proba(last(explained(model)).to_numpy())[0, 1] >= 0.5


def test_an_estimator_fitted_on_a_frame_is_called_with_one_though_the_data_is_an_array() -> None:
    named = DATA.set_axis(["x0", "x1"], axis="columns")
    model = LogisticRegression().fit(named, IS_EAST)
    answer = (
        LocalFACE(model, DATA.to_numpy(), search=Search(n_neighbors=25))
        .explain(np.array([-0.6, 0.1]))
        .require()
    )
    assert (
        model.predict_proba(pd.DataFrame([answer.counterfactual], columns=named.columns))[0, 1]
        >= 0.5
    )


def test_the_other_class_can_be_the_target() -> None:
    model = LogisticRegression().fit(DATA, IS_EAST)
    answer = explained(model, person={"east": 1.2, "north": 0.0}, target=0, min_score=0.8)
    assert model.predict_proba(last(answer))[0, 0] >= 0.8


def test_a_pipeline_that_takes_the_raw_table() -> None:
    data = ward()
    is_ready = (data["fio2"] < 0.38) | (~data["sedated"] & (data["fio2"] < 0.42))
    words = OneHotEncoder(handle_unknown="ignore")
    coder = ColumnTransformer(
        [("words", words, ["unit", "sedated"]), ("numbers", StandardScaler(), ["age", "fio2"])]
    )
    model = make_pipeline(coder, LogisticRegression()).fit(data, is_ready)
    person = {"age": 60, "fio2": 0.5, "unit": "medical", "sedated": False}
    answer = explained(model, data, person, target=True, min_score=0.6, min_density=0.01)
    assert model.predict_proba(last(answer))[0, 1] >= 0.6
    assert dict(answer.path.dtypes) == dict(data.dtypes)


def test_a_margin_instead_of_a_probability() -> None:
    model = LinearSVC().fit(DATA, IS_EAST)
    answer = explained(model, min_score=0.25)
    assert model.decision_function(last(answer))[0] >= 0.25
    assert answer.scores[0] == pytest.approx(model.decision_function(pd.DataFrame([WESTERNER]))[0])
    assert answer.scores[0] < 0


def test_a_margin_towards_the_first_of_two_classes() -> None:
    model = LinearSVC().fit(DATA, IS_EAST)
    answer = explained(model, person={"east": 1.2, "north": 0.0}, target=0, min_score=0.25)
    assert model.decision_function(last(answer))[0] <= -0.25


def test_one_class_of_many_by_its_margin() -> None:
    which = np.digitize(DATA["east"], [-0.5, 0.5])
    model = LinearSVC().fit(DATA, which)
    answer = explained(model, target=2, min_score=0.0)
    assert model.decision_function(last(answer))[0, 2] >= 0


def test_one_class_of_many_by_its_probability() -> None:
    which = np.select([DATA["east"] > 0.5, DATA["north"] > 0.5], ["east", "north"], "home")
    model = RandomForestClassifier(30, random_state=0).fit(DATA, which)
    answer = explained(model, target="north", min_score=0.6)
    assert model.predict(last(answer))[0] == "north"
    assert model.predict_proba(last(answer))[0, list(model.classes_).index("north")] >= 0.6


def test_classes_that_are_words() -> None:
    model = LogisticRegression().fit(DATA, np.where(IS_EAST, "ready", "not yet"))
    answer = explained(model, target="ready")
    assert model.predict(last(answer))[0] == "ready"
    assert "class ready" in answer.target.sentence


def test_a_class_that_does_not_exist_is_refused_with_the_near_miss() -> None:
    model = LogisticRegression().fit(DATA, np.where(IS_EAST, "ready", "not yet"))
    with pytest.raises(
        ModelError,
        match=r"'raedy' is not a class.*did you mean 'ready'.*it knows 'not yet', 'ready'",
    ):
        explained(model, target="raedy")


def test_a_regressor_whose_value_is_to_rise() -> None:
    model = LinearRegression().fit(DATA, 30_000 + 10_000 * DATA["east"])
    answer = explained(model, target="at least", min_score=36_000)
    assert model.predict(last(answer))[0] >= 36_000
    assert answer.scores[0] == pytest.approx(24_000)


def test_a_regressor_whose_value_is_to_fall() -> None:
    model = LinearRegression().fit(DATA, 30_000 + 10_000 * DATA["east"])
    answer = explained(model, target="at most", min_score=18_000)
    assert model.predict(last(answer))[0] <= 18_000
    assert answer.target.is_reached_by(answer.scores[-1])
    assert not answer.target.is_reached_by(answer.scores[0])


def test_a_value_has_no_class() -> None:
    model = LinearRegression().fit(DATA, DATA["east"])
    with pytest.raises(ModelError, match="say target='at least' or target='at most'"):
        explained(model, target="ready")


def test_a_classifier_that_gives_verdicts_only() -> None:
    class Verdicts:
        classes_ = np.array([0, 1])

        def predict(self, frame: pd.DataFrame) -> Any:
            return (frame["east"].to_numpy() > 0.5).astype(int)

    assert Verdicts().predict(last(explained(Verdicts())))[0] == 1


def test_a_perceptron_and_a_one_class_machine_need_no_adapting() -> None:
    perceptron = Perceptron(random_state=0).fit(DATA, IS_EAST)
    assert perceptron.decision_function(last(explained(perceptron, min_score=0.1)))[0] >= 0.1
    usual = OneClassSVM(gamma=0.5).fit(DATA)
    answer = explained(usual, person={"east": 2.2, "north": 0.3}, target="at least", min_score=1)
    assert usual.predict(last(answer))[0] == 1


def test_a_function() -> None:
    def score(frame: pd.DataFrame) -> Any:
        return 1 / (1 + np.exp(-4 * (frame["east"] - 0.5)))

    assert float(score(last(explained(score))).iloc[0]) >= 0.5


def test_a_function_that_gives_one_column_a_class() -> None:
    def softmax(frame: pd.DataFrame) -> Any:
        raw = np.exp(np.column_stack([np.zeros(len(frame)), 3 * frame["east"], 3 * frame["north"]]))
        return raw / raw.sum(axis=1, keepdims=True)

    assert softmax(last(explained(softmax, target=2, min_score=0.6)))[0, 2] >= 0.6


def test_a_function_whose_scores_may_be_negative_says_so() -> None:
    def margin(frame: pd.DataFrame) -> Any:
        return frame["east"] - 0.5

    with pytest.raises(ModelError, match="negative score"):
        explained(margin)
    answer = explained(signed(margin), target="at least", min_score=0)
    assert float(margin(last(answer)).iloc[0]) >= 0


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(ModelError, match="str is no model"):
        explained("model.skops")


def test_xgboost() -> None:
    xgboost = pytest.importorskip(
        "xgboost", reason="XGBoost is not installed: pip install xgboost-cpu"
    )
    model = xgboost.XGBClassifier(n_estimators=20, max_depth=3, n_jobs=1).fit(DATA, IS_EAST)
    answer = explained(model, min_score=0.7)
    assert model.predict_proba(last(answer))[0, 1] >= 0.7


def test_xgboost_as_a_regressor_fitted_on_arrays() -> None:
    xgboost = pytest.importorskip(
        "xgboost", reason="XGBoost is not installed: pip install xgboost-cpu"
    )
    model = xgboost.XGBRegressor(n_estimators=20, max_depth=3, n_jobs=1).fit(
        DATA.to_numpy(), DATA["east"]
    )
    answer = explained(model, target="at least", min_score=0.6)
    assert model.predict(last(answer).to_numpy())[0] >= 0.6


def test_lightgbm() -> None:
    lightgbm = pytest.importorskip(
        "lightgbm", reason="LightGBM is not installed: pip install lightgbm"
    )
    model = lightgbm.LGBMClassifier(n_estimators=20, num_leaves=7, n_jobs=1, verbose=-1).fit(
        DATA, IS_EAST
    )
    answer = explained(model, min_score=0.7)
    assert model.predict_proba(last(answer))[0, 1] >= 0.7


def test_lightgbm_on_categories_of_its_own() -> None:
    lightgbm = pytest.importorskip(
        "lightgbm", reason="LightGBM is not installed: pip install lightgbm"
    )
    data = ward().astype({"unit": "category"})
    is_ready = data["fio2"] < np.where(data["unit"] == "medical", 0.42, 0.34)
    model = lightgbm.LGBMClassifier(n_estimators=30, num_leaves=7, n_jobs=1, verbose=-1).fit(
        data, is_ready
    )
    person = {"age": 60, "fio2": 0.47, "unit": "medical", "sedated": False}
    answer = explained(model, data, person, target=True, min_density=0.01)
    assert model.predict_proba(last(answer))[0, 1] >= 0.5
