"""What one search knows so far: its vertices, their scores, which edges can be traversed.

Vertices are numbered as they become known: 0 is the factual, rows follow as they are
revealed, and so do states that are no rows. What is known already is never asked again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from copy import copy
from dataclasses import replace

import numpy as np

from localface.density.protocol import Hole, SegmentDensities
from localface.geometry.bounds import Bounds
from localface.geometry.segments import norms
from localface.search.known_states import KnownStates
from localface.search.person import Person
from localface.search.questions import (
    Questions,
    TargetCounts,
    ask_density_along,
    ask_nearest_rows,
    ask_nearest_to_each,
    ask_point_scores,
    ask_scores_of_states,
    ask_target_counts,
)
from localface.search.revealed import rows_not_known
from localface.search.trails import Edge, GraphPath, Trail, edges_among, undirected_key
from localface.sources.protocol import Nearest, Neighbors
from localface.types import NO_ROWS, Array, Ids, Mask


class LocalGraph:
    """The known vertices, their scores, and which edges between them are traversable.

    With a ``goal``, that one vertex is where the search must end; without one, any vertex
    that reaches the target score will do. ``cut`` says that the row budget withheld rows,
    ``out_of_time`` that time was up while an answer was made better: it is what there is.
    """

    def __init__(self, person: Person, score: float) -> None:
        self.person = person
        self.points: Array = person.factual[None, :]
        self.scores: Array = np.array([score])
        self.ids: Ids = np.array([-1])  # the row that a vertex is; -1 for a state that is none
        self.donors: Ids = np.array([-1])  # the row that a vertex was taken from; -1 without one
        self.breaks_relation: Mask = np.array([False])  # vertices that no step may lead to
        self.goal: int | None = None
        self.cut = False
        self.out_of_time = False
        self.counts: TargetCounts | None = None
        self.holes: list[Hole] = []
        self.below_floor: set[int] = set()  # vertices known to be: no step can be taken there
        self._vertex_of_row: dict[int, int] = {}
        self._around: dict[tuple[int, int], list[int]] = {}  # the k rows nearest to a vertex
        self.row_densities: dict[int, float] = {}  # of vertices that are rows, as far as known
        self.states = KnownStates(person.factual, score, rule=person.rule)
        self._verdicts: dict[Edge, bool] = {}
        self._log_means: dict[Edge, float] = {}
        self._factual_log_density: float | None = None
        # A vertex, and the radius around it within which all allowed rows are known.
        self._known_around: tuple[int, float] = (-1, 0.0)

    @property
    def goals(self) -> list[int]:
        """Known vertices at which the search may end."""
        if self.goal is not None:
            return [self.goal]
        return self.are_goals.nonzero()[0].tolist()

    @property
    def are_goals(self) -> Mask:
        """Which of all vertices the search may end at; never the factual, unless it is given."""
        if self.goal is not None:
            return np.asarray(np.arange(len(self.scores)) == self.goal)
        found = (self.scores >= self.person.min_score) & ~self.breaks_relation
        found[0] = False
        return found

    def is_goal(self, vertex: int) -> bool:
        """Tell whether the search may end at a vertex."""
        if self.goal is not None:
            return vertex == self.goal
        return bool(self.scores[vertex] >= self.person.min_score)

    def appeal_of(self, vertices: Ids | list[int]) -> Array:
        """How promising vertices are, never negative: their score, or nearness to a given goal."""
        if self.goal is not None:
            return np.asarray(1 / (1 + norms(self.points[vertices] - self.points[self.goal])))
        scores: Array = self.scores[vertices]
        if not self.person.signed:
            return scores
        # Positive; the appeal halves with every such distance from the target score.
        missing = self.person.min_score - self.scores[0]
        return np.asarray(np.exp2(np.clip((scores - self.person.min_score) / missing, -500, 500)))

    def edge_length(self, start: int, end: int) -> float:
        """How long an edge is."""
        return float(norms(self.points[end] - self.points[start]))

    def path_through(self, vertices: Trail) -> GraphPath:
        """The path through some vertices, at the cost of its length."""
        return GraphPath(
            vertices, sum(self.edge_length(a, b) for a, b in itertools.pairwise(vertices))
        )

    def reveal_rows_around(
        self, vertex: int, k: int, *, exclude: Ids = NO_ROWS
    ) -> Questions[list[int]]:
        """The ``k`` allowed rows nearest to a vertex, nearest first, asking for them once."""
        found = self._around.get((vertex, k)) if len(exclude) == 0 else None
        if found is None:
            bounds = self.person.bounds.reachable_from(self.points[vertex])
            found = yield from self.reveal_rows_near(
                self.points[vertex], k, bounds, exclude=exclude
            )
        if self.cut or len(exclude):
            return found
        self._around[vertex, k] = found
        if self._known_around[0] < 0:
            radius = self.edge_length(vertex, found[-1]) if len(found) == k else np.inf
            self._known_around = (vertex, radius)
        return found

    def knows_all_rows_around(self, vertex: int, radius: float) -> bool:
        """Tell whether all allowed rows within ``radius`` of a vertex are known."""
        return vertex == self._known_around[0] and radius < self._known_around[1]

    def reveal_rows_near(
        self,
        point: Array,
        k: int,
        bounds: Bounds,
        *,
        radius: float = np.inf,
        exclude: Ids = NO_ROWS,
    ) -> Questions[list[int]]:
        """Ask for the ``k`` nearest rows to any point, at most ``radius`` away."""
        found = yield from ask_nearest_rows(
            point, k, bounds, exclude, radius=radius, projection=self.person.limiting_projection
        )
        return (yield from self._take_in([found]))[0]

    def reveal_rows_around_each(self, vertices: list[int], k: int) -> Questions[list[list[int]]]:
        """The ``k`` allowed rows nearest to each of some vertices, in one question, asked once."""
        if len(vertices) == 1:
            return [(yield from self.reveal_rows_around(vertices[0], k))]
        unknown = [vertex for vertex in vertices if (vertex, k) not in self._around]
        allowed = self.person.bounds.reachable_from
        taken = self.person.limiting_projection
        questions = tuple(
            Nearest(one, k, allowed(one), NO_ROWS, projection=taken) for one in self.points[unknown]
        )
        around: dict[int, list[int]] = {}
        if unknown:
            found = yield from self._take_in((yield from ask_nearest_to_each(questions)))
            around = dict(zip(unknown, found, strict=True))
        if not self.cut:
            self._around.update(((vertex, k), some) for vertex, some in around.items())
        return [
            around[vertex] if vertex in around else self._around[vertex, k] for vertex in vertices
        ]

    def _take_in(self, found: list[Neighbors]) -> Questions[list[list[int]]]:
        """Make vertices of rows that are new, with their scores; returns the vertices of all."""
        self.cut = self.cut or any(one.cut for one in found)
        rows, points, moved = rows_not_known(found, self._vertex_of_row)
        if len(rows):
            scores = yield from ask_scores_of_states(rows, points, moved)
            first = self._add_vertices(points, scores, np.where(moved, -1, rows), rows)
            if moved.any():  # a mix of two records may break what both of them keep
                broken = ~self.person.keeps_relations(points[moved])
                self.breaks_relation[first + np.flatnonzero(moved)] = broken
            self._vertex_of_row.update(zip(rows.tolist(), range(first, len(self.ids)), strict=True))
        return [[self._vertex_of_row[row] for row in one.ids.tolist()] for one in found]

    def add_state(self, point: Array, score: float, donor: int = -1) -> int:
        """Add a vertex that is not a row, but may be taken from one."""
        none = np.array([-1])
        return self._add_vertices(point[None, :], np.array([score]), none, np.array([donor]))

    def add_state_asking_score(self, point: Array) -> Questions[int]:
        """Add a vertex that is not a row, asking for its score."""
        scores = yield from ask_point_scores(point[None, :])
        return self.add_state(point, float(scores[0]))

    def rows_of(self, vertices: list[int]) -> Ids:
        """The rows that some vertices come from, for states that take over their values."""
        rows = self.donors[vertices]
        return np.asarray(rows[rows >= 0])

    def factual_log_density(self) -> Questions[float]:
        """The log-density at the person's own state; asked once."""
        if self._factual_log_density is None:
            found = yield from self.densities_along([(0, 0)], None, self.person.rule)
            self._factual_log_density = float(found.log_densities[0])
        return self._factual_log_density

    def has_targets(self) -> Questions[bool]:
        """Tell whether any allowed row or state reaches the target, revealing none; asked once."""
        if self.goal is None and self.counts is None:
            self.counts = yield from ask_target_counts(
                self.person.bounds,
                projection=self.person.limiting_projection,
                keeps_relations=self.person.keeps_relations,
                point=self.person.factual,
            )
        return self.counts is None or self.counts.targets > 0

    def may_have_targets(self) -> Questions[bool]:
        """Tell whether a target may be found; states of one person are too dear to be counted."""
        if self.person.limiting_projection is not None:
            return True
        return (yield from self.has_targets())

    def are_traversable(self, edges: Iterable[Edge]) -> Questions[list[bool]]:
        """Tell which edges a person could take, asking only about those that are new.

        An edge whose mean density reaches the floor must also begin and end above it; where
        the lowest density counts, that goes without saying.
        """
        wanted = list(edges)
        if len(wanted) == 1:
            permitted = [self.is_permitted(wanted[0])]
        else:
            permitted = self.are_permitted([a for a, _ in wanted], [b for _, b in wanted]).tolist()
        some = [edge for edge, fine in zip(wanted, permitted, strict=True) if fine]
        passes = iter((yield from self.have_floor(some)))
        return [fine and next(passes) for fine in permitted]

    def have_floor(self, edges: list[Edge]) -> Questions[list[bool]]:
        """Tell which edges keep the floor, of those that are permitted."""
        wanted = [undirected_key(edge) for edge in edges]
        keys = wanted
        if self.below_floor:
            low = (key for key in keys if not self.below_floor.isdisjoint(key))
            self._verdicts.update(dict.fromkeys(low, False))
        if self.person.rule == "mean":
            keys = keys + [(vertex, vertex) for key in keys for vertex in key]
        unknown = [key for key in dict.fromkeys(keys) if key not in self._verdicts]
        if unknown:
            found = yield from self.densities_along(
                unknown, self.person.log_floor, self.person.rule
            )
            self._verdicts.update(zip(unknown, found.passes.tolist(), strict=True))
            if self.person.rule == "lowest":
                self.holes.extend(hole for _, hole in found.holes)
        return [self._edge_passes(key) for key in wanted]

    def knows_edge(self, edge: Edge) -> bool:
        """Tell whether it is known already if a person could take an edge."""
        return undirected_key(edge) in self._verdicts

    def densities_along(
        self, edges: list[Edge], log_floor: float | None, rule: str
    ) -> Questions[SegmentDensities]:
        """Ask for the log-density along edges; with a floor, only whether each reaches it."""
        points = self.points
        starts, ends = np.array(edges, dtype=np.int64).reshape(-1, 2).T
        return (yield from ask_density_along(points[starts], points[ends], log_floor, rule))

    def log_mean_densities(self, edges: list[Edge]) -> Questions[list[float]]:
        """Log of the mean density along edges, asking only about those that are new."""
        keys = [undirected_key(edge) for edge in edges]
        unknown = [key for key in dict.fromkeys(keys) if key not in self._log_means]
        if unknown:
            found = yield from self.densities_along(unknown, None, "mean")
            self._log_means.update(zip(unknown, found.log_densities.tolist(), strict=True))
        return [self._log_means[key] for key in keys]

    def is_permitted(self, edge: Edge) -> bool:
        """Check the rules that need no question, for one edge."""
        start, end = edge
        if self.breaks_relation[end]:
            return False
        if not self.person.bounds.may_step(self.points[start], self.points[end]):
            return False
        return self.person.max_step == np.inf or self.edge_length(*edge) <= self.person.max_step

    def are_permitted(self, starts: int | list[int], ends: list[int]) -> Mask:
        """Check the rules that need no question: relations, one-way columns, the longest step."""
        fine = ~self.breaks_relation[ends]
        bounds = self.person.bounds
        if bounds.limit_steps:
            fine &= bounds.respects_one_way(self.points[starts], self.points[ends])
        if self.person.max_step < np.inf:
            fine &= norms(self.points[ends] - self.points[starts]) <= self.person.max_step
        return np.asarray(fine)

    @property
    def permits_all(self) -> bool:
        """Whether the rules that need no question refuse no edge at all."""
        person = self.person
        limited = person.bounds.limit_steps or person.max_step < np.inf
        return not limited and not bool(self.breaks_relation.any())

    def known_edges(self, vertices: list[int]) -> tuple[Ids, Mask]:
        """Edges that were asked about, as positions in ``vertices``, and which had the floor."""
        return edges_among(self._verdicts, vertices, len(self.ids))

    def with_floor(self, log_floor: float) -> LocalGraph:
        """The same knowledge under another floor: rows stay known, verdicts are asked again."""
        other = copy(self)
        other.person = replace(self.person, log_floor=log_floor)
        other.breaks_relation = self.breaks_relation.copy()
        other.holes = []
        other.below_floor = set()
        other._vertex_of_row = dict(self._vertex_of_row)
        other._around = dict(self._around)
        other.row_densities = dict(self.row_densities)
        other._verdicts = {}
        other._log_means = dict(self._log_means)
        return other

    def with_lowest_on_the_way(self, log_density: float) -> LocalGraph:
        """The same knowledge for someone whose actions may fall below the floor on the way."""
        other = self.with_fixed_columns(self.person.fixed)
        other.person = replace(self.person, lowest_on_the_way=log_density)
        return other

    def with_fixed_columns(self, fixed: Mask | None) -> LocalGraph:
        """The same knowledge for someone whose actions leave some columns as they are."""
        other = self.with_floor(self.person.log_floor)
        other.person = replace(self.person, fixed=fixed)
        other.holes = list(self.holes)
        other._verdicts = dict(self._verdicts)
        return other

    def _edge_passes(self, key: Edge) -> bool:
        if self.person.rule == "lowest":
            return self._verdicts[key]
        ends = self._verdicts[key[0], key[0]] and self._verdicts[key[1], key[1]]
        return self._verdicts[key] and ends

    def _add_vertices(self, points: Array, scores: Array, rows: Ids, donors: Ids) -> int:
        """Add vertices, and return the number of the first."""
        first = len(self.ids)
        self.points = np.concatenate([self.points, points])
        self.scores = np.concatenate([self.scores, scores])
        self.ids = np.concatenate([self.ids, rows])
        self.donors = np.concatenate([self.donors, donors])
        none = np.zeros(len(points), dtype=bool)
        self.breaks_relation = np.concatenate([self.breaks_relation, none])
        return first
