"""Wachter's counterfactuals: the cheapest valid change, by optimisation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np

from localface.errors import InputError, did_you_mean, list_names
from localface.evaluation.baselines.gradient_search import gradient_search
from localface.evaluation.baselines.gradients import Gradient, score_gradient
from localface.evaluation.baselines.problem import OptimizationProblem, median_deviations
from localface.evaluation.baselines.proposal import Proposal
from localface.evaluation.baselines.random_search import evolution_search, random_search
from localface.evaluation.baselines.task import Task
from localface.types import Array

OPTIMIZERS = ("auto", "gradient", "local", "evolution")
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
    gradient : the gradient of the score, as a function from records (n, d) to an array (n, d),
        or a torch module that gives the score; found by itself where the model is, or has, such
        a module
    optimizer : ``gradient`` (SciPy's L-BFGS-B), ``local`` (a random search around the best
        states), ``evolution`` (SciPy's differential evolution); ``auto`` takes a gradient where
        there is one, else or failing that ``local``
    lambdas : the weights of the loss that are tried, increasing
    max_iter : iterations for each of them
    n_candidates : states that are scored in one call by ``local`` and ``evolution``
    refine : whether to move back towards the person at the end, as far as the score allows
    seed : of the random search; the same seed gives the same answer, whoever was asked before

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
    _gradient: Gradient | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.optimizer not in OPTIMIZERS:
            near = did_you_mean(self.optimizer, OPTIMIZERS)
            raise InputError(
                f"optimizer={self.optimizer!r}{near}: one of {list_names(OPTIMIZERS)} is wanted"
            )
        if not len(self.lambdas) or min(self.lambdas) <= 0 or (np.diff(self.lambdas) <= 0).any():
            raise InputError(
                f"lambdas={self.lambdas!r}: positive numbers are wanted, each larger than the last"
            )
        if self.max_iter < 1 or self.n_candidates < 8:
            raise InputError("max_iter of at least 1 and n_candidates of at least 8 are wanted")
        object.__setattr__(self, "_deviations", median_deviations(self.task))
        object.__setattr__(self, "_gradient", score_gradient(self.task, self.gradient))
        if self.optimizer == "gradient" and self._gradient is None:
            raise InputError(
                "optimizer='gradient' needs a gradient: pass gradient=, "
                "or take 'local' or 'evolution'"
            )

    def explain(self, person: Any, *, where: Mapping[str, Any] | None = None) -> Proposal:
        """Propose the cheapest change that was found, or say how near the search came."""
        task = self.task
        query = task.read_query(person, where)
        score = float(task.score(query.record[None, :])[0])
        if score >= task.min_score:
            return task.propose(query, [])
        problem = OptimizationProblem(task, query, self._deviations, score)
        if problem.free.any():
            self._run_optimizer(problem)
        if problem.best is None:
            best = task.scorer.display_score(problem.highest)
            wanted = task.scorer.display_score(task.min_score)
            return task.propose_nothing(
                query, f"no state with a score of {wanted:g} was found; the best one has {best:.4g}"
            )
        if self.refine:
            move_best_back_to_person(problem)
        return task.propose(query, [problem.best], cost=problem.cost)

    def _run_optimizer(self, problem: OptimizationProblem) -> None:
        rng = np.random.default_rng(self.seed)
        lambdas = self.lambdas
        n = self.n_candidates
        if self._gradient is not None and self.optimizer in ("auto", "gradient"):
            gradient_search(problem, self._gradient, lambdas, self.max_iter)
        if self.optimizer == "evolution":
            evolution_search(problem, rng, lambdas, generations=self.max_iter, n=n)
        if self.optimizer == "local" or (self.optimizer == "auto" and problem.best is None):
            random_search(problem, rng, lambdas, rounds=self.max_iter, n=n)


def move_best_back_to_person(problem: OptimizationProblem) -> None:
    """Move the best state back towards the person while it stays valid.

    Single features are tried, and all at once.
    """
    cost = np.inf
    for _ in range(_WALKS):
        if problem.best is None or problem.cost > cost * (1 - 1e-3):
            return
        cost = problem.cost
        change = problem.start - problem.best
        back = _BACK[:, None] * change
        whole = np.sign(change) * np.maximum(np.rint(np.abs(back)), np.abs(change) > 0)
        back = np.where(problem.whole, whole, back)
        back = np.where(problem.discrete, change, back)
        single = back[:, None, :] * np.eye(len(change))[change != 0]
        moves = np.concatenate([single.reshape(-1, len(change)), back])
        problem.evaluate_and_keep_best(problem.project(problem.best + moves))
