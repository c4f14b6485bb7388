"""Enhance: the cheapest path through known vertices, checking only the edges it might take."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from localface.density.protocol import Holes
from localface.geometry.segments import nearest_distances, norms
from localface.search.below_floor import are_below_floor
from localface.search.graph import LocalGraph
from localface.search.plan import Price
from localface.search.questions import Questions
from localface.search.trails import Edge, GraphPath
from localface.types import Array, Ids, Mask

_MAX_BY_MEAN = 48
"""Vertices considered under the average rule, least detour first: a mean that is too low points
at no hole that rules out other edges, so that every edge must be asked about by itself."""


_PATIENCE = 8  # edges that are refused before all vertices are held against the floor
_MOST_AHEAD = 256  # edges asked about at once where one after the other is refused


class Effort:
    """What improving one path may still take, in numbers compared; planes hardly need any of it.

    ``refused`` counts the edges that were refused so far.
    """

    def __init__(self, left: float = np.inf) -> None:
        self.left = left
        self.refused = 0

    @property
    def is_impatient(self) -> bool:
        """Whether so many edges were refused that vertices are looked at before edges."""
        return self.refused >= _PATIENCE

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self.left <= 0


def enhance(
    graph: LocalGraph,
    known: GraphPath,
    *,
    price: Price,
    astar: bool = True,
    effort: Effort | None = None,
) -> Questions[GraphPath]:
    """Find the cheapest traversable path from where ``known`` starts to any goal.

    A* (Dijkstra with ``astar`` off) that checks edges lazily: only when a vertex is next in
    the queue is the edge to it checked and priced, and where it is refused the vertex goes
    back into the queue by its next best edge. A vertex can only be on a better path if going
    straight there and straight on costs less than the path that is known already. Where many
    edges are refused, the vertices below the floor are left out first, and edges are asked
    about some at a time. When the ``effort`` is spent, the known path stays.
    """
    effort = effort or Effort()
    search = AStar(graph, known, effort)
    while (here := search.next_open_vertex(known.cost, astar=astar)) is not None:
        if effort.is_spent:
            break
        if effort.is_impatient and (yield from search.leave_out_vertices_below_floor()):
            continue
        if not (yield from search.confirm_edge_to(here, price)):
            continue
        if search.is_end[here]:
            return search.path_to(here)
        search.close_vertex(here)
    return known


class AStar:
    """The vertices that could be on a better path, and how far A* has come.

    Vertices are known by their position in ``vertices``; the start is at 0. ``costs`` holds
    what edges cost at least, from closed vertices and some that will be; the rest is not worked
    out.
    """

    def __init__(self, graph: LocalGraph, known: GraphPath, effort: Effort) -> None:
        self.graph = graph
        self.effort = effort
        self.vertices, self._points, self.remaining = _candidate_vertices(graph, known)
        self.is_end = graph.are_goals[self.vertices]
        self._breaks_relation = graph.breaks_relation[self.vertices]
        n = len(self.vertices)
        self.costs = np.full((n, n), np.inf)
        self.spent = np.full(n, np.inf)
        self.spent[0] = 0.0
        self.parent = np.zeros(n, dtype=np.int64)
        self.closed = np.zeros(n, dtype=bool)
        self._lengths = np.zeros((n, n))
        self._is_worked_out = np.zeros(n, dtype=bool)
        self._is_refused = np.zeros((n, n), dtype=bool)
        self._is_sure = np.zeros((n, n), dtype=bool)  # edges known to be traversable
        self._mark_known(*graph.known_edges(self.vertices))
        self._was_refused = np.zeros(n, dtype=bool)  # vertices to which an edge was
        self._holes = Holes.of(graph.holes)
        # Edges by which a better path may lead, where they start and end; some are ruled out since.
        self._left: list[tuple[Ids, Ids]] = []
        self._confirmed: set[Edge] = {(0, 0)}
        self._knows_who_is_below = False
        self._below = known.cost
        self._ahead = 1  # edges that are asked about at once

    def next_open_vertex(self, below: float, *, astar: bool) -> int | None:
        """The open vertex through which the cheapest path may lead, if it can beat a cost."""
        estimate = self.spent + self.remaining if astar else self.spent
        estimate = np.where(self.closed, np.inf, estimate)
        here = int(np.argmin(estimate))
        return here if estimate[here] < below else None

    def confirm_edge_to(self, here: int, price: Price) -> Questions[bool]:
        """Check and price the edge by which a vertex was reached; False where that changes matters.

        The vertex is then queued again, by its next best edge or at its exact cost.
        """
        edge = (int(self.parent[here]), here)
        if edge in self._confirmed:
            return True
        if not self._is_sure[edge] and not (yield from self._find_out_about(edge)):
            return False
        self._confirmed.add(edge)
        if price.exponent:
            log_means = yield from self.graph.log_mean_densities([self._named(edge)])
            self.costs[edge] = float(price.exact_costs(self._lengths[edge], np.array(log_means[0])))
            self._requeue_vertices(np.array([here]))
            return False
        return True

    def _find_out_about(self, edge: Edge) -> Questions[bool]:
        """Tell whether an edge can be taken; where many cannot, others are asked about with it."""
        edges = [edge]
        if self._ahead > 1:
            edges += self._edges_ahead(edge)
        answer = yield from self.graph.have_floor([self._named(one) for one in edges])
        passes = np.array(answer, dtype=bool)
        asked = np.array(edges)
        self._mark_known(asked, passes)
        if not passes.all():
            self._refuse_edges(asked[~passes])
        if passes[0]:
            self._ahead = max(1, self._ahead // 2)
        else:
            n_refused = int(len(passes) - passes.sum())
            more = min(2 * n_refused, _MOST_AHEAD)
            self._ahead = more if self.effort.is_impatient else 1
        return answer[0]

    def leave_out_vertices_below_floor(self) -> Questions[bool]:
        """Close vertices that no step can lead to, once; tells whether there were any.

        A question about all vertices costs less than one about a few edges, and goals that are
        left out no longer make others look near.
        """
        if self._knows_who_is_below or self.graph.person.rule != "lowest":
            return False
        self._knows_who_is_below = True
        low = np.zeros(len(self.vertices), dtype=bool)
        low[1:] = yield from are_below_floor(self.graph, self.vertices[1:])
        low &= ~self.closed
        self.graph.below_floor.update(np.array(self.vertices)[low].tolist())
        if not low.any():
            return False
        self.closed |= low
        goals = self._points[self.is_end & ~low]
        self.remaining = nearest_distances(self._points, goals)
        return True

    def _edges_ahead(self, asked: Edge) -> list[Edge]:
        """The edges that will be asked about next, if those before them are refused.

        Then only vertices are closed meanwhile whose edge is known to be traversable. Of all
        edges from these and from closed vertices those come first whose estimate is least.
        """
        sure = self._is_sure[self.parent, np.arange(len(self.parent))] & ~self.closed
        sure &= self.spent + self.remaining < self._below
        for here in np.flatnonzero(sure & ~self._is_worked_out).tolist():
            self._bound_edge_costs(here)
        tails, heads = self._edges_left()
        through = self.spent[tails] + self.costs[tails, heads]
        new = ~self._is_sure[tails, heads] & ~(sure[heads] & (through >= self.spent[heads]))
        new &= self._was_refused[heads] | (tails == self.parent[heads])
        new[(tails == asked[0]) & (heads == asked[1])] = False
        tails = tails[new]
        heads = heads[new]
        if len(tails) > self._ahead:
            estimate = through[new] + self.remaining[heads]
            some = np.argpartition(estimate, self._ahead - 1)[: self._ahead]
            tails = tails[some]
            heads = heads[some]
        return list(zip(tails.tolist(), heads.tolist(), strict=True))

    def _edges_left(self) -> tuple[Ids, Ids]:
        """The edges by which a better path may lead: where they start and end."""
        tails = np.concatenate([some for some, _ in self._left])
        heads = np.concatenate([some for _, some in self._left])
        left = self.costs[tails, heads] < np.inf
        self._left = [(tails[left], heads[left])]
        return self._left[0]

    def _named(self, edge: Edge) -> Edge:
        """An edge by the numbers of its vertices in the graph."""
        return self.vertices[edge[0]], self.vertices[edge[1]]

    def close_vertex(self, here: int) -> None:
        """Be done with a vertex, and relax the edges that lead on from it."""
        self.closed[here] = True
        if not self._is_worked_out[here]:
            self._bound_edge_costs(here)
        costs = self.costs[here]
        through = self.spent[here] + costs
        costs[through + self.remaining >= self._below] = np.inf  # no better path leads there
        self.costs[:, here] = np.inf
        better = np.flatnonzero((through < self.spent) & ~self.closed)
        self.spent[better] = through[better]
        self.parent[better] = here

    def path_to(self, here: int) -> GraphPath:
        """The path by which a vertex was reached."""
        path = [here]
        while path[-1] != 0:
            path.append(int(self.parent[path[-1]]))
        return GraphPath(tuple(self.vertices[i] for i in reversed(path)), float(self.spent[here]))

    def _refuse_edges(self, edges: Ids) -> None:
        """Rule out edges and those that touch the holes they ran into; requeue who used them."""
        self.effort.refused += len(edges)
        self.costs[edges[:, 0], edges[:, 1]] = np.inf
        self._was_refused[edges[:, 1]] = True
        n_known = len(self._holes.radii)
        if len(self.graph.holes) > n_known:
            self._holes = Holes.of(self.graph.holes)
            self._rule_out_edges_touching(self._holes.since(n_known))
        current = self.costs[self.parent, np.arange(len(self.parent))]
        self._requeue_vertices(np.flatnonzero(~self.closed & np.isinf(current)))

    def _mark_known(self, edges: Ids, passes: Mask) -> None:
        """Take down of which edges it is known whether they are traversable, either way round.

        By the mean their ends have to be dense as well, and none is sure before it is asked about.
        """
        known = [(self._is_refused, edges[~passes])]
        if self.graph.person.rule == "lowest":
            known.append((self._is_sure, edges[passes]))
        for marked, some in known:
            starts, ends = some.T
            marked[starts, ends] = True
            marked[ends, starts] = True

    def _requeue_vertices(self, positions: Ids) -> None:
        """Give open vertices their next best edge from the closed ones."""
        closed = np.flatnonzero(self.closed)
        positions = positions[positions != 0]
        if len(positions) and len(closed):
            through = self.spent[closed, None] + self.costs[np.ix_(closed, positions)]
            best = through.argmin(axis=0)
            self.spent[positions] = through[best, np.arange(len(positions))]
            self.parent[positions] = closed[best]

    def _bound_edge_costs(self, here: int) -> None:
        """Work out what the edges from a vertex cost at least."""
        self._is_worked_out[here] = True
        person = self.graph.person
        points = self._points
        lengths = norms(points - points[here])
        fine = ~(self._is_refused[here] | self.closed | self._breaks_relation)
        if person.max_step < np.inf:
            fine &= lengths <= person.max_step
        if person.bounds.limit_steps:
            fine &= person.bounds.respects_one_way(points[here], points)
        self._lengths[here] = lengths
        costs = np.where(fine, lengths, np.inf)
        heads = (self.spent[here] + costs + self.remaining < self._below).nonzero()[0]
        tails = np.full(len(heads), here)
        if len(self._holes.radii):
            touched = self._touch(self._holes, tails, heads, n_tails=1)
            costs[heads[touched]] = np.inf
        self.costs[here] = costs
        self._left.append((tails, heads))

    def _rule_out_edges_touching(self, holes: Holes) -> None:
        """Rule out edges that touch holes."""
        tails, heads = self._edges_left()
        touched = self._touch(holes, tails, heads, n_tails=int(self._is_worked_out.sum()))
        self.costs[tails[touched], heads[touched]] = np.inf

    def _touch(self, holes: Holes, tails: Ids, heads: Ids, *, n_tails: int) -> Mask:
        """Tell which edges touch holes; it takes effort for each vertex that they start at.

        An edge with a discrete change in it is not straight, and is asked about instead.
        """
        self.effort.left -= len(holes.radii) * n_tails * self._points.size
        places = self._places
        kinds = self._discrete_combinations
        if kinds is None:
            return holes.are_touched(places[tails], places[heads])
        touched: Mask = kinds[tails] == kinds[heads]
        some = places[tails[touched]], places[heads[touched]]
        touched[touched] = holes.are_touched(*some)
        return touched

    @cached_property
    def _places(self) -> Array:
        """The points where holes are round."""
        matrix = self.graph.holes[0].matrix
        return self._points if matrix is None else self._points @ matrix

    @cached_property
    def _discrete_combinations(self) -> Ids | None:
        """A number for each combination of discrete values; edges within one are straight."""
        discrete = self.graph.person.discrete
        if not discrete.any():
            return None
        return np.unique(self._points[:, discrete], axis=0, return_inverse=True)[1].reshape(-1)


def _candidate_vertices(graph: LocalGraph, known: GraphPath) -> tuple[list[int], Array, Array]:
    """The vertices that could be on a better path, their points and distances to the goals.

    The start comes first.
    """
    start = known.vertices[0]
    straight = norms(graph.points - graph.points[start])
    within = straight < known.cost  # what is further away cannot be on a better path
    within[[0, start, *graph.below_floor]] = False
    others = within.nonzero()[0]
    vertices = np.empty(1 + len(others), dtype=np.int64)
    vertices[0] = start
    vertices[1:] = others
    points = graph.points[vertices]
    remaining = nearest_distances(points, points[graph.are_goals[vertices]])
    detour = straight[vertices] + remaining
    if graph.person.rule == "mean" and len(vertices) > _MAX_BY_MEAN:
        detour[np.argsort(detour, kind="stable")[_MAX_BY_MEAN:]] = np.inf
    near = detour < known.cost
    near[0] = True
    return vertices[near].tolist(), points[near], remaining[near]
