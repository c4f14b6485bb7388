"""Relax: the path whose lowest density is as high as can be."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from localface.search.graph import LocalGraph
from localface.search.level_walk import KnownGround, LevelWalk
from localface.search.questions import Questions
from localface.search.trails import Trail

_RESOLUTION = 1e-7
"""Nats below which paths are equally good: rounding differs from batch to batch, and must not
choose between them."""
_FEW = 2  # levels between two others for which the lower one is raised as little as can be
_MOST_LEVELS = 100  # that are tried


class DensestPath(NamedTuple):
    """A path over dense ground, its lowest log-density, and whether denser ones were ruled out."""

    trail: Trail
    log_density: float
    is_densest: bool = True


def densest_path(
    graph: LocalGraph, start: int, *, n_neighbors: int, most: float = np.inf
) -> Questions[DensestPath]:
    """Find the path from ``start`` to a target with the highest lowest log-density, and that.

    Any path will do at first, and then one over denser ground, until there is none: no density
    but that of the best paths is worked out in full. Where the targets lie beyond a gap that
    no vertex's ``n_neighbors`` nearest rows span, it looks further out, until there is a path
    or no row is left to look at. When ``most`` vertices were looked around, the best path so
    far is the answer.
    """
    if (yield from _is_out_of_step(graph, start, n_neighbors)):
        return DensestPath((), -np.inf)
    k = n_neighbors
    while True:
        ground = KnownGround(graph)
        walk = LevelWalk(ground, -np.inf, {start: start}, n_neighbors=k)
        trail = yield from walk.run(most)
        if trail:
            break
        most -= len(ground.ends)
        if trail is None or graph.cut or ground.exhausted or k > len(graph.points) or most <= 0:
            return DensestPath((), -np.inf, trail is not None and most > 0)
        k *= 2
    if len(trail) == 1:
        return DensestPath(trail, (yield from _upper_bound(graph, start)))
    return (yield from _raise_level(ground, trail, n_neighbors=k, most=most))


def _raise_level(
    ground: KnownGround, trail: Trail, *, n_neighbors: int, most: float
) -> Questions[DensestPath]:
    """Find paths on higher and higher levels, halving the levels at which there may be one."""
    graph = ground.graph
    begun = {trail[0]: trail[0]}
    low = yield from _lowest_along(graph, trail)
    high = yield from _upper_bound(graph, trail[0])
    gave_up = False
    for _ in range(_MOST_LEVELS):
        least = low + _RESOLUTION
        if not least <= high:
            break
        levels = ground.levels_between(least, high)
        level = least
        if len(levels) > _FEW:
            level = max(least, _in_steps(float(levels[len(levels) // 2])))
        walk = LevelWalk(ground, level, begun, n_neighbors=n_neighbors)
        found = yield from walk.run(most)
        gave_up = found is None
        if found is None:
            break
        if found:
            trail = found
            # What passes on a level may be stated as less by rounding: that must not hold it up.
            low = max(low, level, (yield from _lowest_along(graph, trail)))
        else:
            begun = walk.parents
            high = np.nextafter(level, -np.inf)
    return DensestPath((yield from _shorten(ground, trail, low)), low, not gave_up)


def _shorten(ground: KnownGround, trail: Trail, level: float) -> Questions[Trail]:
    """Leave out what a trail need not lead through: the shortest through some of its vertices."""
    graph = ground.graph
    if len(trail) <= 2 or not np.isfinite(level):
        return trail
    steps = set(itertools.pairwise(range(len(trail))))
    leaps = [pair for pair in itertools.combinations(range(len(trail)), 2) if pair not in steps]
    tails, heads = (np.array(trail)[list(some)].tolist() for some in zip(*leaps, strict=True))
    permitted = graph.are_permitted(tails, heads).tolist()
    leaps = [pair for pair, fine in zip(leaps, permitted, strict=True) if fine]
    edges = [(trail[a], trail[b]) for a, b in leaps]
    passes = yield from ground.judge_edges(edges, level)
    steps.update(pair for pair, fine in zip(leaps, passes, strict=True) if fine)
    best: list[tuple[float, Trail]] = [(0.0, trail[:1])]
    for end in range(1, len(trail)):
        best.append(
            min(
                (best[start][0] + graph.edge_length(trail[start], trail[end]), best[start][1])
                for start in range(end)
                if (start, end) in steps
            )
        )
        best[end] = (best[end][0], (*best[end][1], trail[end]))
    return best[-1][1]


def _lowest_along(graph: LocalGraph, trail: Trail) -> Questions[float]:
    """What the rule measures along a trail at its lowest, in steps of the resolution."""
    edges = list(itertools.pairwise(trail))
    if graph.person.rule != "lowest":  # a mean says nothing of where the edges end
        edges += [(vertex, vertex) for vertex in trail[1:]]
    found = yield from graph.densities_along(edges, None, graph.person.rule)
    return _in_steps(float(found.log_densities.min()))


def _in_steps(value: float) -> float:
    """A log-density, rounded down to a step of the resolution."""
    return float(np.floor(value / _RESOLUTION) * _RESOLUTION) if np.isfinite(value) else value


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


def _upper_bound(graph: LocalGraph, start: int) -> Questions[float]:
    """The log-density at the start, or at a given goal if that is less: no path can be better."""
    if graph.person.rule != "lowest":
        return np.inf
    ends = [start] if graph.goal is None else [start, graph.goal]
    found = yield from graph.densities_along([(one, one) for one in ends], None, "lowest")
    return float(found.log_densities.min())
