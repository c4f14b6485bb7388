"""Small deviations from what actions ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from localface.answers.robustness import ROBUSTNESS_DRAWS, UNDECLARED, Noise
from localface.data.codes import range_codes
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.types import Array


@dataclass(frozen=True, slots=True, eq=False)
class NoiseSampler:
    """Draws the states in which people end up who follow actions almost to the letter."""

    schema: Schema
    scales: Sequence[float]
    n: int = ROBUSTNESS_DRAWS
    seed: int = 0

    def noise_per_feature(self, start: Array, end: Array) -> tuple[Noise, ...]:
        """By how much each feature that changes may be missed; discrete ones are met exactly."""
        moved = (start != end) & ~np.isnan(end)  # what is missing stays so, and differs from itself
        changed = [j for j, one in enumerate(self.schema) if moved[j] and not one.discrete]
        some = [(self.schema.features[j], self.scales[j]) for j in changed]
        return tuple(
            Noise(f, float(f.resolution or UNDECLARED * scale), bool(f.resolution))
            for f, scale in some
        )

    def __call__(self, start: Array, end: Array) -> Array:
        """Return ``n`` records around ``end``: whole where numbers are, within the schema's bounds.

        A number with a resolution lands whole resolutions away: nothing in between is recorded,
        and a model may judge that very value otherwise than those around it. Nobody is in a state
        that breaks a declared relation, so such draws are passed over.
        """
        amounts = np.zeros(len(self.schema))
        stepped = np.zeros(len(self.schema), dtype=bool)
        for one in self.noise_per_feature(start, end):
            amounts[self.schema.index(one.feature.name)] = one.amount
            stepped[self.schema.index(one.feature.name)] = one.declared
        drawn = self.n * (4 if self.schema.relations or self.schema.rules else 1)
        off = np.random.default_rng(self.seed).uniform(-1, 1, (drawn, len(self.schema)))
        landed = end + amounts * np.where(stepped, np.rint(off), off)
        for j, feature in enumerate(self.schema):
            low, high = _code_limits(feature)
            whole = np.rint(landed[:, j]) + 0.0 if feature.whole else landed[:, j]
            landed[:, j] = np.clip(whole, min(low, end[j]), max(high, end[j]))
        broken = self.schema.breaks_relation(landed)
        first = np.argsort(broken, kind="stable")[: self.n]
        return np.where(broken[first, None], end, landed[first])


def _code_limits(feature: Feature) -> tuple[float, float]:
    if feature.categories is not None:
        return 0.0, len(feature.categories) - 1.0
    return (-np.inf, np.inf) if feature.bounds is None else range_codes(feature, feature.bounds)
