"""A population on a GPU: how many people a second, and are the answers the processor's?

    python benchmarks/gpu.py [--rows 1000000] [--people 10000] [--jobs 16] [--compare 1000]

The "ordinary" table of shape_tables.py, grown: 22 numbers, a forest of 100 trees fitted on 14,000
of the rows, people whom it refuses, paths only. --compare asks for so many of them on the
processor too, all rows and the same fitted density, and counts the answers that differ.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from localface import LocalFACE, Recourse
from localface.density.kde import KDE
from localface.engine.driver import Driver
from localface.sources.table import TableSource
from shape_tables import numbers

FITTED_ON = 14_000


def main() -> None:
    arguments = read_arguments()
    n = arguments.rows
    frame, labels = numbers(n + 3 * arguments.people, columns=22, informative=10, seed=5)
    values = frame.to_numpy()
    some = np.random.default_rng(0).permutation(n)[:FITTED_ON]
    model = RandomForestClassifier(100, random_state=0).fit(values[some], labels[some])
    others = values[n:]
    people = others[model.predict_proba(others)[:, 1] < 0.5][: arguments.people]
    started = time.perf_counter()
    explainer = LocalFACE(model, values[:n], device=arguments.device)
    print(f"made in {time.perf_counter() - started:.1f} s: {explainer}")
    explainer.explain_many(people[:64], actions=False, progress=False)  # compiles what is needed
    answers: list[Recourse] = []
    for _ in range(arguments.times):
        started = time.perf_counter()
        found = explainer.explain_many(people, actions=False, n_jobs=arguments.jobs, progress=False)
        spent = time.perf_counter() - started
        answers = list(found)
        print(
            f"{len(people):,} people in {spent:.2f} s, {len(people) / spent:.0f} a second; "
            f"{sum(one.found for one in answers):,} have a path"
        )
    if arguments.compare:
        compare(explainer, people[: arguments.compare], answers, jobs=arguments.jobs)


def compare(explainer: LocalFACE, people: Any, answers: list[Recourse], *, jobs: int) -> None:
    """Ask the processor for the same people, and count answers that differ."""
    processor = on_processor(explainer)
    started = time.perf_counter()
    found = processor.explain_many(people, actions=False, n_jobs=jobs, progress=False)
    spent = time.perf_counter() - started
    print(f"the processor: {len(people):,} people in {spent:.1f} s, {jobs} processes")
    pairs = enumerate(zip(found, answers, strict=False))
    different = [i for i, (one, other) in pairs if written(one) != written(other)]
    print(f"the same for {len(people) - len(different):,} of {len(people):,}: not {different}")


def on_processor(explainer: LocalFACE) -> LocalFACE:
    """The same fitted explainer, whose questions the processor answers."""
    engine = explainer.engine
    density: Any = engine.density
    source: Any = engine.source
    on_device = density.kde
    kde = KDE(
        density.rows,
        density.space.discrete,
        bandwidth=on_device.bandwidth,
        matrix=on_device.matrix,
        row_log_densities=on_device._row_log_densities,
        places=on_device._kernels.point_set.points,
    )
    density = replace(density, kde=kde, device=None)
    points = source._point_set
    source = TableSource(points, source._records, source._rows, n_rows=source.n_rows)
    found = LocalFACE.__new__(LocalFACE)
    found.options = explainer.options
    found.target = explainer.target
    found._engine = replace(
        engine,
        source=source,
        density=density,
        driver=Driver(source, density, engine.score),
        answers=replace(engine.answers, density=density),
    )
    return found


def written(answer: Recourse) -> dict[str, Any]:
    """An answer without the time and the work that it took."""
    document: dict[str, Any] = json.loads(answer.to_json())
    shown = document["disclosure"]
    document["disclosure"] = {name: shown[name] for name in ("rows", "of")}
    return document


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--people", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--times", type=int, default=2)
    parser.add_argument("--compare", type=int, default=0)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    return parser.parse_args()


if __name__ == "__main__":
    main()
