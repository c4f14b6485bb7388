"""Would the person concerned act on it? What answers are like, on real tables.

    LOCALFACE_DATA=FOLDER python benchmarks/answers.py [--tables heloc,adult] [--people 60]

The folder holds heloc/, adult/, german/ and gmsc/; the readiness cohort is generated. A forest
is fitted on three quarters of the rows of each table, and people of the other quarter whom it
refuses are asked for, with what they cannot change kept as it is. For each table: who is served,
how many features change and by how much, beside NICE (its sparse reward) and Wachter among the
same people, as far as their ends are on common ground; whether the printed values, typed in as
printed, reach the target; whether the answer jumps when the target rises by 0.02; whether one of
three alternatives beats it; and what a person takes. Prints Markdown.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from tqdm import tqdm

from localface import LocalFACE, Recourse, Schema
from localface.cases.readiness import synthetic
from localface.evaluation.baselines import Task
from localface.evaluation.baselines.nice import NICE
from localface.evaluation.baselines.wachter import Wachter
from localface.evaluation.metrics import l1

FOLDER = Path(os.environ.get("LOCALFACE_DATA") or Path(__file__).parents[2] / "shared" / "data")
RISE = 0.02
MUCH_MORE = 2  # features more, for so small a rise, is a jump


@dataclass(frozen=True)
class Table:
    """A table, who has the wanted outcome, and what nobody can change."""

    frame: pd.DataFrame
    wanted: np.ndarray
    schema: Schema


def heloc() -> Table:
    """FICO HELOC: people without any record are left out, special codes become the median."""
    frame = pd.read_csv(FOLDER / "heloc" / "heloc.csv.gz")
    frame = frame[(frame.drop(columns="RiskPerformance") != -9).any(axis=1)]
    wanted = (frame.pop("RiskPerformance") == "Good").to_numpy()
    frame = frame.astype(float)
    frame = frame.where(frame >= 0).fillna(frame.where(frame >= 0).median())
    return Table(frame, wanted, keeping(frame, "ExternalRiskEstimate", "MaxDelqEver"))


def adult() -> Table:
    """Adult, 14,000 rows; an unknown value is a category."""
    frame = pd.read_csv(FOLDER / "adult" / "adult.csv.gz").sample(14_000, random_state=0)
    wanted = frame.pop("income").astype(str).str.contains(">").to_numpy()
    frame = frame.drop(columns=["split", "fnlwgt", "education"])
    frame = frame.replace("?", "unknown").fillna("unknown")
    return Table(frame, wanted, keeping(frame, "age", "sex", "race", "native_country"))


def german() -> Table:
    """German credit: age, personal status and sex, and being a foreign worker are kept."""
    frame = pd.read_csv(FOLDER / "german" / "german.csv", header=None)
    wanted = (frame.pop(20) == 1).to_numpy()
    frame.columns = [f"c{j}" for j in range(20)]
    return Table(frame, wanted, keeping(frame, "c8", "c12", "c19"))


def gmsc() -> Table:
    """Give Me Some Credit: 14,000 complete rows."""
    with zipfile.ZipFile(FOLDER / "gmsc" / "credit_data.zip") as archive:
        frame = pd.read_csv(archive.open("credit_data.csv"), index_col=0)
    frame = frame.dropna().sample(14_000, random_state=0)
    wanted = (frame.pop("SeriousDlqin2yrs") == 0).to_numpy()
    frame = frame.astype(float)
    return Table(frame, wanted, keeping(frame, "age", "NumberOfDependents"))


def readiness() -> Table:
    """The generated readiness cohort with its own schema."""
    cohort = synthetic(seed=0)
    return Table(cohort.frame(), np.asarray(cohort.ready, dtype=bool), cohort.schema)


TABLES: dict[str, Callable[[], Table]] = {
    "heloc": heloc,
    "adult": adult,
    "german": german,
    "gmsc": gmsc,
    "readiness": readiness,
}


def keeping(frame: pd.DataFrame, *names: str) -> Schema:
    """The guessed schema, in which some features never change."""
    schema = Schema.infer(frame)
    for name in names:
        schema = schema.with_(name, moves="never")
    return schema


def fitted(frame: pd.DataFrame, wanted: np.ndarray) -> Any:
    """A forest that reads text as codes; refuses about half where the outcome is rare or usual."""
    text = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    coded = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    forest = RandomForestClassifier(
        100, min_samples_leaf=5, class_weight="balanced", random_state=0
    )
    columns = make_column_transformer((coded, text), remainder="passthrough")
    return make_pipeline(columns, forest).fit(frame, wanted)


@dataclass(frozen=True)
class Measured:
    """What a method's ends are like: how many are sound, and what those change."""

    sound: int
    features: np.ndarray
    efforts: np.ndarray

    def cell(self, n: int) -> str:
        """Share sound, median and mean number of features, mean effort."""
        if not self.sound:
            return "0 %"
        return (
            f"{100 * self.sound / n:.0f} %, {np.median(self.features):g} / "
            f"{self.features.mean():.2f}, {self.efforts.mean():.2f}"
        )


