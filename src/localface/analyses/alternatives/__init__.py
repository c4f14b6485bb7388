"""Alternatives: several recourses for one person that differ in their features or values."""

from localface.analyses.alternatives.by_values import find_alternatives_by_values
from localface.analyses.alternatives.changes import Cost, Names, changed_by, cost_of
from localface.analyses.alternatives.tree import find_alternatives
from localface.analyses.alternatives.value import (
    ALTERNATIVES_FORMAT,
    ALTERNATIVES_VERSION,
    MOST_BRANCHES,
    Alternatives,
)

__all__ = [
    "ALTERNATIVES_FORMAT",
    "ALTERNATIVES_VERSION",
    "MOST_BRANCHES",
    "Alternatives",
    "Cost",
    "Names",
    "changed_by",
    "cost_of",
    "find_alternatives",
    "find_alternatives_by_values",
]
