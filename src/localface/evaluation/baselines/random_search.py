"""Searches without a gradient: random changes, many states scored in one call."""

from __future__ import annotations

from inspect import signature

import numpy as np

from localface.evaluation.baselines.problem import OptimizationProblem
from localface.types import Array

_DONORS = 64  # rows whose values are tried
_ELITE = 8  # states that the search goes on from
_PATIENCE = 6  # rounds without a better state after which a weight is done with


def random_search(
    problem: OptimizationProblem,
    rng: np.random.Generator,
    lambdas: tuple[float, ...],
    *,
    rounds: int,
    n: int,
) -> None:
    """Change a few features of the best states at random, until the best one is valid."""
    donors = _donor_records(problem)
    records = _mix_with_donors(problem, donors, rng, n)
    lacking, distances = problem.evaluate_and_keep_best(records)
    for weight in lambdas:
        least = np.inf
        since = 0
        for _ in range(rounds):
            values = weight * lacking**2 + distances
            since = 0 if values.min() < least else since + 1
            least = min(least, float(values.min()))
            if since > _PATIENCE:
                break
            best = np.argsort(values, kind="stable")[:_ELITE]
            parents = records[best[rng.integers(len(best), size=n)]]
            tried = problem.project(_with_random_changes(problem, parents, donors, rng))
            more_lacking, more_distances = problem.evaluate_and_keep_best(tried)
            records = np.concatenate([records[best], tried])
            lacking = np.concatenate([lacking[best], more_lacking])
            distances = np.concatenate([distances[best], more_distances])
        if lacking[(weight * lacking**2 + distances).argmin()] == 0:
            return


def evolution_search(
    problem: OptimizationProblem,
    rng: np.random.Generator,
    lambdas: tuple[float, ...],
    *,
    generations: int,
    n: int,
) -> None:
    """SciPy's differential evolution, a generation in one call, until the fittest is valid."""
    from scipy.optimize import differential_evolution

    free = np.flatnonzero(problem.free)
    donors = _donor_records(problem)
    settings = {
        "vectorized": True,
        "updating": "deferred",
        "polish": False,
        "tol": 0.0,
        "maxiter": generations,
        "bounds": [_feature_range(problem, j) for j in free.tolist()],
        # older versions of SciPy have another name for the generator
        "rng" if "rng" in signature(differential_evolution).parameters else "seed": rng,
    }

    def records_from_columns(columns: Array) -> Array:
        records = np.tile(problem.start, (columns.shape[1], 1))
        records[:, free] = columns.T
        return problem.project(records)

    def objective(columns: Array, weight: float) -> Array:
        lacking, distances = problem.evaluate_and_keep_best(records_from_columns(columns))
        return np.asarray(weight * lacking**2 + distances)

    for weight in lambdas:
        # drawn anew: a small weight pulls every state to the person
        population = _mix_with_donors(problem, donors, rng, n)[:, free]
        found = differential_evolution(objective, args=(weight,), init=population, **settings)
        if problem.evaluate_and_keep_best(records_from_columns(found.x[:, None]))[0][0] == 0:
            return


def _feature_range(problem: OptimizationProblem, j: int) -> tuple[float, float]:
    """The lowest and highest value of a feature."""
    if j in problem.codes:
        return problem.codes[j][0], problem.codes[j][-1]
    return problem.lower[j], problem.upper[j]


def _donor_records(problem: OptimizationProblem) -> Array:
    """Rows whose values are worth trying, projected: those that reach the target, nearest first."""
    task = problem.task
    records = problem.project(task.records)
    by_score = np.where(task.reaches_target, -np.inf, -task.scores)
    order = np.lexsort((problem.distances(records), by_score))
    return np.asarray(records[order[:_DONORS]])


def _mix_with_donors(
    problem: OptimizationProblem, donors: Array, rng: np.random.Generator, n: int
) -> Array:
    """The person with some values of a donor, few or many; one has all, and one none."""
    width = len(problem.start)
    share = width ** (rng.random(n) - 1)
    share[:2] = 0.0, 1.0
    taken = rng.random((n, width)) < share[:, None]
    taken[1] = True
    donor = rng.integers(len(donors), size=n)
    donor[1] = 0
    return problem.project(np.where(taken, donors[donor], problem.start))


def _with_random_changes(
    problem: OptimizationProblem, records: Array, donors: Array, rng: np.random.Generator
) -> Array:
    """The states with a few features changed.

    A feature goes back to the person's value, to a donor's, part of the way back, or a
    little off.
    """
    shape = records.shape
    draws = rng.random(shape)
    expected = rng.choice([1, 2, 4], size=(len(records), 1))
    taken = draws < expected / max(1, int(problem.free.sum()))
    given = donors[rng.integers(len(donors), size=shape), np.arange(shape[1])]
    between = records + rng.random(shape) * (problem.start - records)
    near = records + 0.5 * problem.units * rng.normal(size=shape)
    kind = rng.random(shape)
    kind = np.where(problem.discrete, 0.7 * kind, kind)  # nothing is between two categories
    new = np.select([kind < 0.4, kind < 0.7, kind < 0.85], [problem.start, given, between], near)
    return np.where(taken, new, records)
