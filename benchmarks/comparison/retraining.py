"""Models fitted again, which no method has seen: would they agree with an answer?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from localface import refits
from splits import World, encoded

REFITS = 20
SEED = 20_000  # far from what LocalFACE draws its own refits from
ROWS = 5_000  # that a model of another family is trained on, at most

Scores = Callable[[pd.DataFrame], Any]


def unseen_refits(at: World) -> list[Scores]:
    """The same kind of model, on people drawn anew and from another seed."""
    models = refits(at.model, at.data, at.labels, n=REFITS, seed=SEED + at.seed, progress=False)
    return [_scores(model) for model in models]


def other_families(at: World) -> list[Scores]:
    """Models of other kinds, each on the same people."""
    rows = np.random.default_rng(at.seed).permutation(len(at.data))[:ROWS]
    return [
        _scores(encoded(at.data, model).fit(at.data.iloc[rows], at.labels[rows]))
        for model in _families()
    ]


def _families() -> Iterator[Any]:
    yield HistGradientBoostingClassifier(random_state=0)
    yield ExtraTreesClassifier(100, min_samples_leaf=5, class_weight="balanced", random_state=0)
    yield make_pipeline(
        StandardScaler(), LogisticRegression(max_iter=2000, class_weight="balanced")
    )
    network = MLPClassifier((32,), max_iter=200, early_stopping=True, random_state=0)
    yield make_pipeline(StandardScaler(), network)
    yield make_pipeline(StandardScaler(), KNeighborsClassifier(25))
    yield RandomForestClassifier(100, max_depth=6, class_weight="balanced", random_state=0)


def _scores(model: Any) -> Scores:
    def score(frame: pd.DataFrame) -> Any:
        return model.predict_proba(frame)[:, 1]

    return score
