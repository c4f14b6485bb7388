"""One person's problem for an optimiser: what may change, what it costs, and the best state seen so far."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from localface.evaluation.baselines.task import Asked, Task
from localface.types import Array, Mask

_SNAP = 1e-9  # a change by less than this many deviations is rounding


def deviations(task: Task) -> Array:
    """What one unit of each feature is: its median absolute deviation; one for categories.

    Where more than half of the rows share a value the median is zero: the scale of the
    space then stands in, one ordinary difference between people.
    """
    middle = np.median(task.records, axis=0)
    found = np.median(np.abs(task.records - middle), axis=0)
    found = np.where(found > 0, found, task.space.scales)
    return np.where([feature.discrete for feature in task.schema], 1.0, found)


class Problem:
    """One person's problem: what may change, what it costs, and the cheapest valid state seen so far."""

    def __init__(self, task: Task, asked: Asked, units: Array, score: float) -> None:
        self.task, self.asked, self.units = task, asked, units
        self.gap, self.highest = task.min_score - score, score
        self.best: Array | None = None
        self.cost = np.inf
        self.discrete: Mask = np.array([feature.discrete for feature in task.schema])
        self.whole: Mask = np.array([feature.whole for feature in task.schema])
        low, high = task.records.min(axis=0), task.records.max(axis=0)
        box, own = asked.box, asked.record
        self.lower = np.maximum(box.lower, np.minimum(low, own))  # nothing beyond what the data has
        self.upper = np.maximum(self.lower, np.minimum(box.upper, np.maximum(high, own)))
        every = {
            j: range(len(feature.categories or ()))
            for j, feature in enumerate(task.schema)
            if feature.discrete
        }
        self.codes = {j: sorted(box.allowed.get(j, codes)) for j, codes in every.items()}
        self.free: Mask = self.lower < self.upper
        self.home = own.copy()  # the person, moved into the box where they stand outside
        for j, codes in self.codes.items():
            self.free[j] = len(codes) > 1
            self.home[j] = own[j] if own[j] in codes else codes[0]
        self._at_home = replace(asked, record=self.home.copy())
        self.home = self.allowed(self.home[None, :])[0]
        self.judge(self.home[None, :])

    def allowed(self, records: Array) -> Array:
        """Project states onto what the person may become; what hardly moved does not move."""
        moved = np.where(self.discrete, records, np.clip(records, self.lower, self.upper))
        moved = np.where(np.abs(moved - self.home) < _SNAP * self.units, self.home, moved)
        return self.task.projected(moved, self._at_home)

    def distances(self, records: Array) -> Array:
        """The sum of changes, in deviations; another category is one."""
        changes = np.abs(records - self.asked.record) / self.units
        return np.asarray(np.where(self.discrete, changes > 0, changes).sum(axis=1))

    def lacking(self, records: Array) -> tuple[Array, Array]:
        """Scores, and what each lacks: 1 where the person stands, negative where there is some to spare."""
        scores = self.task.score(records)
        return scores, (self.task.min_score - scores) / self.gap

    def judge(self, records: Array) -> tuple[Array, Array]:
        """What each state lacks and how far it is, all in one call; the best that is valid is kept.

        A state that breaks a relation is none that anyone can be in: it lacks at least as much as the person.
        """
        (scores, lacking), lawful = self.lacking(records), self.task.lawful(records)
        distances = self.distances(records)
        self.highest = max(self.highest, float(scores[lawful].max(initial=-np.inf)))
        costs = np.where(lawful & (scores >= self.task.min_score), distances, np.inf)
        if costs.min() < self.cost:
            self.best, self.cost = records[costs.argmin()], float(costs.min())
        return np.where(lawful, np.maximum(lacking, 0.0), np.maximum(lacking, 1.0)), distances
