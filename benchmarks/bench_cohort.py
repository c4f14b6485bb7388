"""The generated readiness cohort that speed is measured on."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from localface import LocalFACE, Search
from localface.cases.readiness import synthetic
from timing import K

ROWS = 13_943
MIN_SCORE = 0.75
STARTED = time.perf_counter()


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """A table, a forest, and people whom the forest does not call ready."""

    data: pd.DataFrame
    model: RandomForestClassifier
    people: pd.DataFrame
    schema: Any

    def explainer(self, *, called: bool = False, **options: Any) -> LocalFACE:
        """A prescored explainer; ``called`` hides from it that the model is a forest."""
        model = (lambda frame: self.model.predict_proba(frame)[:, 1]) if called else self.model
        search = Search(n_neighbors=K, **options)
        return LocalFACE(
            model, self.data, schema=self.schema, min_score=MIN_SCORE, search=search
        ).prescore()


def world(rows: int) -> tuple[Any, Any, Any, Any]:
    """The generated readiness cohort, a forest of 100 trees, and people it was not fitted on."""
    cohort = synthetic(seed=0)
    frame = cohort.frame()
    order = np.random.default_rng(0).permutation(len(frame))
    train = order[:rows]
    test = order[rows:]
    model = RandomForestClassifier(100, max_depth=7, max_features=0.5, random_state=0)
    model.fit(frame.iloc[train], cohort.ready[train])
    return (
        frame.iloc[train].reset_index(drop=True),
        model,
        frame.iloc[test].reset_index(drop=True),
        cohort.schema,
    )


def unready(rows: int, most: int) -> World:
    """The world, with those people only whom the forest does not call ready."""
    data, model, new, schema = world(rows)
    return World(data, model, new[model.predict_proba(new)[:, 1] < MIN_SCORE].iloc[:most], schema)


def say(what: str) -> None:
    """Tell how far it has come."""
    print(f"[{time.perf_counter() - STARTED:5.0f} s] {what} ...", file=sys.stderr, flush=True)
