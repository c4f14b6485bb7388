"""Proposes the nearest row that reaches the target, as a single step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from localface.density.common_states import fit_common_states
from localface.density.protocol import Density
from localface.errors import DataError, InputError
from localface.evaluation.baselines.proposal import Proposal
from localface.evaluation.baselines.task import Query, Task
from localface.geometry.point_set import PointSet
from localface.geometry.segments import norms
from localface.types import Array, Ids

_BATCH = 16  # segments that are checked together


class NearestUnlike:
    """The nearest unlike neighbour: the nearest allowed row that reaches the target.

    Nearest in points, where one standard deviation is one unit wherever the rows are; of rows
    that are equally near, the first in canonical order. Nothing is said about the states in
    between.

    Example
    -------
    >>> from localface.cases.moons import two_moons
    >>> moons = two_moons(200)
    >>> NearestUnlike(Task.of(moons.model, moons.data)).explain(moons.person)
    <Proposal: found, 1 step>
    """

    def __init__(self, task: Task) -> None:
        self.task = task

    def explain(self, person: Any, *, where: Mapping[str, Any] | None = None) -> Proposal:
        """Propose the row to become, or say why there is none."""
        query = self.task.read_query(person, where)
        return self._propose_nearest_row(query, float(self.task.score(query.record[None, :])[0]))

    def explain_many(
        self, people: Any, *, where: Mapping[str, Any] | None = None
    ) -> list[Proposal]:
        """Answer many people, who are scored in one call."""
        queries = list(self.task.read_queries(people, where))
        scores = self.task.score(np.stack([query.record for query in queries]))
        return [
            self._propose_nearest_row(query, float(score))
            for query, score in zip(queries, scores, strict=True)
        ]

    def _propose_nearest_row(self, query: Query, score: float) -> Proposal:
        if score >= self.task.min_score:
            return self.task.propose(query, [])
        ids, distances = target_rows_by_distance(self.task, query)
        if not len(ids):
            return propose_no_row(self.task, query)
        return propose_row(self.task, query, int(ids[0]), float(distances[0]))


class StraightLine:
    """The nearest such row that is reached by a straight, traversable step.

    A step is traversable if no point on it is less common than ``min_density`` says, by
    the same certified rule as LocalFACE's own steps; see "How it works".

    Parameters
    ----------
    min_density : share of people whose own density may be lower than that of any point of the step
    max_tries : how many rows are tried, nearest first
    density : a fitted density to use instead of one fitted to the rows of the task
    """

    def __init__(
        self,
        task: Task,
        *,
        min_density: float = 0.05,
        max_tries: int = 200,
        density: Density | None = None,
    ) -> None:
        if not 0 <= min_density < 1:
            raise InputError(f"min_density={min_density!r}: a share from 0 to below 1 is wanted")
        if max_tries < 1:
            raise InputError(f"max_tries={max_tries!r}: a whole number of at least 1 is wanted")
        self.task = task
        self.min_density = min_density
        self.max_tries = max_tries
        self._given = density

    @cached_property
    def density(self) -> Density:
        """What says how common a point is; fitted when it is first needed."""
        return fit_default_density(self.task) if self._given is None else self._given

    def explain(self, person: Any, *, where: Mapping[str, Any] | None = None) -> Proposal:
        """Propose the row to walk to, or say why there is none."""
        task = self.task
        query = task.read_query(person, where)
        if task.score(query.record[None, :])[0] >= task.min_score:
            return task.propose(query, [])
        ids, distances = target_rows_by_distance(task, query)
        if not len(ids):
            return propose_no_row(task, query)
        log_floor = self.density.scale.quantile(self.min_density)
        start = query.point[None, :]
        if not self.density.lowest_along(start, start, log_floor).passes[0]:
            return task.propose_nothing(
                query,
                f"the person stands on less common ground than {self.min_density:.0%} of people",
            )
        tried = ids[: self.max_tries]
        for i, passes in enumerate(self._which_steps_pass_floor(query.point, tried, log_floor)):
            if passes:
                return propose_row(task, query, int(tried[i]), float(distances[i]))
        which = f"any of {len(ids)}"
        if len(tried) < len(ids):
            which = f"the {len(tried)} nearest of {len(ids)}"
        return task.propose_nothing(
            query, f"no traversable straight step leads to {which} rows that reach the target"
        )

    def _which_steps_pass_floor(self, start: Array, ids: Ids, log_floor: float) -> Iterator[bool]:
        for first in range(0, len(ids), _BATCH):
            ends = self.task.points[ids[first : first + _BATCH]]
            starts = np.broadcast_to(start, ends.shape)
            yield from self.density.lowest_along(starts, ends, log_floor).passes.tolist()


def target_rows_by_distance(task: Task, query: Query) -> tuple[Ids, Array]:
    """The allowed rows that reach the target, nearest first, with the distance of each."""
    allowed = query.bounds.contain(task.points) & task.keeps_relations(task.records)
    ids = np.flatnonzero(task.reaches_target & allowed)
    distances = norms(task.points[ids] - query.point)
    order = np.argsort(distances, kind="stable")
    return ids[order], distances[order]


def propose_row(task: Task, query: Query, row: int, cost: float) -> Proposal:
    """Propose to become a row in one step."""
    return task.propose(query, [task.records[row]], rows=[int(task.rows[row])], cost=cost)


def propose_no_row(task: Task, query: Query) -> Proposal:
    """Say that there is no row to become, and whether the constraints are why."""
    n = int(task.reaches_target.sum())
    if not n:
        return task.propose_nothing(query, "no row of the data reaches the target")
    return task.propose_nothing(
        query, f"none of the {n} rows that reach the target is one that this person may become"
    )


def fit_default_density(task: Task) -> Density:
    """Fit what LocalFACE holds steps to by default: kernels and pairs, on the rows of a task."""
    if len(task.points) < 2:
        raise DataError(
            "the data has 1 row: at least 2 different people are needed to say what is common"
        )
    return fit_common_states(PointSet(task.points), task.space)
