"""treecf: searches the trees of an ensemble themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from localface.errors import ModelError
from localface.evaluation.baselines.peers.adapter import (
    NoAnswer,
    PeerAnswer,
    ask_peer,
    isolated_global_state,
    needs_peer,
)
from localface.evaluation.baselines.proposal import Proposal
from localface.evaluation.baselines.task import Query, Task
from localface.models.model_table import model_table_format
from localface.types import Array

_MARGIN = 1e-9  # sums of trees differ in the last digits: an end at the threshold may be below it


class TreeCF:
    """Counterfactuals by ``treecf``, which is given the real model and never calls it.

    Parameters
    ----------
    task : the people, the model, the constraints and the score to reach
    seed : of its own generator
    isolation : no answer may be more isolated than this, by an isolation forest on the data;
        0.55 is its own default
    options : whatever else ``Explainer.explain`` takes, such as ``sparsity_weight``
    """

    def __init__(
        self, task: Task, *, seed: int = 0, isolation: float | None = None, **options: Any
    ) -> None:
        with needs_peer("treecf", "treecf"):
            import treecf
        self._treecf: Any = treecf
        self._task = task
        self._seed = seed
        self._options = options
        self._form = model_table_format(task.model, task.form, task.schema)
        numbers = self._form.numbers_or_none(task.records)
        if numbers is None:
            raise ModelError(
                "treecf reads models on plain numbers, and this table holds more: "
                "encode its categories"
            )
        with isolated_global_state(seed):
            self._plausible = (
                None if isolation is None else self._isolation_plausibility(numbers, isolation)
            )
            explainer = treecf.Explainer(task.model, background=numbers)
        self._trees = explainer.ir
        self._scales = explainer.sigma
        self._target = self._score_to_reach()

    def explain(self, person: Any, *, where: Mapping[str, Any] | None = None) -> Proposal:
        """Propose an end, in one step."""
        return ask_peer(self._task, person, where, self._search_counterfactual)

    def _search_counterfactual(self, query: Query) -> PeerAnswer:
        numbers = self._form.numbers_or_none(query.record[None, :])
        names = self._trees.feature_names
        schema = self._task.schema
        explainer = self._treecf.Explainer(
            self._trees,
            normalizers=self._scales,
            constraints=self._treecf_constraints(query),
            value_policy={names[j]: "integer" for j, feature in enumerate(schema) if feature.whole},
            plausibility=self._plausible,
        )
        with isolated_global_state(self._seed):
            answer = explainer.explain(
                np.asarray(numbers)[0], self._target, seed=self._seed, **self._options
            )
        if not hasattr(answer, "x_cf"):
            raise NoAnswer(answer.reason)
        return PeerAnswer(self._codes_from_numbers(answer.x_cf), float(answer.distance))

    def _treecf_constraints(self, query: Query) -> list[Any]:
        """What it may do: features left alone, ranges, and orders between features."""
        treecf = self._treecf
        names = self._trees.feature_names
        schema = self._task.schema
        found: list[Any] = []
        for j, (low, high) in enumerate(self._number_ranges(query)):
            if low == high:
                found.append(treecf.Freeze(names[j]))
            elif np.isfinite(low) or np.isfinite(high):
                found.append(treecf.Range(names[j], low, high))
        for first, _, second in schema.relations:
            pair = {names[schema.index(first)]: 1.0, names[schema.index(second)]: -1.0}
            found.append(treecf.Linear(pair, "<=", 0.0))
        return found

    def _number_ranges(self, query: Query) -> list[tuple[float, float]]:
        """The lowest and highest number of each feature that the model may see."""
        ranges: list[tuple[float, float]] = []
        for j, feature in enumerate(self._task.schema):
            if feature.categories is None:
                ranges.append((float(query.box.lower[j]), float(query.box.upper[j])))
                continue
            labels = [
                float(label)
                for code, label in enumerate(feature.categories)
                if query.box.allows_code(j, code)
            ]
            ranges.append((min(labels), max(labels)) if labels else (0.0, 0.0))
        return ranges

    def _codes_from_numbers(self, numbers: Array) -> Array:
        """What the model would see, as codes again; a number must be one of the categories."""
        codes = np.array(numbers, dtype=np.float64)
        for j, feature in enumerate(self._task.schema):
            if feature.categories is not None:
                code_of = {float(label): i for i, label in enumerate(feature.categories)}
                if codes[j] not in code_of:
                    raise NoAnswer(
                        f"it proposes {codes[j]:g} for {feature.name!r}, "
                        "which is none of its categories"
                    )
                codes[j] = code_of[codes[j]]
        return codes

    def _score_to_reach(self) -> Any:
        """The score to reach, as the trees' probability of the second class, or as their value."""
        output = self._task.scorer.output
        level = self._task.min_score
        if output.kind == "value":
            upwards = output.sign > 0
            level = self._task.scorer.display_score(level)
        else:
            upwards = output.column != 0
            level = level if upwards else 1.0 - level
        squashed = self._trees.link.name == "SIGMOID"
        space = self._treecf.Target.probability if squashed else self._treecf.Target.raw
        if upwards:
            return space(op=">=", value=level + _MARGIN)
        return space(op="<=", value=level + -_MARGIN)

    def _isolation_plausibility(self, numbers: Array, most: float) -> Any:
        with needs_peer("sklearn", "scikit-learn"):
            from sklearn.ensemble import IsolationForest
        forest = IsolationForest(random_state=self._seed).fit(numbers)
        return self._treecf.Plausibility.isolation_forest(forest, max_anomaly_score=most)
