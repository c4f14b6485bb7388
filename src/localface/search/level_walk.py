"""Walks on ground of at least some log-density, for one level after the other."""

from __future__ import annotations

import numpy as np

from localface.geometry.segments import norms
from localface.search.graph import LocalGraph
from localface.search.questions import Questions, ask_density_along
from localface.search.trails import Edge, Trail
from localface.search.vertex_densities import row_log_densities
from localface.types import Array, Ids, Mask

_MOST_AT_ONCE = 32  # vertices that are looked around in one question
_MOST_REFUSED = 256  # edges that one question is about where those before were refused
_EACH = 4  # accepted vertices for each edge that is asked about before its turn
_SPARE = 4  # edges that are put in order for each that is taken, as several may have one end
_SECURE = 1e-5  # nats by which a bound from a refusal is raised: rounding must not break it


class KnownGround:
    """What walks found out so far: it serves every level.

    Of vertices and edges it is known that their log-density is at least or at most so much; of
    rows, what it is. ``ends`` are the vertices to which steps lead from those looked around.
    """

    def __init__(self, graph: LocalGraph) -> None:
        self.graph = graph
        self.ends: dict[int, Ids] = {}
        self.least: Array = np.zeros(0)
        self.most: Array = np.zeros(0)
        self.exhausted = True  # no vertex has rows further out to which a step could lead
        self._least_along: dict[Edge, float] = {}
        self._most_along: dict[Edge, float] = {}

    def look_around(self, vertices: list[int], n_neighbors: int) -> Questions[None]:
        """Find the ends of steps from vertices, and how dense those are that are rows."""
        graph = self.graph
        vertices = [vertex for vertex in vertices if vertex not in self.ends]
        if not vertices:
            return
        around = yield from graph.reveal_rows_around_each(vertices, n_neighbors)
        self._make_room()
        permits_all = graph.permits_all
        for vertex, found in zip(vertices, around, strict=True):
            all_seen = len(found) < n_neighbors
            if found and not all_seen and graph.person.max_step < np.inf:
                all_seen = graph.edge_length(vertex, found[-1]) > graph.person.max_step
            self.exhausted &= all_seen
            if graph.goal is not None:
                found = [*(row for row in found if row != graph.goal), graph.goal]
            ends = np.array([end for end in found if end != vertex], dtype=np.int64)
            if len(ends) and not permits_all:
                ends = ends[graph.are_permitted(vertex, ends.tolist())]
            self.ends[vertex] = ends
        some = np.unique(np.concatenate([self.ends[vertex] for vertex in vertices]))
        rows = some[(graph.ids[some] >= 0) & (self.least[some] < self.most[some])]
        if len(rows):
            values = yield from row_log_densities(graph, rows.tolist())
            self.least[rows] = values
            self.most[rows] = values

    def judge_vertices(self, vertices: Ids, level: float) -> Questions[Mask]:
        """Tell which vertices have a level, asking about those of which it is not known."""
        self._make_room()
        open_still = (self.least[vertices] < level) & (self.most[vertices] >= level)
        unknown = vertices[open_still]
        if len(unknown):
            points = self.graph.points[unknown]
            found = yield from ask_density_along(points, points, level, self.graph.person.rule)
            self.least[unknown[found.passes]] = level
            low = ~found.passes
            most = np.minimum(found.log_densities[low] + _SECURE, np.nextafter(level, -np.inf))
            self.most[unknown[low]] = most
        return np.asarray(self.least[vertices] >= level)

    def judge_edges(self, edges: list[Edge], level: float) -> Questions[list[bool]]:
        """Tell which edges have a level, asking about those of which it is not known."""
        unknown = [
            edge
            for edge in edges
            if self._least_along.get(edge, -np.inf) < level <= self._most_along.get(edge, np.inf)
        ]
        if unknown:
            found = yield from self.graph.densities_along(unknown, level, self.graph.person.rule)
            values = zip(unknown, found.passes.tolist(), found.log_densities.tolist(), strict=True)
            for edge, passes, most in values:
                if passes:
                    self._least_along[edge] = level
                else:
                    self._most_along[edge] = min(most + _SECURE, np.nextafter(level, -np.inf))
        return [self._least_along.get(edge, -np.inf) >= level for edge in edges]

    def levels_between(self, low: float, high: float) -> Array:
        """The log-densities, or bounds of them, of known vertices between two levels."""
        inside = self.most[(self.most > low) & (self.most < high)]
        return np.unique(inside)

    def _make_room(self) -> None:
        more = len(self.graph.points) - len(self.most)
        if more > 0:
            self.most = np.concatenate([self.most, np.full(more, np.inf)])
            self.least = np.concatenate([self.least, np.full(more, -np.inf)])


