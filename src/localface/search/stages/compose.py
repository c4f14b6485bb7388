"""Compose: build an end point of other people's values where no row satisfies the constraints.

Rows that reach the target may differ from the person in features that cannot change. What
they have in features that can change may be taken over all the same, as far as the constraints
allow: if the model agrees and the density reaches the floor, the state is as sound an end as a
row, and the answer says that it is none.
"""

from __future__ import annotations

from dataclasses import dataclass

from localface.density.protocol import FLOOR_TOLERANCE
from localface.search.graph import Edge, LocalGraph
from localface.search.questions import Questions, ask_composed_states
from localface.types import Array

_STATES = 32  # states that are considered, nearest first
_SAME = 1e-9  # how far apart rounding may put a state and a row that are one


@dataclass(frozen=True, slots=True, eq=False)
class Composition:
    """Where to go, None where there is nothing, and the graph that has it as a vertex.

    ``entry`` tells that the way there is an entry step, ``cut`` that the row budget
    withheld states.
    """

    graph: LocalGraph
    end: int | None
    entry: bool
    cut: bool


def find_composed_state(graph: LocalGraph) -> Questions[Composition]:
    """Find the nearest composed state that can be reached by one straight step.

    Someone below the floor may start there, but not end there. The states are known to a
    graph of their own, so that where none is found nothing has changed.
    """
    person = graph.person
    log_density = yield from graph.factual_log_density()
    entry = log_density < person.log_floor - FLOOR_TOLERANCE
    composed = yield from ask_composed_states(
        person.factual, person.project, _STATES, person.min_score
    )
    states = composed.points
    allowed = person.keeps_relations(states) & person.bounds.contain(states)
    allowed &= person.bounds.respects_one_way(person.factual, states)
    own = graph.with_fixed_columns(person.fixed)
    vertices = [
        own.add_state(state, float(score))
        for state, score in zip(states[allowed], composed.scores[allowed], strict=True)
    ]
    dense = yield from _reachable_vertices(own, vertices, [(vertex, vertex) for vertex in vertices])
    judge = own.with_floor(log_density) if entry else own
    straight = yield from _reachable_vertices(judge, dense, [(0, vertex) for vertex in dense])
    end = None
    if straight:
        end = yield from _vertex_of_equal_row(own, straight[0])
    return Composition(own, end, entry, composed.cut)


def _reachable_vertices(
    graph: LocalGraph, vertices: list[int], edges: list[Edge]
) -> Questions[list[int]]:
    """Those vertices whose edge can be taken."""
    passes = yield from graph.are_traversable(edges)
    return [vertex for vertex, one in zip(vertices, passes, strict=True) if one]


def _vertex_of_equal_row(graph: LocalGraph, vertex: int) -> Questions[int]:
    """The row that has just this state, should there be one; else the state itself."""
    state: Array = graph.points[vertex]
    rows = yield from graph.reveal_rows_near(state, 1, graph.person.bounds, radius=_SAME)
    return next((row for row in rows if (graph.points[row] == state).all()), vertex)
