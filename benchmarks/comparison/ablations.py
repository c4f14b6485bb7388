"""What each part is worth: the same search with one thing changed, on the same people."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from tqdm import tqdm

from cell_files import Rules
from localface import LocalFACE, Search
from localface.evaluation.metrics import measure_many
from running import GIVE_UP, OutOfTime, limited, split
from splits import World
from verdicts import Bench, personal

PEOPLE = 8
SEEDS = 1

ABLATIONS: dict[str, dict[str, Any]] = {
    "as it comes": {},
    "5 neighbours": {"n_neighbors": 5},
    "15 neighbours": {"n_neighbors": 15},
    "no proof wanted": {"slack": 1.0},
    "at most 50 rows": {"max_rows": 50},
    "at most 10 rows": {"max_rows": 10},
    "momentum 3": {"momentum_steps": 3},
    "round kernels": {"density": "isotropic"},
    "round kernels, floor by in-sample densities": {"density": "isotropic", "in_sample": True},
    "cost falls with density": {"cost": "density"},
    "cover edges": {"edges": "cover"},
    "average edges, cost falls with density": {"edges": "average"},
    "paper": {"strategy": "paper"},
    "paper, momentum 3": {"strategy": "paper", "momentum_steps": 3},
    "paper, average edges, cost rises with density": {"strategy": "paper", "edges": "average"},
}
"""One thing changed each; "paper" is the published search as printed."""


def ablated(worlds: Sequence[str], rules: Rules) -> list[dict[str, Any]]:
    """Every setting on some people of every table; what was run before is read again."""
    rows = []
    for name in worlds:
        for seed in range(SEEDS):
            path = rules.out / "ablations" / f"{name}-{seed}.json"
            if not path.exists():
                found = list(_settings(split(name, seed, rules), rules))
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(found), encoding="utf-8")
            rows += json.loads(path.read_text(encoding="utf-8"))
    return rows


def _settings(at: World, rules: Rules) -> Iterator[dict[str, Any]]:
    bench = Bench(replace(at, people=at.people.iloc[:PEOPLE], groups={}))
    for setting, options in tqdm(
        ABLATIONS.items(), desc=f"ablations {at.name} {at.seed}", leave=False
    ):
        told = list(_answered(_explainer(at, dict(options)), bench.at, rules))
        paths = [line.pop("states") for line in told]
        measures = measure_many(bench.judge, paths, bench.boxes)
        for number, (line, one) in enumerate(zip(told, measures, strict=True)):
            who = {"world": at.name, "seed": at.seed, "setting": setting, "person": number}
            yield who | line | personal(one)


def _explainer(at: World, options: dict[str, Any]) -> LocalFACE:
    in_sample = options.pop("in_sample", False)
    options["n_neighbors"] = min(options.get("n_neighbors", 50), len(at.data) - 1)
    max_rows = options.pop("max_rows", None)
    density = options.pop("density", "kde")
    explainer = LocalFACE(
        at.model,
        at.data,
        schema=at.schema,
        min_score=at.min_score,
        max_rows=max_rows,
        density=density,
        search=Search(**options),
    ).prescore()
    if in_sample:  # as if each row had been its own witness when the floor was set
        kernels = explainer.density
        own = np.logaddexp(kernels.scale.log_densities, kernels.log_normaliser)
        floor = float(np.quantile(own, explainer.options.min_density))
        explainer._engine = replace(explainer.engine, log_floor=floor)
    return explainer


def _answered(explainer: LocalFACE, at: World, rules: Rules) -> Iterator[dict[str, Any]]:
    cut = 0
    for number, record in enumerate(at.people.to_dict("records")):
        started = time.thread_time()
        if cut == GIVE_UP:  # the first ones ran into the limit: the rest would
            yield {"states": None, "seconds": None, "status": "not tried"}
            continue
        try:
            with limited(rules.limit):
                answer = explainer.explain(record, actions=False)
        except OutOfTime:
            cut += cut == number
            yield {"states": None, "seconds": rules.limit, "status": "time limit"}
            continue
        yield {
            "states": answer.records if answer.found else None,
            "seconds": time.thread_time() - started,
            "status": answer.status.name,
            "rows_seen": answer.disclosure.rows / answer.disclosure.of,
        }
