"""Lets a total follow in a wish that names its parts: a state in which it did not cannot be."""

from __future__ import annotations

from collections.abc import Collection

from localface.data.absence import is_absent
from localface.data.relations import LinearRule
from localface.data.schema import Schema
from localface.types import Array


def with_totals(goal: Array, named: Collection[str], schema: Schema) -> Array:
    """Return a wish in which each total follows from its parts, unless the wish names it."""
    equations = [one for one in schema.rules if isinstance(one, LinearRule)]
    goal = goal.copy()
    settled = set(named)
    for _ in equations:  # a total may be part of another
        for rule in equations:
            if _total_follows(rule, goal, settled, schema):
                goal[schema.index(rule.first)] = _total(rule, goal, schema)
                settled.add(rule.first)
    return goal


def _total_follows(rule: LinearRule, goal: Array, settled: set[str], schema: Schema) -> bool:
    """Tell whether the parts are wished for and the total is left open, with a value for each."""
    if rule.relation != "=" or rule.first in settled or settled.isdisjoint(rule.names):
        return False
    known = not any(is_absent(schema[one], goal[schema.index(one)]).any() for one in rule.names)
    return known and bool(rule.breaks(schema.features, goal[None, :])[0])


def _total(rule: LinearRule, goal: Array, schema: Schema) -> float:
    found = sum(weight * float(goal[schema.index(name)]) for name, weight in rule.terms)
    return float(round(found)) if schema[rule.first].whole else float(found)
