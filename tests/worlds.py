"""Small worlds with known truth, each with a table, a model and people to explain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from localface import Feature, LocalFACE, Schema, Search


@dataclass(frozen=True)
class World:
    """A table, a fitted model, people who do not have the outcome, and what they may change.

    The floor is where somebody's straight step is refused: else nothing shows that it is kept.
    """

    name: str
    data: Any
    model: Any
    people: Any
    schema: Schema | None = None
    where: dict[str, Any] | None = None
    n_neighbors: int = 15
    min_score: float = 0.5
    min_density: float = 0.05


def _planar(name: str, make: Callable[..., Any], **options: Any) -> World:
    data, labels = make(random_state=0, **options)
    fresh, _ = make(random_state=1, **options)
    model = MLPClassifier((32, 32), max_iter=2000, random_state=0).fit(data, labels)
    refused = model.predict_proba(fresh)[:, 1] < 0.5
    return World(name, data, model, fresh[refused])


@cache
def moons() -> World:
    return _planar("moons", make_moons, n_samples=1000, noise=0.12)


@cache
def circles() -> World:
    return _planar("circles", make_circles, n_samples=600, noise=0.12, factor=0.5)


@cache
def blobs() -> World:
    centres = np.array([[0.0, 0.0], [2.5, 0.5], [5.0, 3.0]])
    data, which = make_blobs(n_samples=500, centers=centres, cluster_std=0.8, random_state=0)
    fresh, _ = make_blobs(n_samples=200, centers=centres, cluster_std=0.8, random_state=1)
    model = LogisticRegression().fit(data, which == 2)
    refused = fresh[model.predict_proba(fresh)[:, 1] < 0.5]
    return World("blobs", data, model, refused, min_density=0.2)


def mixed_table(n: int, seed: int) -> pd.DataFrame:
    """A credit-like table: numbers, whole numbers, both kinds of category, a yes or no."""
    rng = np.random.default_rng(seed)
    income = np.round(rng.lognormal(10.2, 0.4, n), -2)
    years = rng.poisson(6, n)
    home = rng.choice(["rent", "own", "family"], n, p=[0.5, 0.35, 0.15])
    school = pd.Categorical(
        rng.choice(["basic", "middle", "high"], n),
        categories=["basic", "middle", "high"],
        ordered=True,
    )
    debt = np.round(income * rng.beta(2, 5, n), -2)
    return pd.DataFrame(
        {
            "income": income,
            "years_employed": years,
            "home": home,
            "school": school,
            "married": rng.random(n) < 0.4,
            "debt": debt,
            "age": (20 + rng.gamma(4, 6, n)).round(),
        }
    )


@cache
def mixed() -> World:
    data = mixed_table(900, 0)
    owed = data["debt"] / data["income"]
    worth = (
        np.log(data["income"])
        + 0.1 * data["years_employed"]
        - 4 * owed
        + 0.5 * (data["home"] == "own")
    )
    coder = ColumnTransformer(
        [
            ("words", OneHotEncoder(handle_unknown="ignore"), ["home", "school"]),
            ("numbers", StandardScaler(), ["income", "years_employed", "married", "debt", "age"]),
        ]
    )
    forest = RandomForestClassifier(40, max_depth=6, random_state=0)
    model = make_pipeline(coder, forest).fit(data, worth > worth.quantile(0.6))
    fresh = mixed_table(150, 1)
    refused = fresh[model.predict_proba(fresh)[:, 1] < 0.6].reset_index(drop=True)
    schema = (
        Schema.infer(data)
        .with_("age", moves="freely", within=10, unit="years")
        .with_("years_employed", moves="up")
        .with_("married", moves="freely")
    )
    return World(
        "mixed",
        data,
        model,
        refused,
        schema,
        {"married": "never"},
        n_neighbors=30,
        min_score=0.6,
        min_density=0.3,
    )


@cache
def ward() -> World:
    """22 dimensions with correlated features, a tube that is in or out, and a forest."""
    data, ready = _ward_rows(3000, 0)
    model = RandomForestClassifier(50, max_depth=7, random_state=0).fit(data, ready)
    fresh, _ = _ward_rows(300, 1)
    refused = fresh[model.predict_proba(fresh)[:, 1] < 0.6].reset_index(drop=True)
    schema = Schema(
        [Feature(name) for name in data.columns[:-1]]
        + [Feature("tube", kind="binary", categories=(0, 1))]
    )
    return World(
        "ward",
        data,
        model,
        refused,
        schema,
        {"v0": 1.0, "v1": "never"},
        n_neighbors=50,
        min_score=0.6,
    )


def _ward_rows(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    mixing = np.eye(21) + 0.25 * np.random.default_rng(7).normal(size=(21, 21))
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, 21)) @ mixing
    values[:, 1] = np.round(values[:, 1])  # something immutable must be shared by people
    tube = (rng.random(n) < 1 / (1 + np.exp(values[:, 2]))).astype(int)
    ready = values[:, 2] - values[:, 3] - 1.5 * tube + rng.normal(scale=0.7, size=n) > 0
    data = pd.DataFrame(np.round(values, 3), columns=[f"v{i}" for i in range(21)])
    return data.assign(tube=tube), ready


@cache
def gaps() -> World:
    """The credit-like table as it comes: values missing, codes for a reason, a model that reads."""
    data = _gappy_table(900, 0)
    worth = (
        np.log(data["income"].fillna(22_000))
        - 2 * data["debt"].fillna(6_000) / 20_000
        + 0.5 * (data["home"] == "own")
        - 0.02 * data["months_since_default"].clip(lower=0)
    )
    coder = ColumnTransformer(
        [("words", OneHotEncoder(handle_unknown="ignore"), ["home", "school"])],
        remainder="passthrough",
    )
    boosted = HistGradientBoostingClassifier(max_iter=40, random_state=0)
    model = make_pipeline(coder, boosted).fit(data, worth > worth.quantile(0.6))
    fresh = _gappy_table(150, 1)
    refused = fresh[model.predict_proba(fresh)[:, 1] < 0.6].reset_index(drop=True)
    codes = {-9: "no default", -8: "not known"}
    schema = (
        Schema.infer(data)
        .with_("months_since_default", codes=codes, moves="freely")
        .with_("years_employed", moves="freely")
        .with_("married", moves="freely")
        .with_("debt", moves="down")
        .with_("age", moves="freely", within=10)
        .with_("income", missing="may be measured")
    )
    return World(
        "gaps",
        data,
        model,
        refused,
        schema,
        {"married": "never"},
        n_neighbors=30,
        min_score=0.6,
        min_density=0.3,
    )


def _gappy_table(n: int, seed: int) -> pd.DataFrame:
    data = mixed_table(n, seed)
    rng = np.random.default_rng([seed, 99])
    months = rng.integers(0, 90, n).astype(float)
    months = np.where(rng.random(n) < 0.4, -9.0, months)
    data["months_since_default"] = np.where(rng.random(n) < 0.1, -8.0, months)
    data["married"] = data["married"].astype(float)
    for name, share in {"income": 0.2, "debt": 0.1, "age": 0.05, "married": 0.1}.items():
        data[name] = data[name].where(rng.random(n) >= share)
    for name in ("home", "school"):
        data[name] = data[name].astype(object).where(rng.random(n) >= 0.1, None)
    return data


WORLDS = {
    "moons": moons,
    "circles": circles,
    "blobs": blobs,
    "mixed": mixed,
    "ward": ward,
    "gaps": gaps,
}


def make_explainer(model: Any, data: Any, **options: Any) -> LocalFACE:
    """An explainer with any of its options, those of its search among them."""
    names = [one.name for one in fields(Search)]
    search = {name: options.pop(name) for name in names if name in options}
    return LocalFACE(model, data, search=Search(**search), **options)
