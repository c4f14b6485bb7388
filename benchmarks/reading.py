"""How long a call of a model takes, and how long reading it directly takes.

Processor time of one call with 1, 20 and 500 records, for a generated table of words and
numbers and models as people fit them: ``python benchmarks/reading.py``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from localface import Schema
from localface.data.read import read_records
from localface.data.table_format import TableFormat
from localface.models.model_table import model_table_format
from localface.models.output import read_output
from localface.models.readers.verify import verified_reader_or_none

SIZES = (1, 20, 500)
WORDS = [f"word{i}" for i in range(8)]
NUMBERS = [f"number{i}" for i in range(8)]


def table(n: int = 2000) -> pd.DataFrame:
    """Eight columns of words, eight of numbers."""
    rng = np.random.default_rng(0)
    words = {name: rng.choice(list("abcdef"), n).astype(object) for name in WORDS}
    return pd.DataFrame(words | {name: rng.normal(size=n) for name in NUMBERS})


def estimators() -> dict[str, Any]:
    """The estimators that are compared, by name."""
    found: dict[str, Any] = {
        "forest of 100 trees": RandomForestClassifier(100, max_depth=7, random_state=0),
        "GradientBoosting": GradientBoostingClassifier(random_state=0),
        "HistGradientBoosting": HistGradientBoostingClassifier(random_state=0),
        "LogisticRegression": LogisticRegression(max_iter=1000),
        "MLP": MLPClassifier(max_iter=20, random_state=0),
        "calibrated forest": CalibratedClassifierCV(RandomForestClassifier(100, max_depth=7)),
    }
    if find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        found["LightGBM"] = LGBMClassifier(verbose=-1, n_jobs=1)
    if find_spec("xgboost"):
        from xgboost import XGBClassifier

        found["XGBoost"] = XGBClassifier(n_jobs=1)
    return found


def fronts() -> dict[str, Any]:
    """What stands in front of the estimators, by name."""
    filled = make_pipeline(SimpleImputer(), StandardScaler())
    return {
        "numbers only": None,
        "OrdinalEncoder": make_column_transformer((OrdinalEncoder(), WORDS), remainder=filled),
        "OneHotEncoder": make_column_transformer(
            (OneHotEncoder(sparse_output=False), WORDS), (filled, NUMBERS)
        ),
    }


def milliseconds(call: Callable[[], Any], times: int = 10) -> float:
    """Return the processor time of one call."""
    call()
    start = time.process_time()
    for _ in range(times):
        call()
    return 1e3 * (time.process_time() - start) / times


def main() -> None:
    """Print one line for each model."""
    print("| model | in front | " + " | ".join(f"{n}: called, read (ms)" for n in SIZES) + " |")
    print("|---|---|" + "---:|" * len(SIZES))
    data = table()
    wanted = (data["number0"] + (data["word0"] < "c") + data["number1"] * data["number2"] > 0.3) * 1
    for front_name, front in fronts().items():
        rows = data[NUMBERS] if front is None else data
        schema = Schema.infer(rows)
        records = read_records(rows, schema)
        for name, estimator in estimators().items():
            model = estimator if front is None else make_pipeline(front, estimator)
            model.fit(rows, wanted)
            form = model_table_format(model, TableFormat.of(rows, schema), schema)
            output = read_output(model, target=1)
            reader = verified_reader_or_none(model, output, form, records)
            cells = []
            for n in SIZES:
                some = records[:n]
                called = milliseconds(lambda: output.call(form.make_table(some)))  # noqa: B023
                read = "not read"
                if reader is not None:
                    read = f"{milliseconds(lambda: reader(some)):.3f}"  # noqa: B023
                cells.append(f"{called:.2f}, {read}")
            print(f"| {name} | {front_name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
