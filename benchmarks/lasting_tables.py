"""The eight tables on which it is measured how long answers last, and the people asked about."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from comparison.splits import Raw, adult, breast_cancer, discharge, encoded, german, gmsc, heloc
from localface import Schema, refits

FOLDER = Path(os.environ.get("LOCALFACE_DATA") or Path(__file__).parents[2] / "shared" / "data")
ROWS = 3_000  # rows of a larger table that methods and model are given, drawn by the seed
TREES = 50
UNSEEN = 60  # models fitted again that no method has seen: so few draws that they decide little
UNSEEN_SEED = 20_000
Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """What methods are given, the people asked about, and the models that judge the ends."""

    name: str
    data: pd.DataFrame
    labels: Array
    people: pd.DataFrame
    schema: Schema
    min_score: float
    model: Any
    unseen: list[Any]

    def hold(self, ends: pd.DataFrame) -> Array:
        """Tell which unseen models (down) agree with which ends (across)."""
        return np.array([one.predict_proba(ends)[:, 1] >= self.min_score for one in self.unseen])


def make_trial(name: str, *, people: int, unseen: int = UNSEEN, seed: int = 0) -> Trial:
    """Draw rows, fit the model, and draw people who do not reach the target and are not known."""
    raw = TABLES[name]()
    order = np.random.default_rng(seed).permutation(len(raw.frame))
    first = min(ROWS, int(0.6 * len(order)))
    data = raw.frame.iloc[order[:first]].reset_index(drop=True)
    labels = raw.labels[order[:first]]
    rest = raw.frame.iloc[order[first : first + ROWS]].reset_index(drop=True)
    trees = RandomForestClassifier(
        TREES, min_samples_leaf=5, class_weight="balanced", random_state=seed
    )
    model = encoded(data, trees).fit(data, labels)
    below = np.flatnonzero(model.predict_proba(rest)[:, 1] < raw.min_score)[:people]
    judges = refits(model, data, labels, n=unseen, seed=UNSEEN_SEED + seed, progress=False)
    asked = rest.iloc[below].reset_index(drop=True)
    return Trial(name, data, labels, asked, raw.schema, raw.min_score, model, judges)


def physionet() -> Raw:
    """PhysioNet 2012, one row a stay; survival is wanted, missing numbers are medians."""
    names = [
        *("airway", "hco3", "bp_min", "hr_min", "hr_max", "gcs_min", "temp_min", "temp_max"),
        *("haemoglobin", "k", "na", "creatinine", "bun", "age", "sex", "fio2"),
    ]
    frame = pd.read_csv(FOLDER / "physionet2012" / "cohort.csv.gz")
    survived = (frame["outcome"] == 1).to_numpy(dtype=int)
    frame = frame[names].fillna(frame[names].median())
    schema = Schema.infer(frame).with_("age", moves="never").with_("sex", moves="never")
    return Raw(frame, survived, schema, 0.6)


def generated() -> Raw:
    """A generated table of 5,000 x 12, of which eight columns say something."""
    values, labels = make_classification(
        5_000, 12, n_informative=8, n_redundant=2, flip_y=0.05, random_state=0
    )
    frame = pd.DataFrame(values, columns=[f"x{j}" for j in range(12)])
    return Raw(frame, labels, Schema.infer(frame), 0.6)


TABLES: dict[str, Callable[[], Raw]] = {
    "german": lambda: german(FOLDER / "german"),
    "breast-cancer": breast_cancer,
    "make-classification": generated,
    "physionet2012": physionet,
    "gmsc": lambda: gmsc(FOLDER / "gmsc"),
    "adult": lambda: adult(FOLDER / "adult"),
    "readiness": discharge,
    "heloc": lambda: heloc(FOLDER / "heloc"),
}
