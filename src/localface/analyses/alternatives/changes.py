"""What a recourse changes, counted by feature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from localface.answers.recourse import Recourse
from localface.data.absence import same_codes
from localface.data.schema import Schema
from localface.types import Array

Names = frozenset[str]


class Cost(NamedTuple):
    """What a recourse costs: its changes counted by weight, then the weighted sum of their sizes.

    Sizes are in standard deviations; without weights every change counts 1.
    """

    changes: float
    size: float


def cost_of(answer: Recourse, weights: Mapping[str, float]) -> Cost:
    """What the changes cost; features that are linked count as one, with the largest weight.

    Without weights the size is the ``effort`` of the answer, as it is printed for one way.
    """
    unit_of = _first_linked_by_feature(answer.schema)
    weight_of: dict[str, float] = {}
    for name, unit in unit_of.items():
        weight_of[unit] = max(weight_of.get(unit, 0.0), weights.get(name, 1.0))
    size = sum(
        action.effort * max(weight_of[unit_of[name]] for name in action.changes)
        for action in answer.actions
    )
    changed = {unit_of[name] for name in changed_by(answer)}
    return Cost(round(sum(weight_of[unit] for unit in changed), 9), round(size, 9))


def changed_by(answer: Recourse) -> Names:
    """The features that the actions of an answer change."""
    return frozenset(name for action in answer.actions for name in action.changes)


def _first_linked_by_feature(schema: Schema) -> dict[str, str]:
    """For each feature, the first of those that it is linked with."""
    unit_of = {name: name for name in schema.names}
    for names in schema.linked:
        merged = {unit_of[name] for name in names}
        first = min(merged, key=schema.index)
        unit_of = {name: first if unit in merged else unit for name, unit in unit_of.items()}
    return unit_of


def merge_linked_features(schema: Schema, names: Names) -> Names:
    """Those features, each by the first of those that it is linked with."""
    unit_of = _first_linked_by_feature(schema)
    return frozenset(unit_of[name] for name in names)


def changes_too_many(answer: Recourse, most: int | None) -> bool:
    """Tell whether a recourse changes more features than so many; linked ones count as one."""
    return most is not None and len(merge_linked_features(answer.schema, changed_by(answer))) > most


def distance_per_feature(answer: Recourse, one: Array, other: Array) -> Array:
    """How far apart two records are in each feature, in standard deviations.

    What is missing in both is no distance.
    """
    discrete = np.array([feature.discrete for feature in answer.schema])
    apart = np.where(discrete, one != other, np.abs(one - other)) / np.array(answer.scales)
    return np.where(same_codes(one, other), 0.0, apart)
