"""Lifts limits on some features: what a call keeps as it is, its other limits, the schema's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from localface.data.box import Box
from localface.data.constraints import compile_box
from localface.data.schema import Schema
from localface.data.where import read_where
from localface.engine.requests import Request
from localface.errors import ConstraintError
from localface.types import Array

KEPT, ASKED, DECLARED = range(3)
"""How far limits are lifted: what a call keeps may change, within all other limits; beyond what
the call allows; beyond what the schema allows, save for its bounds: nobody has what lies outside.
"""


class Lift(NamedTuple):
    """Somebody, by number, whose limits on some features are lifted, and how far."""

    number: int
    features: tuple[int, ...]  # by their index in the schema
    stage: int


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """One person's limits, and what is left of each feature at each stage of lifting them."""

    schema: Schema
    box: Box
    stages: tuple[Box, Box, Box]

    @classmethod
    def of(cls, schema: Schema, request: Request) -> Limits:
        """Work out what each stage leaves."""
        free = [
            feature if feature.own else replace(feature, moves="freely", within=None)
            for feature in schema
        ]
        declared = schema.box(request.record)
        return cls(
            schema,
            request.box,
            (
                _box_of_what_moves(schema, request),
                declared,
                compile_box(free, request.record, None),
            ),
        )

    def lifted(self, features: Iterable[int], stage: int) -> Box:
        """The person's box with limits on some features lifted."""
        return self.box.kept_in(tuple(features), self.stages[stage])

    def lets_in_more(self, features: Iterable[int], stage: int) -> bool:
        """Tell whether a stage leaves more of some features than the one before does."""
        before = self.box if stage == KEPT else self.stages[stage - 1]
        return any(not _is_same(before, self.stages[stage], j) for j in features)

    def is_kept(self, feature: int) -> bool:
        """Tell whether the person may not change a feature at all."""
        return leaves_one_value(self.box, feature)


def leaves_one_value(box: Box, feature: int) -> bool:
    """Tell whether a feature has one value only."""
    if feature in box.allowed:
        return len(box.allowed[feature]) == 1
    return bool(box.lower[feature] == box.upper[feature])


def _box_of_what_moves(schema: Schema, request: Request) -> Box:
    """What a call allows, where it keeps nothing as it is; its box where that makes no sense."""
    asked = read_where(schema.features, request.limits)
    moving = {
        name: (request.limits or {})[name]
        for name, limit in asked.items()
        if limit.moves != "never" and limit.within != 0
    }
    try:
        return schema.box(request.record, moving)
    except ConstraintError:  # no value is left of what is kept
        return request.box


def _is_same(one: Box, other: Box, feature: int) -> bool:
    """Tell whether two boxes leave the same of a feature."""
    numbers = [(box.lower, box.upper, box.up, box.down) for box in (one, other)]
    alike = all(a[feature] == b[feature] for a, b in zip(*numbers, strict=True))
    return bool(alike) and one.allowed.get(feature) == other.allowed.get(feature)


def oversteps(box: Box, feature: int, values: Array) -> set[str]:
    """On which sides values, one after the other, overstep what a box leaves of a feature."""
    if feature in box.allowed:
        allowed = list(box.allowed[feature])
        return set() if np.isin(values, allowed).all() else {"other"}
    steps = np.diff(values)
    too_low = (values[1:] < box.lower[feature]).any() or (box.up[feature] and (steps < 0).any())
    too_high = (values[1:] > box.upper[feature]).any() or (box.down[feature] and (steps > 0).any())
    return {side for side, holds in (("down", too_low), ("up", too_high)) if holds}
