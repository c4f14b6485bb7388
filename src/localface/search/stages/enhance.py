"""Enhance: the best way through the ground that is known, checking only the steps it might take."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from localface.density.protocol import Hole
from localface.geometry.segments import norms
from localface.search.graph import GraphPath, LocalGraph, Step
from localface.search.plan import Price
from localface.search.questions import Asks
from localface.types import Array, Ids, Mask

_MOST_ON_AVERAGE = 48
"""Places considered under the average rule, least detour first: a mean that is too low points at no hole
through which other steps could be struck out, so that every step must be asked about by itself."""


def enhance(
    graph: LocalGraph, known: GraphPath, *, price: Price, astar: bool = True
) -> Asks[GraphPath]:
    """Find the cheapest traversable way from where ``known`` starts to any goal.

    A* (Dijkstra with ``astar`` off) that takes steps on trust: only when a place is next
    in line is the step to it checked and priced, and where it is refused the place goes
    back in line by its next best step. A place can only be on a better way if going
    straight there and straight on costs less than the way that is known already.
    """
    astar_search = AStar(graph, known)
    while (here := astar_search.next_in_line(known.cost, astar=astar)) is not None:
        if not (yield from astar_search.confirmed(here, price)):
            continue
        if astar_search.is_end[here]:
            return astar_search.way_to(here)
        astar_search.close(here)
    return known


class AStar:
    """The places that could be on a better way, and how far A* has come.

    ``costs`` holds what steps cost at least, from where A* has been; the rest is not worked out.
    """

    def __init__(self, graph: LocalGraph, known: GraphPath) -> None:
        self.graph = graph
        self.vertices, self._points, self.remaining = _worth_a_look(graph, known)
        self.is_end = np.isin(self.vertices, graph.goals)
        n = len(self.vertices)
        self.costs, self._lengths = np.full((n, n), np.inf), np.zeros((n, n))
        self._refused = graph.struck_out(self.vertices)
        self._holes = len(graph.holes)
        self.spent, self.parent = np.full(n, np.inf), np.zeros(n, dtype=np.int64)
        self.spent[0] = 0.0
        self.done = np.zeros(n, dtype=bool)
        self._sure: set[Step] = {(0, 0)}

    def next_in_line(self, below: float, *, astar: bool) -> int | None:
        """The open place through which the cheapest way may lead, if it can beat a price."""
        estimate = np.where(self.done, np.inf, self.spent + self.remaining if astar else self.spent)
        here = int(np.argmin(estimate))
        return here if estimate[here] < below else None

    def confirmed(self, here: int, price: Price) -> Asks[bool]:
        """Check and price the step by which a place was reached; where that changes matters, stand in line again."""
        step = (int(self.parent[here]), here)
        if step in self._sure:
            return True
        named = (self.vertices[step[0]], self.vertices[here])
        passes = yield from self.graph.traversable([named])
        if not passes[0]:
            self._refused.append(step)
            self.costs[step] = np.inf
            self._strike(self.graph.holes[self._holes :], np.flatnonzero(self.done))
            self._holes = len(self.graph.holes)
            self._line_up(
                np.flatnonzero(
                    ~self.done & np.isinf(self.costs[self.parent, np.arange(len(self.parent))])
                )
            )
            return False
        self._sure.add(step)
        if price.exponent:
            means = yield from self.graph.means([named])
            self.costs[step] = float(price.exact(self._lengths[step], np.array(means[0])))
            self._line_up(np.array([here]))
            return False
        return True

    def close(self, here: int) -> None:
        """Be done with a place, and pass on what it costs to go on from it."""
        self.done[here] = True
        self._look_on(here)
        through = self.spent[here] + self.costs[here]
        better = np.flatnonzero((through < self.spent) & ~self.done)
        self.spent[better] = through[better]
        self.parent[better] = here

    def way_to(self, here: int) -> GraphPath:
        """The way by which a place was reached."""
        path = [here]
        while path[-1] != 0:
            path.append(int(self.parent[path[-1]]))
        return GraphPath(tuple(self.vertices[i] for i in reversed(path)), float(self.spent[here]))

    def _line_up(self, vertices: Ids) -> None:
        """Give places their next best step from where A* has been."""
        been = np.flatnonzero(self.done)
        vertices = vertices[vertices != 0]
        if len(vertices) and len(been):
            through = self.spent[been, None] + self.costs[np.ix_(been, vertices)]
            best = through.argmin(axis=0)
            self.spent[vertices] = through[best, np.arange(len(vertices))]
            self.parent[vertices] = been[best]

    def _look_on(self, here: int) -> None:
        """Work out what the steps from a place cost at least."""
        person, points = self.graph.person, self._points
        self._lengths[here] = norms(points - points[here])
        fine = person.bounds.one_way(points[here], points) & (
            self._lengths[here] <= person.max_step
        )
        self.costs[here] = np.where(fine, self._lengths[here], np.inf)
        self.costs[here, [b if a == here else a for a, b in self._refused if here in (a, b)]] = (
            np.inf
        )
        self._strike(self.graph.holes[: self._holes], np.array([here]))

    def _strike(self, holes: list[Hole], been: Ids) -> None:
        """Strike out steps that run into holes; one with a flip in it is not straight, and is asked about."""
        if not holes or not len(been):
            return
        spans = np.where(self._kinds[been, None] == self._kinds, self._lengths[been], 0.0)
        for hole in holes:
            struck, ends = np.nonzero(crossing(hole, self._points[been], self._points, spans))
            self.costs[been[struck], ends] = np.inf

    @cached_property
    def _kinds(self) -> Ids:
        """Which places agree on every discrete column, so that the step between them is straight."""
        discrete = self.graph.person.discrete
        if not discrete.any():
            return np.zeros(len(self._points), dtype=np.int64)
        return np.unique(self._points[:, discrete], axis=0, return_inverse=True)[1].reshape(-1)


def _worth_a_look(graph: LocalGraph, known: GraphPath) -> tuple[list[int], Array, Array]:
    """The start, the goals and the rows between, and how far it is from each to the nearest goal."""
    start = known.vertices[0]
    vertices = np.array([start, *(vertex for vertex in graph.vertices if vertex != start)])
    straight = norms(graph.points[vertices] - graph.points[start])
    worth = straight < known.cost  # whatever is further cannot be on a better way, nor at its end
    worth[0] = True
    vertices, straight = vertices[worth], straight[worth]
    points, goals = graph.points[vertices], graph.points[vertices[np.isin(vertices, graph.goals)]]
    remaining = norms(points[:, None, :] - goals[None, :, :]).min(axis=1, initial=np.inf)
    detour = straight + remaining
    if graph.person.rule == "mean" and len(vertices) > _MOST_ON_AVERAGE:
        detour[np.argsort(detour, kind="stable")[_MOST_ON_AVERAGE:]] = np.inf
    near = detour < known.cost
    near[0] = True
    return vertices[near].tolist(), points[near], remaining[near]


def crossing(hole: Hole, starts: Array, ends: Array, spans: Array) -> Mask:
    """Tell which straight steps touch a hole, from one product.

    The squared area that two places span with the centre is the squared distance of
    their line from the centre times their squared distance from each other.
    """
    to_start, to_end = starts - hole.centre, ends - hole.centre
    product = to_start @ to_end.T
    at_start, at_end = (to_start**2).sum(axis=1)[:, None], (to_end**2).sum(axis=1)[None, :]
    between = (product < at_start) & (product < at_end)  # the closest approach is on the step
    area = at_start * at_end - product * product
    return np.asarray(between & (area < (hole.radius * (1 - 1e-9) * spans) ** 2))
