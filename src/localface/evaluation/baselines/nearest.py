"""The plain ones: become the nearest person who has the outcome, in one jump."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from localface.density.fit import fit_kde
from localface.density.protocol import Density
from localface.errors import DataError, InputError
from localface.evaluation.baselines.proposal import Proposal
from localface.evaluation.baselines.task import Asked, Task
from localface.geometry.point_set import PointSet
from localface.geometry.segments import norms
from localface.types import Array, Ids

_BATCH = 16  # segments that are judged together


class NearestUnlike:
    """Jump to the nearest row that someone may become and that reaches the target.

    Nearest in points, where one ordinary difference between people is one unit; of rows
    that are equally near, the first in canonical order. Nothing is said about the ground
    in between.

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
        asked = self.task.asked(person, where)
        return self._answer(asked, float(self.task.score(asked.record[None, :])[0]))

    def explain_many(
        self, people: Any, *, where: Mapping[str, Any] | None = None
    ) -> list[Proposal]:
        """Answer many people, who are scored in one call."""
        asked = list(self.task.asked_many(people, where))
        scores = self.task.score(np.stack([one.record for one in asked]))
        return [self._answer(one, float(score)) for one, score in zip(asked, scores, strict=True)]

    def _answer(self, asked: Asked, score: float) -> Proposal:
        if score >= self.task.min_score:
            return self.task.proposed(asked, [])
        ids, apart = unlike(self.task, asked)
        return (
            jump(self.task, asked, int(ids[0]), float(apart[0]))
            if len(ids)
            else nobody(self.task, asked)
        )


class StraightLine:
    """Jump to the nearest such row that a straight, traversable step leads to.

    A step is traversable if no place on it is less common than ``min_density`` says, by
    the same certified rule as LocalFACE's own steps; see "How it works".

    Parameters
    ----------
    min_density : share of people who may stand on less common ground than any place of the step
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
        """What says how common a place is; fitted when it is first needed."""
        return common_ground(self.task) if self._given is None else self._given

    def explain(self, person: Any, *, where: Mapping[str, Any] | None = None) -> Proposal:
        """Propose the row to walk to, or say why there is none."""
        task, asked = self.task, self.task.asked(person, where)
        if task.score(asked.record[None, :])[0] >= task.min_score:
            return task.proposed(asked, [])
        ids, apart = unlike(task, asked)
        if not len(ids):
            return nobody(task, asked)
        floor = self.density.scale.quantile(self.min_density)
        if not self.density.lowest_along(asked.point[None, :], asked.point[None, :], floor).passes[
            0
        ]:
            return task.nothing(
                asked,
                f"the person stands on less common ground than {self.min_density:.0%} of people",
            )
        tried = ids[: self.max_tries]
        for i, passes in enumerate(self._passing(asked.point, tried, floor)):
            if passes:
                return jump(task, asked, int(tried[i]), float(apart[i]))
        some = (
            f"the {len(tried)} nearest of {len(ids)}"
            if len(tried) < len(ids)
            else f"any of {len(ids)}"
        )
        return task.nothing(
            asked, f"no traversable straight step leads to {some} rows that reach the target"
        )

    def _passing(self, start: Array, ids: Ids, floor: float) -> Iterator[bool]:
        for first in range(0, len(ids), _BATCH):
            ends = self.task.points[ids[first : first + _BATCH]]
            yield from self.density.lowest_along(
                np.broadcast_to(start, ends.shape), ends, floor
            ).passes.tolist()


def unlike(task: Task, asked: Asked) -> tuple[Ids, Array]:
    """The rows that someone may become and that reach the target, nearest first, and how far each is."""
    ids = np.flatnonzero(
        task.reaches & asked.bounds.contain(task.points) & task.lawful(task.records)
    )
    apart = norms(task.points[ids] - asked.point)
    order = np.argsort(apart, kind="stable")
    return ids[order], apart[order]


def jump(task: Task, asked: Asked, row: int, cost: float) -> Proposal:
    """Propose to become a row at once."""
    return task.proposed(asked, [task.records[row]], rows=[int(task.rows[row])], cost=cost)


def nobody(task: Task, asked: Asked) -> Proposal:
    """Say that there is no row to become, and whether the constraints are why."""
    n = int(task.reaches.sum())
    why = f"none of the {n} rows that reach the target is one that this person may become"
    return task.nothing(asked, why if n else "no row of the data reaches the target")


def common_ground(task: Task) -> Density:
    """Fit the density that LocalFACE fits by default to the rows of a task."""
    if len(task.points) < 2:
        raise DataError(
            "the data has 1 row: at least 2 different people are needed to say what is common"
        )
    return fit_kde(PointSet(task.points), task.space.discrete)
