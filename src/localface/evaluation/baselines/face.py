"""FACE: the cheapest way over all rows to someone who has the outcome where people are common."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse.csgraph import dijkstra

from localface.density.protocol import FLOOR_TOLERANCE
from localface.errors import DataError, InputError, near_miss
from localface.evaluation.baselines.graphs import Commons, Graph, Prices, usual_radius
from localface.evaluation.baselines.proposal import Proposal
from localface.evaluation.baselines.task import Asked, Task
from localface.geometry.bounds import Bounds
from localface.geometry.point_set import PointSet
from localface.types import Array, Ids, Mask

GRAPHS = ("kde", "knn", "eps")
_REMEMBERED = 8  # boxes whose costs are kept for whoever comes next


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """What it costs to get from each row to the cheapest target, and the next row on the way."""

    costs: Array
    onward: Ids

    @classmethod
    def of(cls, graph: Graph, inside: Mask, targets: Ids, bounds: Bounds) -> Field:
        """Search once from all targets together, backwards, among the rows inside."""
        if not len(targets):
            return cls(np.full(len(inside), np.inf), np.full(len(inside), -1))
        links = graph.backwards(inside, bounds)
        costs, onward, _ = dijkstra(links, indices=targets, min_only=True, return_predecessors=True)
        return cls(costs, onward)

    def way(self, row: int) -> list[int]:
        """The rows from this one to the target."""
        rows = [row]
        while self.onward[rows[-1]] >= 0:
            rows.append(int(self.onward[rows[-1]]))
        return rows


class FACE:
    """Feasible and actionable counterfactual explanations (Poyiadzi et al. 2020), on sparse graphs.

    All rows are joined into one graph; see "FACE" in the documentation for the formulas. Whoever
    asks is joined as a row would be, and led along the cheapest path to a row that reaches the
    score and stands on common ground.

    Parameters
    ----------
    task : the table, the model, the schema and the score to reach
    graph : ``kde`` and ``eps`` join who is within ``eps``, ``knn`` joins the nearest; ``kde`` pays
        for the density in the middle of a step, the others for that which its length suggests
    n_neighbors : whom ``knn`` joins; otherwise how many an ordinary row has within ``eps``
    eps : how far a step may lead, in ordinary differences; by default as ``n_neighbors`` says
    min_density : targets stand on ground at least as common as this share of people's
    toll : what one unit of way costs where it is densest, above 0; each nat less costs 1 more
    densest : the share of steps that stays below the density that counts as the highest; with 1
        a single pair of people who nearly coincide sets the scale for all
    max_edges : how many steps ``kde`` and ``eps`` may hold; above it rows keep their nearest only,
        which ``graph.n_cut`` counts and the printed form says
    density_rows : how many rows, evenly spread, the density is summed over

    Example
    -------
    >>> from localface.cases.moons import two_moons
    >>> moons = two_moons(200)
    >>> face = FACE(Task.of(moons.model, moons.data), n_neighbors=10)
    >>> face.explain(moons.person)
    <Proposal: found, 5 steps>
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
        _check(
            task,
            graph,
            counts,
            {"eps": eps, "toll": toll, "min_density": min_density, "densest": densest},
        )
        self.task = task
        self.kind = graph
        self.min_density = min_density
        self.density_rows = density_rows
        crowd = PointSet(task.points)
        commons = Commons.of(crowd, task.space.discrete, most=density_rows)
        most, radius = n_neighbors, np.inf
        if graph != "knn":
            most = max(n_neighbors, max_edges // len(crowd))
            radius = usual_radius(crowd, n_neighbors) if eps is None else float(eps)
        prices = Prices(toll, commons if graph == "kde" else None)
        self.graph = Graph.of(crowd, prices, most=most, radius=radius, densest=densest)
        self._allowed = task.lawful(task.records)
        self._reaches = task.reaches & self._allowed
        self._goal = self._common(commons)
        self._fields: dict[bytes, Field] = {}

    @property
    def targets(self) -> Ids:
        """The rows of the table that reach the score and stand on common ground."""
        return np.asarray(self.task.rows[self._goal])

    def explain(self, person: Any, *, where: Mapping[str, Any] | None = None) -> Proposal:
        """Lead one person along the cheapest path, or say why there is none."""
        return self._answers([self.task.asked(person, where)])[0]

    def explain_many(
        self, people: Any, *, where: Mapping[str, Any] | None = None
    ) -> list[Proposal]:
        """Lead many people: one search for all whose limits come to the same, and the same answers as one by one."""
        return self._answers(list(self.task.asked_many(people, where)))

    def __repr__(self) -> str:
        graph = self.graph
        said = [f"{self.kind} graph of {len(graph.crowd):,} rows", f"{graph.n_edges:,} edges"]
        if graph.radius < np.inf:
            said.append(f"eps {graph.radius:.3g}")
        if graph.n_cut:
            said.append(f"{graph.n_cut:,} rows keep only their {graph.most:,} nearest within it")
        if self.density_rows < len(graph.crowd):
            said.append(f"density of {self.density_rows:,} of them")
        return f"<FACE: {', '.join(said)}, {int(self._goal.sum()):,} targets>"

    def _answers(self, everyone: list[Asked]) -> list[Proposal]:
        if not everyone:
            return []
        there = (
            self.task.score(np.stack([asked.record for asked in everyone])) >= self.task.min_score
        )
        shared = [_shared(asked) for asked in everyone]
        keys = [_key(bounds) for bounds in shared]
        answers: dict[int, Proposal] = {}
        for i in sorted(
            range(len(everyone)), key=lambda i: keys[i]
        ):  # who shares a box comes together
            if there[i]:
                answers[i] = self.task.proposed(everyone[i], (), cost=0.0)
            else:
                answers[i] = self._led(everyone[i], self._field(shared[i], keys[i]))
        return [answers[i] for i in range(len(everyone))]

    def _led(self, asked: Asked, field: Field) -> Proposal:
        """From the person to the row from which it is cheapest, and on from there."""
        ends, costs = self.graph.steps(asked.point, asked.bounds, self._allowed)
        total = costs + field.costs[ends]
        if not np.isfinite(total).any():
            return self.task.nothing(asked, self._missing(asked, len(ends)))
        best = int(total.argmin())
        way = field.way(int(ends[best]))
        states = [self.task.records[row] for row in way]
        return self.task.proposed(
            asked, states, rows=self.task.rows[way].tolist(), cost=float(total[best])
        )

    def _field(self, bounds: Bounds, key: bytes) -> Field:
        """The costs within a box, remembered for the next who shares it."""
        if key not in self._fields:
            inside = self._allowed & bounds.contain(self.task.points)
            found = Field.of(self.graph, inside, np.flatnonzero(inside & self._goal), bounds)
            while len(self._fields) >= _REMEMBERED:
                del self._fields[next(iter(self._fields))]
            self._fields[key] = found
        return self._fields[key]

    def _common(self, commons: Commons) -> Mask:
        """Which rows are targets: those that reach the score, on ground that is common enough."""
        goal = np.zeros(len(self.task.records), dtype=bool)
        rows = np.flatnonzero(self._reaches)
        floor = commons.kde.scale.quantile(self.min_density)
        goal[rows] = commons.levels(self.graph.crowd, rows) >= floor - FLOOR_TOLERANCE
        return goal

    def _missing(self, asked: Asked, n_steps: int) -> str:
        """Say why there is no path: the first thing that is missing."""
        inside = self._allowed & asked.bounds.contain(self.task.points)
        n, n_reach = int(inside.sum()), int((inside & self._reaches).sum())
        if not n:
            return "nobody stands within what this person may become"
        if not n_reach:
            return f"none of the {n:,} people whom this person may become reaches the score"
        if not (inside & self._goal).any():
            return (
                f"{n_reach:,} of the {n:,} people whom this person may become reach the score, but none of them "
                f"stands on ground more common than that of {self.min_density:.1%} of people"
            )
        if not n_steps:
            return "nobody is near enough to step to"
        return "no path leads from here to anyone who reaches the score on common ground"


def _shared(asked: Asked) -> Bounds:
    """What of a person's box is not already kept by going back on no one-way column.

    Every row on a way from the person lies ahead of them, so their own value need not be a
    limit as well: people whose limits are only one-way share one search.
    """
    own, point = asked.bounds, asked.point
    lower = np.where(own.up & (own.lower <= point), -np.inf, own.lower)
    upper = np.where(own.down & (own.upper >= point), np.inf, own.upper)
    return Bounds(lower, upper, own.up, own.down)


def _key(bounds: Bounds) -> bytes:
    return b"".join(
        array.tobytes()
        for array in (bounds.lower + 0.0, bounds.upper + 0.0, bounds.up, bounds.down)
    )


def _check(
    task: Task, graph: object, counts: Mapping[str, object], sizes: Mapping[str, object]
) -> None:
    """Refuse what no graph can be made of, every mistake at once."""
    if len(task.points) < 2:
        raise DataError(
            "the data has only one row, duplicates aside: at least 2 different people make a graph"
        )
    mistakes = list(_mistakes(graph, counts, sizes))
    if mistakes:
        raise InputError("; ".join(mistakes))


def _mistakes(
    graph: object, counts: Mapping[str, object], sizes: Mapping[str, object]
) -> Iterator[str]:
    if graph not in GRAPHS:
        yield f"graph={graph!r}: one of {', '.join(map(repr, GRAPHS))} is wanted{near_miss(graph, GRAPHS)}"
    for name, value in counts.items():
        least = 2 if name == "density_rows" else 1
        if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
            yield f"{name}={value!r}: a whole number of at least {least} is wanted"
    if not (sizes["eps"] is None or _between(sizes["eps"], 0, math.inf)):
        yield f"eps={sizes['eps']!r}: a positive number is wanted, or None to read it off the data"
    if not _between(sizes["toll"], 0, math.inf):
        yield f"toll={sizes['toll']!r}: a number above 0 is wanted, or going in circles would cost nothing"
    if not (sizes["min_density"] == 0 or _between(sizes["min_density"], 0, 1)):
        yield f"min_density={sizes['min_density']!r}: a share from 0 to below 1 is wanted"
    if not (sizes["densest"] == 1 or _between(sizes["densest"], 0, 1)):
        yield f"densest={sizes['densest']!r}: a share above 0, at most 1, is wanted"


def _between(value: object, low: float, high: float) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and low < float(value) < high
