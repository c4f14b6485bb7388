"""Relations between features in words, by what the features are called."""

from __future__ import annotations

from localface.data.relations import LinearRule, Pair, Rule
from localface.data.schema import Schema
from localface.types import Array


def pair_in_words(schema: Schema, pair: Pair) -> str:
    """Write down which of two features is never above the other."""
    first, relation, second = pair
    return f"{schema[first].display_name} {relation} {schema[second].display_name}"


def rule_in_words(schema: Schema, rule: Rule) -> str:
    """Write down a rule; a function has nothing but its name.

    >>> from localface.data.feature import Feature
    >>> schema = Schema([Feature("n", label="all loans"), Feature("a"), Feature("b")])
    >>> rule_in_words(schema, LinearRule("n", "=", (("a", 1.0), ("b", 2.0))))
    'all loans = a + 2 b'
    """
    if not isinstance(rule, LinearRule):
        return rule.text
    names = {name: schema[name].display_name for name in rule.names}
    parts = [
        names[name] if weight == 1 else f"{weight:g} {names[name]}" for name, weight in rule.terms
    ]
    return f"{names[rule.first]} {rule.relation} {' + '.join(parts)}"


def broken_relations_in_words(schema: Schema, record: Array) -> list[str]:
    """Write down the relations that a record does not keep."""
    broken = [rule for rule in schema.rules if rule.breaks(schema.features, record[None, :])[0]]
    return [
        *(pair_in_words(schema, pair) for pair in schema.broken_pairs(record)),
        *(rule_in_words(schema, rule) for rule in broken),
    ]
