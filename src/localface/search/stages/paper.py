"""The paper's two algorithms as printed, resolved only where they cannot run.

Kept for comparison. What differs from the printed version:

- argmax where a row is meant; the momentum's undefined cases are defined;
- the *chosen row* is retired, by id; a walk ends when no row is left;
- the counterfactual is always a candidate of Algorithm 2;
- a step with momentum keeps to the person's bounds, and discrete features take the row's values.

Nothing stops Algorithm 1 from leaping across a gap, and nothing joins consecutive vertices
of Algorithm 2: see "Reading the paper".
"""

from __future__ import annotations

import numpy as np

from localface.geometry.segments import norms
from localface.search.graph import LocalGraph
from localface.search.questions import Questions
from localface.search.trails import Edge, GraphPath
from localface.types import Array, Ids


def paper_walk_to_target(
    graph: LocalGraph, *, n_neighbors: int, momentum_steps: int
) -> Questions[int | None]:
    """Walk to the row with the best f / (1 + distance) until the score is reached: Eqs. 2 and 3."""
    walk = [0]
    retired: list[int] = []
    while not graph.is_goal(walk[-1]):
        around = yield from graph.reveal_rows_around(
            walk[-1], n_neighbors, exclude=_ids_of_rows(retired)
        )
        if not around:
            return None
        here = graph.points[walk[-1]]
        distances = norms(graph.points[around] - here)
        chosen = around[int(np.argmax(graph.appeal_of(around) / (1 + distances)))]
        retired.append(int(graph.ids[chosen]))
        if momentum_steps:
            ahead = _half_way_point(graph, walk, chosen, momentum_steps)
            walk.append((yield from graph.add_state_asking_score(ahead)))
        else:
            walk.append(chosen)
    return walk[-1]


def paper_walk_to_goal(graph: LocalGraph, *, n_neighbors: int) -> Questions[list[int]]:
    """Walk towards the goal by alignment times mean density, Eq. 4; the vertices in order."""
    assert graph.goal is not None
    walk = [0]
    retired: list[int] = []
    while walk[-1] != graph.goal:
        around = yield from graph.reveal_rows_around(
            walk[-1], n_neighbors, exclude=_ids_of_rows(retired)
        )
        if not around:
            return [*walk, graph.goal]
        candidates = [row for row in dict.fromkeys([*around, graph.goal]) if row != walk[-1]]
        log_means = yield from graph.log_mean_densities([(walk[-1], row) for row in candidates])
        aligned = _alignment_with_goal(graph, walk[-1], candidates)
        relative = np.exp(np.array(log_means) - max(log_means))
        chosen = candidates[int(np.argmax(aligned * relative))]
        retired.append(int(graph.ids[chosen]))
        walk.append(chosen)
    return walk


def paper_shortest_path(graph: LocalGraph, vertices: list[int]) -> Questions[GraphPath | None]:
    """Test each vertex against all earlier ones, weigh by Eq. 5, take the shortest path.

    The strict weight is length; the average weight is D * length, as printed.
    """
    pairs = [(vertices[i], vertices[j]) for j in range(len(vertices)) for i in range(j)]
    passes = yield from graph.are_traversable(pairs)
    edges = [pair for pair, passed in zip(pairs, passes, strict=True) if passed]
    weights = [graph.edge_length(*edge) for edge in edges]
    if graph.person.rule == "mean" and edges:
        log_means = yield from graph.log_mean_densities(edges)
        highest = max(log_means)
        weights = [
            length * float(np.exp(log_mean - highest))
            for length, log_mean in zip(weights, log_means, strict=True)
        ]
    return _shortest_path(edges, weights, vertices)


def _half_way_point(graph: LocalGraph, walk: list[int], chosen: int, momentum_steps: int) -> Array:
    """Half way to the chosen row with momentum, within the bounds, which are not the paper's."""
    person = graph.person
    here = graph.points[walk[-1]]
    back = min(momentum_steps, len(walk) - 1)
    momentum = np.zeros_like(here)
    if back:
        momentum = (here - graph.points[walk[-1 - back]]) / back
    ahead = here + (graph.points[chosen] - here + momentum) / 2
    inside = np.clip(ahead, person.bounds.lower, person.bounds.upper)
    return person.snap(np.where(person.discrete, graph.points[chosen], inside))


def _alignment_with_goal(graph: LocalGraph, here: int, candidates: list[int]) -> Array:
    """How well the steps to candidates point at the goal, from 0 to 1."""
    assert graph.goal is not None
    steps = graph.points[candidates] - graph.points[here]
    straight = graph.points[graph.goal] - graph.points[here]
    sizes = norms(steps) * float(norms(straight))
    cosines = (steps * straight).sum(axis=1) / np.where(sizes > 0, sizes, 1.0)
    return np.asarray((1 + cosines) / 2)


def _shortest_path(
    edges: list[Edge], weights: list[float], vertices: list[int]
) -> GraphPath | None:
    """The shortest path from the first vertex to the last, over edges that go both ways.

    Of paths that are equally short, each vertex is reached from the one nearest to the start,
    then from the one that comes first in ``vertices``, whatever the order SciPy works in.
    """
    from scipy.sparse import csr_array  # here, as it takes longer to import than all of localface
    from scipy.sparse.csgraph import dijkstra

    position = {vertex: i for i, vertex in enumerate(dict.fromkeys(vertices))}
    costs: dict[Edge, float] = {}
    for (a, b), weight in zip(edges, weights, strict=True):
        for edge in ((position[a], position[b]), (position[b], position[a])):
            costs[edge] = min(weight, costs.get(edge, np.inf))
    starts, ends = np.array(list(costs), dtype=np.int32).reshape(-1, 2).T
    matrix = csr_array((list(costs.values()), (starts, ends)), shape=(len(position),) * 2)
    spent = dijkstra(matrix, indices=0).tolist()
    end = position[vertices[-1]]
    if not np.isfinite(spent[end]):
        return None
    order = sorted(range(len(spent)), key=lambda i: (spent[i], i))
    path = [end]
    while path[-1] != 0:
        here = path[-1]
        ahead = [i for i in order if spent[i] + costs.get((i, here), np.inf) == spent[here]]
        path.append(next(i for i in ahead if i not in path))
    names = list(position)
    return GraphPath(tuple(names[i] for i in reversed(path)), spent[end])


def _ids_of_rows(ids: list[int]) -> Ids:
    """The ids of rows; states that are no rows have none."""
    return np.array([row for row in ids if row >= 0], dtype=np.int64)
