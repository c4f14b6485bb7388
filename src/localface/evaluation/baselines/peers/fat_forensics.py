"""FAT Forensics (``fat-forensics``): tries values of one or two features on a grid."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import ceil, prod
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
from localface.evaluation.baselines.peers.allowed_values import AllowedValues
from localface.evaluation.baselines.proposal import Proposal
from localface.evaluation.baselines.task import Query, Task


class FATForensics:
    """Counterfactuals by ``fatf.transparency.predictions.counterfactuals``.

    Parameters
    ----------
    task : the people, the model, the constraints and the score to reach
    seed : nothing in it is random; taken so that all peers are called alike
    steps : cut every range into so many steps; by default a step is 1.0, whatever the unit
    length : how many features may change at most
    scaled : measure distance in ordinary differences between people, not in the features' units
    max_candidates : give up on a grid of more records than this, which are all held in memory
    """

    def __init__(
        self,
        task: Task,
        *,
        seed: int = 0,
        steps: int | None = None,
        length: int = 2,
        scaled: bool = False,
        max_candidates: int = 2_000_000,
    ) -> None:
        with needs_peer("fatf", "fat-forensics"):
            from fatf.transparency.predictions.counterfactuals import CounterfactualExplainer
        self._explainer = CounterfactualExplainer
        self._task = task
        self._seed = seed
        self._steps = steps
        self._length = length
        self._scaled = scaled
        self._most = max_candidates
        self._model = CountedModel(task)

    def explain(self, person: Any, *, where: Mapping[str, Any] | None = None) -> Proposal:
        """Propose an end, in one step."""
        return ask_peer(self._task, person, where, self._search_counterfactual)

    def _search_counterfactual(self, query: Query) -> PeerAnswer:
        allowed = AllowedValues.of(self._task, query)
        allowed.require_something_to_vary()
        sizes = {j: self._grid_step(j, ends) for j, ends in allowed.ranges.items()}
        self._check_grid_size(allowed, sizes)
        choices = {j: [float(code) for code in codes] for j, codes in allowed.choices.items()}
        discrete = [j for j, feature in enumerate(self._task.schema) if feature.discrete]
        with isolated_global_state(self._seed):
            explainer = self._explainer(
                predictive_function=self._model.predict,
                dataset=self._task.records,
                categorical_indices=discrete,
                numerical_indices=[j for j in range(len(self._task.schema)) if j not in discrete],
                counterfactual_feature_indices=allowed.features_to_vary,
                feature_ranges={**allowed.ranges, **choices},
                max_counterfactual_length=min(self._length, len(allowed.features_to_vary)),
                step_sizes=sizes or None,
                distance_functions=self._distance_functions() if self._scaled else None,
            )
            found, distances, _ = explainer.explain_instance(
                query.record.copy(), counterfactual_class=1
            )
        if not len(found):
            raise NoAnswer(
                f"no value of up to {self._length} features on its grid reaches the target"
            )
        return PeerAnswer(np.asarray(found[0], dtype=np.float64), float(distances[0]))

    def _grid_step(self, j: int, ends: tuple[float, float]) -> float:
        if self._steps is None:
            return 1.0
        step = (ends[1] - ends[0]) / self._steps
        return float(max(1, round(step))) if self._task.schema.features[j].whole else step

    def _check_grid_size(self, allowed: AllowedValues, sizes: dict[int, float]) -> None:
        """Count the records of the grid before they are made."""
        values = {j: ceil((high - low) / sizes[j]) for j, (low, high) in allowed.ranges.items()}
        values |= {j: len(codes) for j, codes in allowed.choices.items()}
        lengths = range(1, min(self._length, len(values)) + 1)
        grid = sum(prod(some) for n in lengths for some in combinations(values.values(), n))
        if grid > self._most:
            raise NoAnswer(
                f"its grid has {grid:,} records, "
                f"more than max_candidates={self._most:,}: give steps="
            )

    def _distance_functions(self) -> dict[int, Any]:
        """One function a feature; FAT Forensics wants exactly two parameters without a default."""
        scales = self._task.space.scales
        return {
            j: (lambda one, other: float(one != other))
            if feature.discrete
            else (lambda one, other, scale=float(scales[j]): abs(float(one) - float(other)) / scale)
            for j, feature in enumerate(self._task.schema)
        }
