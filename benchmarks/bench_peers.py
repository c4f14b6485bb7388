"""How fast the peers are on the same people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from bench_cohort import MIN_SCORE, World
from bench_tables import Report
from localface.evaluation.baselines import FACE, NICE, NearestUnlike, Task, Wachter
from localface.evaluation.baselines.peers import PEERS as PACKAGED
from localface.evaluation.baselines.peers import available
from localface.geometry.segments import norms
from timing import Spent, Unit, timed

Answer = Callable[[dict[str, Any]], bool]
"""Answers one person, and says whether a path was found."""


def ours(at: World) -> Answer:
    """A path, as short as any within 5 %, on common ground throughout."""
    explainer = at.explainer()
    return lambda record: explainer.explain(record, actions=False).found


def acting(at: World) -> Answer:
    """The same, and few changes in an order."""
    explainer = at.explainer()
    return lambda record: explainer.explain(record).found


def paper(at: World) -> Answer:
    """The published algorithms as printed."""
    explainer = at.explainer(strategy="paper")
    return lambda record: explainer.explain(record, actions=False).found


def straight(at: World) -> Answer:
    """No search: straight to the nearest allowed target row, if that step is traversable."""
    explainer = at.explainer()
    schema = at.schema
    space = explainer.engine.space
    density = explainer.density
    points = space.points(at.data.to_numpy(dtype=float))
    ready = at.model.predict_proba(at.data)[:, 1] >= MIN_SCORE

    def answer(record: dict[str, Any]) -> bool:
        own = np.array([record[name] for name in schema.names], dtype=float)
        start = space.points(own[None, :])
        there = np.flatnonzero(ready & space.bounds(schema.box(own)).contain(points))
        if len(there) == 0:
            return False
        end = there[norms(points[there] - start).argmin()]
        return bool(density.lowest_along(start, points[[end]], explainer.log_floor).passes[0])

    return answer


def other(method: Callable[..., Any], **options: Any) -> Callable[[World], Answer]:
    """A baseline or a peer, made once and asked person by person."""

    def made(at: World) -> Answer:
        asked = method(Task.of(at.model, at.data, schema=at.schema, min_score=MIN_SCORE), **options)
        return lambda record: bool(asked.explain(record).found)

    return made


PEERS: dict[str, Callable[[World], Answer]] = {
    "ours, path only": ours,
    "ours, with actions": acting,
    "strategy='paper', path only": paper,
    "the straight line": straight,
    "FACE, graph built before": other(FACE, graph="knn"),
    "nearest unlike neighbour": other(NearestUnlike),
    "NICE": other(NICE),
    "Wachter": other(Wachter),
    **{
        name: other(PACKAGED[name])
        for name in ("dice-random", "dice-genetic", "dice-kdtree", "treecf")
        if available()[PACKAGED[name].package] is not None
    },
}


def peers(at: World, unit: Unit, most: int) -> list[Report]:
    """Everyone answers the same people, in turns."""
    records = at.people.iloc[:most].to_dict("records")
    answers = {name: made(at) for name, made in PEERS.items()}
    spent: dict[str, list[Spent]] = {name: [] for name in PEERS}
    found: Counter[str] = Counter()
    for record in records:
        for name, answer in answers.items():
            unit.again()
            fine, took = timed(answer, record)
            found[name] += fine
            spent[name].append(took)
    one = unit.taken().worked
    own = float(np.median([took.worked for took in next(iter(spent.values()))]))
    report = Report(
        "Peers, on the same people",
        ["", "median ms", "queries", "times ours", "worst queries", "found"],
    )
    for name, times in spent.items():
        clock, median = (
            float(np.median(each))
            for each in zip(*((t.wall, t.worked) for t in times), strict=True)
        )
        worst = max(took.worked for took in times)
        served = f"{found[name]} of {len(records)}"
        report.rows.append([name, 1e3 * clock, median / one, median / own, worst / one, served])
    report.notes.append(
        "found: for the straight line, that its one step is proven to keep to common ground."
    )
    return [report]
