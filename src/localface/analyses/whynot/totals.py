"""Lets a total follow in a wish that names its parts: a state in which it did not cannot be."""

from __future__ import annotations

from collections.abc import Collection

from localface.data.absence import is_absent
from localface.data.relations import LinearRule
from localface.data.schema import Schema
from localface.types import Array


def with_totals(record: Array, goal: Array, named: Collection[str], schema: Schema) -> Array:
    """Return a wish in which each total moves as its parts do, unless the wish names it."""
    rules = [one for one in schema.rules if isinstance(one, LinearRule) and one.relation == "="]
    goal = goal.copy()
    settled = set(named)
    for _ in rules:  # a total may be part of another
        for rule in rules:
            if rule.first not in settled and _all_are_known(rule, record, goal, schema):
                moved = _parts_moved_by(rule, record, goal, schema)
                if moved:
                    goal[schema.index(rule.first)] += moved
                    settled.add(rule.first)
    return goal


def _all_are_known(rule: LinearRule, record: Array, goal: Array, schema: Schema) -> bool:
    at = [schema.index(name) for name in rule.names]
    return not any(is_absent(schema.features[j], state[j]) for state in (record, goal) for j in at)


def _parts_moved_by(rule: LinearRule, record: Array, goal: Array, schema: Schema) -> float:
    """By how much the weighted sum of the parts changes; the total keeps what it was rounded by."""
    moved = 0.0
    for name, weight in rule.terms:
        j = schema.index(name)
        moved += weight * float(goal[j] - record[j])
    return float(round(moved)) if schema[rule.first].whole else moved