class LevelWalk:
    """A walk from vertex to vertex, the most promising first, over edges that have a level.

    It begins where a walk on a higher level ended. Edges are asked about one at a time at
    first, and the more at once the further it has come.
    """

    def __init__(
        self, ground: KnownGround, level: float, begun: dict[int, int], *, n_neighbors: int
    ) -> None:
        self.parents = dict(begun)  # of each accepted vertex; its own number at the start
        self._is_open: Mask = np.zeros(0, dtype=bool)  # vertices that are not accepted
        self._ground = ground
        self._level = level
        self._n_neighbors = n_neighbors
        self._tails: Ids = np.zeros(0, dtype=np.int64)
        self._heads: Ids = np.zeros(0, dtype=np.int64)
        self._appeal: Array = np.zeros(0)

    def run(self, most: float) -> Questions[Trail | None]:
        """Walk until a goal is accepted, no edge leads on, or ``most`` vertices were looked at.

        Returns the trail to the goal, an empty one where no edge leads on, None when it gave up.
        """
        graph = self._ground.graph
        known = [vertex for vertex in self.parents if vertex in self._ground.ends]
        fresh = [vertex for vertex in self.parents if vertex not in self._ground.ends]
        yield from self._queue_edges_from(known)
        while True:
            for vertex in fresh:
                if graph.is_goal(vertex):
                    return self._trail_to(vertex)
            if len(self._ground.ends) + len(fresh) > most:
                return None
            yield from self._ground.look_around(fresh, self._n_neighbors)
            yield from self._queue_edges_from(fresh)
            fresh = yield from self._accept_next()
            if not fresh:
                return ()

    def _accept_next(self) -> Questions[list[int]]:
        """Accept the ends of the most promising edges that have the level; none when all is done.

        While all are refused, twice as many are asked about each time.
        """
        at_once = min(_MOST_AT_ONCE, 1 + len(self.parents) // _EACH)
        edges = self._take_edges(at_once, one_each=True)
        while edges:
            accepted = yield from self._accept(edges)
            if accepted:
                return accepted
            at_once = min(2 * at_once, _MOST_REFUSED)
            edges = self._take_edges(at_once, one_each=False)
        return []

    def _queue_edges_from(self, vertices: list[int]) -> Questions[None]:
        """Queue the edges from accepted vertices to others that have the level."""
        if not vertices:
            return
        graph = self._ground.graph
        ends = [self._ground.ends[vertex] for vertex in vertices]
        heads = np.concatenate(ends)
        tails = np.repeat(np.array(vertices, dtype=np.int64), [len(some) for some in ends])
        fresh = np.zeros(len(graph.points), dtype=bool)
        fresh[heads] = True
        some = (fresh & self._are_open()).nonzero()[0]
        some = some[(yield from self._ground.judge_vertices(some, self._level))]
        passing = np.zeros(len(graph.points), dtype=bool)
        passing[some] = True
        fine = passing[heads]
        heads = heads[fine]
        tails = tails[fine]
        lengths = norms(graph.points[heads] - graph.points[tails])
        self._heads = np.concatenate([self._heads, heads])
        self._tails = np.concatenate([self._tails, tails])
        self._appeal = np.concatenate([self._appeal, graph.appeal_of(heads) / (1 + lengths)])

    def _take_edges(self, at_once: int, *, one_each: bool) -> list[Edge]:
        """Take the most promising edges out of the queue, at first no two with the same end."""
        self._keep_edges(self._are_open()[self._heads])
        taken = self._first_edges(at_once, one_each=one_each)
        edges = list(zip(self._tails[taken].tolist(), self._heads[taken].tolist(), strict=True))
        left = np.ones(len(self._heads), dtype=bool)
        left[taken] = False
        self._keep_edges(left)
        return edges

    def _first_edges(self, at_once: int, *, one_each: bool) -> Ids:
        """The places of the most promising edges in the queue, in order.

        Only edges with the highest appeal are put in order: as many as may be taken.
        """
        enough = _SPARE * at_once if one_each else at_once
        while True:
            some = np.arange(len(self._appeal))
            if enough < len(some):
                least = np.partition(self._appeal, -enough)[-enough]
                some = (self._appeal >= least).nonzero()[0]
            keys = (self._tails[some], self._heads[some], -self._appeal[some])
            taken = some[np.lexsort(keys)]
            if one_each:
                taken = taken[np.sort(np.unique(self._heads[taken], return_index=True)[1])]
            if len(taken) >= at_once or enough >= len(self._appeal):
                return np.asarray(taken[:at_once])
            enough *= 2

    def _are_open(self) -> Mask:
        """Tell which vertices are not accepted."""
        more = len(self._ground.graph.points) - len(self._is_open)
        if more or not len(self._is_open):
            self._is_open = np.ones(len(self._ground.graph.points), dtype=bool)
            self._is_open[list(self.parents)] = False
        return self._is_open

    def _keep_edges(self, left: Mask) -> None:
        self._heads = self._heads[left]
        self._tails = self._tails[left]
        self._appeal = self._appeal[left]

    def _accept(self, edges: list[Edge]) -> Questions[list[int]]:
        """Accept the ends of those edges that have the level."""
        passes = yield from self._ground.judge_edges(edges, self._level)
        accepted: dict[int, int] = {}
        for (tail, head), fine in zip(edges, passes, strict=True):
            if fine:
                accepted.setdefault(head, tail)
        self.parents.update(accepted)
        self._are_open()[list(accepted)] = False
        return list(accepted)

    def _trail_to(self, vertex: int) -> Trail:
        trail = [vertex]
        while self.parents[trail[-1]] != trail[-1]:
            trail.append(self.parents[trail[-1]])
        return tuple(reversed(trail))
