"""Donors: people who reach the target, whose values a person could take over."""

from __future__ import annotations

import numpy as np

from localface.geometry.segments import norms
from localface.search.graph import LocalGraph
from localface.search.questions import Questions

_MOST = 24  # whose values are tried, the nearest
_ENOUGH = 12
_MOST_REVEALED = 200  # rows around a person that are revealed to find enough


def find_donors(graph: LocalGraph, n_neighbors: int) -> Questions[list[int]]:
    """The nearest vertices that reach the target; more rows are revealed where these are few."""
    k = n_neighbors
    while graph.goal is None and len(graph.goals) < _ENOUGH and k < _MOST_REVEALED:
        k *= 2
        found = yield from graph.reveal_rows_around(0, k)
        if len(found) < k or graph.cut:
            break
    goals = graph.goals
    distances = norms(graph.points[goals] - graph.person.factual)
    order = np.lexsort((graph.ids[goals], distances))[:_MOST]
    return [goals[i] for i in order]
