"""CFNOW (``cfnow``): changes values until the class changes, then walks back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

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
from localface.types import Array


class CFNOW:
    """Counterfactuals by ``cfnow.find_tabular``, which knows no constraints.

    Parameters
    ----------
    task : the people, the model, the constraints and the score to reach
    strategy : ``random``, ``greedy`` or ``random-sequential``
    seed : of both global generators while it runs; they are restored
    options : whatever else ``find_tabular`` takes, such as ``limit_seconds``
    """

    def __init__(
        self,
        task: Task,
        *,
        strategy: Literal["random", "greedy", "random-sequential"] = "random",
        seed: int = 0,
        **options: Any,
    ) -> None:
        with needs_peer("cfnow", "cfnow"):
            from cfnow import find_tabular
        self._find_tabular = find_tabular
        self._task = task
        self._seed = seed
        self._options = {"cf_strategy": strategy, **options}
        self._model = CountedModel(task)

    def explain(self, person: Any, *, where: Mapping[str, Any] | None = None) -> Proposal:
        """Propose an end, in one step."""
        return ask_peer(self._task, person, where, self._search_counterfactual)

    def _search_counterfactual(self, query: Query) -> PeerAnswer:
        import pandas

        names = self._column_kinds()
        factual = pandas.Series(self._to_one_hot(query.record[None, :])[0], index=list(names))
        with isolated_global_state(self._seed):
            answer = self._find_tabular(
                factual,
                self._target_probability,
                feat_types=names,
                has_ohe=any("_" in name for name in names),
                **self._options,
            )
        if not len(answer.cfs):
            raise NoAnswer("it found no counterfactual before its limit of iterations or seconds")
        return PeerAnswer(
            self._codes_from_one_hot(np.asarray(answer.cfs[0], dtype=np.float64)[None, :])[0]
        )

    def _target_probability(self, table: Any) -> Array:
        """One column, which it reads as the probability of the class that is looked for."""
        return self._model.predict_proba(
            self._codes_from_one_hot(np.asarray(table, dtype=np.float64))
        )[:, 1:]

    def _column_kinds(self) -> dict[str, str]:
        """The columns it sees: one a category of categorical features, else one a feature.

        It groups categories by the part of the name before the underscore. The names are our
        own, for an underscore in a user's name would make a group.
        """
        kinds: dict[str, str] = {}
        for j, feature in enumerate(self._task.schema):
            if feature.kind == "categorical":
                kinds |= {f"f{j}_{code}": "cat" for code in range(len(feature.categories or ()))}
            else:
                kinds[f"f{j}"] = "cat" if feature.kind == "binary" else "num"
        return kinds

    def _to_one_hot(self, records: Array) -> Array:
        """Records with one column a category."""
        blocks: list[Array] = []
        for j, feature in enumerate(self._task.schema):
            codes = records[:, j : j + 1]
            several = np.arange(len(feature.categories or ()), dtype=np.float64)
            if feature.kind == "categorical":
                codes = (codes == several).astype(np.float64)
            blocks.append(codes)
        return np.hstack(blocks)

    def _codes_from_one_hot(self, table: Array) -> Array:
        """One-hot columns as codes again: a category is the one whose column is highest."""
        columns: list[Array] = []
        first = 0
        for feature in self._task.schema:
            if feature.kind == "categorical":
                width = len(feature.categories or ())
                block = table[:, first : first + width]
                columns.append(block.argmax(axis=1).astype(np.float64))
            else:
                width = 1
                columns.append(table[:, first])
            first += width
        return np.column_stack(columns)
