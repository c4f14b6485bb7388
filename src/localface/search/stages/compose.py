"""Compose: a state to become where nobody will do, made of what others have and of what the person keeps.

Whoever reaches the target may differ from the person in what never moves. What they have in
what does move can be taken over all the same, as far as the person may go: if the model agrees,
and the ground is as common as anywhere on a path, it is an end as sound as a real person, and
the answer says that it is none.
"""

from __future__ import annotations

from dataclasses import dataclass

from localface.search.graph import LocalGraph, Step
from localface.search.questions import Asks, ComposedStates, ask_compose_states
from localface.types import Array

_STATES = 32  # states that are considered, nearest first
_SAME = 1e-9  # how far apart rounding may put a state and a row that are one
_SLIGHT = 1e-9  # what rounding may take off a level


@dataclass(frozen=True, slots=True, eq=False)
class Composition:
    """Where to go, None where there is nothing, and the atlas that knows the place.

    ``entry`` tells that the way there is an entry step, ``cut`` that the row budget withheld states.
    """

    graph: LocalGraph
    end: int | None
    entry: bool
    cut: bool


def compose(graph: LocalGraph) -> Asks[Composition]:
    """Find the nearest composed state that can be gone to straight.

    Someone who stands on uncommon ground may start from there, but not end there. The
    states are known to an atlas of their own, so that who finds none has learnt nothing.
    """
    person, level = graph.person, (yield from graph.log_density())
    entry = level < person.log_floor - _SLIGHT
    loan: ComposedStates = yield from ask_compose_states(
        person.factual, person.project, _STATES, person.min_score
    )
    states, own = loan.points, graph.fixing(person.fixed)
    fine = (
        person.keeps_relations(states)
        & person.bounds.contain(states)
        & person.bounds.one_way(person.factual, states)
    )
    vertices = [
        own.put(state, float(score))
        for state, score in zip(states[fine], loan.scores[fine], strict=True)
    ]
    common = yield from _passing(own, vertices, [(vertex, vertex) for vertex in vertices])
    straight = yield from _passing(
        own.under(level) if entry else own, common, [(0, vertex) for vertex in common]
    )
    end = (yield from _someone(own, straight[0])) if straight else None
    return Composition(own, end, entry, loan.cut)


def _passing(graph: LocalGraph, vertices: list[int], steps: list[Step]) -> Asks[list[int]]:
    """Those places whose step can be taken."""
    passes = yield from graph.traversable(steps)
    return [vertex for vertex, one in zip(vertices, passes, strict=True) if one]


def _someone(graph: LocalGraph, vertex: int) -> Asks[int]:
    """The row that has just this state, should there be one: too far for a search, perhaps, but somebody."""
    state: Array = graph.points[vertex]
    rows = yield from graph.reveal(state, 1, graph.person.bounds, radius=_SAME)
    return next((row for row in rows if (graph.points[row] == state).all()), vertex)
