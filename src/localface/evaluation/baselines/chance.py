"""Searches that need no gradient: they change states at random, and score many of them in one call."""

from __future__ import annotations

from inspect import signature

import numpy as np

from localface.evaluation.baselines.case import Problem
from localface.types import Array

_DONORS = 64  # rows whose values are tried
_ELITE = 8  # states that the search goes on from
_PATIENCE = 6  # rounds without a better state after which a weight is done with


def by_chance(
    case: Problem, rng: np.random.Generator, lambdas: tuple[float, ...], *, rounds: int, n: int
) -> None:
    """Change a few features of the best states at random, keep the best, until the best is valid."""
    donors = _donors(case)
    records = _mixtures(case, donors, rng, n)
    lacking, distances = case.judge(records)
    for weight in lambdas:
        least, since = np.inf, 0
        for _ in range(rounds):
            values = weight * lacking**2 + distances
            since = 0 if values.min() < least else since + 1
            least = min(least, float(values.min()))
            if since > _PATIENCE:
                break
            best = np.argsort(values, kind="stable")[:_ELITE]
            tried = case.allowed(
                _changed(case, records[best[rng.integers(len(best), size=n)]], donors, rng)
            )
            found = case.judge(tried)
            records = np.concatenate([records[best], tried])
            lacking = np.concatenate([lacking[best], found[0]])
            distances = np.concatenate([distances[best], found[1]])
        if lacking[(weight * lacking**2 + distances).argmin()] == 0:
            return


def by_evolution(
    case: Problem, rng: np.random.Generator, lambdas: tuple[float, ...], *, generations: int, n: int
) -> None:
    """SciPy's differential evolution, a generation in one call, until the fittest is valid."""
    from scipy.optimize import differential_evolution

    some = np.flatnonzero(case.free)
    first = np.array(
        [case.codes[j][0] if j in case.codes else case.lower[j] for j in some.tolist()]
    )
    last = np.array(
        [case.codes[j][-1] if j in case.codes else case.upper[j] for j in some.tolist()]
    )
    donors, chance = (
        _donors(case),
        "rng" if "rng" in signature(differential_evolution).parameters else "seed",
    )

    def states(columns: Array) -> Array:
        records = np.tile(case.home, (columns.shape[1], 1))
        records[:, some] = columns.T
        return case.allowed(records)

    def objective(columns: Array, weight: float) -> Array:
        lacking, distances = case.judge(states(columns))
        return np.asarray(weight * lacking**2 + distances)

    for weight in lambdas:
        start = _mixtures(case, donors, rng, n)[
            :, some
        ]  # anew: a small weight draws everyone to the person
        fixed = {
            "vectorized": True,
            "updating": "deferred",
            "polish": False,
            "tol": 0.0,
            "maxiter": generations,
        }
        found = differential_evolution(
            objective,
            list(zip(first, last, strict=True)),
            args=(weight,),
            init=start,
            **{chance: rng},
            **fixed,
        )
        if case.judge(states(found.x[:, None]))[0][0] == 0:
            return


def _donors(case: Problem) -> Array:
    """Rows whose values are worth trying, made allowed: those that reach the target, nearest first."""
    task = case.task
    records = case.allowed(task.records)
    order = np.lexsort((case.distances(records), np.where(task.reaches, -np.inf, -task.scores)))
    return np.asarray(records[order[:_DONORS]])


def _mixtures(case: Problem, donors: Array, rng: np.random.Generator, n: int) -> Array:
    """The person with some values of a donor, few or many; one has all, and one none."""
    width = len(case.home)
    share = width ** (rng.random(n) - 1)
    share[:2] = 0.0, 1.0
    taken = rng.random((n, width)) < share[:, None]
    taken[1] = True
    from_whom = rng.integers(len(donors), size=n)
    from_whom[1] = 0
    return case.allowed(np.where(taken, donors[from_whom], case.home))


def _changed(case: Problem, records: Array, donors: Array, rng: np.random.Generator) -> Array:
    """A few features of each state: back home, as a donor has them, part of the way home, or a little off."""
    shape = records.shape
    taken = rng.random(shape) < rng.choice([1, 2, 4], size=(len(records), 1)) / max(
        1, int(case.free.sum())
    )
    given = donors[rng.integers(len(donors), size=shape), np.arange(shape[1])]
    between = records + rng.random(shape) * (case.home - records)
    near = records + 0.5 * case.units * rng.normal(size=shape)
    kind = rng.random(shape)
    kind = np.where(case.discrete, 0.7 * kind, kind)  # there is nothing between two categories
    new = np.select([kind < 0.4, kind < 0.7, kind < 0.85], [case.home, given, between], near)
    return np.where(taken, new, records)
