"""What one search has learnt so far: the deliberate memory that its stages share.

Places are numbered as they become known: 0 is the factual, rows follow as they are
revealed, and so do off-data places. What is known already is never asked again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from localface.density.protocol import Hole, SegmentDensities
from localface.geometry.bounds import Bounds
from localface.geometry.segments import norms
from localface.search.person import Person
from localface.search.questions import (
    Asks,
    TargetCounts,
    ask_census,
    ask_density_along,
    ask_nearest,
    ask_point_scores,
    ask_row_scores,
)
from localface.types import NO_ROWS, Array, Ids, Mask

Step = tuple[int, int]


@dataclass(frozen=True, slots=True)
class GraphPath:
    """Places in order, and what going there costs."""

    vertices: tuple[int, ...]
    cost: float

    @property
    def steps(self) -> list[Step]:
        """The steps from place to place."""
        return list(zip(self.vertices[:-1], self.vertices[1:], strict=True))


class LocalGraph:
    """Known places, their scores, and which steps between them are traversable."""

    def __init__(self, person: Person, score: float) -> None:
        self.person = person
        self.points: Array = person.factual[None, :]
        self.scores: Array = np.array([score])
        self.ids: Ids = np.array([-1])
        self.goal: int | None = None
        self.cut = False
        self.counts: TargetCounts | None = None
        self.holes: list[Hole] = []
        self._vertices: dict[int, int] = {}
        self._verdicts: dict[Step, bool] = {}
        self._values: dict[Step, float] = {}
        self._log_density: float | None = None
        self._around: tuple[int, float] = (
            -1,
            0.0,
        )  # a place, and how far around it all allowed rows are known

    @property
    def vertices(self) -> list[int]:
        """All that is known, the factual apart."""
        return list(range(1, len(self.points)))

    @property
    def goals(self) -> list[int]:
        """Known places that count as arrived."""
        if self.goal is not None:
            return [self.goal]
        return (1 + np.flatnonzero(self.scores[1:] >= self.person.min_score)).tolist()

    def arrived(self, vertex: int) -> bool:
        """Tell whether a place is where the person wants to be."""
        return (
            bool(self.scores[vertex] >= self.person.min_score)
            if self.goal is None
            else vertex == self.goal
        )

    def appeal(self, vertices: Ids | list[int]) -> Array:
        """How promising places are, never negative: their score, or their nearness to a given goal."""
        if self.goal is not None:
            return np.asarray(1 / (1 + norms(self.points[vertices] - self.points[self.goal])))
        scores: Array = self.scores[vertices]
        if not self.person.signed:
            return scores
        missing = (
            self.person.min_score - self.scores[0]
        )  # > 0: halves with every such distance from the target
        return np.asarray(np.exp2(np.clip((scores - self.person.min_score) / missing, -500, 500)))

    def length(self, start: int, end: int) -> float:
        """How long the step is."""
        return float(norms(self.points[end] - self.points[start]))

    def path(self, vertices: tuple[int, ...]) -> GraphPath:
        """A way through places, at the price of its length."""
        return GraphPath(vertices, sum(self.length(a, b) for a, b in itertools.pairwise(vertices)))

    def nearby(self, vertex: int, k: int, *, exclude: Ids = NO_ROWS) -> Asks[list[int]]:
        """Look around from a place: the ``k`` nearest allowed rows, nearest first, each with its score."""
        bounds = self.person.bounds.seen_from(self.points[vertex])
        found = yield from self.reveal(self.points[vertex], k, bounds, exclude=exclude)
        if self._around[0] < 0 and len(exclude) == 0 and not self.cut:
            self._around = (vertex, self.length(vertex, found[-1]) if len(found) == k else np.inf)
        return found

    def knows_around(self, vertex: int, radius: float) -> bool:
        """Tell whether all allowed rows that are no further than ``radius`` from a place are known."""
        return vertex == self._around[0] and radius < self._around[1]

    def reveal(
        self,
        point: Array,
        k: int,
        bounds: Bounds,
        *,
        radius: float = np.inf,
        exclude: Ids = NO_ROWS,
    ) -> Asks[list[int]]:
        """Look around any point, at most ``radius`` far."""
        found = yield from ask_nearest(point, k, bounds, exclude, radius)
        self.cut = self.cut or found.cut
        fresh = [i for i, row in enumerate(found.ids.tolist()) if row not in self._vertices]
        if fresh:
            scores = yield from ask_row_scores(found.ids[fresh])
            first = self._add(found.points[fresh], scores, found.ids[fresh])
            self._vertices.update(
                zip(found.ids[fresh].tolist(), range(first, len(self.ids)), strict=True)
            )
        return [self._vertices[row] for row in found.ids.tolist()]

    def put(self, point: Array, score: float) -> int:
        """Add a place that is not a row."""
        return self._add(point[None, :], np.array([score]), np.array([-1]))

    def donors(self, vertex: int) -> Ids:
        """The row that a place is, for states that take over its values."""
        return NO_ROWS if self.ids[vertex] < 0 else self.ids[[vertex]]

    def log_density(self) -> Asks[float]:
        """How common the ground is that the person stands on; asked once."""
        if self._log_density is None:
            ground = yield from self.ground([(0, 0)], None, self.person.rule)
            self._log_density = float(ground.log_densities[0])
        return self._log_density

    def hopeful(self) -> Asks[bool]:
        """Tell whether there is anyone to become, without seeing them; asked once."""
        if self.goal is None and self.counts is None:
            self.counts = yield from ask_census(self.person.bounds)
        return self.counts is None or self.counts.targets > 0

    def scored(self, point: Array) -> Asks[int]:
        """Add a place that is not a row, asking for its score."""
        scores = yield from ask_point_scores(point[None, :])
        return self.put(point, float(scores[0]))

    def traversable(self, steps: Iterable[Step]) -> Asks[list[bool]]:
        """Tell which steps a person could take, asking only about those that are new.

        A step that is common on average must also begin and end on common ground; where
        the lowest place counts, that goes without saying.
        """
        wanted = list(steps)
        keys = [_key(step) for step in wanted if self.permitted(step)]
        if self.person.rule == "mean":
            keys += [(vertex, vertex) for key in keys for vertex in key]
        unknown = [key for key in dict.fromkeys(keys) if key not in self._verdicts]
        if unknown:
            ground = yield from self.ground(unknown, self.person.log_floor, self.person.rule)
            self._verdicts.update(zip(unknown, ground.passes.tolist(), strict=True))
            if self.person.rule == "lowest":
                self.holes.extend(hole for _, hole in ground.holes)
        return [self.permitted(step) and self._passes(_key(step)) for step in wanted]

    def ground(
        self, steps: list[Step], log_floor: float | None, rule: str
    ) -> Asks[SegmentDensities]:
        """Ask how common the ground is along steps."""
        starts, ends = np.array(steps, dtype=np.int64).reshape(-1, 2).T
        return (
            yield from ask_density_along(self.points[starts], self.points[ends], log_floor, rule)
        )

    def means(self, steps: list[Step]) -> Asks[list[float]]:
        """Log of the mean density along steps, asking only about those that are new."""
        unknown = [key for key in dict.fromkeys(map(_key, steps)) if key not in self._values]
        if unknown:
            ground = yield from self.ground(unknown, None, "mean")
            self._values.update(zip(unknown, ground.log_densities.tolist(), strict=True))
        return [self._values[_key(step)] for step in steps]

    def permitted(self, step: Step) -> bool:
        """The rules that need no question: one-way columns and the longest step."""
        start, end = self.points[step[0]], self.points[step[1]]
        return (
            bool(self.person.bounds.one_way(start, end))
            and float(norms(end - start)) <= self.person.max_step
        )

    def struck_out(self, vertices: list[int]) -> list[Step]:
        """Pairs, as positions in ``vertices``, of steps known not to be traversable."""
        at = {vertex: i for i, vertex in enumerate(vertices)}
        refused = [step for step, fine in self._verdicts.items() if not fine]
        return [(at[a], at[b]) for a, b in refused if a in at and b in at]

    def under(self, log_floor: float) -> LocalGraph:
        """The same knowledge under another floor: rows stay known, verdicts are asked again."""
        other = LocalGraph(replace(self.person, log_floor=log_floor), float(self.scores[0]))
        other.points, other.scores, other.ids = self.points, self.scores, self.ids
        other.goal, other.cut, other.counts, other._vertices = (
            self.goal,
            self.cut,
            self.counts,
            dict(self._vertices),
        )
        other._values, other._log_density, other._around = (
            dict(self._values),
            self._log_density,
            self._around,
        )
        return other

    def towards(self, goal: int) -> LocalGraph:
        """The same knowledge with one place to go to."""
        other = self.fixing(self.person.fixed)
        other.goal = goal
        return other

    def fixing(self, fixed: Mask | None) -> LocalGraph:
        """The same knowledge for someone whose actions leave some columns as they are."""
        other = self.under(self.person.log_floor)
        other.person = replace(self.person, fixed=fixed)
        other.holes, other._verdicts = list(self.holes), dict(self._verdicts)
        return other

    def _passes(self, key: Step) -> bool:
        if self.person.rule == "lowest":
            return self._verdicts[key]
        return (
            self._verdicts[key]
            and self._verdicts[key[0], key[0]]
            and self._verdicts[key[1], key[1]]
        )

    def _add(self, points: Array, scores: Array, rows: Ids) -> int:
        """Add places, and return the number of the first."""
        first = len(self.ids)
        self.points = np.concatenate([self.points, points])
        self.scores = np.concatenate([self.scores, scores])
        self.ids = np.concatenate([self.ids, rows])
        return first


def _key(step: Step) -> Step:
    """Ground is the same in both directions."""
    return step if step[0] <= step[1] else (step[1], step[0])
