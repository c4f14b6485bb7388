"""Several models that all must agree: the score is that of the one that is furthest off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from localface.errors import ModelError
from localface.models.scorer import Scorer
from localface.types import Array


class AgreeingScorer(Scorer):
    """Scores records by several models at once; the target is reached where all of them say so."""

    def __init__(self, scorers: Sequence[Scorer], *, min_score: float) -> None:
        kinds = {(one.output.kind, one.output.sign) for one in scorers}
        if len(kinds) > 1:
            each = ", ".join(sorted({one.output.kind for one in scorers}))
            raise ModelError(
                f"the models give different things ({each}), and one min_score cannot be held "
                "against all: give functions that return scores of one kind"
            )
        first = scorers[0]
        label = f"{first.output.label} by all of {len(scorers)} models"
        output = replace(first.output, label=label)
        super().__init__(output, first.table_format, min_score=min_score)
        self._scorers = tuple(scorers)

    def with_min_score(self, min_score: float) -> Scorer:
        """Return the same models held to another threshold."""
        return AgreeingScorer(
            [one.with_min_score(min_score) for one in self._scorers], min_score=min_score
        )

    def for_target(self, model: Any, target: object, *, min_score: float) -> Scorer:
        """Return the same models read for another target."""
        pairs = zip(self._scorers, model, strict=True)
        each = [one.for_target(its, target, min_score=min_score) for one, its in pairs]
        return AgreeingScorer(each, min_score=min_score)

    @property
    def reading(self) -> str:
        """How the scores of each model are got, in their order."""
        return "; ".join(one.reading for one in self._scorers)

    def exact_scores(self, records: Array) -> Array:
        """Return the lowest score that any model gives to each record."""
        return np.asarray(np.min([one.exact_scores(records) for one in self._scorers], axis=0))

    def display_scores(self, scores: Sequence[float], records: Array) -> tuple[float, ...]:
        """Return what the model gives that is furthest off, to be shown."""
        if not self.output.is_folded:
            return super().display_scores(scores, records)
        exact = np.array([one.exact_scores(records) for one in self._scorers])
        shown = [
            one.display_scores(one.round_scores(own, self.min_score).tolist(), records)
            for one, own in zip(self._scorers, exact, strict=True)
        ]
        worst = exact.argmin(axis=0)
        return tuple(float(np.array(shown)[k, i]) for i, k in enumerate(worst))
