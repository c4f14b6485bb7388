"""What a recourse changes, counted by feature."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from localface.analyses.end_record import end_record
from localface.answers.recourse import Recourse
from localface.data.schema import Schema
from localface.types import Array

Names = frozenset[str]


class Cost(NamedTuple):
    """What a recourse costs: its changes counted by weight, then the weighted sum of their sizes.

    Sizes are in ordinary differences between people; without weights every change counts 1.
    """

    changes: float
    size: float


def cost_of(answer: Recourse, weights: Mapping[str, float]) -> Cost:
    """What the changes cost; features that are linked count as one, with the largest weight."""
    end = end_record(answer)
    sizes = dict(
        zip(
            answer.schema.names,
            distance_per_feature(answer, answer.records[0], end).tolist(),
            strict=True,
        )
    )
    unit_of = _first_linked_by_feature(answer.schema)
    parts: dict[str, list[str]] = {}
    for name in sorted(changed_by(answer)):
        parts.setdefault(unit_of[name], []).append(name)
    weight_of = {
        unit: max(weights.get(one, 1.0) for one in unit_of if unit_of[one] == unit)
        for unit in parts
    }
    size = sum(
        weight_of[unit] * math.hypot(*(sizes[name] for name in names))
        for unit, names in parts.items()
    )
    return Cost(round(sum(weight_of.values()), 9), round(size, 9))


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


def distance_per_feature(answer: Recourse, one: Array, other: Array) -> Array:
    """How far apart two records are in each feature, in ordinary differences."""
    discrete = np.array([feature.discrete for feature in answer.schema])
    return np.asarray(
        np.where(discrete, one != other, np.abs(one - other)) / np.array(answer.scales)
    )
