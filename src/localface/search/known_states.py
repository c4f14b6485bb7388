"""What one search knows of states that need not be vertices: nothing is asked twice."""

from __future__ import annotations

import numpy as np

from localface.geometry.point_set import keys_of
from localface.search.questions import Questions, ask_density_along, ask_point_scores
from localface.types import Array, Ids, Mask


class KnownStates:
    """The scores of states, and which segments between states keep a floor.

    Plans that have some of their changes in common lead through the same states again and again.
    """

    def __init__(self, factual: Array, score: float, *, rule: str) -> None:
        self._rule = rule
        self._scores: dict[bytes, float] = {factual.tobytes(): score}
        self._verdicts: dict[float, dict[bytes, bool]] = {}

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


def _keys_of_segments(starts: Array, ends: Array) -> list[bytes]:
    """The bytes of each segment: of its point alone where it has no length."""
    first = keys_of(starts)
    if starts is ends:
        return first
    every = zip(first, keys_of(ends), strict=True)
    return [start if start == end else start + end for start, end in every]
