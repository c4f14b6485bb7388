"""How the cost of an answer grows with the table."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bench_ours import shares
from bench_setup import apart
from bench_tables import Report
from cells import CHECKED, anonymous, asked, blocks_of, generate, patients, peak_of, recall
from localface import LocalFACE, Recourse, Search
from localface.cases.readiness import schema as readiness
from localface.sources.store import Store, write_store
from shapes import Shape
from timing import K, Spent, Unit, say, timed

MIN_SCORE = 0.75
ROWS = 13_943  # of the table whose queries are the unit, however large the table
WARM = 5  # people answered before it counts
SIZES = (10_000, 100_000, 1_000_000)
LARGEST = 10_000_000
COUNTED = (
    "Whoever has nobody to become is told so by counting, which takes a look at all rows, and once "
    "the score of every row: this is the share called counting, and what makes the mean and the "
    "worst. if found: of those with a way."
)
MEMORY = (
    "Memory that maps no file, beyond what the process had before. Writing, fitting, answering: at "
    "most; staying: once all are answered. The frame itself is not counted."
)
TIMES = (
    *(
        "rows",
        "source",
        "s writing",
        "s fitting",
        "median ms",
        "queries",
        "mean if found",
        "mean queries",
    ),
    *("worst queries", "counting %", "found", "recall"),
)
MEMORIES = (
    "rows",
    "source",
    "MB float32",
    "MB writing",
    "MB fitting",
    "MB answering",
    "MB staying",
)


def scaling(at: Shape, sizes: Sequence[int], most: int) -> tuple[list[Report], dict[str, float]]:
    """The same people over larger and larger tables: in a store on disk, and as a frame."""
    new = pd.DataFrame(patients(1_000, seed=10_001), columns=readiness().names)
    people = new[at.model.predict_proba(new)[:, 1] < MIN_SCORE].iloc[: most + WARM]
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes:
            say(f"{n:,} rows")
            table = Path(folder) / "table"
            place = Path(folder) / f"store-{n}"
            apart(generate, table, n)
            written = apart(write, table, place, n)
            rows.append(
                {"rows": n, "source": "store"} | written | apart(stored, place, at.model, people)
            )
            if n <= max(SIZES):
                rows.append(
                    {"rows": n, "source": "frame"} | apart(framed, table, n, at.model, people)
                )
    return growth(rows, most)


def growth(rows: Sequence[dict[str, Any]], most: int) -> tuple[list[Report], dict[str, float]]:
    """The measurements over tables of several sizes, as tables, with how they grow over stores."""
    kept = [row for row in rows if row["source"] == "store"]
    times = table_of("Growth with the table, path only: time", rows, TIMES)
    memory = table_of("Growth with the table, path only: memory", rows, MEMORIES)
    times.notes.append(
        f"{most} people, the same everywhere; rows not prescored; queries over {ROWS:,} rows."
    )
    times.notes.append(COUNTED)
    span = f"{kept[0]['rows']:,} to {kept[-1]['rows']:,} rows"
    slopes = {what: slope(kept, what) for what in ("queries", "mean queries", "mean if found")}
    times.notes.append(
        f"Exponents over stores, {span}: {', '.join(f'{w} {v:.2f}' for w, v in slopes.items())}."
    )
    memory.notes.append(MEMORY)
    stays, peak = (
        kept[-1][what] / kept[-1]["MB float32"] for what in ("MB staying", "MB answering")
    )
    figures = {"exponent": slopes["queries"], "exponent of the mean": slopes["mean queries"]}
    return [times, memory], figures | {"memory": stays, "memory at most": peak}


def table_of(title: str, rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> Report:
    """Some columns of what was measured."""
    return Report(title, list(columns), [[row.get(key, "") for key in columns] for row in rows])


def write(table: Path, place: Path, n: int) -> dict[str, float]:
    """Write a store."""
    write_store(
        place.with_name(f"warm-{n}"), lambda: [patients(300, 0)], readiness()
    )  # what is loaded once is not counted
    (_, grown), spent = timed(
        peak_of, lambda: write_store(place, lambda: blocks_of(table, n), readiness())
    )
    return {"s writing": spent.wall, "MB writing": grown / 1e6}


def stored(place: Path, model: Any, people: pd.DataFrame) -> dict[str, float]:
    """Answer people over a store."""
    store = Store.open(place)
    figures = answering(
        lambda: LocalFACE(model, store, min_score=MIN_SCORE, search=Search(n_neighbors=K)),
        model,
        people,
    )
    _, boxed = asked(store, CHECKED)
    found = recall(store.as_source(), store, boxed)
    return figures | {"recall": found, "MB float32": 4e-6 * store.n_rows * len(store.schema)}


def framed(table: Path, n: int, model: Any, people: pd.DataFrame) -> dict[str, float]:
    """Answer people over a frame in memory, which is not counted."""
    frame = pd.DataFrame(np.concatenate(list(blocks_of(table, n))), columns=readiness().names)

    def fit() -> LocalFACE:
        return LocalFACE(
            model, frame, schema=readiness(), min_score=MIN_SCORE, search=Search(n_neighbors=K)
        )

    return answering(fit, model, people) | {"MB float32": 4e-6 * frame.size}


def answering(fit: Callable[[], LocalFACE], model: Any, people: pd.DataFrame) -> dict[str, Any]:
    """Fit and answer: seconds, queries, and memory."""
    small = LocalFACE(model, people, schema=readiness(), min_score=MIN_SCORE)
    small.explain_many(people[:WARM], progress=False, actions=False)  # so that all is loaded
    unit = Unit(np.random.default_rng(0).normal(size=(ROWS, len(readiness()))))
    before = anonymous()
    (explainer, fitting), spent = timed(peak_of, fit)
    settled = anonymous() - before

    def each() -> list[tuple[Recourse, Spent]]:
        return [answered(explainer, record, unit) for record in people.to_dict("records")]

    runs, grown = peak_of(each)
    memory = {"fitting": fitting, "answering": settled + grown, "staying": anonymous() - before}
    return {
        "s fitting": spent.wall,
        **costs(runs[WARM:], unit.taken().worked),
        **{f"MB {k}": v / 1e6 for k, v in memory.items()},
    }


def answered(explainer: LocalFACE, record: dict[str, Any], unit: Unit) -> tuple[Recourse, Spent]:
    """One answer, path only, and what it took; some queries in between."""
    unit.again()
    return timed(explainer.explain, record, actions=False)


def costs(runs: Sequence[tuple[Recourse, Spent]], one: float) -> dict[str, Any]:
    """What answers cost, in queries that take ``one`` second each."""
    worked = np.array([spent.worked for _, spent in runs])
    found = np.array([answer.found for answer, _ in runs])
    clock = [spent.wall for _, spent in runs]
    return {
        "median ms": 1e3 * float(np.median(clock)),
        "queries": float(np.median(worked)) / one,
        "mean if found": float(worked[found].mean()) / one,
        "mean queries": float(worked.mean()) / one,
        "worst queries": float(worked.max()) / one,
        "counting %": 100 * shares([answer for answer, _ in runs], sum(clock))["counting"],
        "found": f"{found.sum()} of {len(runs)}",
    }


def slope(rows: Sequence[dict[str, Any]], what: str) -> float:
    """The exponent at which something grows with the rows."""
    return float(
        np.polyfit(np.log([row["rows"] for row in rows]), np.log([row[what] for row in rows]), 1)[0]
    )
