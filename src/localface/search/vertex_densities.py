"""How common the vertices of a search are: rows are asked about once, other states worked out."""

from __future__ import annotations

import numpy as np

from localface.search.graph import LocalGraph
from localface.search.questions import Questions, ask_row_densities, ask_state_densities
from localface.types import Array

STATES_AT_ONCE = 256  # states whose density is asked for in one question: time may be up meanwhile


def log_densities_at(
    graph: LocalGraph, vertices: list[int], enough: float = np.inf
) -> Questions[Array]:
    """The log-density at each vertex: known for rows, worked out for other states.

    States that have ``enough`` are not worked out: theirs is infinite.
    """
    values = np.zeros(len(vertices))
    is_row = graph.ids[vertices] >= 0
    rows = np.flatnonzero(is_row)
    states = np.flatnonzero(~is_row)
    if len(rows):
        values[rows] = yield from row_log_densities(graph, [vertices[i] for i in rows.tolist()])
    points = graph.points[vertices]
    for first in range(0, len(states), STATES_AT_ONCE):
        some = states[first : first + STATES_AT_ONCE]
        values[some] = yield from ask_state_densities(points[some], graph.person.rule, enough)
    return values


def row_log_densities(graph: LocalGraph, vertices: list[int]) -> Questions[Array]:
    """The log-densities at vertices that are rows, asking only about those that are new."""
    known = graph.row_densities
    unknown = [vertex for vertex in vertices if vertex not in known]
    if unknown:
        found = yield from ask_row_densities(graph.ids[unknown], graph.points[unknown])
        known.update(zip(unknown, found.tolist(), strict=True))
    return np.array([known[vertex] for vertex in vertices], dtype=np.float64)
