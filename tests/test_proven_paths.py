"""What is proven of a path's length is true: brute force over all rows of small tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse.csgraph import dijkstra

from judge import Judge, Plane, codes_of
from localface import Feature, LocalFACE, Recourse, Schema, Search

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, Any]


def rising(table: Any) -> Array:
    """A score that rises with the first column, whatever its kind."""
    first = table.iloc[:, 0] if isinstance(table, pd.DataFrame) else table[:, 0]
    return 1 / (1 + np.exp(-3 * (np.asarray(first, dtype=float) - 0.8)))


def crowd(seed: int) -> Array:
    return np.random.default_rng(seed).normal(size=(110, 2)) @ np.array([[1.0, 0.5], [0.0, 0.8]])


def two_crowds(seed: int) -> Array:
    chance = np.random.default_rng(seed)
    return np.concatenate([chance.normal(0, 0.6, (60, 2)), chance.normal([2.0, 1.0], 0.6, (60, 2))])


def ring(seed: int) -> Array:
    chance = np.random.default_rng(seed)
    angle = chance.uniform(0, 2 * np.pi, 150)
    radius = chance.normal(1.5, 0.15, 150)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def with_outliers(seed: int) -> Array:
    data = crowd(seed)
    data[0] = [5e8, 0.3]
    data[1] = [-0.4, -1e6]
    return data


def with_ties(seed: int) -> Array:
    return np.unique(np.round(crowd(seed) * 4) / 4, axis=0)


PLANES = {
    "crowd": crowd,
    "two crowds": two_crowds,
    "ring": ring,
    "ties": with_ties,
    "outliers": with_outliers,
}


def keeps_what_it_proves(answer: Recourse, best: float, slack: float) -> None:
    """Found exactly where there is a path, no shorter than the best, and as near as is proven."""
    assert answer.found == np.isfinite(best)
    if answer.found:
        assert answer.cost >= best * (1 - 1e-6)
        assert answer.proven_within == slack
        assert answer.cost <= (1 + slack) * best * (1 + 1e-6)


@pytest.mark.parametrize("slack", [0.0, 0.05])
@pytest.mark.parametrize("name", PLANES)
@pytest.mark.parametrize("seed", [0, 1])
def test_in_the_plane(name: str, seed: int, slack: float) -> None:
    data = PLANES[name](seed)
    explainer = LocalFACE(rising, data, search=Search(n_neighbors=len(data), slack=slack))
    people = PLANES[name](seed + 10)
    people = people[rising(people) < 0.5][:15]

    answers = explainer.explain_many(people, actions=False, progress=False)

    judge = Judge.of(explainer, data, answers[0])
    plane = Plane(judge, rising(judge.codes) >= 0.5)
    others = [answer for answer in answers if not answer.entry]
    assert len(others) >= 5
    for answer in others:
        keeps_what_it_proves(answer, plane.optimum(judge.points(answer.path)[0]), slack)


def mixed(seed: int, n: int) -> pd.DataFrame:
    """A number, a whole number, a grade, a category, something own, and outliers."""
    chance = np.random.default_rng(seed)
    first = chance.normal(size=n)
    second = np.round(20 + 6 * (first + chance.normal(size=n)))
    heavy = np.exp(1.5 * chance.normal(size=n) + first)
    heavy[:2] = [1e7, 3e8]
    return pd.DataFrame(
        {
            "number": first,
            "whole": second.astype(int),
            "heavy": heavy,
            "kind": chance.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2]),
            "own": chance.random(n) < 0.4,
        }
    )


MIXED = Schema(
    [
        Feature("number"),
        Feature("whole", kind="integer"),
        Feature("heavy"),
        Feature("kind", kind="categorical", categories=("a", "b", "c")),
        Feature("own", kind="binary", categories=(False, True), moves="never"),
    ]
)


class Brute:
    """All steps between rows that share what is own, judged one by one."""

    def __init__(self, judge: Judge, own: bool, reaches: Array) -> None:
        self.judge = judge
        self.rows = judge.rows[judge.codes[:, 4] == own]
        n = len(self.rows)
        steps = np.zeros((n, n))
        for i in range(n):
            for j in range(i):
                steps[i, j] = steps[j, i] = self.length(self.rows[i], self.rows[j])
        steps[~np.isfinite(steps)] = 0.0  # csgraph reads 0 as no step
        targets = np.flatnonzero(reaches[judge.codes[:, 4] == own])
        self.to_go = dijkstra(steps, directed=False, indices=targets, min_only=True)

    def length(self, start: Array, end: Array) -> float:
        if self.judge.lowest(start, end, 101) < self.judge.floor - 1e-7:
            return np.inf
        return float(np.linalg.norm(end - start))

    def optimum(self, start: Array) -> float:
        lengths = np.array([self.length(start, row) for row in self.rows])
        return float((lengths + self.to_go).min())


@pytest.mark.parametrize("slack", [0.0, 0.2])
def test_on_a_mixed_table_with_something_own(slack: float) -> None:
    data = mixed(0, 120)
    explainer = LocalFACE(
        rising,
        data,
        schema=MIXED,
        min_density=0.15,
        search=Search(n_neighbors=len(data), slack=slack, through="rows"),
    )
    people = mixed(5, 40).iloc[2:]
    people = people[rising(people) < 0.5][:16].reset_index(drop=True)

    answers = explainer.explain_many(people, actions=False, progress=False)

    judge = Judge.of(explainer, data, answers[0])
    brutes = {own: Brute(judge, own, rising(judge.codes) >= 0.5) for own in (False, True)}
    starts = judge.space.points(codes_of(people, MIXED))
    n_judged = 0
    for answer, start, own in zip(answers, starts, people["own"], strict=True):
        if not answer.entry:
            keeps_what_it_proves(answer, brutes[bool(own)].optimum(start), slack)
            n_judged += 1
    assert n_judged >= 6
