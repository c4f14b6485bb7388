"""The shortest sound way over all the data, by code that shares nothing with the search it judges.

Every allowed row is a place to go through, every pair of them a step, and a step counts if the
judge's own rule passes it on a fine grid. Steps are looked at only when they are next in line, so
that the answer is exact, or a proven lower bound where the number of looks runs out.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from localface.evaluation.metrics import ReferenceRows, TraversalRule
from localface.geometry.bounds import Bounds
from localface.geometry.segments import norms
from localface.types import Array, Mask


class Optimum(NamedTuple):
    """At least so long is the shortest way; exact where it was settled."""

    length: float
    settled: bool
    looks: int


def optimum(
    rule: TraversalRule,
    start: Array,
    bounds: Bounds,
    reaches_target: Mask,
    *,
    within: float,
    looks: int = 60,
) -> Optimum:
    """The shortest path from ``start`` to a row that reaches the target, if below ``within``."""
    points = rule.rows.points
    allowed = bounds.contain(points) & (norms(points - start) < within)
    places = points[allowed]
    targets = reaches_target[allowed]
    if not targets.any():
        return Optimum(within, True, 0)
    left = ReferenceRows(places[targets]).nearest(places, 1)[0][:, 0]
    done = np.zeros(len(places), dtype=bool)
    looked = 0
    heap = [*_onward(start, 0.0, -1, places, left, bounds, within)]
    heapq.heapify(heap)
    while heap:
        whole, so_far, here, before = heapq.heappop(heap)
        if done[here]:
            continue
        if looked == looks:
            return Optimum(min(whole, within), False, looked)
        looked += 1
        origin = start if before < 0 else places[before]
        if not rule.traversable(origin[None, :], places[[here]])[0]:
            continue
        done[here] = True
        if targets[here]:
            return Optimum(so_far, True, looked)
        for step in _onward(
            places[here], so_far, here, places, np.where(done, np.inf, left), bounds, within
        ):
            heapq.heappush(heap, step)
    return Optimum(within, True, looked)


def _onward(
    origin: Array,
    so_far: float,
    number: int,
    places: Array,
    left: Array,
    bounds: Bounds,
    within: float,
) -> Iterator[tuple[float, float, int, int]]:
    """Steps that may be on a shorter path: its least length, length so far, end, start."""
    costs = so_far + norms(places - origin)
    ways = costs + left
    fine = (ways < within * (1 - 1e-9)) & bounds.respects_one_way(origin[None, :], places)
    for here in np.flatnonzero(fine).tolist():
        yield float(ways[here]), float(costs[here]), here, number
