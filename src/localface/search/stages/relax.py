"""Relax: the way whose least common place is as common as can be."""

from __future__ import annotations

import heapq

import numpy as np

from localface.search.graph import LocalGraph, Step
from localface.search.questions import Asks, ask_row_densities

_STEADY = 1e-7
"""Nats below which ways are equally good: rounding, which differs from batch to batch, must not choose between them."""


def highest_way(
    graph: LocalGraph, start: int, *, n_neighbors: int
) -> Asks[tuple[tuple[int, ...], float]]:
    """Find the way from ``start`` to a target with the highest lowest density, and that density.

    Where the targets lie beyond a gap that no one's ``n_neighbors`` nearest people span,
    it looks further out, until there is a way or nobody is left to look at.
    """
    k, known = n_neighbors, dict[Step, float]()
    most = yield from _most(graph)
    while True:
        trail, level = yield from _bottleneck(graph, start, k, known, most=most)
        if trail or graph.cut or k > len(graph.points):
            return trail, level
        k *= 2


def _most(graph: LocalGraph) -> Asks[float]:
    """No way to a given goal can be better than the ground it stands on."""
    if graph.goal is None or graph.person.rule != "lowest":
        return np.inf
    ground = yield from graph.ground([(graph.goal, graph.goal)], None, graph.person.rule)
    return float(ground.log_densities[0])


def _bottleneck(
    graph: LocalGraph, start: int, k: int, known: dict[Step, float], *, most: float
) -> Asks[tuple[tuple[int, ...], float]]:
    """Accept places in the order of the best ground on which they can be reached.

    A step is worked out only when it is at the head of the queue; until then the ground
    its end stands on bounds it from above. Ways that are as good as any can be are all
    the same: among them, those that end nearer to a given goal come first.
    """
    trails: dict[int, tuple[int, ...]] = {}
    heap: list[tuple[float, bool, float, int, int, int]] = [(-most, False, 0.0, -1, start, start)]
    while heap:
        loss, rough, far, row, tail, head = heapq.heappop(heap)
        if head in trails:
            continue
        if rough:
            if (tail, head) not in known:
                steps = (
                    [(tail, head)]
                    if graph.person.rule == "lowest"
                    else [(tail, head), (head, head)]
                )
                ground = yield from graph.ground(steps, None, graph.person.rule)
                lowest = float(
                    ground.log_densities.min()
                )  # a mean says nothing of where the step ends
                known[tail, head] = (
                    np.floor(lowest / _STEADY) * _STEADY if np.isfinite(lowest) else lowest
                )
            heapq.heappush(heap, (max(loss, -known[tail, head]), False, far, row, tail, head))
            continue
        trails[head] = (*trails.get(tail, ()), head)
        if graph.arrived(head):
            return trails[head], -loss
        for end, level in (yield from _ahead(graph, head, k)):
            if end not in trails:
                far = 0.0 if graph.goal is None else graph.length(end, graph.goal)
                heapq.heappush(heap, (max(loss, -level), True, far, int(graph.ids[end]), head, end))
    return (), -np.inf


def _ahead(graph: LocalGraph, here: int, n_neighbors: int) -> Asks[list[tuple[int, float]]]:
    """Where one could go next, with the ground there: no step can be better than its end."""
    around = yield from graph.nearby(here, n_neighbors)
    around = [row for row in around if row != here and graph.permitted((here, row))]
    found = list[tuple[int, float]]()
    if around:
        ground = yield from ask_row_densities(graph.ids[around], graph.points[around])
        found = list(zip(around, ground.tolist(), strict=True))
    if graph.goal is not None and graph.permitted((here, graph.goal)):
        found.append((graph.goal, np.inf))
    return found
