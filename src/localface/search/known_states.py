"""What one search knows of states that need not be vertices: nothing is asked twice."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from localface.geometry.bounds import Bounds
from localface.geometry.point_set import keys_of
from localface.geometry.projection import Projection
from localface.search.questions import (
    ComposedStates,
    Questions,
    ask_composed_states,
    ask_density_along,
    ask_point_scores,
    ask_target_counts,
)
from localface.types import Array, Ids, Mask


class KnownStates:
    """The scores of states, which segments between states keep a floor, and states made of rows.

    Plans that have some of their changes in common lead through the same states again and again.
    """

    def __init__(self, factual: Array, score: float, *, rule: str) -> None:
        self._rule = rule
        self._scores: dict[bytes, float] = {factual.tobytes(): score}
        self._verdicts: dict[float, dict[bytes, bool]] = {}
        self._factual = factual
        self._composed: _Composed | None = None

    def scores_of(self, points: Array, rows: Ids) -> Questions[Array]:
        """The scores of states, asking only about those that are new.

        ``rows`` are those whose values the states have taken over.
        """
        keys = keys_of(points)
        known = self._scores
        if keys and known.keys().isdisjoint(keys):  # as mostly, where they are many
            scores = yield from ask_point_scores(points, rows)
            known.update(zip(keys, scores.tolist(), strict=True))
            return scores
        fresh = [i for i, key in enumerate(keys) if key not in known]
        if fresh:
            scores = yield from ask_point_scores(points[fresh], rows)
            known.update(zip([keys[i] for i in fresh], scores.tolist(), strict=True))
        return np.array([known[key] for key in keys])

    def keep_floor(self, starts: Array, ends: Array, log_floor: float) -> Questions[Mask]:
        """Tell which segments between states keep a floor, asking only about those that are new."""
        keys = _keys_of_segments(starts, ends)
        known = self._verdicts.setdefault(log_floor, {})
        fresh = [i for i, key in enumerate(keys) if key not in known]
        if fresh:
            found = yield from ask_density_along(starts[fresh], ends[fresh], log_floor, self._rule)
            known.update(zip([keys[i] for i in fresh], found.passes.tolist(), strict=True))
        return np.array([known[key] for key in keys], dtype=bool)

    def composed_of_targets(
        self, projection: Projection, k: int, min_score: float
    ) -> Questions[ComposedStates]:
        """The ``k`` nearest states that reach a score, made of what rows that do have.

        Where fewer were found before than were asked for, there are no more to be asked for.
        """
        known = self._composed
        if known is None or not known.holds(projection, k, min_score):
            anywhere = Bounds.unlimited(len(self._factual))
            yield from ask_target_counts(anywhere, why=False)  # who reaches it is known then
            found = yield from ask_composed_states(self._factual, projection, k, min_score)
            known = _Composed(projection, k, min_score, found)
            self._composed = known
        return known.nearest(k)


@dataclass(frozen=True, slots=True, eq=False)
class _Composed:
    """States made of what rows have that reach a score: as many of the nearest as were wanted."""

    projection: Projection
    wanted: int
    min_score: float
    found: ComposedStates

    def holds(self, projection: Projection, k: int, min_score: float) -> bool:
        """Tell whether the ``k`` nearest are among them: no row was withheld, none is lacking."""
        same = self.projection is projection and self.min_score == min_score
        return same and not self.found.cut and min(k, len(self.found.ids) + 1) <= self.wanted

    def nearest(self, k: int) -> ComposedStates:
        """The ``k`` nearest of them."""
        one = self.found
        if len(one.ids) <= k:
            return one
        return replace(one, points=one.points[:k], scores=one.scores[:k], ids=one.ids[:k])


def _keys_of_segments(starts: Array, ends: Array) -> list[bytes]:
    """The bytes of each segment: of its point alone where it has no length."""
    first = keys_of(starts)
    if starts is ends:
        return first
    every = zip(first, keys_of(ends), strict=True)
    return [start if start == end else start + end for start, end in every]
