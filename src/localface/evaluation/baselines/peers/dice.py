"""DiCE (``dice-ml``): random sampling, a genetic search, or the nearest rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from localface.evaluation.baselines.peers.adapter import (
    CountedModel,
    NoAnswer,
    PeerAnswer,
    ask_peer,
    codes_of,
    isolated_global_state,
    needs_peer,
    record_from_codes,
)
from localface.evaluation.baselines.peers.allowed_values import AllowedValues
from localface.evaluation.baselines.proposal import Proposal
from localface.evaluation.baselines.task import Query, Task
from localface.types import Array

_NONE_FOUND = "No counterfactuals found"  # how DiCE says so, in an error for what was asked wrongly
_DECIMALS = 8  # no number is kept to more


class DiCE:
    """Counterfactuals by ``dice_ml``.

    Parameters
    ----------
    task : the people, the model, the constraints and the score to reach
    method : ``random``, ``genetic`` or ``kdtree``
    seed : of both global generators while DiCE runs, which are restored; ``random`` gets it as
        ``random_seed`` too
    total_cfs : how many to ask for; of several, the nearest to the person is the answer
    decimals : how many decimals numbers have: DiCE's own ``guess``, or as many as are found in
        the ``data``
    remap : let the model's 0.5 be our score to reach; else DiCE gets it as ``stopping_threshold``
    max_calls : how often the model may be called for one person, for DiCE may search for ever
    options : whatever else ``generate_counterfactuals`` takes, such as ``sample_size``
    """

    def __init__(
        self,
        task: Task,
        *,
        method: Literal["random", "genetic", "kdtree"] = "random",
        seed: int = 0,
        total_cfs: int = 1,
        decimals: Literal["guess", "data"] = "guess",
        remap: bool = True,
        max_calls: int = 5_000,
        **options: Any,
    ) -> None:
        with needs_peer("dice_ml", "dice-ml"):
            import dice_ml
        self._task = task
        self._seed = seed
        self._names = task.schema.names
        self._model = CountedModel(task, remap=remap, most=max_calls)
        seeded = {"random_seed": seed} if method == "random" else {}
        self._options = {
            "total_CFs": total_cfs,
            "stopping_threshold": self._model.target_threshold,
            **seeded,
            **options,
        }
        with isolated_global_state(seed):
            data = dice_ml.Data(**self._dice_data_arguments(guess=decimals == "guess"))
            model = dice_ml.Model(model=self._model, backend="sklearn", model_type="classifier")
            self._dice = dice_ml.Dice(data, model, method=method)

    def explain(self, person: Any, *, where: Mapping[str, Any] | None = None) -> Proposal:
        """Propose an end, in one step."""
        return ask_peer(self._task, person, where, self._search_counterfactual)

    def explain_several(
        self, person: Any, *, where: Mapping[str, Any] | None = None
    ) -> list[Proposal]:
        """Propose every end that DiCE has, ``total_cfs`` at most; none where it has none."""
        task = self._task
        query = task.read_query(person, where)
        try:
            return [
                task.propose(query, [record_from_codes(task, codes)])
                for codes in self._generate_counterfactuals(query)
            ]
        except NoAnswer:
            return []

    def _search_counterfactual(self, query: Query) -> PeerAnswer:
        """The nearest of DiCE's answers."""
        codes = self._generate_counterfactuals(query)
        away = (self._task.space.points(codes) - query.point) ** 2
        return PeerAnswer(np.asarray(codes[away.sum(axis=1).argmin()]))

    def _generate_counterfactuals(self, query: Query) -> Array:
        """All of DiCE's answers.

        DiCE rounds to single precision: numbers that only differ by that are the person's own.
        """
        allowed = AllowedValues.of(self._task, query)
        allowed.require_something_to_vary()
        self._model.restart_call_count()
        try:
            with isolated_global_state(self._seed):
                answer = self._dice.generate_counterfactuals(
                    self._to_dice_table(query.record[None, :]),
                    desired_class=1,
                    features_to_vary=[self._names[j] for j in allowed.features_to_vary],
                    permitted_range=self._permitted_ranges(allowed),
                    **self._options,
                )
        except Exception as error:
            if str(error).startswith(_NONE_FOUND):
                raise NoAnswer(str(error)) from None
            raise
        examples = answer.cf_examples_list[0]
        sparse = examples.final_cfs_df_sparse
        codes = codes_of(self._task, examples.final_cfs_df if sparse is None else sparse)
        return np.where(
            codes.astype(np.float32) == query.record.astype(np.float32), query.record, codes
        )

    def _permitted_ranges(self, allowed: AllowedValues) -> dict[str, list[Any]]:
        whole = {j: feature.whole for j, feature in enumerate(self._task.schema)}
        ranges: dict[int, list[Any]] = {
            j: [int(end) if whole[j] else end for end in ends] for j, ends in allowed.ranges.items()
        }
        choices = {j: [str(code) for code in codes] for j, codes in allowed.choices.items()}
        return {self._names[j]: values for j, values in {**ranges, **choices}.items()}

    def _to_dice_table(self, records: Array) -> Any:
        """Records as DiCE takes them: categories as text, whole numbers as integers."""
        import pandas

        columns: dict[str, Any] = {}
        for name, feature, codes in zip(self._names, self._task.schema, records.T, strict=True):
            whole = np.rint(codes).astype(np.int64) if feature.whole else codes
            columns[name] = [str(code) for code in whole] if feature.discrete else whole
        return pandas.DataFrame(columns)

    def _dice_data_arguments(self, *, guess: bool) -> dict[str, Any]:
        """The rows with their outcome, and what DiCE wants to know about them."""
        table = self._to_dice_table(self._task.records)
        outcome = "outcome"
        while outcome in self._names:
            outcome += "_"
        table[outcome] = self._task.reaches_target.astype(np.int64)
        precision = {
            name: n
            for name in self._names
            if (n := self._decimals_of_feature(name, guess=guess)) is not None
        }
        ordered = [feature.name for feature in self._task.schema if not feature.discrete]
        data = {"dataframe": table, "continuous_features": ordered, "outcome_name": outcome}
        if precision:
            data["continuous_features_precision"] = precision
        return data

    def _decimals_of_feature(self, name: str, *, guess: bool) -> int | None:
        """How many decimals DiCE is told of; None where it has to guess itself."""
        feature = self._task.schema[name]
        codes = self._task.records[:, self._task.schema.index(name)]
        if feature.whole:
            return None
        if feature.resolution is not None:
            return max(0, int(np.ceil(-np.log10(feature.resolution) - 1e-9)))
        values, counts = np.unique(codes.astype(np.float32), return_counts=True)
        if guess and all("." in str(mode) for mode in values[counts == counts.max()]):
            # DiCE counts the decimals of the commonest values, and fails where one is 1e-05
            return None
        exact = [n for n in range(_DECIMALS) if np.array_equal(np.round(codes, n), codes)]
        return exact[0] if exact else _DECIMALS
