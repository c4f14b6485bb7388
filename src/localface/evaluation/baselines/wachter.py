"""Wachter's counterfactuals: the cheapest change that the model answers differently, by optimisation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np

from localface.errors import InputError, listed, near_miss
from localface.evaluation.baselines.case import Problem, deviations
from localface.evaluation.baselines.chance import by_chance, by_evolution
from localface.evaluation.baselines.proposal import Proposal
from localface.evaluation.baselines.slopes import Slope, slope_of
from localface.evaluation.baselines.task import Task
from localface.types import Array

OPTIMIZERS = ("auto", "gradient", "local", "evolution")
_MARGIN = 0.02  # of the way to go: how much more than the score a gradient aims at, as it stops short of it
_TURNS = 3  # of numbers and of everything else, before the next lambda
_BACK = 2.0 ** -np.arange(9)  # shares of the way back to the person
_WALKS = 100  # times that a state is moved back, at most


@dataclass(frozen=True, slots=True, eq=False)
class Wachter:
    """Minimise lambda * loss + distance, with lambda increasing until the score is reached.

    The loss is the square of what is missing to ``min_score``, 1 where the person stands;
    the distance is the sum of changes, each divided by the feature's median absolute
    deviation. States are projected onto what the person may become. See "Baselines".

    Parameters
    ----------
    gradient : the slope of the score by record, as a function from records (n, d) to an array (n, d), or a
        torch module that gives the score; found by itself where the model is, or holds, such a module
    optimizer : ``gradient`` (SciPy's L-BFGS-B), ``local`` (a random search around the best states), ``evolution``
        (SciPy's differential evolution); ``auto`` takes a gradient where there is one, else or failing that ``local``
    lambdas : the weights of the loss that are tried, increasing
    max_iter : iterations for each of them
    n_candidates : states that are scored in one call by ``local`` and ``evolution``
    refine : whether to move back towards the person at the end, as far as the score allows
    seed : where chance comes from; the same seed gives the same answer, whoever was asked before

    Example
    -------
    >>> from localface.cases.moons import two_moons
    >>> moons = two_moons(200)
    >>> Wachter(Task.of(moons.model, moons.data)).explain(moons.person)
    <Proposal: found, 1 step>
    """

    task: Task = field(repr=False)
    _: KW_ONLY
    gradient: Any = None
    optimizer: str = "auto"
    lambdas: tuple[float, ...] = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1e3, 1e4, 1e6)
    max_iter: int = 30
    n_candidates: int = 128
    refine: bool = True
    seed: int = 0
    _deviations: Array = field(init=False, repr=False)
    _slope: Slope | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.optimizer not in OPTIMIZERS:
            near = near_miss(self.optimizer, OPTIMIZERS)
            raise InputError(
                f"optimizer={self.optimizer!r}{near}: one of {listed(OPTIMIZERS)} is wanted"
            )
        if not len(self.lambdas) or min(self.lambdas) <= 0 or (np.diff(self.lambdas) <= 0).any():
            raise InputError(
                f"lambdas={self.lambdas!r}: positive numbers are wanted, each larger than the last"
            )
        if self.max_iter < 1 or self.n_candidates < 8:
            raise InputError("max_iter of at least 1 and n_candidates of at least 8 are wanted")
        object.__setattr__(self, "_deviations", deviations(self.task))
        object.__setattr__(self, "_slope", slope_of(self.task, self.gradient))
        if self.optimizer == "gradient" and self._slope is None:
            raise InputError(
                "optimizer='gradient' needs a gradient: pass gradient=, or take 'local' or 'evolution'"
            )

    def explain(self, person: Any, *, where: Mapping[str, Any] | None = None) -> Proposal:
        """Propose the person with the cheapest change that was found, or say how near the search came."""
        task, asked = self.task, self.task.asked(person, where)
        score = float(task.score(asked.record[None, :])[0])
        if score >= task.min_score:
            return task.proposed(asked, [])
        case = Problem(task, asked, self._deviations, score)
        if case.free.any():
            self._search(case)
        if case.best is None:
            best, wanted = (task.scorer.shown(value) for value in (case.highest, task.min_score))
            return task.nothing(
                asked, f"no state with a score of {wanted:g} was found; the best one has {best:.4g}"
            )
        if self.refine:
            walk_back(case)
        return task.proposed(asked, [case.best], cost=case.cost)

    def _search(self, case: Problem) -> None:
        rng = np.random.default_rng(self.seed)
        if self._slope is not None and self.optimizer in ("auto", "gradient"):
            _by_gradient(case, self._slope, self.lambdas, self.max_iter)
        if self.optimizer == "evolution":
            by_evolution(case, rng, self.lambdas, generations=self.max_iter, n=self.n_candidates)
        if self.optimizer == "local" or (self.optimizer == "auto" and case.best is None):
            by_chance(case, rng, self.lambdas, rounds=self.max_iter, n=self.n_candidates)


def walk_back(case: Problem) -> None:
    """Move the best state back towards the person while it stays valid: single features, and all at once."""
    cost = np.inf
    for _ in range(_WALKS):
        if case.best is None or case.cost > cost * (1 - 1e-3):
            return
        cost, way = case.cost, case.home - case.best
        back = _BACK[:, None] * way
        back = np.where(
            case.whole, np.sign(way) * np.maximum(np.rint(np.abs(back)), np.abs(way) > 0), back
        )
        back = np.where(case.discrete, way, back)
        some = back[:, None, :] * np.eye(len(way))[way != 0]
        case.judge(case.allowed(case.best + np.concatenate([some.reshape(-1, len(way)), back])))


def _by_gradient(case: Problem, slope: Slope, lambdas: tuple[float, ...], iterations: int) -> None:
    """Follow the slope in the numbers, take turns with the rest, until the minimum is valid."""
    state = case.home
    for weight in lambdas:
        for _ in range(_TURNS):
            before = state
            state = _descended(case, slope, state, weight=weight, iterations=iterations)
            state = _switched(case, state, weight)
            if (state == before).all():
                break
        if case.judge(state[None, :])[0][0] == 0:
            return


def _descended(
    case: Problem, slope: Slope, state: Array, *, weight: float, iterations: int
) -> Array:
    """Minimise over numbers that need not be whole by L-BFGS-B.

    Changes up and down are variables of their own, none negative: their sum is the
    distance, which is smooth then, and what need not change stays exactly where it is.
    """
    from scipy.optimize import minimize  # here, as it takes longer to import than all of localface

    some = np.flatnonzero(case.free & ~case.whole)
    if not len(some):
        return state
    home, unit, rows = case.home[some], case.units[some], state[None, :].copy()
    steep = 1 / (case.gap * (1 + _MARGIN))

    def objective(changes: Array) -> tuple[float, Array]:
        up, down = np.split(changes, 2)
        rows[0, some] = np.clip(home + unit * (up - down), case.lower[some], case.upper[some])
        loss = max(case.lacking(rows)[1][0] + _MARGIN, 0.0) / (1 + _MARGIN)
        pull = 2 * weight * loss * steep * slope(rows)[0, some] * unit
        return weight * loss**2 + float(changes.sum()), np.concatenate([1 - pull, 1 + pull])

    room = np.concatenate([case.upper[some] - home, home - case.lower[some]]) / np.tile(unit, 2)
    moved = (state[some] - home) / unit
    start = np.concatenate([np.maximum(moved, 0.0), np.maximum(-moved, 0.0)])
    bounds = np.column_stack([np.zeros(len(room)), room])
    found = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": iterations},
    )
    up, down = np.split(found.x, 2)
    rows[0, some] = home + unit * (up - down)
    return np.asarray(case.allowed(rows)[0])


def _switched(case: Problem, state: Array, weight: float) -> Array:
    """The best single change of a category or a whole number, if there is one that is worth it."""
    options = [state]
    for j in np.flatnonzero(case.free & case.whole).tolist():
        steps = 2.0 ** np.arange(max(1, int(np.log2(max(case.upper[j] - case.lower[j], 1))) + 1))
        values = case.codes.get(j) or [case.home[j], *(state[j] + steps), *(state[j] - steps)]
        options += [np.where(np.arange(len(state)) == j, value, state) for value in values]
    records = case.allowed(np.stack(options))
    lacking, distances = case.judge(records)
    return np.asarray(records[(weight * lacking**2 + distances).argmin()])
