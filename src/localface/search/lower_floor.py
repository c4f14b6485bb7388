"""How far the floor would have to come down for one person, without a search for the best path."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from localface.search.graph import LocalGraph
from localface.search.person import Person
from localface.search.questions import OutOfTime, Questions, ask_point_scores
from localface.search.stages.relax import densest_path
from localface.types import Array

_MOST_VERTICES = 150  # that are looked around before it gives up
_MOST_ROWS = 600  # the same where all may change: vertices are rows then, and are known for less


class LowerFloor(NamedTuple):
    """A log-density that a path to a target keeps, and whether no path keeps a higher one."""

    log_density: float
    is_highest: bool


def find_lower_floor(
    person: Person, *, n_neighbors: int, goal: Array | None = None
) -> Questions[LowerFloor | None]:
    """The lowest log-density on the densest path from a person to a target, or to a given goal.

    None where no such path was found before it gave up or time was up.
    """
    own = person.factual[None, :]
    try:
        scores = yield from ask_point_scores(own if goal is None else np.stack([own[0], goal]))
        graph = LocalGraph(person, float(scores[0]))
        if goal is not None:
            graph.goal = graph.add_state(goal, float(scores[1]))
        most = _MOST_ROWS if person.limiting_projection is None else _MOST_VERTICES
        found = yield from densest_path(graph, 0, n_neighbors=n_neighbors, most=most)
    except OutOfTime:
        return None
    return LowerFloor(found.log_density, found.is_densest) if found.trail else None
