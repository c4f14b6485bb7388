"""Several models of which the first and enough of the others must agree."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from localface.errors import InputError, ModelError
from localface.models.output import ModelOutput
from localface.models.scorer import Scorer
from localface.types import Array, Ids

_AGREE = 0.9  # the share of other models that has to agree, unless told otherwise


class AgreeingScorer(Scorer):
    """Scores records by several models at once, each called once with all of them.

    The target is reached where the first model says so and at least a share of the others: a
    record's score is the lower of the first model's own and of the highest that so many of the
    others reach.
    """

    def __init__(self, scorers: Sequence[Scorer], *, min_score: float, agree: float = 1.0) -> None:
        kinds = {(one.output.kind, one.output.sign) for one in scorers}
        if len(kinds) > 1:
            each = ", ".join(sorted({one.output.kind for one in scorers}))
            raise ModelError(
                f"the models give different things ({each}), and one min_score cannot be held "
                "against all: give functions that return scores of one kind"
            )
        self._scorers = tuple(scorers)
        self._agree = agree
        self._needed = n_needed(agree, len(scorers) - 1)
        first = scorers[0]
        super().__init__(self._labelled(first.output), first.table_format, min_score=min_score)

    @property
    def scorers(self) -> tuple[Scorer, ...]:
        """Each model's own scorer, the one that is explained first."""
        return self._scorers

    def with_min_score(self, min_score: float) -> Scorer:
        """Return the same models held to another threshold."""
        each = [one.with_min_score(min_score) for one in self._scorers]
        return AgreeingScorer(each, min_score=min_score, agree=self._agree)

    def for_target(self, model: Any, target: object, *, min_score: float) -> Scorer:
        """Return the same models read for another target."""
        pairs = zip(self._scorers, model, strict=True)
        each = [one.for_target(its, target, min_score=min_score) for one, its in pairs]
        return AgreeingScorer(each, min_score=min_score, agree=self._agree)

    @property
    def reading(self) -> str:
        """How the scores of each model are got, in their order."""
        return "; ".join(one.reading for one in self._scorers)

    def exact_scores(self, records: Array) -> Array:
        """Return the score that the first model and enough of the others reach."""
        every = np.array([one.exact_scores(records) for one in self._scorers])
        return np.asarray(np.take_along_axis(every, self._deciding_model(every)[None, :], 0)[0])

    def display_scores(self, scores: Sequence[float], records: Array) -> tuple[float, ...]:
        """Return what the model gives that decides, to be shown."""
        if not self.output.is_folded:
            return super().display_scores(scores, records)
        exact = np.array([one.exact_scores(records) for one in self._scorers])
        shown = [
            one.display_scores(one.round_scores(own, self.min_score).tolist(), records)
            for one, own in zip(self._scorers, exact, strict=True)
        ]
        deciding = self._deciding_model(exact)
        return tuple(float(np.array(shown)[k, i]) for i, k in enumerate(deciding))

    def _deciding_model(self, every: Array) -> Ids:
        """Return for each record the model whose score is that of all of them together."""
        first = np.zeros(every.shape[1], dtype=np.int64)
        if not self._needed:
            return first
        order = 1 + every[1:].argsort(axis=0, kind="stable")
        other = order[len(every) - 1 - self._needed]
        others_score = np.take_along_axis(every, other[None, :], 0)[0]
        return np.where(every[0] <= others_score, first, other)

    def _labelled(self, output: ModelOutput) -> ModelOutput:
        """Say of whose score it is, and how many models have to reach it."""
        n_others = len(self._scorers) - 1
        if self._needed == n_others:
            by = f"by all of {n_others + 1} models"
        else:
            by = f"by the model and at least {self._needed} of {n_others} others"
        return replace(output, label=f"{output.label} {by}")


def n_needed(agree: float, n_others: int) -> int:
    """Return how many of the other models have to agree: at least this share of them.

    >>> n_needed(0.9, 20), n_needed(0.9, 3)
    (18, 3)
    """
    return math.ceil(agree * n_others - 1e-9)


def join_models(model: Any, others: Any) -> Any:
    """Return the model, or a list of it and the others where there are any."""
    if others is None:
        return model
    if hasattr(others, "predict") or not isinstance(others, Iterable):
        raise ModelError(
            f"others= is a {type(others).__name__}: give a list of models, as localface.refits "
            "makes them",
            option="others",
        )
    first = list(model) if isinstance(model, list | tuple) else [model]
    return [*first, *others]


def share_that_agrees(model: Any, others: Any, agree: float | None) -> float:
    """Return the share of the other models that has to agree: all of a list unless told."""
    several = others is not None or isinstance(model, list | tuple)
    if agree is None:
        return 1.0 if others is None else _AGREE
    if not several:
        raise InputError(
            f"agree={agree!r} is for several models: give them as others=, or a list as the model",
            option="agree",
        )
    return agree
