"""Models that are fitted again on people drawn anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from localface import refits
from localface.errors import InputError, ModelError

RNG = np.random.default_rng(0)
X = pd.DataFrame({"dose": RNG.normal(size=60), "ward": RNG.choice(["a", "b"], 60)})
Y = (X["dose"] + (X["ward"] == "a") > 0.5).astype(int)


def pipeline() -> Any:
    words = ColumnTransformer([("words", OneHotEncoder(), ["ward"])], remainder="passthrough")
    return make_pipeline(words, RandomForestClassifier(5, random_state=3)).fit(X, Y)


class Remembering:
    """An estimator that remembers the rows that it was fitted on."""

    def fit(self, table: Any, labels: Any) -> Any:
        self.rows = np.asarray(table)[:, 0].astype(int).tolist()
        self.labels = list(labels)
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {}

    def set_params(self, **_: Any) -> Any:
        return self


def test_a_pipeline_is_fitted_again_from_other_seeds_and_stays_as_it_is() -> None:
    model = pipeline()
    before = model.predict_proba(X)

    found = refits(model, X, Y, n=3, progress=False)

    seeds = {one[-1].random_state for one in found}
    assert len(seeds) == 3
    assert 3 not in seeds
    assert not np.array_equal(found[0].predict_proba(X), found[1].predict_proba(X))
    assert np.array_equal(model.predict_proba(X), before)


def test_the_same_seed_gives_the_same_models_and_more_of_them_the_same_first() -> None:
    some = refits(pipeline(), X, Y, n=2, seed=7, progress=False)
    more = refits(pipeline(), X, Y, n=3, seed=7, progress=False)
    other = refits(pipeline(), X, Y, n=2, seed=8, progress=False)

    for a, b in zip(some, more, strict=False):
        assert np.array_equal(a.predict_proba(X), b.predict_proba(X))
    assert not np.array_equal(some[0].predict_proba(X), other[0].predict_proba(X))


def test_people_are_drawn_with_all_their_rows() -> None:
    table = np.arange(40.0)[:, None]
    people = np.repeat(np.arange(10), 4)

    (one,) = refits(Remembering(), table, people % 2, n=1, groups=people, progress=False)

    drawn = np.sort(np.array(one.rows).reshape(-1, 4), axis=1)
    assert len(drawn) == 10
    assert (np.diff(drawn, axis=1) == 1).all()
    assert (drawn[:, 0] % 4 == 0).all()
    assert len(np.unique(drawn[:, 0])) < 10  # with replacement


def test_only_the_latest_rows_are_learnt_from_where_times_are_given() -> None:
    table = np.arange(40.0)[:, None]
    times = pd.date_range("2024-01-01", periods=40)[::-1]  # the first row is the latest

    (one,) = refits(
        Remembering(), table, np.arange(40) % 2, n=1, times=times, latest=0.25, progress=False
    )

    assert set(one.rows) <= set(range(10))
    assert len(one.rows) == 10


@pytest.mark.parametrize("kind", ["numpy", "polars", "arrow"])
def test_every_kind_of_table_is_drawn_from(kind: str) -> None:
    table: Any = X[["dose"]]
    if kind == "numpy":
        table = table.to_numpy()
    if kind == "polars":
        table = pl.from_pandas(table)
    if kind == "arrow":
        table = pl.from_pandas(table).to_arrow()
    (one,) = refits(Remembering(), table, np.arange(60) % 2, n=1, progress=False)

    assert len(one.rows) == 60


def test_no_class_is_missed_by_a_draw() -> None:
    labels = np.zeros(60, dtype=int)
    labels[:2] = 1

    found = refits(Remembering(), np.arange(60.0)[:, None], labels, n=20, progress=False)

    assert all(1 in one.labels for one in found)


def test_what_cannot_be_fitted_again_says_so() -> None:
    with pytest.raises(ModelError, match=r"function cannot be fitted again.*others="):
        refits(lambda rows: rows, X, Y)
    with pytest.raises(InputError, match="y= has 59 and X 60 rows"):
        refits(pipeline(), X, Y[:-1])
    with pytest.raises(InputError, match="n=0: a whole number"):
        refits(pipeline(), X, Y, n=0)
    with pytest.raises(ModelError, match="could not be fitted again: ValueError"):
        refits(LogisticRegression(), X, Y, progress=False)  # words
