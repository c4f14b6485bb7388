"""FACE: the cheapest path over all rows to a target row in a dense region."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse.csgraph import dijkstra

from localface.density.protocol import FLOOR_TOLERANCE
from localface.errors import DataError, InputError, did_you_mean
from localface.evaluation.baselines.face_density import FaceDensity
from localface.evaluation.baselines.neighbor_graph import EdgeCosts, NeighborGraph
from localface.evaluation.baselines.neighbor_lists import typical_radius
from localface.evaluation.baselines.proposal import Proposal
from localface.evaluation.baselines.task import Query, Task
from localface.geometry.bounds import Bounds
from localface.geometry.point_set import PointSet
from localface.types import Array, Ids, Mask

GRAPHS = ("kde", "knn", "eps")
_REMEMBERED = 8  # boxes whose costs are kept for the next person


@dataclass(frozen=True, slots=True, eq=False)
class CostToTarget:
    """The cost from each row to its cheapest target, with the next row on the path there."""

    costs: Array
    next_rows: Ids

    @classmethod
    def search_backwards(
        cls, graph: NeighborGraph, inside: Mask, targets: Ids, bounds: Bounds
    ) -> CostToTarget:
        """Search once from all targets together, backwards, among the rows inside."""
        if not len(targets):
            return cls(np.full(len(inside), np.inf), np.full(len(inside), -1))
        links = graph.reversed_links(inside, bounds)
        costs, next_rows, _ = dijkstra(
            links, indices=targets, min_only=True, return_predecessors=True
        )
        return cls(costs, next_rows)

    def path_from(self, row: int) -> list[int]:
        """The rows from this one to the target."""
        rows = [row]
        while self.next_rows[rows[-1]] >= 0:
            rows.append(int(self.next_rows[rows[-1]]))
        return rows


class FACE:
    """Feasible and actionable counterfactual explanations (Poyiadzi et al. 2020), on sparse graphs.

    All rows are joined into one graph; see "FACE" in the documentation for the formulas. A
    person is joined as a row would be, and gets the cheapest path to a row that reaches the
    score where the density is high enough.

    Parameters
    ----------
    task : the table, the model, the schema and the score to reach
    graph : ``kde`` and ``eps`` join rows within ``eps``, ``knn`` joins the nearest; ``kde`` uses
        the density in the middle of a step, the others an estimate from its length
    n_neighbors : how many ``knn`` joins; otherwise how many a typical row has within ``eps``
    eps : how long a step may be, in points; by default as ``n_neighbors`` says
    min_density : the density at targets is at least that at this share of people
    toll : what one unit of length costs where it is densest, above 0; each nat less costs 1 more
    densest : the share of steps that is below the density that counts as the highest; with 1
        a single pair of people who nearly coincide sets the scale for all
    max_edges : how many edges ``kde`` and ``eps`` may have; above it rows keep their nearest only,
        which ``graph.n_cut`` counts and the printed form says
    density_rows : how many rows, evenly spaced, the density is summed over

    Example
    -------
    >>> from localface.cases.moons import two_moons
    >>> moons = two_moons(200)
    >>> face = FACE(Task.of(moons.model, moons.data), n_neighbors=10)
    >>> face.explain(moons.person)
    <Proposal: found, 3 steps>
    """

    def __init__(
        self,
        task: Task,
        *,
        graph: str = "kde",
        n_neighbors: int = 50,
        eps: float | None = None,
        min_density: float = 0.05,
        toll: float = 1.0,
        densest: float = 0.99,
        max_edges: int = 5_000_000,
        density_rows: int = 5_000,
    ) -> None:
        counts = {"n_neighbors": n_neighbors, "max_edges": max_edges, "density_rows": density_rows}
        sizes = {"eps": eps, "toll": toll, "min_density": min_density, "densest": densest}
        _check_options(task, graph, counts, sizes)
        self.task = task
        self.kind = graph
        self.min_density = min_density
        self.density_rows = density_rows
        points = PointSet(task.points)
        density = FaceDensity.fit(points, task.space.discrete, most=density_rows)
        most = n_neighbors
        radius = np.inf
        if graph != "knn":
            most = max(n_neighbors, max_edges // len(points))
            radius = typical_radius(points, n_neighbors) if eps is None else float(eps)
        edge_costs = EdgeCosts(toll, density if graph == "kde" else None)
        self.graph = NeighborGraph.build(
            points, edge_costs, most=most, radius=radius, densest=densest
        )
        self._allowed = task.keeps_relations(task.records)
        self._reaches = task.reaches_target & self._allowed
        self._goal = self._find_dense_targets(density)
        self._costs_by_box: dict[bytes, CostToTarget] = {}

    @property
    def targets(self) -> Ids:
        """The rows of the table that reach the score where the density is high enough."""
        return np.asarray(self.task.rows[self._goal])

    def explain(self, person: Any, *, where: Mapping[str, Any] | None = None) -> Proposal:
        """Propose the cheapest path for one person, or say why there is none."""
        return self._propose_to_all([self.task.read_query(person, where)])[0]

    def explain_many(
        self, people: Any, *, where: Mapping[str, Any] | None = None
    ) -> list[Proposal]:
        """Answer many people, with one search for all whose limits come to the same.

        The answers are the same as one by one.
        """
        return self._propose_to_all(list(self.task.read_queries(people, where)))

    def __repr__(self) -> str:
        graph = self.graph
        said = [f"{self.kind} graph of {len(graph.points):,} rows", f"{graph.n_edges:,} edges"]
        if graph.radius < np.inf:
            said.append(f"eps {graph.radius:.3g}")
        if graph.n_cut:
            said.append(f"{graph.n_cut:,} rows keep only their {graph.most:,} nearest within it")
        if self.density_rows < len(graph.points):
            said.append(f"density of {self.density_rows:,} of them")
        return f"<FACE: {', '.join(said)}, {int(self._goal.sum()):,} targets>"

    def _propose_to_all(self, queries: list[Query]) -> list[Proposal]:
        if not queries:
            return []
        scores = self.task.score(np.stack([query.record for query in queries]))
        already_there = scores >= self.task.min_score
        shared = [_shared_bounds(query) for query in queries]
        keys = [_bounds_as_bytes(bounds) for bounds in shared]
        answers: dict[int, Proposal] = {}
        # people who share a box come one after the other
        for i in sorted(range(len(queries)), key=lambda i: keys[i]):
            if already_there[i]:
                answers[i] = self.task.propose(queries[i], (), cost=0.0)
            else:
                answers[i] = self._propose_cheapest_path(
                    queries[i], self._costs_within_bounds(shared[i], keys[i])
                )
        return [answers[i] for i in range(len(queries))]

    def _propose_cheapest_path(self, query: Query, to_target: CostToTarget) -> Proposal:
        """From the person to the row from which it is cheapest, and on from there."""
        ends, costs = self.graph.steps_from(query.point, query.bounds, self._allowed)
        total = costs + to_target.costs[ends]
        if not np.isfinite(total).any():
            return self.task.propose_nothing(query, self._why_no_path(query, len(ends)))
        best = int(total.argmin())
        path = to_target.path_from(int(ends[best]))
        states = [self.task.records[row] for row in path]
        return self.task.propose(
            query, states, rows=self.task.rows[path].tolist(), cost=float(total[best])
        )

    def _costs_within_bounds(self, bounds: Bounds, key: bytes) -> CostToTarget:
        """The costs within a box, remembered for the next person who shares it."""
        if key not in self._costs_by_box:
            inside = self._allowed & bounds.contain(self.task.points)
            targets = np.flatnonzero(inside & self._goal)
            found = CostToTarget.search_backwards(self.graph, inside, targets, bounds)
            while len(self._costs_by_box) >= _REMEMBERED:
                del self._costs_by_box[next(iter(self._costs_by_box))]
            self._costs_by_box[key] = found
        return self._costs_by_box[key]

    def _find_dense_targets(self, density: FaceDensity) -> Mask:
        """Which rows are targets: those that reach the score where the density is high enough."""
        goal = np.zeros(len(self.task.records), dtype=bool)
        rows = np.flatnonzero(self._reaches)
        log_floor = density.kde.scale.quantile(self.min_density)
        goal[rows] = (
            density.leave_one_out_log_densities(self.graph.points, rows)
            >= log_floor - FLOOR_TOLERANCE
        )
        return goal

    def _why_no_path(self, query: Query, n_steps: int) -> str:
        """Say why there is no path: the first thing that is missing."""
        inside = self._allowed & query.bounds.contain(self.task.points)
        n = int(inside.sum())
        n_reach = int((inside & self._reaches).sum())
        if not n:
            return "no row lies within what this person may change"
        if not n_reach:
            return f"none of the {n:,} people whom this person may become reaches the score"
        if not (inside & self._goal).any():
            return (
                f"{n_reach:,} of the {n:,} people whom this person may become reach the score, "
                f"but the density at none of them is above that at {self.min_density:.1%} of people"
            )
        if not n_steps:
            return "nobody is near enough to step to"
        return "no path leads from here to anyone who reaches the score where people are dense"


def _shared_bounds(query: Query) -> Bounds:
    """The limits of a person that one-way columns do not already imply.

    Every row on a path from the person lies ahead of them, so their own value need not be a
    limit as well: people whose limits are only one-way share one search.
    """
    own = query.bounds
    point = query.point
    lower = np.where(own.up & (own.lower <= point), -np.inf, own.lower)
    upper = np.where(own.down & (own.upper >= point), np.inf, own.upper)
    return Bounds(lower, upper, own.up, own.down)


def _bounds_as_bytes(bounds: Bounds) -> bytes:
    return b"".join(
        array.tobytes()
        for array in (bounds.lower + 0.0, bounds.upper + 0.0, bounds.up, bounds.down)
    )


def _check_options(
    task: Task, graph: object, counts: Mapping[str, object], sizes: Mapping[str, object]
) -> None:
    """Refuse options that no graph can be made with, naming every mistake."""
    if len(task.points) < 2:
        raise DataError(
            "the data has only one row, duplicates aside: at least 2 different people make a graph"
        )
    mistakes = list(_find_option_mistakes(graph, counts, sizes))
    if mistakes:
        raise InputError("; ".join(mistakes))


def _find_option_mistakes(
    graph: object, counts: Mapping[str, object], sizes: Mapping[str, object]
) -> Iterator[str]:
    if graph not in GRAPHS:
        known = ", ".join(map(repr, GRAPHS))
        yield f"graph={graph!r}: one of {known} is wanted{did_you_mean(graph, GRAPHS)}"
    for name, value in counts.items():
        least = 2 if name == "density_rows" else 1
        if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
            yield f"{name}={value!r}: a whole number of at least {least} is wanted"
    if not (sizes["eps"] is None or _is_number_between(sizes["eps"], 0, math.inf)):
        yield f"eps={sizes['eps']!r}: a positive number is wanted, or None to read it off the data"
    if not _is_number_between(sizes["toll"], 0, math.inf):
        yield (
            f"toll={sizes['toll']!r}: a number above 0 is wanted, "
            "or going in circles would cost nothing"
        )
    if not (sizes["min_density"] == 0 or _is_number_between(sizes["min_density"], 0, 1)):
        yield f"min_density={sizes['min_density']!r}: a share from 0 to below 1 is wanted"
    if not (sizes["densest"] == 1 or _is_number_between(sizes["densest"], 0, 1)):
        yield f"densest={sizes['densest']!r}: a share above 0, at most 1, is wanted"


def _is_number_between(value: object, low: float, high: float) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and low < float(value) < high
