"""Tables as they come: what is missing, or a code for a reason, and models that read it.

    LOCALFACE_DATA=FOLDER python benchmarks/gaps.py [--tables gmsc,heloc] [--people 60]

The folder holds gmsc/, physionet2012/, mimic3-demo/ and heloc/, nothing of which is imputed. On
each table three models are fitted on three quarters of the rows: gradient boosting of
scikit-learn and of LightGBM, which read what is missing, and a forest behind an imputer. People
of the other quarter whom they refuse are asked for, with a guessed schema (HELOC with its
codes). For each: who is served; whether the score of the record is the model's own on the raw
record; how many answers touch what is missing, or lead a value into or out of a code; whether
ends typed in reach the target; and what a person takes. Prints Markdown.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from tqdm import tqdm

from localface import LocalFACE, Schema
from localface.cases.mimic import from_mimic
from localface.cases.readiness import synthetic
from localface.errors import NearCopiesWarning

FOLDER = Path(os.environ.get("LOCALFACE_DATA") or Path(__file__).parents[2] / "shared" / "data")
HELOC_CODES = {-9: "no record", -8: "no usable record", -7: "condition not met"}


@dataclass(frozen=True)
class Table:
    """A table with gaps, who has the wanted outcome, the score to reach, and codes."""

    frame: pd.DataFrame
    wanted: np.ndarray
    min_score: float = 0.5
    codes: tuple[float, ...] = ()
    person: np.ndarray | None = None

    def schema(self) -> Schema:
        """The guessed schema, with codes where the table has some."""
        schema = Schema.infer(self.frame)
        if not self.codes:
            return schema
        for name in self.frame:
            found = {c: HELOC_CODES[c] for c in self.codes if (self.frame[name] == c).any()}
            if found and schema[name].kind in ("numeric", "integer"):
                schema = schema.with_(name, codes=found)
        return schema

    def lacks(self, frame: pd.DataFrame) -> np.ndarray:
        """Where there is no value."""
        return (frame.isna() | frame.isin(self.codes)).to_numpy()


def gmsc() -> Table:
    """Give Me Some Credit: 14,000 rows, a fifth of them without an income."""
    with zipfile.ZipFile(FOLDER / "gmsc" / "credit_data.zip") as archive:
        frame = pd.read_csv(archive.open("credit_data.csv"), index_col=0)
    frame = frame.sample(14_000, random_state=0)
    wanted = (frame.pop("SeriousDlqin2yrs") == 0).to_numpy()
    return Table(frame, wanted)


def physionet() -> Table:
    """PhysioNet 2012: one row a stay; breathing is missing in 72 % of them."""
    frame = pd.read_csv(FOLDER / "physionet2012" / "cohort.csv.gz")
    wanted = (frame.pop("outcome") == 1).to_numpy()
    beside = [name for name in ("RecordID", "recordid", "survival_days") if name in frame]
    frame = frame.drop(columns=beside)
    return Table(frame.loc[:, frame.nunique() > 1], wanted, min_score=0.9)


def mimic() -> Table:
    """The readiness cohort of the MIMIC-III demo, as it is extracted."""
    table = from_mimic(FOLDER / "mimic3-demo", progress=False).table
    names = [name for name in synthetic(seed=0).schema.names if name in table]
    frame = table[names].astype(float)
    frame = frame.loc[:, frame.nunique() > 1]
    return Table(frame, (table["ready"] == 1).to_numpy(), person=table["subject_id"].to_numpy())


def heloc() -> Table:
    """FICO HELOC with its codes; those without any record are left out."""
    frame = pd.read_csv(FOLDER / "heloc" / "heloc.csv.gz")
    frame = frame[(frame.drop(columns="RiskPerformance") != -9).any(axis=1)]
    wanted = (frame.pop("RiskPerformance") == "Good").to_numpy()
    return Table(frame, wanted, codes=tuple(HELOC_CODES))


TABLES: dict[str, Callable[[], Table]] = {
    "gmsc": gmsc,
    "physionet": physionet,
    "mimic": mimic,
    "heloc": heloc,
}

MODELS: dict[str, Callable[[], Any]] = {
    "boosting": lambda: HistGradientBoostingClassifier(max_iter=80, random_state=0),
    "LightGBM": lambda: lightgbm.LGBMClassifier(
        n_estimators=80, random_state=0, verbose=-1, n_jobs=1
    ),
    "imputer and forest": lambda: make_pipeline(
        SimpleImputer(), RandomForestClassifier(80, min_samples_leaf=3, random_state=0)
    ),
}


def held_out(table: Table) -> np.ndarray:
    """A quarter of the rows, by person where people have several."""
    people = np.arange(len(table.frame)) if table.person is None else table.person
    distinct = np.unique(people)
    chosen = np.random.default_rng(0).permutation(distinct)[: len(distinct) // 4]
    return np.isin(people, chosen)


def measure(table: Table, model: Any, n_people: int) -> dict[str, Any]:
    """Fit a model, ask for people whom it refuses, and count."""
    new = held_out(table)
    known = table.frame[~new]
    model.fit(known, table.wanted[~new].astype(int))
    groups = None if table.person is None else table.person[~new]
    explainer = LocalFACE(
        model, known, schema=table.schema(), min_score=table.min_score, groups=groups
    )
    fresh = table.frame[new]
    raw = model.predict_proba(fresh)[:, 1]
    refused = fresh[raw < table.min_score].iloc[:n_people]
    raw = raw[raw < table.min_score][:n_people]
    found = lacking = flips = touched = crossed = short = 0
    seconds = []
    for i in tqdm(range(len(refused)), leave=False):
        person = refused.iloc[[i]]
        begun = time.process_time()
        answer = explainer.explain(person)
        seconds.append(time.process_time() - begun)
        gone = table.lacks(person)[0]
        lacking += bool(gone.any())
        flips += (answer.scores[0] >= table.min_score) != (raw[i] >= table.min_score)
        found += answer.found
        changed = {name for action in answer.actions for name in action.changes}
        touched += bool(changed & set(refused.columns[gone]))
        crossed += bool((table.lacks(answer.path) != gone).any())
        if answer.found:
            short += model.predict_proba(answer.end)[0, 1] < table.min_score
    return {
        "people": len(refused),
        "lacking": lacking,
        "found": found,
        "flips": int(flips),
        "touched": touched,
        "crossed": crossed,
        "short": int(short),
        "ms": 1000 * float(np.median(seconds)),
    }


def main() -> None:
    """Measure every table with every model."""
    parser = argparse.ArgumentParser(description="Tables as they come.")
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--people", type=int, default=60)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", NearCopiesWarning)
    print(
        "| table | model | people | lacking a value | found | decisions flipped | "
        "actions on what is missing | paths into or out of it | ends short of the target | "
        "median ms |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in asked.tables.split(","):
        table = TABLES[name]()
        for word, make in MODELS.items():
            row = measure(table, make(), asked.people)
            print(
                f"| {name} | {word} | {row['people']} | {row['lacking']} | {row['found']} | "
                f"{row['flips']} | {row['touched']} | {row['crossed']} | {row['short']} | "
                f"{row['ms']:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
