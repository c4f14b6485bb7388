"""Relax: the path whose lowest density is as high as can be."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from localface.geometry.segments import norms
from localface.search.graph import LocalGraph
from localface.search.questions import Questions, ask_state_densities
from localface.search.trails import Edge, Trail
from localface.types import Array

_RESOLUTION = 1e-7
"""Nats below which paths are equally good: rounding differs from batch to batch, and must not
choose between them."""


def densest_path(
    graph: LocalGraph,
    start: int,
    *,
    n_neighbors: int,
    most: float = np.inf,
    most_edges: float = np.inf,
) -> Questions[tuple[Trail, float]]:
    """Find the path from ``start`` to a target with the highest lowest log-density, and that.

    Where the targets lie beyond a gap that no vertex's ``n_neighbors`` nearest rows span,
    it looks further out, until there is a path or no row is left to look at, or ``most``
    vertices were accepted or ``most_edges`` edges worked out.
    """
    if (yield from _is_out_of_step(graph, start, n_neighbors)):
        return (), -np.inf
    k = n_neighbors
    known: dict[Edge, float] = {}
    bound = yield from _log_density_bound_at_goal(graph)
    while True:
        found = yield from _widest_path(
            graph, start, k, known, bound=bound, most=most, most_edges=most_edges
        )
        most -= found.accepted
        gave_up = most <= 0 or len(known) >= most_edges
        if found.trail or graph.cut or found.exhausted or k > len(graph.points) or gave_up:
            return found.trail, found.log_density
        k *= 2


def _is_out_of_step(graph: LocalGraph, start: int, n_neighbors: int) -> Questions[bool]:
    """Tell whether a given goal is further than a step from everyone: then no path leads there."""
    goal = graph.goal
    longest = graph.person.max_step
    if goal is None or not np.isfinite(longest) or graph.is_permitted((start, goal)):
        return False
    around = yield from graph.reveal_rows_near(
        graph.points[goal], n_neighbors, graph.person.bounds, radius=longest
    )
    if len(around) == n_neighbors or graph.cut:
        return False
    return not any(graph.is_permitted((row, goal)) for row in around)


def _log_density_bound_at_goal(graph: LocalGraph) -> Questions[float]:
    """The log-density at a given goal: no path there can be better."""
    if graph.goal is None or graph.person.rule != "lowest":
        return np.inf
    loop = (graph.goal, graph.goal)
    found = yield from graph.densities_along([loop], None, graph.person.rule)
    return float(found.log_densities[0])


class _QueuedEdge(NamedTuple):
    """An edge in the queue; the smallest is the most promising."""

    loss: float  # minus the log-density of the path up to here and over this edge
    bounded: bool  # the loss is only bounded from below
    to_goal: float
    row: int
    tail: int
    head: int


class _Look(NamedTuple):
    """What looking at so many rows around each vertex came to.

    ``exhausted`` says that no vertex has rows further out to which a step could lead.
    """

    trail: Trail
    log_density: float
    accepted: int
    exhausted: bool


def _widest_path(
    graph: LocalGraph,
    start: int,
    k: int,
    known: dict[Edge, float],
    *,
    bound: float,
    most: float,
    most_edges: float,
) -> Questions[_Look]:
    """Accept vertices in the order of the highest lowest log-density by which they are reached.

    An edge is worked out only when it is at the head of the queue; until then the density
    at its end bounds it from above. Of paths that are as good as any can be, those that end
    nearer to a given goal come first.
    """
    trails: dict[int, Trail] = {}
    exhausted = True
    heap = [_QueuedEdge(-bound, False, 0.0, -1, start, start)]
    while heap and len(trails) < most and len(known) < most_edges:
        queued = heapq.heappop(heap)
        head = queued.head
        if head in trails:
            continue
        if queued.bounded:
            loss = yield from _loss_over_edge(graph, queued, known)
            heapq.heappush(heap, queued._replace(loss=loss, bounded=False))
            continue
        trails[head] = (*trails.get(queued.tail, ()), head)
        if graph.is_goal(head):
            return _Look(trails[head], -queued.loss, len(trails), exhausted)
        nearby, all_seen = yield from _next_vertices(graph, head, k, -queued.loss)
        exhausted &= all_seen
        for end, log_density, to_goal in nearby:
            if end not in trails:
                loss = max(queued.loss, -log_density)
                row = int(graph.ids[end])
                heapq.heappush(heap, _QueuedEdge(loss, True, to_goal, row, head, end))
    return _Look((), -np.inf, len(trails), exhausted)


def _loss_over_edge(
    graph: LocalGraph, queued: _QueuedEdge, known: dict[Edge, float]
) -> Questions[float]:
    """The loss up to the end of an edge; only where the edge is worse is its density worked out."""
    edge = (queued.tail, queued.head)
    if edge not in known and graph.person.rule == "lowest" and np.isfinite(queued.loss):
        enough = _RESOLUTION - queued.loss
        found = yield from graph.densities_along([edge], enough, graph.person.rule)
        if found.passes[0]:
            return queued.loss
    return max(queued.loss, -(yield from _edge_log_density(graph, edge, known)))


def _edge_log_density(graph: LocalGraph, edge: Edge, known: dict[Edge, float]) -> Questions[float]:
    """What the rule measures along an edge, in steps of the resolution; asked once."""
    if edge not in known:
        edges = [edge]
        if graph.person.rule != "lowest":  # a mean says nothing of where the edge ends
            edges.append((edge[1], edge[1]))
        found = yield from graph.densities_along(edges, None, graph.person.rule)
        lowest = float(found.log_densities.min())
        if np.isfinite(lowest):
            lowest = np.floor(lowest / _RESOLUTION) * _RESOLUTION
        known[edge] = lowest
    return known[edge]


def _log_densities_half_way(
    graph: LocalGraph, here: int, ends: list[int], enough: float
) -> Questions[Array]:
    """The log-density half way along edges; infinite where it is enough, or does not count.

    Many of them cost less than working out one edge.
    """
    person = graph.person
    if person.rule != "lowest":
        return np.full(len(ends), np.inf)
    points = graph.points[ends]
    middles = np.where(person.discrete, points, (points + graph.points[here]) / 2)
    return (yield from ask_state_densities(middles, person.rule, enough)) + _RESOLUTION


def _next_vertices(
    graph: LocalGraph, here: int, n_neighbors: int, enough: float
) -> Questions[tuple[list[tuple[int, float, float]], bool]]:
    """Where one could go next, with a bound on the log-density and how far it is to a given goal.

    No edge can be better than its end, nor than half way there; what is ``enough`` is no bound.
    Tells also whether no step leads to any row further out.
    """
    around = yield from graph.reveal_rows_around(here, n_neighbors)
    all_seen = len(around) < n_neighbors
    if around and not all_seen:
        all_seen = graph.edge_length(here, around[-1]) > graph.person.max_step
    if graph.goal is not None:
        around = [*(row for row in around if row != graph.goal), graph.goal]
    permitted = graph.are_permitted(here, around).tolist()
    ends = [row for row, fine in zip(around, permitted, strict=True) if fine and row != here]
    rows = [row for row in ends if row != graph.goal]
    log_densities = np.full(len(ends), np.inf)
    if rows:
        at_ends = yield from graph.log_densities_at(rows, enough)
        half_way = yield from _log_densities_half_way(graph, here, rows, enough)
        log_densities[: len(rows)] = np.minimum(at_ends, half_way)
    to_goal = np.zeros(len(ends))
    if graph.goal is not None:
        to_goal = norms(graph.points[ends] - graph.points[graph.goal])
    return list(zip(ends, log_densities.tolist(), to_goal.tolist(), strict=True)), all_seen
