"""How does a neighbour query grow with the table? Rows in cells on disk, mapped into memory.

    python benchmarks/cells.py [--full] [--people 200]

For 10 thousand, 100 thousand and 1 million generated patients of 22 features (--full: 10
million as well): the time to write the store, milliseconds a question in the median, alone
and in batches of 100, in a box (sex held, age within 25 years, stay within 11.7 days) and
without, the share of the 50 nearest that is found, and the memory that is not a map of the
files, over the size of the table in float32. The last line is the exponent at which the
time grows.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np

from localface.cases.readiness import schema, synthetic
from localface.geometry.bounds import Bounds
from localface.geometry.segments import norms
from localface.sources.cells import Cells
from localface.sources.protocol import Nearest
from localface.sources.store import Store, write_store
from localface.types import NO_ROWS, Array

K = 50
BATCH = 100
CHUNK = 50_000
CHECKED = 25


def patients(n: int, seed: int) -> Array:
    """Generated records."""
    cohort = synthetic(seed=seed, sizes={"mimic": n - n // 5, "gicu": n // 5})
    return np.column_stack([cohort.columns[name] for name in cohort.schema.names]).astype(
        np.float64
    )


def generate(path: Path, n: int) -> None:
    """Write a table of n patients to a file, chunk by chunk."""
    table = np.memmap(path, np.float64, "w+", shape=(n, len(schema())))
    for seed, first in enumerate(range(0, n, CHUNK)):
        table[first : first + CHUNK] = patients(min(CHUNK, n - first), seed)


def anonymous() -> float:
    """Bytes of this process that map no file."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next(
        (1024.0 * int(line.split()[1]) for line in lines if line.startswith("RssAnon")),
        float("nan"),
    )


def peak_of(call: Any) -> tuple[Any, float]:
    """What a call returns, and by how much memory grew at most meanwhile."""
    before = anonymous()
    most = [0.0]
    done = Event()

    def watch() -> None:
        while not done.wait(0.02):
            most[0] = max(most[0], anonymous() - before)

    watcher = Thread(target=watch)
    watcher.start()
    try:
        return call(), most[0]
    finally:
        done.set()
        watcher.join()


def blocks_of(path: Path, n: int) -> Iterator[Array]:
    """The table, block by block."""
    table = np.memmap(path, np.float64, "r", shape=(n, len(schema())))
    return (np.array(table[first : first + CHUNK]) for first in range(0, n, CHUNK))


def asked(store: Store, people: int) -> tuple[list[Nearest], list[Nearest]]:
    """The same questions without a box and in one, from people who are not in the table."""
    space = store.space
    records = patients(people, seed=10_000)
    nowhere = np.zeros(space.width, dtype=bool)
    free = Bounds(np.full(space.width, -np.inf), np.full(space.width, np.inf), nowhere, nowhere)
    boxes = [space.bounds(schema().box(record)) for record in records]
    points = space.points(records)
    anywhere = [Nearest(point, K, free, NO_ROWS) for point in points]
    return anywhere, [
        Nearest(point, K, box, NO_ROWS) for point, box in zip(points, boxes, strict=True)
    ]


def timed(source: Cells, questions: list[Nearest]) -> tuple[float, float]:
    """Milliseconds a question in the median: alone, and in batches."""
    alone = []
    together = []
    for question in questions:
        started = time.perf_counter()
        source.nearest([question])
        alone.append(time.perf_counter() - started)
    for first in range(0, len(questions), BATCH):
        started = time.perf_counter()
        source.nearest(questions[first : first + BATCH])
        together.append((time.perf_counter() - started) / len(questions[first : first + BATCH]))
    return 1e3 * float(np.median(alone)), 1e3 * float(np.median(together))


def recall(source: Cells, store: Store, questions: list[Nearest]) -> float:
    """The share of the nearest rows that is found, by a plain scan of all records."""
    away = [np.full(K, np.inf) for _ in questions]
    for first in range(0, store.n_distinct, CHUNK):
        points = store.space.points(
            source.records(np.arange(first, min(first + CHUNK, store.n_distinct)))
        )
        for i, question in enumerate(questions):
            inside = points[question.bounds.contain(points)]
            away[i] = np.sort(np.append(away[i], norms(inside - question.point)))[:K]
    answers = source.nearest(questions)
    found = [
        int((answer.distances <= far[-1]).sum()) for answer, far in zip(answers, away, strict=True)
    ]
    there = sum(int(np.isfinite(far).sum()) for far in away)
    return sum(found) / there if there else 1.0  # where nobody is allowed, nobody is missed


def measure(n: int, people: int) -> dict[str, float]:
    """All figures of one size, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder) / "table", n)
        write_store(
            Path(folder) / "warm", lambda: [patients(300, 0)], schema()
        )  # what is loaded once is not counted
        started = time.perf_counter()
        store, built = peak_of(
            lambda: write_store(
                Path(folder) / "s", lambda: blocks_of(Path(folder) / "table", n), schema()
            )
        )
        seconds = time.perf_counter() - started
        source = store.as_source()
        free, boxed = asked(store, people)
        source.nearest(boxed[:20])
        (alone, batch), asking = peak_of(lambda: timed(source, boxed))
        free_alone, free_batch = timed(source, free)
        size = 4.0 * n * store.space.width
        return {
            "rows": n,
            "seconds": seconds,
            "cells": len(store.partition),
            "probe": source.n_probe,
            "alone": alone,
            "batch": batch,
            "free alone": free_alone,
            "free batch": free_batch,
            "recall": recall(source, store, boxed[:CHECKED]),
            "MB writing": built / 1e6,
            "MB asking": asking / 1e6,
            "MB float32": size / 1e6,
        }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--full", action="store_true", help="10 million rows as well: about 6 GB of disk"
    )
    parser.add_argument("--people", type=int, default=200)
    chosen = parser.parse_args()
    sizes = [10_000, 100_000, 1_000_000] + [10_000_000] * chosen.full
    rows = []
    for n in sizes:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            row = pool.submit(measure, n, chosen.people).result()
        if not rows:
            print("".join(f"{name:>12}" for name in row))
        print(
            "".join(
                f"{value:>12,.3f}" if value < 10 else f"{value:>12,.0f}" for value in row.values()
            ),
            flush=True,
        )
        rows.append(row)
    for name in ("alone", "batch"):
        slope = np.polyfit(
            np.log([row["rows"] for row in rows]), np.log([row[name] for row in rows]), 1
        )[0]
        print(f"exponent of the time a question, {name}: {slope:.2f}")


if __name__ == "__main__":
    main()
