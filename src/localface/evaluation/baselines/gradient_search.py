"""Follows the gradient of Wachter's loss."""

from __future__ import annotations

import numpy as np

from localface.evaluation.baselines.gradients import Gradient
from localface.evaluation.baselines.problem import OptimizationProblem
from localface.types import Array

_MARGIN = 0.02  # of the way to go: a squared loss stops short of the score, so it aims further
_TURNS = 3  # of numbers and of everything else, before the next lambda


def gradient_search(
    problem: OptimizationProblem,
    gradient: Gradient,
    lambdas: tuple[float, ...],
    iterations: int,
) -> None:
    """Descend in the numbers, take turns with the rest, until the minimum is valid."""
    state = problem.start
    for weight in lambdas:
        for _ in range(_TURNS):
            before = state
            state = _minimise_over_numbers(
                problem, gradient, state, weight=weight, iterations=iterations
            )
            state = _state_after_best_switch(problem, state, weight)
            if (state == before).all():
                break
        if problem.evaluate_and_keep_best(state[None, :])[0][0] == 0:
            return


def _minimise_over_numbers(
    problem: OptimizationProblem,
    gradient: Gradient,
    state: Array,
    *,
    weight: float,
    iterations: int,
) -> Array:
    """Minimise over numbers that need not be whole by L-BFGS-B.

    Changes up and down are variables of their own, none negative: their sum is the
    distance, which is smooth then, and what need not change stays exactly where it is.
    """
    from scipy.optimize import minimize  # here, as it takes longer to import than all of localface

    some = np.flatnonzero(problem.free & ~problem.whole)
    if not len(some):
        return state
    origin = problem.start[some]
    unit = problem.units[some]
    rows = state[None, :].copy()
    steep = 1 / (problem.gap * (1 + _MARGIN))

    def objective(changes: Array) -> tuple[float, Array]:
        up, down = np.split(changes, 2)
        moved = origin + unit * (up - down)
        rows[0, some] = np.clip(moved, problem.lower[some], problem.upper[some])
        loss = max(problem.scores_and_shortfalls(rows)[1][0] + _MARGIN, 0.0) / (1 + _MARGIN)
        pull = 2 * weight * loss * steep * gradient(rows)[0, some] * unit
        return weight * loss**2 + float(changes.sum()), np.concatenate([1 - pull, 1 + pull])

    room = np.concatenate([problem.upper[some] - origin, origin - problem.lower[some]])
    room = room / np.tile(unit, 2)
    moved = (state[some] - origin) / unit
    start = np.concatenate([np.maximum(moved, 0.0), np.maximum(-moved, 0.0)])
    bounds = np.column_stack([np.zeros(len(room)), room])
    options = {"maxiter": iterations}
    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    up, down = np.split(found.x, 2)
    rows[0, some] = origin + unit * (up - down)
    return np.asarray(problem.project(rows)[0])


def _state_after_best_switch(problem: OptimizationProblem, state: Array, weight: float) -> Array:
    """The state after the best single change of a category or a whole number, if any pays."""
    options = [state]
    for j in np.flatnonzero(problem.free & problem.whole).tolist():
        for value in problem.codes.get(j) or _whole_values_to_try(problem, state, j):
            options.append(np.where(np.arange(len(state)) == j, value, state))
    records = problem.project(np.stack(options))
    lacking, distances = problem.evaluate_and_keep_best(records)
    return np.asarray(records[(weight * lacking**2 + distances).argmin()])


def _whole_values_to_try(problem: OptimizationProblem, state: Array, j: int) -> list[float]:
    """The person's own value, and steps of 1, 2, 4, ... up and down from the present one."""
    span = max(problem.upper[j] - problem.lower[j], 1)
    steps = 2.0 ** np.arange(max(1, int(np.log2(span)) + 1))
    return [problem.start[j], *(state[j] + steps), *(state[j] - steps)]
