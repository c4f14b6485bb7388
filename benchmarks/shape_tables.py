"""The tables that speed is measured on, with the model of each."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from comparison.splits import adult as read_adult
from comparison.splits import encoded
from comparison.splits import german as read_german
from localface import Schema
from localface.cases.moons import MoonModel, two_moons
from localface.cases.readiness import synthetic

FOLDER = Path(os.environ.get("LOCALFACE_DATA") or Path(__file__).parents[2] / "shared" / "data")
TREES = 100
DRAWN = 20_000  # rows of a larger table that are used
NEW = 2_500  # rows held out of a generated table; the people asked about are among them
Array = np.ndarray
Fit = Callable[[pd.DataFrame, Array], Any]
"""From a table and its labels to a fitted model."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows with labels (1 is wanted), how a model is fitted on some of them, the score to reach.

    ``new`` is how many rows are held out; the rest are given to the explainer.
    """

    frame: pd.DataFrame
    labels: Array
    fit: Fit
    new: int
    schema: Schema | None = None
    min_score: float = 0.5
    made: bool = False  # generated in place of a table that is not there


def planes() -> Table:
    """Two moons, 1,000 rows in the plane, with the smooth model of the package."""
    moons = two_moons(2_000, seed=0)
    frame = pd.DataFrame(moons.data, columns=["across", "up"])
    return Table(frame, moons.labels, lambda data, labels: Placed(moons.model), 1_000)


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """The model of the moons, for frames."""

    model: MoonModel

    def __call__(self, people: pd.DataFrame) -> Array:
        """Score people."""
        return self.model(np.asarray(people))


def small() -> Table:
    """German credit, 1,000 x 20, or a generated table of the same form."""
    made = not (FOLDER / "german").exists()
    if made:
        frame, labels = mixed(1_000, numbers=7, words=13, seed=0)
        return Table(frame, labels, balanced, 300, made=True)
    raw = read_german(FOLDER / "german")
    return Table(raw.frame, raw.labels, balanced, 300, raw.schema, raw.min_score)


def adult() -> Table:
    """Adult, 20,000 of its rows, or a generated table of the same form."""
    if not (FOLDER / "adult").exists():
        frame, labels = mixed(DRAWN, numbers=5, words=7, seed=1)
        return Table(frame, labels, balanced, NEW, made=True)
    raw = read_adult(FOLDER / "adult")
    rows = np.random.default_rng(0).permutation(len(raw.frame))[:DRAWN]
    frame = raw.frame.iloc[rows].reset_index(drop=True)
    return Table(frame, raw.labels[rows], balanced, NEW, raw.schema, raw.min_score)


def codes() -> Table:
    """A table with one feature of 340 categories, a few of which are common."""
    rng = np.random.default_rng(2)
    n = 10_000 + NEW
    frame, labels = mixed(n, numbers=8, words=2, seed=2)
    shares = 1 / np.arange(1, 341) ** 0.7
    number = rng.choice(340, n, p=shares / shares.sum())
    frame["code"] = np.array([f"code {i:03d}" for i in range(340)], dtype=object)[number]
    kind = rng.normal(size=340)[number]  # a code is good or bad for the outcome
    labels = np.where(rng.random(n) < 0.3, kind > 0, labels).astype(int)
    return Table(frame, labels, ordinal, NEW)


def gaps() -> Table:
    """Give Me Some Credit, nothing imputed, or a generated table with gaps; boosting reads them."""
    if (FOLDER / "gmsc").exists():
        with zipfile.ZipFile(FOLDER / "gmsc" / "credit_data.zip") as archive:
            frame = pd.read_csv(archive.open("credit_data.csv"), index_col=0)
        frame = frame.sample(14_000, random_state=0).reset_index(drop=True)
        labels = (frame.pop("SeriousDlqin2yrs") == 0).to_numpy(dtype=int)
        return Table(frame, labels, boosted, 3_500, min_score=0.95)
    frame, labels = numbers(14_000, columns=10, informative=6, seed=3)
    missing = np.random.default_rng(3).random(frame.shape) < 0.15
    missing[:, 4:] = False
    return Table(frame.mask(missing), labels, boosted, 3_500, made=True)


def cancer() -> Table:
    """Breast cancer, 569 x 30; benign is wanted."""
    bunch = load_breast_cancer(as_frame=True)
    frame = bunch.data.rename(columns=lambda name: name.replace(" ", "_"))
    return Table(frame, bunch.target.to_numpy(), forest, 200)


def wide() -> Table:
    """A generated table of 60 columns, 15 of which say something."""
    frame, labels = numbers(10_000 + NEW, columns=60, informative=15, seed=4)
    return Table(frame, labels, forest, NEW)


def ordinary() -> Table:
    """A generated table of 14,000 x 22, and a forest of 100 trees as it comes."""
    frame, labels = numbers(14_000 + NEW, columns=22, informative=10, seed=5)
    return Table(frame, labels, forest, NEW)


def readiness() -> Table:
    """The generated readiness cohort, 13,943 x 22, under the constraints of its schema."""
    cohort = synthetic(seed=0)
    frame = cohort.frame()
    return Table(frame, np.asarray(cohort.ready), shallow, len(frame) - 13_943, cohort.schema, 0.75)


def called() -> Table:
    """The readiness cohort with a model of which nothing is known but its answers."""
    table = readiness()
    return Table(
        table.frame,
        table.labels,
        lambda data, labels: Called(shallow(data, labels)),
        table.new,
        table.schema,
        table.min_score,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Called:
    """A model behind a function."""

    model: Any

    def __call__(self, people: pd.DataFrame) -> Array:
        """Score people."""
        return np.asarray(self.model.predict_proba(people)[:, 1])


# what generated tables and models are made of


def numbers(n: int, *, columns: int, informative: int, seed: int) -> tuple[pd.DataFrame, Array]:
    """Columns of numbers, some of which say something about the label, some of them twice."""
    values, labels = make_classification(
        n, columns, n_informative=informative, n_redundant=columns // 6, random_state=seed
    )
    return pd.DataFrame(values, columns=[f"x{j}" for j in range(columns)]), labels


def mixed(n: int, *, numbers: int, words: int, seed: int) -> tuple[pd.DataFrame, Array]:
    """Numbers, whole or not, with categories as text; two hidden traits run through all of them."""
    rng = np.random.default_rng(seed)
    traits = rng.normal(size=(n, 2))
    columns: dict[str, Any] = {}
    for j in range(numbers):
        value = traits @ rng.normal(size=2) + rng.normal(size=n)
        columns[f"number{j}"] = np.rint(20 + 6 * value).astype(int) if j % 2 else value
    for j in range(words):
        value = traits @ rng.normal(size=2) + rng.normal(size=n)
        many = int(rng.integers(2, 9))
        cut = np.digitize(value, np.quantile(value, np.linspace(0, 1, many + 1)[1:-1]))
        columns[f"word{j}"] = np.array([f"w{i}" for i in range(many)], dtype=object)[cut]
    labels = (traits.sum(axis=1) + 0.8 * rng.normal(size=n) > 0).astype(int)
    return pd.DataFrame(columns), labels


def forest(data: pd.DataFrame, labels: Array) -> Any:
    """A forest as it comes."""
    return RandomForestClassifier(TREES, random_state=0).fit(data, labels)


def shallow(data: pd.DataFrame, labels: Array) -> Any:
    """The forest of the readiness study."""
    trees = RandomForestClassifier(TREES, max_depth=7, max_features=0.5, random_state=0)
    return trees.fit(data, labels)


def balanced(data: pd.DataFrame, labels: Array) -> Any:
    """A forest behind a one-hot encoder, where one outcome is rare."""
    trees = RandomForestClassifier(
        TREES, min_samples_leaf=5, class_weight="balanced", random_state=0
    )
    return encoded(data, trees).fit(data, labels)


def ordinal(data: pd.DataFrame, labels: Array) -> Any:
    """A forest behind an encoder that numbers the categories."""
    words = make_column_selector(dtype_exclude=["number", "bool"])
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = ColumnTransformer([("words", encoder, words)], remainder="passthrough")
    trees = RandomForestClassifier(TREES, min_samples_leaf=5, random_state=0)
    return make_pipeline(columns, trees).fit(data, labels)


def boosted(data: pd.DataFrame, labels: Array) -> Any:
    """Gradient boosting, which reads what is missing."""
    return HistGradientBoostingClassifier(max_iter=80, random_state=0).fit(data, labels)
