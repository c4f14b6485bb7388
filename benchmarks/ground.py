"""How well the floor tells people from composed records, on real tables.

    LOCALFACE_DATA=FOLDER python benchmarks/ground.py [--tables heloc,adult] [--splits 2] [--rows N]

The folder holds heloc/, adult/, german/, gmsc/, physionet2012/ and icu-demos/; the readiness
cohort is generated. For each table: the share of held-out rows and of composed records that
clear a floor of 5 %, and the AUC against rows with one value from somebody else, by the paper's
round kernel (numbers divided by their spread, as the floor was before version 0.2), by kernels
and pairs, which explainers use, and by a boosted classifier; and how many groups of at least 50
held-out people, by what cannot change, are refused less than 2 % or more than 10 %. Prints
Markdown.
"""

from __future__ import annotations

import argparse
import os
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from localface import Schema, Search
from localface.analyses.floor_report.judges import Judged, judged_by_classifier
from localface.analyses.floor_report.measuring import FittedFloor, category_counts
from localface.analyses.floor_report.trial import Trial
from localface.cases.readiness import synthetic
from localface.engine.loading import LoadedTable, load_table
from localface.options import Options

FLOOR = 0.05
SMALLEST_GROUP = 50
FOLDER = Path(os.environ.get("LOCALFACE_DATA") or Path(__file__).parents[2] / "shared" / "data")
OPTIONS = Options(
    **asdict(Search(n_neighbors=1)),
    min_score=0.5,
    min_density=FLOOR,
    max_rows=None,
    density="kde",
)


@dataclass(frozen=True)
class Table:
    """A table, its features that never change, and where the bands of such numbers end."""

    frame: pd.DataFrame
    bands: dict[str, list[float]] = field(default_factory=dict)  # no bands: every value a group
    person: str | None = None  # the column that says whose row it is


def heloc() -> Table:
    """FICO HELOC: people without any record are left out, special codes become the median."""
    frame = pd.read_csv(FOLDER / "heloc" / "heloc.csv.gz").drop(columns="RiskPerformance")
    frame = frame[(frame != -9).any(axis=1)].astype(float)
    frame = frame.where(frame >= 0).fillna(frame.where(frame >= 0).median())
    bands = {
        "MSinceOldestTradeOpen": [60, 120, 180, 240, 300, 400],
        "NumTrades60Ever2DerogPubRec": [1, 2, 3, 5, 8],
        "MaxDelqEver": [],
    }
    return Table(frame, bands)


def adult() -> Table:
    """Adult, 20,000 rows; an unknown value is a category."""
    frame = pd.read_csv(FOLDER / "adult" / "adult.csv.gz")
    frame = frame.drop(columns=["income", "split", "fnlwgt", "education"])
    frame = frame.replace("?", "unknown").fillna("unknown").sample(20_000, random_state=0)
    bands = {"age": [25, 35, 45, 55, 65, 75], "sex": [], "race": [], "native_country": []}
    return Table(frame, bands)


def german() -> Table:
    """German credit, without its outcome."""
    frame = pd.read_csv(FOLDER / "german" / "german.csv", header=None).iloc[:, :20]
    frame.columns = [f"c{j}" for j in range(20)]
    return Table(frame, {"c8": [], "c12": [25, 35, 45, 55], "c19": []})


def gmsc() -> Table:
    """Give Me Some Credit: 20,000 complete rows."""
    with zipfile.ZipFile(FOLDER / "gmsc" / "credit_data.zip") as archive:
        frame = pd.read_csv(archive.open("credit_data.csv"), index_col=0)
    frame = frame.drop(columns="SeriousDlqin2yrs").dropna().sample(20_000, random_state=0)
    return Table(frame.astype(float), {"age": [30, 40, 50, 60, 70, 80], "NumberOfDependents": []})


def physionet() -> Table:
    """PhysioNet 2012, one row a stay; missing numbers are medians."""
    names = [
        *("airway", "hco3", "bp_min", "hr_min", "hr_max", "gcs_min", "temp_min", "temp_max"),
        *("haemoglobin", "k", "na", "creatinine", "bun", "age", "sex", "icu_type", "fio2", "bmi"),
    ]
    frame = pd.read_csv(FOLDER / "physionet2012" / "cohort.csv.gz")[names]
    frame = frame[frame[["sex", "icu_type", "airway"]].notna().all(axis=1)]
    frame["icu_type"] = "t" + frame["icu_type"].astype(int).astype(str)
    numbers = frame.select_dtypes("number").columns
    frame[numbers] = frame[numbers].fillna(frame[numbers].median())
    return Table(frame, {"age": [35, 45, 55, 65, 75, 85], "sex": [], "icu_type": []})


def readiness() -> Table:
    """The generated readiness cohort."""
    return Table(synthetic(seed=0).frame(), {"age": [35, 45, 55, 65, 75, 85], "sex": []})