class Trial:
    """One table: an explainer, people whom the model refuses, and answers to them."""

    def __init__(self, table: Table, n_people: int) -> None:
        chance = np.random.default_rng(0)
        order = chance.permutation(len(table.frame))
        held_out = order[: len(order) // 4]
        rest = order[len(order) // 4 :]
        self.data = table.frame.iloc[rest].reset_index(drop=True)
        self.model = fitted(self.data, table.wanted[rest])
        unseen = table.frame.iloc[held_out]
        refused = unseen[self.score(unseen) < 0.5].iloc[:n_people]
        self.people = [refused.iloc[[i]] for i in range(len(refused))]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.explainer = LocalFACE(self.model, self.data, schema=table.schema).prescore()
        self.task = Task.of(self.model, self.data, schema=table.schema)

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """The wanted outcome's probability."""
        return self.model.predict_proba(frame)[:, 1]

    def answers(self) -> tuple[list[Recourse], np.ndarray]:
        """The answers, one at a time, and what each took."""
        found = []
        seconds = []
        for person in tqdm(self.people, desc="answers", leave=False):
            start = time.perf_counter()
            found.append(self.explainer.explain(person))
            seconds.append(time.perf_counter() - start)
        return found, np.array(seconds)

    def measure(self, starts: np.ndarray, ends: np.ndarray) -> Measured:
        """Judge ends by the floor of the explainer, and count what they change."""
        space = self.explainer.engine.space
        density = self.explainer.density
        a, b = space.points(starts), space.points(ends)
        own = density.lowest_along(a, a, None).log_densities
        common = density.lowest_along(b, b, None).log_densities
        sound = common >= np.minimum(self.explainer.log_floor, own) - 1e-6
        features = (starts != ends).sum(axis=1)
        efforts = l1(starts, ends, space)
        return Measured(int(sound.sum()), features[sound], efforts[sound])

    def peer(self, method: Any) -> Measured:
        """The ends that a peer proposes to the same people."""
        starts = []
        ends = []
        for person in tqdm(self.people, desc=type(method).__name__, leave=False):
            proposal = method.explain(person)
            if proposal.found:
                starts.append(proposal.states[0])
                ends.append(proposal.states[-1])
        if not ends:
            return Measured(0, np.zeros(0), np.zeros(0))
        return self.measure(np.array(starts), np.array(ends))


def n_features(answer: Recourse) -> int:
    """How many features the actions change."""
    return len({name for action in answer.actions for name in action.changes})


def ends_of(answers: Sequence[Recourse]) -> tuple[np.ndarray, np.ndarray]:
    """Where people are and where their actions lead to, as records."""
    followed = [answer.with_actions_as_path().records for answer in answers]
    return np.array([one[0] for one in followed]), np.array([one[-1] for one in followed])


def reaches_as_printed(trial: Trial, answer: Recourse) -> bool:
    """Type in the end as it is printed."""
    end = answer.with_actions_as_path().records[-1]
    texts = [feature.format(code) for feature, code in zip(answer.schema, end, strict=True)]
    typed = {
        feature.name: feature.value(code) if feature.categories else float(text.split()[0])
        for feature, code, text in zip(answer.schema, end, texts, strict=True)
    }
    row = pd.DataFrame([typed])[list(trial.data.columns)].astype(trial.data.dtypes.to_dict())
    return bool(trial.score(row)[0] >= 0.5)


def is_beaten(trial: Trial, answer: Recourse, person: pd.DataFrame) -> bool:
    """Tell whether an alternative has no more features, no more effort and no lower score."""
    _, end = ends_of([answer])
    ours = trial.measure(answer.records[:1], end)
    for other in trial.explainer.alternatives(person, n=3):
        if not other.found or not other.actions:
            continue
        _, end = ends_of([other])
        theirs = trial.measure(other.records[:1], end)
        if not theirs.sound or not ours.sound:
            continue
        pairs = [
            (n_features(other), n_features(answer)),
            (round(float(theirs.efforts[0]), 6), round(float(ours.efforts[0]), 6)),
            (-other.actions[-1].score, -answer.actions[-1].score),
        ]
        if all(a <= b for a, b in pairs) and any(a < b for a, b in pairs):
            return True
    return False


def row_of(name: str, n_people: int, n_checked: int) -> str:
    """One line of the table."""
    trial = Trial(TABLES[name](), n_people)
    answers, seconds = trial.answers()
    found = [answer for answer in answers if answer.found]
    acting = [answer for answer in found if answer.actions]
    ours = trial.measure(*ends_of(acting))
    counts = np.array([n_features(answer) for answer in acting])
    widest = max(len(action.changes) for answer in acting for action in answer.actions)
    n = len(answers)
    typed = sum(reaches_as_printed(trial, answer) for answer in acting)
    checked = [(a, p) for a, p in zip(answers, trial.people, strict=True) if a.found and a.actions]
    checked = checked[:n_checked]
    jumps = 0
    beaten = 0
    for answer, person in tqdm(checked, desc="stability", leave=False):
        raised = trial.explainer.explain(person, min_score=0.5 + RISE)
        jumps += raised.found and n_features(raised) > n_features(answer) + MUCH_MORE
        beaten += is_beaten(trial, answer, person)
    cells = [
        name,
        f"{n}",
        f"{100 * len(found) / n:.0f} %",
        f"{len(acting)} of {len(found)}",
        ours.cell(n),
        trial.peer(NICE(trial.task, reward="sparsity")).cell(n),
        trial.peer(Wachter(trial.task)).cell(n),
        f"{100 * np.mean(counts <= 6):.0f} %",
        f"{widest}",
        f"{typed} of {len(acting)}",
        f"{jumps} of {len(checked)}",
        f"{beaten} of {len(checked)}",
        (
            f"{1000 * np.median(seconds):.0f} / {1000 * np.quantile(seconds, 0.99):.0f} ms "
            f"({np.quantile(seconds, 0.99) / np.median(seconds):.0f} times)"
        ),
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What answers are like, on real tables.")
    parser.add_argument("--tables", default=",".join(TABLES), help="which, with commas between")
    parser.add_argument("--people", type=int, default=60, help="of each table (default: 60)")
    parser.add_argument(
        "--checked", type=int, default=25, help="asked again for stability (default: 25)"
    )
    given = parser.parse_args()
    heads = [
        *("table", "people", "found", "with actions", "LocalFACE", "NICE, sparse", "Wachter"),
        *("at most 6 features", "widest action", "as printed", "jumps", "beaten"),
        "median / p99",
    ]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}", flush=True)
    for name in given.tables.split(","):
        print(row_of(name, given.people, given.checked), flush=True)


if __name__ == "__main__":
    main()
