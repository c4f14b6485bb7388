"""mlxtend: one run of the Nelder-Mead search on Wachter's loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from localface.evaluation.baselines.peers.adapter import (
    CountedModel,
    NoAnswer,
    PeerAnswer,
    ask_peer,
    isolated_global_state,
    needs_peer,
)
from localface.evaluation.baselines.proposal import Proposal
from localface.evaluation.baselines.task import Query, Task


class MLxtend:
    """Counterfactuals by ``mlxtend.evaluate.create_counterfactual``, which knows no constraints.

    It returns where its search ended and claims nothing about it; an end that does not
    reach the target is no answer.

    Parameters
    ----------
    task : the people, the model, the constraints and the score to reach
    seed : of the row that it starts from
    lammbda : how much the score weighs against the distance (its spelling)
    desired : the probability to aim at; by default the score to reach
    """

    def __init__(
        self, task: Task, *, seed: int = 0, lammbda: float = 0.1, desired: float | None = None
    ) -> None:
        with needs_peer("mlxtend", "mlxtend"):
            from mlxtend.evaluate.counterfactual import create_counterfactual
        self._create = create_counterfactual
        self._task = task
        self._seed = seed
        self._lammbda = lammbda
        probable = bool(task.scores.min() >= 0 and task.scores.max() <= 1)
        self._model = CountedModel(task, remap=not probable)
        self._desired = self._model.target_threshold if desired is None else desired

    def explain(self, person: Any, *, where: Mapping[str, Any] | None = None) -> Proposal:
        """Propose an end, in one step."""
        return ask_peer(self._task, person, where, self._search_counterfactual)

    def _search_counterfactual(self, query: Query) -> PeerAnswer:
        with isolated_global_state(self._seed), np.errstate(all="ignore"):
            end = self._create(
                query.record,
                1,
                self._model,
                self._task.records,
                y_desired_proba=self._desired,
                lammbda=self._lammbda,
                random_seed=self._seed,
            )
        reached = float(self._model.predict_proba(end)[0, 1])
        if reached < self._model.target_threshold:
            raise NoAnswer(
                f"its search ended at a score of {reached:.3g}, "
                f"and {self._model.target_threshold:.3g} was wanted"
            )
        return PeerAnswer(end)