def windows() -> Table:
    """Four-hour windows of intensive care: about 24 rows a stay."""
    frame = pd.read_parquet(FOLDER / "icu-demos" / "longitudinal_4h.parquet")
    stay = next(name for name in frame if "stay" in name.lower())
    numbers = frame.select_dtypes("number")
    beside = ("w", "xi", "outcome", "label", "strict")
    beside += tuple(n for n in numbers if n == stay or "id" in n.lower() or "window" in n.lower())
    numbers = numbers.drop(columns=[name for name in beside if name in numbers])
    numbers = numbers.loc[:, numbers.isna().mean() < 0.3]
    numbers = numbers.fillna(numbers.median())
    numbers = numbers.loc[:, numbers.nunique() > 1].astype(float)
    return Table(numbers.assign(stay=frame[stay].astype(str)), person="stay")


TABLES: dict[str, Callable[[], Table]] = {
    "heloc": heloc,
    "adult": adult,
    "german": german,
    "gmsc": gmsc,
    "physionet": physionet,
    "readiness": readiness,
    "windows": windows,
}


def opened(table: Table, rows: int | None) -> tuple[LoadedTable, np.ndarray | None]:
    """Open a table as an explainer would, with the number of the person of each distinct row."""
    frame = (
        table.frame
        if rows is None
        else table.frame.sample(min(rows, len(table.frame)), random_state=0)
    )
    people = None if table.person is None else frame[table.person].to_numpy()
    features = frame.drop(columns=[table.person] if table.person else [])
    schema = Schema.infer(features)
    for name in table.bands:
        schema = schema.with_(name, moves="never")
    loaded = load_table(features, schema, OPTIONS, groups=people)
    return loaded, loaded.groups


def judged_by(loaded: LoadedTable, trial: Trial, options: Options, *, groups: bool) -> Judged:
    """Judge by the density that an explainer with these options has."""
    if not groups:
        trial = replace(trial, groups=None)
    return FittedFloor.of(loaded, trial, options).judged(trial)


def group_masks(table: Table, loaded: LoadedTable, records: np.ndarray) -> Iterator[np.ndarray]:
    """Yield which records are in each group, by what cannot change."""
    for name, ends in table.bands.items():
        column = records[:, loaded.schema.index(name)]
        band = np.searchsorted(ends, column, "right") if ends else column
        for one in np.unique(band):
            yield band == one


def refused_groups(table: Table, loaded: LoadedTable, judged: list[tuple[Trial, Judged]]) -> str:
    """Say how many groups are refused less than 2 % or more than 10 %, of how many."""
    records = np.vstack([trial.held_out for trial, _ in judged])
    refused = np.concatenate([found.held_out < found.floor for _, found in judged])
    masks = [mask for mask in group_masks(table, loaded, records) if mask.sum() >= SMALLEST_GROUP]
    shares = [refused[mask].mean() for mask in masks]
    outside = sum(not 0.02 <= share <= 0.1 for share in shares)
    return f"{outside} of {len(masks)}" if masks else "-"


def cell(judged: list[tuple[Trial, Judged]]) -> str:
    """Held-out share, composed share, AUC of one column: the means over splits."""
    figures = [found.figures("") for _, found in judged]
    real = 100 * np.mean([one.held_out for one in figures])
    nobody = 100 * np.mean([one.composed for one in figures])
    one_column = np.mean([one.one_column_auc for one in figures])
    return f"{real:.1f} / {nobody:.1f} / {one_column:.3f}"


def line(name: str, table: Table, splits: int, rows: int | None) -> Iterator[str]:
    """Yield the line of one table; one with people who have several rows gets two."""
    loaded, people = opened(table, rows)
    trials = [Trial.of(loaded.fitted_records, people, seed) for seed in range(splits)]
    paper = replace(OPTIONS, strategy="paper")
    round_kernel = [(trial, judged_by(loaded, trial, paper, groups=False)) for trial in trials]
    sizes = category_counts(loaded.schema)
    first = judged_by_classifier(trials[0], sizes, FLOOR, 0)
    ceiling = "-" if first is None else cell([(trials[0], first)])
    for groups in (False, True) if people is not None else (False,):
        found = [(trial, judged_by(loaded, trial, OPTIONS, groups=groups)) for trial in trials]
        title = f"{name}, groups=" if groups else name
        outside = (
            refused_groups(table, loaded, round_kernel),
            refused_groups(table, loaded, found),
        )
        fitted = f"{len(trials[0].known):,} x {len(loaded.schema)}"
        yield f"| {title} | {fitted} | {cell(round_kernel)} | {cell(found)} | {ceiling} | " + (
            " | ".join(outside) + " |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tables", default=",".join(TABLES), help="which, with commas between")
    parser.add_argument("--splits", type=int, default=2, help="random splits (default: 2)")
    parser.add_argument("--rows", type=int, help="take so many rows of each table at most")
    arguments = parser.parse_args()
    head = "table | fitted on | round kernel | kernels and pairs | classifier"
    print(f"| {head} | groups outside, round kernel | groups outside, kernels and pairs |")
    print(f"|{'---|' * 7}")
    for name in arguments.tables.split(","):
        for text in line(name, TABLES[name](), arguments.splits, arguments.rows):
            print(text, flush=True)


if __name__ == "__main__":
    main()
