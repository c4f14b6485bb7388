"""Relax: the path whose lowest density is as high as can be."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from localface.search.graph import Edge, LocalGraph, Trail
from localface.search.questions import Questions

_RESOLUTION = 1e-7
"""Nats below which paths are equally good: rounding differs from batch to batch, and must not
choose between them."""


def densest_path(
    graph: LocalGraph, start: int, *, n_neighbors: int, most: float = np.inf
) -> Questions[tuple[Trail, float]]:
    """Find the path from ``start`` to a target with the highest lowest log-density, and that.

    Where the targets lie beyond a gap that no vertex's ``n_neighbors`` nearest rows span,
    it looks further out, until there is a path or no row is left to look at, or ``most``
    vertices were accepted.
    """
    k = n_neighbors
    known: dict[Edge, float] = {}
    bound = yield from _log_density_bound_at_goal(graph)
    while True:
        trail, log_density, accepted = yield from _widest_path(
            graph, start, k, known, bound=bound, most=most
        )
        most -= accepted
        if trail or graph.cut or k > len(graph.points) or most <= 0:
            return trail, log_density
        k *= 2


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


def _widest_path(
    graph: LocalGraph,
    start: int,
    k: int,
    known: dict[Edge, float],
    *,
    bound: float,
    most: float,
) -> Questions[tuple[Trail, float, int]]:
    """Accept vertices in the order of the highest lowest log-density by which they are reached.

    Returns the trail, its lowest log-density, and how many vertices were accepted.
    An edge is worked out only when it is at the head of the queue; until then the density
    at its end bounds it from above. Of paths that are as good as any can be, those that end
    nearer to a given goal come first.
    """
    trails: dict[int, Trail] = {}
    heap = [_QueuedEdge(-bound, False, 0.0, -1, start, start)]
    while heap and len(trails) < most:
        queued = heapq.heappop(heap)
        head = queued.head
        if head in trails:
            continue
        if queued.bounded:
            exact = yield from _edge_log_density(graph, (queued.tail, head), known)
            heapq.heappush(heap, queued._replace(loss=max(queued.loss, -exact), bounded=False))
            continue
        trails[head] = (*trails.get(queued.tail, ()), head)
        if graph.is_goal(head):
            return trails[head], -queued.loss, len(trails)
        for end, log_density in (yield from _next_vertices(graph, head, k)):
            if end not in trails:
                to_goal = 0.0 if graph.goal is None else graph.edge_length(end, graph.goal)
                loss = max(queued.loss, -log_density)
                row = int(graph.ids[end])
                heapq.heappush(heap, _QueuedEdge(loss, True, to_goal, row, head, end))
    return (), -np.inf, len(trails)


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


def _next_vertices(
    graph: LocalGraph, here: int, n_neighbors: int
) -> Questions[list[tuple[int, float]]]:
    """Where one could go next, with the log-density there: no edge can be better than its end."""
    around = yield from graph.reveal_rows_around(here, n_neighbors)
    around = [row for row in around if row != here and graph.is_permitted((here, row))]
    found: list[tuple[int, float]] = []
    if around:
        log_densities = yield from graph.log_densities_at(around)
        found = list(zip(around, log_densities.tolist(), strict=True))
    if graph.goal is not None and graph.is_permitted((here, graph.goal)):
        found.append((graph.goal, np.inf))
    return found
