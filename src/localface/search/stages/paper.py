"""The paper's Algorithms 1 and 2 as printed, resolved only where they cannot run.

Kept for comparison. What is mended, and nothing else: argmax where a row is meant;
the momentum's undefined cases; the *chosen row* is retired, by id; the counterfactual
is always a candidate of Algorithm 2; a walk ends when no row is left. Nothing stops
Algorithm 1 from leaping across a gap, and nothing joins consecutive vertices of
Algorithm 2: see "Reading the paper".
"""

from __future__ import annotations

import numpy as np

from localface.geometry.segments import Array, norms
from localface.search.questions import Asks, Ids
from localface.search.state import Atlas, Step, Way


def algorithm_1(atlas: Atlas, *, n_neighbors: int, momentum_steps: int) -> Asks[int | None]:
    """Walk to the row with the best f / (1 + distance) until the score is reached: Eqs. 2 and 3."""
    walk, retired = [0], list[int]()
    while not atlas.arrived(walk[-1]):
        around = yield from atlas.nearby(walk[-1], n_neighbors, exclude=_ids(retired))
        if not around:
            return None
        here = atlas.points[walk[-1]]
        distances = norms(atlas.points[around] - here)
        chosen = around[int(np.argmax(atlas.appeal(around) / (1 + distances)))]
        retired.append(int(atlas.ids[chosen]))
        if momentum_steps:
            ahead = _half_way(atlas, walk, chosen, momentum_steps)
            walk.append((yield from atlas.scored(ahead)))
        else:
            walk.append(chosen)
    return walk[-1]


def algorithm_2(atlas: Atlas, *, n_neighbors: int) -> Asks[list[int]]:
    """Walk towards the goal by alignment times mean density: Eq. 4. Returns the vertices in order."""
    assert atlas.goal is not None
    walk, retired = [0], list[int]()
    while walk[-1] != atlas.goal:
        around = yield from atlas.nearby(walk[-1], n_neighbors, exclude=_ids(retired))
        if not around:
            return [*walk, atlas.goal]
        candidates = [row for row in dict.fromkeys([*around, atlas.goal]) if row != walk[-1]]
        means = yield from atlas.means([(walk[-1], row) for row in candidates])
        aligned = _alignment(atlas, walk[-1], candidates)
        chosen = candidates[int(np.argmax(aligned * np.exp(np.array(means) - max(means))))]
        retired.append(int(atlas.ids[chosen]))
        walk.append(chosen)
    return walk


def printed_graph(atlas: Atlas, vertices: list[int]) -> Asks[Way | None]:
    """Test each vertex against all earlier ones, weigh by Eq. 5, and take Dijkstra's way to the last.

    The strict weight is length; the average weight is D * length, as printed.
    """
    pairs = [(vertices[i], vertices[j]) for j in range(len(vertices)) for i in range(j)]
    passes = yield from atlas.traversable(pairs)
    edges = [pair for pair, fine in zip(pairs, passes, strict=True) if fine]
    weights = [atlas.length(*edge) for edge in edges]
    if atlas.person.rule == "mean" and edges:
        means = yield from atlas.means(edges)
        weights = [length * float(np.exp(mean - max(means))) for length, mean in zip(weights, means, strict=True)]
    return _dijkstra(edges, weights, vertices)


def _half_way(atlas: Atlas, walk: list[int], chosen: int, momentum_steps: int) -> Array:
    here = atlas.points[walk[-1]]
    back = min(momentum_steps, len(walk) - 1)
    momentum = (here - atlas.points[walk[-1 - back]]) / back if back else np.zeros_like(here)
    ahead = here + (atlas.points[chosen] - here + momentum) / 2
    ahead = np.clip(
        ahead, atlas.person.bounds.lower, atlas.person.bounds.upper
    )  # constraints are not the paper's to break
    return atlas.person.settle(np.where(atlas.person.discrete, atlas.points[chosen], ahead))


def _alignment(atlas: Atlas, here: int, candidates: list[int]) -> Array:
    assert atlas.goal is not None
    steps = atlas.points[candidates] - atlas.points[here]
    straight = atlas.points[atlas.goal] - atlas.points[here]
    sizes = norms(steps) * float(norms(straight))
    cosines = (steps * straight).sum(axis=1) / np.where(sizes > 0, sizes, 1.0)
    return np.asarray((1 + cosines) / 2)


def _dijkstra(edges: list[Step], weights: list[float], vertices: list[int]) -> Way | None:
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
    names, way = list(at), [end]
    while way[-1] != 0:
        way.append(parent[way[-1]])
    return Way(tuple(names[i] for i in reversed(way)), float(spent[end]))


def _ids(rows: list[int]) -> Ids:
    return np.array([row for row in rows if row >= 0], dtype=np.int64)
