"""Tables as they come: values missing, codes for a reason, models that read both."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from localface import Feature, LocalFACE, Recourse, Schema, Search
from localface.data.read import read_records
from localface.errors import ModelError
from localface.sources.store import write_store
from worlds import World, gaps, make_explainer

CODES = (-9.0, -8.0)


@cache
def ready() -> tuple[World, LocalFACE]:
    world = gaps()
    options = {"n_neighbors": world.n_neighbors, "min_score": world.min_score}
    return world, make_explainer(world.model, world.data, schema=world.schema, **options)


@cache
def answered() -> list[Recourse]:
    world, explainer = ready()
    return list(explainer.explain_many(world.people.iloc[:40], progress=False))


def has_value(table: pd.DataFrame) -> pd.DataFrame:
    """Where there are values: neither missing nor a code."""
    present = table.notna()
    present["months_since_default"] &= ~table["months_since_default"].isin(CODES)
    return present


# what is missing stays missing


def test_no_path_and_no_action_touches_what_is_missing_or_a_code() -> None:
    world, _ = ready()
    n_lacking = 0
    for answer, (_, person) in zip(answered(), world.people.iterrows(), strict=False):
        lacks = ~has_value(person.to_frame().T).iloc[0]
        n_lacking += bool(lacks.any())
        present = has_value(answer.path)
        assert (present == ~lacks).all(axis=None)
        kept = answer.path.loc[:, lacks.to_numpy()].astype(object)
        assert (kept.fillna("missing").nunique() <= 1).all()
        assert set(answer.missing) == set(lacks.index[lacks])
        changed = {name for action in answer.actions for name in action.changes}
        assert not changed & set(answer.missing)
    assert n_lacking >= 20


def test_the_decision_is_the_models_own_on_the_record_as_it_is() -> None:
    world, _ = ready()
    raw = world.model.predict_proba(world.people.iloc[:40])[:, 1]
    assert [answer.scores[0] for answer in answered()] == pytest.approx(raw.tolist(), abs=1e-9)


def test_most_people_are_served_whether_they_lack_something_or_not() -> None:
    lacking = [answer.found for answer in answered() if answer.missing]
    others = [answer.found for answer in answered() if not answer.missing]
    assert np.mean(lacking) >= 0.9
    assert len(others) >= 3
    assert np.mean(others) >= 0.9


def test_ends_as_printed_reach_the_target() -> None:
    world, _ = ready()
    ends = pd.concat([one.end.to_frame().T for one in _series_answers() if one.found])
    ends = ends.astype(world.people.dtypes)
    assert (world.model.predict_proba(ends)[:, 1] >= world.min_score).all()


def _series_answers() -> list[Recourse]:
    world, explainer = ready()
    return [explainer.explain(person) for _, person in world.people.iloc[:6].iterrows()]


def test_an_answer_says_what_is_not_known_and_comes_back_from_json() -> None:
    for answer in answered():
        page = str(answer)
        assert ("no value of" in page) == bool(answer.missing)
        again = Recourse.from_json(answer.to_json())
        assert again.to_json() == answer.to_json()
        assert str(again) == page
        assert again.missing == answer.missing


# measuring


def test_what_may_be_measured_is_told_and_never_credited() -> None:
    world, explainer = ready()
    told = 0
    for answer, (_, person) in zip(answered(), world.people.iterrows(), strict=False):
        measured = [one.feature for one in answer.measurements]
        assert measured == (["income"] if pd.isna(person["income"]) else [])
        if not measured:
            continue
        (one,) = answer.measurements
        tried = pd.DataFrame([person] * len(world.data)).reset_index(drop=True)
        tried["income"] = world.data["income"].to_numpy()
        tried = tried.dropna(subset="income").drop_duplicates("income")
        tried = tried.astype(world.data.dtypes)
        scores = world.model.predict_proba(tried)[:, 1]
        assert (one.n_values, one.n_enough) == (len(tried), int((scores >= 0.6).sum()))
        told += any(words in str(answer) for words in ("find out income", "finding out income"))
    assert told >= 3
    assert explainer.explain(world.people.iloc[[0]]).disclosure.rows <= len(world.data)


# every other way to ask


def test_alternatives_checks_audits_and_robustness_keep_what_is_missing() -> None:
    world, explainer = ready()
    person = world.people[world.people["income"].isna()].iloc[[0]]
    for way in explainer.alternatives(person, n=2):
        assert way.path["income"].isna().all()
    check = explainer.check(person, {"income": 40_000.0})
    assert check.refused_by[0] == "box"
    assert "income is missing and stays so" in str(check)
    proposals = person.assign(income=40_000.0)
    (found,) = explainer.audit(person, proposals, progress=False)
    assert found.broken
    answer = explainer.explain(person).require()
    assert explainer.robustness(answer, n=20).n == 20


def test_no_wish_and_no_proposal_takes_a_value_away_or_walks_into_a_code() -> None:
    world, explainer = ready()
    complete = has_value(world.people).all(axis=1)
    person = world.people[complete].iloc[[0]]
    for wish in ({"income": None}, {"months_since_default": -9.0}):
        check = explainer.check(person, wish)
        assert not check.reachable
        assert "has a value and keeps one" in str(check)
        proposal = person.assign(**wish).astype(world.people.dtypes)
        (found,) = explainer.audit(person, proposal, progress=False)
        assert "has a value and keeps one" in found.broken[0]
        answer = explainer.explain(person, counterfactual=proposal)
        assert "lies outside the constraints" in answer.reason
        assert "has a value and keeps one" in answer.reason


def test_a_wish_for_something_else_leaves_what_is_missing_alone() -> None:
    world, explainer = ready()
    wished = 0
    for _, person in world.people[world.people["income"].isna()].iloc[:6].iterrows():
        check = explainer.check(person, {"years_employed": person["years_employed"] + 3})
        if check.recourse is not None:
            wished += 1
            assert check.recourse.path["income"].isna().all()
    assert wished >= 3


def test_what_would_open_a_way_never_rests_on_a_value_that_is_missing() -> None:
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(400, 3)).round(2), columns=list("abc"))
    data["a"] = data["a"].mask(rng.random(400) < 0.3)

    def model(table: pd.DataFrame) -> np.ndarray[Any, Any]:
        return 1 / (1 + np.exp(4 - 3 * table["a"].fillna(-2.0).to_numpy()))

    explainer = LocalFACE(model, data)
    answer = explainer.explain({"a": None, "b": 0.0, "c": 0.0}, where={"b": 0.1, "c": 0.1})
    assert not answer.found
    assert answer.opens == ()


def test_several_features_may_be_measured_and_time_may_be_short() -> None:
    world, _ = ready()
    schema = world.schema.with_("debt", missing="may be measured")
    explainer = LocalFACE(world.model, world.data, schema=schema, min_score=0.6)
    lacks_both = world.people["income"].isna() & world.people["debt"].isna()
    person = world.people[lacks_both].iloc[[0]]
    told = explainer.explain(person).measurements
    assert [one.feature for one in told] == ["income", "debt"]
    explainer.explain(person, max_seconds=1e-6)  # told or not, it is an answer


def test_a_code_breaks_no_order_in_a_wish_or_a_proposal() -> None:
    rng = np.random.default_rng(0)
    low = rng.integers(0, 50, 300).astype(float)
    data = pd.DataFrame({"low": low, "high": low + rng.integers(0, 30, 300)})
    data["high"] = data["high"].mask(rng.random(300) < 0.3, -9.0)
    schema = Schema([Feature("low"), Feature("high", codes={-9: "no record"})])
    explainer = LocalFACE(
        lambda table: 1 / (1 + np.exp(20 - table["low"].to_numpy())),
        data,
        schema=schema.relate("low", "<=", "high"),
    )
    person = {"low": 10.0, "high": -9.0}
    assert explainer.check(person, {"low": 25.0}).allowed
    (found,) = explainer.audit([person], [{"low": 25.0, "high": -9.0}], progress=False)
    assert not found.broken


def test_limits_are_widened_for_those_who_lack_a_value_too() -> None:
    rng = np.random.default_rng(0)
    income = rng.normal(30, 6, 500).round(1)
    data = pd.DataFrame({"income": income, "debt": (income * rng.beta(2, 4, 500)).round(1)})
    data["income"] = data["income"].mask(rng.random(500) < 0.3)

    def model(table: pd.DataFrame) -> np.ndarray[Any, Any]:
        return 1 / (1 + np.exp(table["debt"].to_numpy() - 9))

    explainer = LocalFACE(model, data)
    person = {"income": None, "debt": 12.0}
    where = {"debt": 0.5}
    assert not explainer.explain(person, where=where).found
    answer = explainer.explain(person, where=where, relax=True)
    assert answer.found
    assert list(answer.widened) == ["debt"]


def test_company_is_counted_among_those_who_lack_the_same() -> None:
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(0, 1, (2000, 3)).round(2), columns=list("abz"))
    data.loc[:799, "a"] = np.nan
    data.loc[797:1600, "b"] = np.nan

    def model(table: pd.DataFrame) -> np.ndarray[Any, Any]:
        return 1 / (1 + np.exp(-table["z"].to_numpy()))

    explainer = LocalFACE(model, data)
    both = explainer.explain({"a": None, "b": None, "z": -1.0})
    assert both.n_comparable == 3
    assert "compared with only about 3 people who also lack a and b: how common" in str(both)
    one = explainer.explain({"a": None, "b": 0.0, "z": -1.0})
    assert 700 <= one.n_comparable <= 800


def test_a_value_that_nobody_has_is_a_doubt() -> None:
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": rng.normal(size=200), "lab": np.nan})
    explainer = LocalFACE(lambda table: 1 / (1 + np.exp(-table["a"].to_numpy())), data)
    answer = explainer.explain({"a": -1.0, "lab": 5.0})
    assert [doubt.feature for doubt in answer.doubts] == ["lab"]


def test_a_function_that_answers_gaps_with_nan_is_told_what_it_is_about() -> None:
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": rng.normal(size=200), "b": rng.normal(size=200)})
    data.loc[4, "b"] = np.nan
    with pytest.raises(ModelError, match="cannot read missing values, and 'b'"):
        LocalFACE(lambda table: 1 / (1 + np.exp(-table["b"].to_numpy())), data)


@pytest.mark.parametrize(
    "options",
    [
        {"search": Search(through="rows")},
        {"search": Search(strategy="paper")},
        {"search": Search(edges="average")},
        {"search": Search(edges="cover", min_people=3)},
        {"search": Search(momentum_steps=2)},
        {"search": Search(max_step=0.8)},
        {"density": "isotropic"},
        {"density": "knn"},
    ],
    ids=str,
)
def test_every_kind_of_search_keeps_what_is_missing(options: dict[str, Any]) -> None:
    world, _ = ready()
    explainer = LocalFACE(world.model, world.data, schema=world.schema, min_score=0.6, **options)
    for answer in explainer.explain_many(world.people.iloc[:8], progress=False):
        present = has_value(answer.path)
        assert (present == present.iloc[0]).all(axis=None)


def test_a_store_keeps_what_is_missing_and_answers_alike(tmp_path) -> None:
    world, _ = ready()
    numbers = [name for name in world.data if name not in ("home", "school")]
    data = world.data[numbers]
    schema = Schema([one for one in world.schema if one.name in numbers])
    model = HistGradientBoostingClassifier(max_iter=30, random_state=0)
    model.fit(data, data["debt"].fillna(5_000) < 7_000)
    store = write_store(tmp_path / "rows", lambda: [read_records(data, schema)], schema)
    stored = LocalFACE(model, store, schema=schema)
    answers = stored.explain_many(world.people.loc[:8, numbers], progress=False)
    loaded = LocalFACE(model, data, schema=schema)
    wanted = loaded.explain_many(world.people.loc[:8, numbers], progress=False)
    assert [one.status for one in answers] == [one.status for one in wanted]
    assert sum(one.found for one in answers) >= 3
    for answer in answers:
        present = has_value(answer.path)
        assert (present == present.iloc[0]).all(axis=None)


# models


@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingClassifier(max_iter=20, random_state=0),
        RandomForestClassifier(20, random_state=0),
        make_pipeline(SimpleImputer(), LogisticRegression()),
    ],
    ids=["boosted", "forest", "imputer"],
)
def test_models_that_read_what_is_missing_work_as_they_are(model: Any) -> None:
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(400, 3)), columns=list("abc"))
    data = data.mask(rng.random(data.shape) < 0.2)
    model.fit(data, data.fillna(0.0).sum(axis=1) > 0)
    raw = model.predict_proba(data)[:, 1]
    people = data[(raw < 0.4) & data.isna().any(axis=1)].iloc[:5]
    explainer = LocalFACE(model, data, target=True)
    for answer, score in zip(explainer.explain_many(people, progress=False), raw, strict=False):
        assert answer.found
        assert answer.scores[0] == pytest.approx(
            model.predict_proba(answer.path)[0, 1], abs=1e-9
        ), score


def test_a_model_that_cannot_read_gaps_says_so_at_once_with_what_to_run() -> None:
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(100, 2)), columns=["a", "b"])
    model = LogisticRegression().fit(data, data["a"] > 0)
    data.loc[3, "b"] = np.nan
    with pytest.raises(
        ModelError, match=r"cannot read missing values, and 'b'.*SimpleImputer"
    ) as e:
        LocalFACE(model, data, target=True)
    assert e.value.feature == "b"


def test_a_feature_that_nobody_has_a_value_of_can_be_kept() -> None:
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": rng.normal(size=200), "b": rng.normal(size=200), "pain": np.nan})
    schema = Schema([Feature("a"), Feature("b"), Feature("pain", moves="never")])

    def model(table: pd.DataFrame) -> np.ndarray[Any, Any]:
        return 1 / (1 + np.exp(-table["a"].to_numpy() - table["b"].to_numpy()))

    explainer = LocalFACE(model, data, schema=schema)
    answer = explainer.explain({"a": -1.0, "b": -0.5, "pain": None})
    assert answer.found
    assert answer.missing == ("pain",)
