"""Alternatives: several recourses for one person, each changing another set of features."""

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
]
