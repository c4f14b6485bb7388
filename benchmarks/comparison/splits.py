"""The tables that methods are compared on, with their splits."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from localface import Schema
from localface.cases import credit, readiness
from localface.cases.moons import two_moons

TREES = 100
MOST = 10_000  # rows of a table that are used, drawn anew for each seed
SHARES = (
    0.6,
    0.2,
)  # of the rows: for methods and model, for the judge's own density; the rest are asked about


@dataclass(frozen=True, slots=True, eq=False)
class Raw:
    """A table with labels (1 is wanted), its schema, the score to reach, groups of its people."""

    frame: pd.DataFrame
    labels: np.ndarray[Any, Any]
    schema: Schema
    min_score: float
    groups: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """One split: what methods are given, what only the judge knows, the people asked about."""

    name: str
    seed: int
    data: pd.DataFrame
    labels: np.ndarray[Any, Any]
    held_out: pd.DataFrame
    people: pd.DataFrame
    schema: Schema
    min_score: float
    model: Any
    groups: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)  # of those asked about

    def scores(self, frame: pd.DataFrame) -> np.ndarray[Any, Any]:
        """What the model itself says."""
        return np.asarray(self.model.predict_proba(frame)[:, 1])


def forest(frame: pd.DataFrame, labels: Any, *, seed: int = 0) -> Any:
    """A forest as people would fit it: behind a one-hot encoder where there is text."""
    trees = RandomForestClassifier(
        TREES, min_samples_leaf=5, class_weight="balanced", random_state=seed
    )
    return encoded(frame, trees).fit(frame, labels)


def encoded(frame: pd.DataFrame, model: Any) -> Any:
    """The model itself, or behind a one-hot encoder where there are words."""
    words = make_column_selector(dtype_exclude=["number", "bool"])
    if not words(frame):
        return model
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_pipeline(
        ColumnTransformer([("words", encoder, words)], remainder="passthrough"), model
    )


def world(
    name: str,
    seed: int,
    people: int,
    *,
    folder: Path | None = None,
    fit: Callable[..., Any] = forest,
) -> World:
    """Split a table by seed, fit the model, and draw people who do not reach the target."""
    raw = TABLES[name]() if name in TABLES else STORED[name](_given(folder, name))
    order = np.random.default_rng(seed).permutation(len(raw.frame))[:MOST]
    first, second = (int(share * len(order)) for share in np.cumsum(SHARES))
    drawn = np.split(order, [first, second])
    part = [raw.frame.iloc[some].reset_index(drop=True) for some in drawn]
    labels = raw.labels[order[:first]]
    model = fit(part[0], labels, seed=seed)
    below = np.flatnonzero(model.predict_proba(part[2])[:, 1] < raw.min_score)[:people]
    asked = part[2].iloc[below].reset_index(drop=True)
    groups = {kind: told[drawn[2][below]] for kind, told in raw.groups.items()}
    return World(
        name, seed, part[0], labels, part[1], asked, raw.schema, raw.min_score, model, groups
    )


def age_bands(ages: Any) -> np.ndarray[Any, Any]:
    """The decade of life, those before 30 and from 60 on taken together."""
    decade = np.clip(np.asarray(ages, dtype=float) // 10, 2, 6).astype(int)
    names = {2: "below 30", 6: "60 and more"}
    return np.array([names.get(one, f"{10 * one} to {10 * one + 9}") for one in decade])


def _given(folder: Path | None, name: str) -> Path:
    if folder is None or not (folder / name).exists():
        raise FileNotFoundError(f"{name} needs a data folder that has {name}/: pass --data FOLDER")
    return folder / name


# always there


def breast_cancer() -> Raw:
    """Breast cancer, 569 x 30, as scikit-learn has it; benign is wanted, nothing is held."""
    bunch = load_breast_cancer(as_frame=True)
    frame = bunch.data.rename(columns=lambda name: name.replace(" ", "_"))
    return Raw(frame, bunch.target.to_numpy(), Schema.infer(frame), 0.75)


def moons() -> Raw:
    """Two moons, 1,500 people in the plane."""
    moons = two_moons(1500, noise=0.15, seed=0)
    frame = pd.DataFrame(moons.data, columns=["across", "up"])
    return Raw(frame, moons.labels.astype(int), Schema.infer(frame), 0.75)


def discharge() -> Raw:
    """The generated readiness-for-discharge cohort, 16,749 x 22, under the paper's constraints."""
    cohort = readiness.synthetic(seed=0)
    frame = cohort.frame()
    sex = np.where(frame["sex"] == 1, "Male", "Female")
    groups = {"sex": sex, "age": age_bands(frame["age"])}
    return Raw(frame, np.asarray(cohort.ready), cohort.schema, 0.75, groups)


