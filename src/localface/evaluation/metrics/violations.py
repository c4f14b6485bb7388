"""Which constraints the states of a path break."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from localface.data.box import Box
from localface.data.schema import Schema
from localface.data.space import Space
from localface.types import Array, Mask

_ROUNDING = 1e-9  # of the spread of a feature, by which a value may be off


class Violations(NamedTuple):
    """How often each kind of constraint is broken, over every state that is proposed.

    ``box``: a number outside its interval; ``categories``: a category that this person may
    not take; ``one_way``: a step back on a feature that only goes up, or down; ``relations``:
    a declared relation; ``whole``: a fraction where numbers are whole; ``nonexistent``: no
    number at all, or no category of the feature.
    """

    box: int = 0
    categories: int = 0
    one_way: int = 0
    relations: int = 0
    whole: int = 0
    nonexistent: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self)


def count_violations(states: Array, space: Space, box: Box) -> Violations:
    """Count what the states after the first break; the first is the person as they are.

    Box, categories, whole and nonexistent count (state, feature) pairs, one-way (step,
    feature) pairs, relations (state, relation) pairs.
    """
    schema = space.schema
    later = states[1:]
    exists = existing_values(later, schema)
    slack = _rounding_slack(states, space)
    outside = (later < box.lower - slack[1:]) | (later > box.upper + slack[1:])
    whole = np.array([feature.whole and feature.categories is None for feature in schema])
    numbers = np.where(exists, later, 0.0)
    uneven = np.abs(numbers - np.rint(numbers)) > slack[1:]
    forbidden = (
        _count_forbidden_codes(later[exists[:, j], j], codes) for j, codes in box.allowed.items()
    )
    return Violations(
        box=int((outside & exists).sum()),
        categories=sum(forbidden),
        one_way=_count_steps_back(states, box, slack),
        relations=_count_broken_relations(later, schema, slack[1:]),
        whole=int((uneven & whole).sum()),
        nonexistent=int((~exists).sum()),
    )


def existing_values(records: Array, schema: Schema) -> Mask:
    """Which values exist at all: finite numbers, and codes of categories."""
    exists = np.isfinite(records)
    for j, feature in enumerate(schema):
        if feature.categories is not None:
            exists[:, j] = np.isin(records[:, j], np.arange(len(feature.categories)))
    return exists


def with_existing_categories(records: Array, schema: Schema) -> Array:
    """The records with the nearest category where a code is none, so that they have a point."""
    mended = np.array(records, dtype=np.float64)
    for j, feature in enumerate(schema):
        if feature.categories is not None and feature.discrete:
            mended[:, j] = np.clip(np.rint(mended[:, j]), 0, len(feature.categories) - 1)
    return mended


def _rounding_slack(states: Array, space: Space) -> Array:
    sizes = np.where(np.isfinite(states), np.abs(states), 0.0)
    return np.asarray(_ROUNDING * space.scales + 4 * np.finfo(float).eps * sizes)


def _count_forbidden_codes(codes: Array, allowed: frozenset[int]) -> int:
    return int((~np.isin(codes, sorted(allowed))).sum())


def _count_steps_back(states: Array, box: Box, slack: Array) -> int:
    before = states[:-1]
    after = states[1:]
    down = (after < before - slack[1:]) & box.up
    return int((down | ((after > before + slack[1:]) & box.down)).sum())


def _count_broken_relations(states: Array, schema: Schema, slack: Array) -> int:
    broken = 0
    for first, _, second in schema.relations:
        i = schema.index(first)
        j = schema.index(second)
        broken += int((states[:, i] > states[:, j] + slack[:, i] + slack[:, j]).sum())
    return broken
