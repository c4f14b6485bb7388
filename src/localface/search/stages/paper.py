"""The paper's Algorithms 1 and 2 as printed, resolved only where they cannot run.

Kept for comparison. What is mended, and nothing else: argmax where a row is meant;
the momentum's undefined cases; the *chosen row* is retired, by id; the counterfactual
is always a candidate of Algorithm 2; a walk ends when no row is left. Nothing stops
Algorithm 1 from leaping across a gap, and nothing joins consecutive vertices of
Algorithm 2: see "Reading the paper".
"""

from __future__ import annotations

import numpy as np

from localface.geometry.segments import norms
from localface.search.graph import GraphPath, LocalGraph, Step
from localface.search.questions import Asks
from localface.types import Array, Ids


def algorithm_1(graph: LocalGraph, *, n_neighbors: int, momentum_steps: int) -> Asks[int | None]:
    """Walk to the row with the best f / (1 + distance) until the score is reached: Eqs. 2 and 3."""
    walk, retired = [0], list[int]()
    while not graph.arrived(walk[-1]):
        around = yield from graph.nearby(walk[-1], n_neighbors, exclude=_ids(retired))
        if not around:
            return None
        here = graph.points[walk[-1]]
        distances = norms(graph.points[around] - here)
        chosen = around[int(np.argmax(graph.appeal(around) / (1 + distances)))]
        retired.append(int(graph.ids[chosen]))
        if momentum_steps:
            ahead = _half_way(graph, walk, chosen, momentum_steps)
            walk.append((yield from graph.scored(ahead)))
        else:
            walk.append(chosen)
    return walk[-1]


def algorithm_2(graph: LocalGraph, *, n_neighbors: int) -> Asks[list[int]]:
    """Walk towards the goal by alignment times mean density: Eq. 4. Returns the vertices in order."""
    assert graph.goal is not None
    walk, retired = [0], list[int]()
    while walk[-1] != graph.goal:
        around = yield from graph.nearby(walk[-1], n_neighbors, exclude=_ids(retired))
        if not around:
            return [*walk, graph.goal]
        candidates = [row for row in dict.fromkeys([*around, graph.goal]) if row != walk[-1]]
        means = yield from graph.means([(walk[-1], row) for row in candidates])
        aligned = _alignment(graph, walk[-1], candidates)
        chosen = candidates[int(np.argmax(aligned * np.exp(np.array(means) - max(means))))]
        retired.append(int(graph.ids[chosen]))
        walk.append(chosen)
    return walk


def paper_graph(graph: LocalGraph, vertices: list[int]) -> Asks[GraphPath | None]:
    """Test each vertex against all earlier ones, weigh by Eq. 5, and take Dijkstra's way to the last.

    The strict weight is length; the average weight is D * length, as printed.
    """
    pairs = [(vertices[i], vertices[j]) for j in range(len(vertices)) for i in range(j)]
    passes = yield from graph.traversable(pairs)
    edges = [pair for pair, fine in zip(pairs, passes, strict=True) if fine]
    weights = [graph.length(*edge) for edge in edges]
    if graph.person.rule == "mean" and edges:
        means = yield from graph.means(edges)
        weights = [
            length * float(np.exp(mean - max(means)))
            for length, mean in zip(weights, means, strict=True)
        ]
    return _dijkstra(edges, weights, vertices)


def _half_way(graph: LocalGraph, walk: list[int], chosen: int, momentum_steps: int) -> Array:
    here = graph.points[walk[-1]]
    back = min(momentum_steps, len(walk) - 1)
    momentum = (here - graph.points[walk[-1 - back]]) / back if back else np.zeros_like(here)
    ahead = here + (graph.points[chosen] - here + momentum) / 2
    ahead = np.clip(
        ahead, graph.person.bounds.lower, graph.person.bounds.upper
    )  # constraints are not the paper's to break
    return graph.person.snap(np.where(graph.person.discrete, graph.points[chosen], ahead))


def _alignment(graph: LocalGraph, here: int, candidates: list[int]) -> Array:
    assert graph.goal is not None
    steps = graph.points[candidates] - graph.points[here]
    straight = graph.points[graph.goal] - graph.points[here]
    sizes = norms(steps) * float(norms(straight))
    cosines = (steps * straight).sum(axis=1) / np.where(sizes > 0, sizes, 1.0)
    return np.asarray((1 + cosines) / 2)


def _dijkstra(edges: list[Step], weights: list[float], vertices: list[int]) -> GraphPath | None:
    at = {vertex: i for i, vertex in enumerate(dict.fromkeys(vertices))}
    costs = np.full((len(at), len(at)), np.inf)
    for (a, b), weight in zip(edges, weights, strict=True):
        costs[at[a], at[b]] = costs[at[b], at[a]] = min(weight, costs[at[a], at[b]])
    spent, parent, done = np.full(len(at), np.inf), [0] * len(at), set[int]()
    spent[0] = 0.0
    end = at[vertices[-1]]
    while end not in done:
        here = min((i for i in range(len(at)) if i not in done), key=lambda i: float(spent[i]))
        if not np.isfinite(spent[here]):
            return None
        done.add(here)
        for other in np.flatnonzero(spent[here] + costs[here] < spent).tolist():
            spent[other], parent[other] = spent[here] + costs[here, other], here
    names, path = list(at), [end]
    while path[-1] != 0:
        path.append(parent[path[-1]])
    return GraphPath(tuple(names[i] for i in reversed(path)), float(spent[end]))


def _ids(rows: list[int]) -> Ids:
    return np.array([row for row in rows if row >= 0], dtype=np.int64)