def applications() -> Raw:
    """The generated credit table, 20,000 x 12 of mixed kinds."""
    table = credit.synthetic(20_000, seed=0)
    return Raw(table.frame(), table.repaid, table.schema, 0.75)


# where a data folder is given


def heloc(folder: Path) -> Raw:
    """FICO HELOC: people without any record are left out, special codes become the median."""
    frame = pd.read_csv(folder / "heloc.csv.gz")
    good = (frame.pop("RiskPerformance") == "Good").to_numpy(dtype=int)
    known = ~(frame == -9).all(axis=1).to_numpy()
    frame = frame[known]
    good = good[known]
    frame = frame.where(frame >= 0)
    frame = frame.fillna(frame.median()).round().astype(int).reset_index(drop=True)
    schema = Schema.infer(frame)
    for name in ("ExternalRiskEstimate", "MSinceOldestTradeOpen", "AverageMInFile"):
        schema = schema.with_(name, moves="up")
    for name in ("NumTrades60Ever2DerogPubRec", "NumTrades90Ever2DerogPubRec", "MaxDelqEver"):
        schema = schema.with_(name, moves="never")
    return Raw(frame, good, schema, 0.75)


def adult(folder: Path) -> Raw:
    """UCI Adult: more than 50K is wanted; what is missing is a category of its own."""
    frame = pd.read_csv(folder / "adult.csv.gz").drop(columns=["fnlwgt", "education", "split"])
    rich = frame.pop("income").str.startswith(">50K").to_numpy(dtype=int)
    words = frame.select_dtypes(exclude="number").columns
    frame[words] = frame[words].fillna("unknown").replace("?", "unknown").astype(object)
    frame["native_country"] = np.where(
        frame["native_country"] == "United-States", "US", "elsewhere"
    )
    schema = Schema.infer(frame)
    for name in ("race", "sex", "native_country", "relationship", "marital_status"):
        schema = schema.with_(name, moves="never")
    schema = schema.with_("age", moves="up", within=5).with_("education_num", moves="up")
    groups = {"sex": frame["sex"].to_numpy(), "age": age_bands(frame["age"])}
    return Raw(frame, rich, schema, 0.5, groups)


GERMAN_COLUMNS = [
    "checking",
    "months",
    "history",
    "purpose",
    "amount",
    "savings",
    "employed",
    "rate",
    "status",
    "debtors",
    "residence",
    "property",
    "age",
    "plans",
    "housing",
    "credits",
    "job",
    "dependents",
    "telephone",
    "foreign",
]

GERMAN_WOMEN = ("A92", "A95")  # of the codes for sex and marital status


def german(folder: Path) -> Raw:
    """UCI German credit (Statlog), 1,000 x 20; a good risk is wanted."""
    separator = "," if b"," in (folder / "german.csv").open("rb").readline() else r"\s+"
    frame = pd.read_csv(folder / "german.csv", names=[*GERMAN_COLUMNS, "risk"], sep=separator)
    good = (frame.pop("risk") == 1).to_numpy(dtype=int)
    words = frame.select_dtypes(exclude="number").columns
    frame[words] = frame[words].astype(object)
    schema = Schema.infer(frame)
    for name in ("status", "foreign", "purpose", "history"):
        schema = schema.with_(name, moves="never")
    sex = np.where(frame["status"].isin(GERMAN_WOMEN), "Female", "Male")
    groups = {"sex": sex, "age": age_bands(frame["age"])}
    return Raw(frame, good, schema.with_("age", moves="up", within=5), 0.75, groups)


def gmsc(folder: Path) -> Raw:
    """Give Me Some Credit: no serious delinquency is wanted; gaps take the median, tops are cut."""
    with zipfile.ZipFile(folder / "credit_data.zip") as archive:
        frame = pd.read_csv(io.BytesIO(archive.read("credit_data.csv")), index_col=0)
    good = 1 - frame.pop("SeriousDlqin2yrs").to_numpy(dtype=int)
    frame = frame.rename(columns=lambda name: name.replace("-", "_"))
    frame = frame.fillna(frame.median())
    frame = frame.clip(upper=frame.quantile(0.995), axis=1)
    counts = [name for name in frame if name.startswith("Number") or name == "age"]
    frame[counts] = frame[counts].round().astype(int)
    schema = Schema.infer(frame).with_("age", moves="up", within=5)
    schema = schema.with_("NumberOfDependents", moves="never")
    return Raw(frame, good, schema, 0.75)


TABLES: dict[str, Callable[[], Raw]] = {
    "breast-cancer": breast_cancer,
    "moons": moons,
    "readiness": discharge,
    "credit": applications,
}
STORED: dict[str, Callable[[Path], Raw]] = {
    "heloc": heloc,
    "adult": adult,
    "german": german,
    "gmsc": gmsc,
}
