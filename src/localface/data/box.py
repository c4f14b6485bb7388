"""What one person may change, as a box around their record."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from localface.data.absence import absent_values, same_codes
from localface.data.feature import Feature
from localface.types import Array, Mask


@dataclass(frozen=True, slots=True)
class DistanceLimit:
    """How far (``by``) one feature may move from a person's own value.

    ``lower`` and ``upper`` are the interval that all other constraints leave.
    """

    own: float
    by: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """The codes that a person's features may take; their own record may lie outside.

    ``allowed`` holds the codes left to binary and categorical features that are
    restricted; their ``lower`` and ``upper`` stay open. ``reasons`` says in words what limits a
    feature, ``distance_limits`` which features may only move so far. ``grows_to`` holds the
    features that increase by themselves, and how high; ``absent`` those that the person has no
    value of, with the code that stays in its place (None: values may come and go), ``no_values``
    the codes of features that stand for a reason and not for a value. ``only_from_own`` holds
    categories that a step may lead to from the person's own alone: some others never become them.
    """

    lower: Array
    upper: Array
    allowed: dict[int, frozenset[int]]
    up: Mask
    down: Mask
    reasons: dict[int, str]
    distance_limits: dict[int, DistanceLimit] = field(default_factory=dict)
    grows_to: dict[int, float] = field(default_factory=dict)
    absent: Mapping[int, float] | None = None
    no_values: Mapping[int, frozenset[float]] = field(default_factory=dict)
    only_from_own: Mapping[int, tuple[int, frozenset[int]]] = field(default_factory=dict)

    def with_distances_widened(self, factor: float) -> Box:
        """Return the same box with every distance limit so many times as wide."""
        lower = self.lower.copy()
        upper = self.upper.copy()
        for j, limit in self.distance_limits.items():
            lower[j] = max(limit.lower, limit.own - factor * limit.by)
            upper[j] = min(limit.upper, limit.own + factor * limit.by)
        return replace(self, lower=lower, upper=upper)

    def kept_in(self, features: Collection[int], kept: Box) -> Box:
        """The box with what another one says of some features."""
        inside = np.isin(np.arange(len(self.lower)), list(features))

        def taken_over(own: Mapping[int, Any], other: Mapping[int, Any]) -> dict[int, Any]:
            rest = {j: value for j, value in own.items() if j not in features}
            return rest | {j: value for j, value in other.items() if j in features}

        return replace(
            self,
            lower=np.where(inside, kept.lower, self.lower),
            upper=np.where(inside, kept.upper, self.upper),
            up=np.where(inside, kept.up, self.up),
            down=np.where(inside, kept.down, self.down),
            allowed=taken_over(self.allowed, kept.allowed),
            reasons=taken_over(self.reasons, kept.reasons),
            distance_limits=taken_over(self.distance_limits, kept.distance_limits),
            grows_to=taken_over(self.grows_to, kept.grows_to),
        )

    def with_whole_limits(self, features: Sequence[Feature]) -> Box:
        """Return the same box with whole numbers as the limits of features that have no others."""
        whole = np.array([feature.whole for feature in features])
        lower = np.where(whole, np.ceil(self.lower), self.lower)
        upper = np.where(whole, np.floor(self.upper), self.upper)
        if np.array_equal(lower, self.lower) and np.array_equal(upper, self.upper):
            return self
        return replace(self, lower=lower, upper=upper)

    def project_records(self, features: Sequence[Feature], records: Array, own: Array) -> Array:
        """Project records into the box of the person whose record is ``own``.

        A number that is not allowed gives way to the nearest that is; a category, to their own.
        """
        moved = np.array(records, dtype=np.float64)
        if self.absent is not None:
            moved = np.where(absent_values(features, moved), own, moved)
            moved[:, list(self.absent)] = own[list(self.absent)]
        limits = self.with_whole_limits(features)
        whole = [feature.whole for feature in features]
        rounded = np.where(whole, np.rint(moved), moved)
        inside = np.clip(rounded, limits.lower, limits.upper)
        for j, feature in enumerate(features):
            if j in (self.absent or ()):
                inside[:, j] = own[j]
            elif feature.discrete:
                inside[:, j] = self._nearest_allowed_codes(j, moved[:, j], own[j])
        return inside

    def _nearest_allowed_codes(self, feature: int, codes: Array, own: float) -> Array:
        allowed = self.allowed.get(feature)
        if allowed is None:
            return codes
        instead = own if own in allowed else min(allowed)
        return np.where(np.isin(codes, list(allowed)), codes, instead)

    def broken_constraints(self, features: Sequence[Feature], state: Array) -> dict[int, str]:
        """Return the features in which a state is not allowed, each with what rules it out."""
        return {
            j: self.reasons.get(j, f"{feature.display_name} has a value and keeps one")
            for j, feature in enumerate(features)
            if not self.allows_code(j, float(state[j]))
        }

    def is_value(self, feature: int, code: float) -> bool:
        """Tell whether a code stands for a value: nothing is missing, and it is for no reason."""
        return not (np.isnan(code) or code in self.no_values.get(feature, ()))

    def allows_code(self, feature: int, code: float) -> bool:
        """Tell whether one feature may take a value."""
        if self.absent is not None and feature in self.absent:
            return bool(same_codes(code, self.absent[feature]))
        if not self.is_value(feature, code):
            return self.absent is None
        if feature in self.allowed:
            return code in self.allowed[feature]
        return bool(self.lower[feature] <= code <= self.upper[feature])
