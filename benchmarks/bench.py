"""How fast is an answer? Ratios from one run, in brute-force neighbour queries over the same table.

    make bench                       python benchmarks/bench.py [--people 100] [--rows 13943]

The unit is what nobody can do without: one BLAS product and a partial sort over all
rows. Speed depends on the machine; ratios from one run do so much less.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from localface import LocalFACE
from localface.cases.readiness import synthetic


def world(rows: int) -> tuple[Any, Any, Any, Any]:
    """The generated readiness cohort, a forest of 100 trees, and people it was not fitted on."""
    cohort = synthetic(seed=0)
    frame = cohort.frame()
    order = np.random.default_rng(0).permutation(len(frame))
    train, test = order[:rows], order[rows:]
    model = RandomForestClassifier(100, max_depth=7, max_features=0.5, random_state=0)
    model.fit(frame.iloc[train], cohort.ready[train])
    return frame.iloc[train].reset_index(drop=True), model, frame.iloc[test].reset_index(drop=True), cohort.schema


def seconds(call: Callable[[], Any], times: int) -> float:
    """The median time of a call."""
    spent = []
    for _ in range(times):
        started = time.perf_counter()
        call()
        spent.append(time.perf_counter() - started)
    return float(np.median(spent))


def one_query(points: np.ndarray[Any, Any]) -> float:
    """The unit: the 50 nearest of one row, by brute force."""
    squares = (points**2).sum(axis=1)
    return seconds(lambda: np.argpartition(squares - 2 * (points @ points[0]), 50)[:50], 200)


def each(explainer: LocalFACE, people: Any, **options: Any) -> np.ndarray[Any, Any]:
    """Seconds a person, one at a time."""
    records = people.to_dict("records")
    return np.array([seconds(lambda one=one: explainer.explain(one, **options), 1) for one in records])


def line(name: str, median: float, unit: float, *, p95: float | None = None) -> None:
    """Print one row of the table."""
    tail = f"{p95 / unit:10.0f}" if p95 is not None else " " * 10
    print(f"  {name:<46}{1e3 * median:10.1f}{median / unit:10.0f}{tail}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--rows", type=int, default=13_943)
    asked = parser.parse_args()
    data, model, new, schema = world(asked.rows)
    fit = time.perf_counter()
    explainer = LocalFACE(model, data, schema=schema, min_score=0.75).prescore()
    fit = time.perf_counter() - fit
    people = new[model.predict_proba(new)[:, 1] < 0.75].iloc[: asked.people]
    unit = one_query(explainer._desk.space.points(data.to_numpy(dtype=float)))
    print(f"{len(data):,} rows x {data.shape[1]} features, {len(people)} people; fitted and prescored in {fit:.1f} s")
    print(f"  unit: one brute-force neighbour query, {1e3 * unit:.2f} ms\n")
    print(f"  {'':<46}{'ms':>10}{'queries':>10}{'p95':>10}")
    alone = each(explainer, people, actions=False)
    line("one at a time, path only", float(np.median(alone)), unit, p95=float(np.quantile(alone, 0.95)))
    acted = each(explainer, people)
    line("one at a time, with actions", float(np.median(acted)), unit, p95=float(np.quantile(acted, 0.95)))
    for name, options in (("lock-step, path only", {"actions": False}), ("lock-step, with actions", {})):
        spent = seconds(lambda options=options: explainer.explain_many(people, progress=False, **options), 1)
        line(f"{name} (mean a person)", spent / len(people), unit)
    paper = LocalFACE(model, data, schema=schema, min_score=0.75, strategy="paper").prescore()
    some = people.iloc[: max(5, len(people) // 10)]
    printed = each(paper, some, actions=False)
    line(
        f"strategy='paper' ({len(some)} people)", float(np.median(printed)), unit, p95=float(np.quantile(printed, 0.95))
    )


if __name__ == "__main__":
    main()
