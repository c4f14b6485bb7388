"""Tables as they come: what is missing, or a code for a reason, and models that read it.

    LOCALFACE_DATA=FOLDER python benchmarks/gaps.py [--tables gmsc,heloc] [--people 60]
    LOCALFACE_DATA=FOLDER python benchmarks/gaps.py --only codes --people 300
    LOCALFACE_DATA=FOLDER python benchmarks/gaps.py --only dummies --people 300

The folder holds gmsc/, physionet2012/, mimic3-demo/ and heloc/, nothing of which is imputed. On
each table three models are fitted on three quarters of the rows (again with another quarter held
out, where too few are refused): gradient boosting of
scikit-learn and of LightGBM, which read what is missing, and a forest behind an imputer. People
of the other quarter whom they refuse are asked for, with a guessed schema (HELOC with its
codes). For each: who is served; whether the score of the record is the model's own on the raw
record; how many answers touch what is missing, or lead a value into or out of a code; whether
ends typed in reach the target; and what a person takes. Prints Markdown.

`--only codes` and `--only dummies` declare nothing at all (gaps_guessed.py): HELOC with the codes
that `Schema.infer` finds, and Adult one-hot encoded by pandas in three ways.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from gaps_guessed import codes_report, dummies_report
from localface import LocalFACE, Recourse, Schema
from localface.cases.mimic import from_mimic
from localface.cases.readiness import synthetic
from localface.errors import DataError, NearCopiesWarning

FOLDER = Path(os.environ.get("LOCALFACE_DATA") or Path(__file__).parents[2] / "shared" / "data")
PARTS = ("models", "codes", "dummies")
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


def held_out(table: Table) -> Iterator[np.ndarray]:
    """Quarters of the rows, by person where people have several."""
    people = np.arange(len(table.frame)) if table.person is None else table.person
    shuffled = np.random.default_rng(0).permutation(np.unique(people))
    for chosen in np.array_split(shuffled, 4):
        yield np.isin(people, chosen)


def measure(table: Table, make: Callable[[], Any], n_people: int) -> Counter[str]:
    """Fit models until enough people were refused, a quarter of the rows held out from each."""
    total: Counter[str] = Counter()
    seconds: list[float] = []
    for new in held_out(table):
        if total["people"] < n_people:
            total += measure_quarter(table, new, make(), n_people - total["people"], seconds)
    return Counter({**total, "ms": 1000 * float(np.median(seconds))})


def measure_quarter(
    table: Table, new: np.ndarray, model: Any, n_people: int, seconds: list[float]
) -> Counter[str]:
    """Fit a model without a quarter, ask for people there whom it refuses, and count."""
    known = table.frame[~new]
    model.fit(known, table.wanted[~new].astype(int))
    groups = None if table.person is None else table.person[~new]
    explainer = LocalFACE(
        model, known, schema=table.schema(), min_score=table.min_score, groups=groups
    )
    fresh = table.frame[new]
    raw = model.predict_proba(fresh)[:, 1]
    refused = fresh[raw < table.min_score].iloc[:n_people]
    counts = Counter(people=len(refused))
    for i in range(len(refused)):
        person = refused.iloc[[i]]
        begun = time.process_time()
        try:
            answer = explainer.explain(person)
        except DataError:  # nobody in the data lacks what they lack
            counts["refused"] += 1
            continue
        seconds.append(time.process_time() - begun)
        counts += judged(table, model, person, answer)
    return counts


def judged(table: Table, model: Any, person: pd.DataFrame, answer: Recourse) -> Counter[str]:
    """What an answer does to the decision, to what is missing and to the target."""
    gone = table.lacks(person)[0]
    changed = {name for action in answer.actions for name in action.changes}
    told = answer.scores[0] >= table.min_score
    decided = model.predict_proba(person)[0, 1] >= table.min_score
    ends = answer.found and model.predict_proba(answer.end)[0, 1] < table.min_score
    return Counter(
        lacking=int(gone.any()),
        found=int(answer.found),
        flips=int(told != decided),
        touched=int(bool(changed & set(person.columns[gone]))),
        crossed=int((table.lacks(answer.path) != gone).any()),
        short=int(ends),
    )


def models_report(names: list[str], n_people: int) -> Iterator[str]:
    """Every table with every model: a line each."""
    yield (
        "| table | model | people | lacking a value | lack what all others have | found | "
        "decisions flipped | actions on what is missing | paths into or out of it | "
        "ends short of the target | median ms |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for name in names:
        table = TABLES[name]()
        for word, make in MODELS.items():
            row = measure(table, make, n_people)
            yield (
                f"| {name} | {word} | {row['people']} | {row['lacking']} | {row['refused']} | "
                f"{row['found']} | {row['flips']} | {row['touched']} | {row['crossed']} | "
                f"{row['short']} | {row['ms']:.0f} |"
            )


def main() -> None:
    """Measure the parts that are asked for, and print a table for each."""
    parser = argparse.ArgumentParser(description="Tables as they come.")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=["models"])
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--people", type=int, default=60)
    parser.add_argument("--rows", type=int, default=6_000, help="of Adult (6000)")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", NearCopiesWarning)
    reports = {
        "models": lambda: models_report(asked.tables.split(","), asked.people),
        "codes": lambda: codes_report(FOLDER, MODELS, asked.people),
        "dummies": lambda: dummies_report(FOLDER, MODELS["boosting"], asked.people, asked.rows),
    }
    for part in asked.only:
        for line in reports[part]():
            print(line, flush=True)


if __name__ == "__main__":
    main()
