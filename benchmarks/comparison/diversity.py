"""Several proposals to one person: how many, how different, how many of them sound."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from tqdm import tqdm

from cell_files import Rules
from localface import LocalFACE
from localface.evaluation.baselines import Task
from localface.evaluation.baselines.peers import DiCE
from localface.evaluation.metrics import diversity, measure_many
from localface.types import Array
from methods import missing
from running import OutOfTime, limited, split
from splits import World
from verdicts import Bench, personal

PEOPLE = 5
WANTED = 3

Several = Callable[[dict[str, Any]], Sequence[Array]]
"""From a record to the states of every proposal to that person."""


def diverse(worlds: Sequence[str], rules: Rules) -> list[dict[str, Any]]:
    """Methods that give several, on some people of each table; read again if there."""
    rows = []
    for name in worlds:
        path = rules.out / "diversity" / f"{name}.json"
        if not path.exists():
            found = list(_judged(split(name, 0, rules), rules))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(found), encoding="utf-8")
        rows += json.loads(path.read_text(encoding="utf-8"))
    return rows


def _judged(at: World, rules: Rules) -> Iterator[dict[str, Any]]:
    bench = Bench(replace(at, people=at.people.iloc[:PEOPLE], groups={}))
    for method, make in tqdm(_METHODS.items(), desc=f"diversity {at.name}", leave=False):
        if missing(method) is not None:
            continue
        several = make(at)
        for number, record in enumerate(bench.at.people.to_dict("records")):
            paths = _asked(several, record, rules.limit)
            measures = measure_many(bench.judge, paths, [bench.boxes[number]] * len(paths))
            apart, unlike = diversity(
                bench.people[number], [path[-1] for path in paths], bench.space
            )
            sound = sum(personal(one)["sound"] for one in measures)
            who = {"world": at.name, "method": method, "person": number}
            yield who | {"given": len(paths), "sound": sound, "apart": apart, "unlike": unlike}


def _asked(several: Several, record: dict[str, Any], limit: float) -> Sequence[Array]:
    try:
        with limited(WANTED * limit):
            return several(record)
    except (Exception, OutOfTime):  # as everywhere: whoever fails has given nothing
        return []


def _ours(at: World) -> Several:
    explainer = LocalFACE(at.model, at.data, schema=at.schema, min_score=at.min_score).prescore()

    def several(record: dict[str, Any]) -> Sequence[Array]:
        ways = explainer.alternatives(record, n=WANTED)
        return [np.asarray(one.with_actions_as_path().records) for one in ways if one.found]

    return several


def _dice(method: str) -> Callable[[World], Several]:
    def make(at: World) -> Several:
        task = Task.of(at.model, at.data, schema=at.schema, min_score=at.min_score)
        dice = DiCE(task, method=method, total_cfs=WANTED, seed=at.seed)
        return lambda record: [one.states for one in dice.explain_several(record)]

    return make


_METHODS: dict[str, Callable[[World], Several]] = {
    "localface": _ours,
    **{f"dice-{method}": _dice(method) for method in ("random", "genetic", "kdtree")},
}
