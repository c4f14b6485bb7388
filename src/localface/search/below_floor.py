"""Which known vertices are below the floor."""

from __future__ import annotations

import numpy as np

from localface.density.protocol import RESTATED_TOLERANCE
from localface.search.graph import LocalGraph
from localface.search.questions import Questions
from localface.search.vertex_densities import STATES_AT_ONCE, log_densities_at
from localface.types import Mask


def are_below_floor(graph: LocalGraph, vertices: list[int]) -> Questions[Mask]:
    """Tell which vertices are below the floor: known for rows, a verdict for other states."""
    person = graph.person
    states = [vertex for vertex in vertices if graph.ids[vertex] < 0]
    passing = set()
    for first in range(0, len(states), STATES_AT_ONCE):
        some = states[first : first + STATES_AT_ONCE]
        loops = [(vertex, vertex) for vertex in some]
        found = yield from graph.densities_along(loops, person.log_floor, person.rule)
        passing.update(np.array(some)[found.passes].tolist())
    rows = [vertex for vertex in vertices if graph.ids[vertex] >= 0]
    known = yield from log_densities_at(graph, rows)
    low = known < person.log_floor - 2 * RESTATED_TOLERANCE
    passing.update(np.array(rows, dtype=np.int64)[~low].tolist())
    return np.array([vertex not in passing for vertex in vertices], dtype=bool)
