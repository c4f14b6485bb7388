"""treecf: searches the trees of an ensemble themselves, with ranges, whole numbers and orders between features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from localface.errors import ModelError
from localface.evaluation.baselines.peers.calling import Landing, NoAnswer, asking, needed, quietly
from localface.evaluation.baselines.proposal import Proposal
from localface.evaluation.baselines.task import Asked, Task
from localface.models.scorer import fed
from localface.types import Array

_IN_HAND = 1e-9  # sums of trees differ in the last digits, and whoever stops on the threshold may be below it


class TreeCF:
    """Counterfactuals by ``treecf``, which is given the real model and never calls it.

    Parameters
    ----------
    task : the people, the model, the constraints and the score to reach
    seed : of its own generator
    isolation : no answer may be more isolated than this, by an isolation forest on the data; 0.55 is its own default
    options : whatever else ``Explainer.explain`` takes, such as ``backend`` or ``sparsity_weight``
    """

    def __init__(
        self, task: Task, *, seed: int = 0, isolation: float | None = None, **options: Any
    ) -> None:
        self._treecf = needed("treecf", "treecf")
        self._task, self._seed, self._options = task, seed, options
        self._form = fed(task.model, task.form, task.schema)
        numbers = self._form.numbers(task.records)
        if numbers is None:
            raise ModelError(
                "treecf reads models on plain numbers, and this table holds more: encode its categories"
            )
        with quietly(seed):
            self._plausible = None if isolation is None else self._forest(numbers, isolation)
            whole = self._treecf.Explainer(task.model, background=numbers)
        self._trees, self._scales = whole.ir, whole.sigma
        self._target = self._wanted()

    def explain(self, person: Any, *, where: Mapping[str, Any] | None = None) -> Proposal:
        """Propose one jump."""
        return asking(self._task, person, where, self._search)

    def _search(self, asked: Asked) -> Landing:
        numbers = self._form.numbers(asked.record[None, :])
        names, schema = self._trees.feature_names, self._task.schema
        explainer = self._treecf.Explainer(
            self._trees,
            normalizers=self._scales,
            constraints=self._constraints(asked),
            value_policy={names[j]: "integer" for j, feature in enumerate(schema) if feature.whole},
            plausibility=self._plausible,
        )
        with quietly(self._seed):
            answer = explainer.explain(
                np.asarray(numbers)[0], self._target, seed=self._seed, **self._options
            )
        if not hasattr(answer, "x_cf"):
            raise NoAnswer(answer.reason)
        return Landing(self._codes(answer.x_cf), float(answer.distance))

    def _constraints(self, asked: Asked) -> list[Any]:
        """What it may do: features left alone, ranges, and orders between features."""
        treecf, names, schema = self._treecf, self._trees.feature_names, self._task.schema
        found: list[Any] = []
        for j, (low, high) in enumerate(self._ends(asked)):
            if low == high:
                found.append(treecf.Freeze(names[j]))
            elif np.isfinite(low) or np.isfinite(high):
                found.append(treecf.Range(names[j], low, high))
        for first, _, second in schema.relations:
            pair = {names[schema.index(first)]: 1.0, names[schema.index(second)]: -1.0}
            found.append(treecf.Linear(pair, "<=", 0.0))
        return found

    def _ends(self, asked: Asked) -> list[tuple[float, float]]:
        """The lowest and highest number of each feature that the model may see."""
        ends: list[tuple[float, float]] = []
        for j, feature in enumerate(self._task.schema):
            if feature.categories is None:
                ends.append((float(asked.box.lower[j]), float(asked.box.upper[j])))
                continue
            places = [code for code in range(len(feature.categories)) if asked.box.holds(j, code)]
            labels = [float(feature.categories[code]) for code in places]
            ends.append((min(labels), max(labels)) if labels else (0.0, 0.0))
        return ends

    def _codes(self, numbers: Array) -> Array:
        """What the model would see as codes again; a number that is none of the categories has no place."""
        codes = np.array(numbers, dtype=np.float64)
        for j, feature in enumerate(self._task.schema):
            if feature.categories is not None:
                place = {float(label): i for i, label in enumerate(feature.categories)}
                if codes[j] not in place:
                    raise NoAnswer(
                        f"it proposes {codes[j]:g} for {feature.name!r}, which is none of its categories"
                    )
                codes[j] = place[codes[j]]
        return codes

    def _wanted(self) -> Any:
        """The score to reach, on the scale of the trees' own probability of the second class, or of their value."""
        reading, level = self._task.scorer.reading, self._task.min_score
        if reading.kind == "value":
            towards, level = reading.sign > 0, self._task.scorer.shown(level)
        else:
            towards = reading.column != 0
            level = level if towards else 1.0 - level
        squashed = self._trees.link.name == "SIGMOID"
        space = self._treecf.Target.probability if squashed else self._treecf.Target.raw
        return space(
            op=">=" if towards else "<=", value=level + (_IN_HAND if towards else -_IN_HAND)
        )

    def _forest(self, numbers: Array, most: float) -> Any:
        forest = (
            needed("sklearn.ensemble", "scikit-learn")
            .IsolationForest(random_state=self._seed)
            .fit(numbers)
        )
        return self._treecf.Plausibility.isolation_forest(forest, max_anomaly_score=most)
