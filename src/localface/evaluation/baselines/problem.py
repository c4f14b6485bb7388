"""One person's optimisation problem: what may change, what it costs, the best state so far."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from localface.evaluation.baselines.task import Query, Task
from localface.types import Array, Mask

_SNAP = 1e-9  # a change by less than this many deviations is rounding


def median_deviations(task: Task) -> Array:
    """What one unit of each feature is: its median absolute deviation; one for categories.

    Where more than half of the rows share a value the median is zero: the scale of the
    space then stands in, one ordinary difference between people.
    """
    middle = np.median(task.records, axis=0)
    found = np.median(np.abs(task.records - middle), axis=0)
    found = np.where(found > 0, found, task.space.scales)
    return np.where([feature.discrete for feature in task.schema], 1.0, found)


class OptimizationProblem:
    """What one person may change, what it costs, and the cheapest valid state seen so far.

    ``start`` is the person, moved into their box where they are outside of it; ``codes`` are
    the categories that a discrete feature may take.
    """

    def __init__(self, task: Task, query: Query, units: Array, score: float) -> None:
        self.task = task
        self.query = query
        self.units = units
        self.gap = task.min_score - score
        self.highest = score
        self.best: Array | None = None
        self.cost = np.inf
        self.discrete: Mask = np.array([feature.discrete for feature in task.schema])
        self.whole: Mask = np.array([feature.whole for feature in task.schema])
        self.lower, self.upper = _search_ranges(task, query)
        self.codes = _allowed_codes(task, query)
        self.free: Mask = self.lower < self.upper
        self.start = query.record.copy()
        for j, codes in self.codes.items():
            self.free[j] = len(codes) > 1
            self.start[j] = query.record[j] if query.record[j] in codes else codes[0]
        self._at_start = replace(query, record=self.start.copy())
        self.start = self.project(self.start[None, :])[0]
        self.evaluate_and_keep_best(self.start[None, :])

    def project(self, records: Array) -> Array:
        """The nearest states that the person may become; what hardly moved does not move."""
        moved = np.where(self.discrete, records, np.clip(records, self.lower, self.upper))
        moved = np.where(np.abs(moved - self.start) < _SNAP * self.units, self.start, moved)
        return self.task.project(moved, self._at_start)

    def distances(self, records: Array) -> Array:
        """The sum of changes, in deviations; another category is one."""
        changes = np.abs(records - self.query.record) / self.units
        return np.asarray(np.where(self.discrete, changes > 0, changes).sum(axis=1))

    def scores_and_shortfalls(self, records: Array) -> tuple[Array, Array]:
        """Scores, and what each lacks: 1 for the person as they are, negative above the target."""
        scores = self.task.score(records)
        return scores, (self.task.min_score - scores) / self.gap

    def evaluate_and_keep_best(self, records: Array) -> tuple[Array, Array]:
        """What each state lacks and how far it is, in one call; the best valid one is kept.

        A state that breaks a relation cannot exist: it lacks at least as much as the person.
        """
        scores, lacking = self.scores_and_shortfalls(records)
        exists = self.task.keeps_relations(records)
        distances = self.distances(records)
        self.highest = max(self.highest, float(scores[exists].max(initial=-np.inf)))
        costs = np.where(exists & (scores >= self.task.min_score), distances, np.inf)
        if costs.min() < self.cost:
            self.best = records[costs.argmin()]
            self.cost = float(costs.min())
        return np.where(exists, np.maximum(lacking, 0.0), np.maximum(lacking, 1.0)), distances


def _search_ranges(task: Task, query: Query) -> tuple[Array, Array]:
    """The box, narrowed to the range of the data together with the person."""
    low = np.minimum(task.records.min(axis=0), query.record)
    high = np.maximum(task.records.max(axis=0), query.record)
    lower = np.maximum(query.box.lower, low)
    return lower, np.maximum(lower, np.minimum(query.box.upper, high))


def _allowed_codes(task: Task, query: Query) -> dict[int, list[int]]:
    every = {
        j: range(len(feature.categories or ()))
        for j, feature in enumerate(task.schema)
        if feature.discrete
    }
    return {j: sorted(query.box.allowed.get(j, codes)) for j, codes in every.items()}
