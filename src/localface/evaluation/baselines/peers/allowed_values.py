"""What a person may change, as other packages want to be told."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.data.feature import Feature
from localface.evaluation.baselines.peers.adapter import NoAnswer
from localface.evaluation.baselines.task import Query, Task


@dataclass(frozen=True, slots=True)
class AllowedValues:
    """The features that a person may vary: ranges of ordered ones, categories of the others.

    Where the person's box is open, the data's own range stands in, as it does in the
    packages themselves. A feature is left alone where fewer than two values remain.
    """

    ranges: dict[int, tuple[float, float]]
    choices: dict[int, tuple[int, ...]]

    @classmethod
    def of(cls, task: Task, query: Query) -> AllowedValues:
        """Read a person's box, narrowed to what is found in the data."""
        ranges: dict[int, tuple[float, float]] = {}
        choices: dict[int, tuple[int, ...]] = {}
        for j, feature in enumerate(task.schema):
            if feature.discrete:
                found = _allowed_categories(task, query, j)
                if set(found) - {int(query.record[j])}:
                    choices[j] = found
                continue
            low, high = _allowed_range(task, query, j, feature)
            if low < high:
                ranges[j] = (low, high)
        return cls(ranges, choices)

    @property
    def features_to_vary(self) -> list[int]:
        """The features that may vary, in order."""
        return sorted([*self.ranges, *self.choices])

    def require_something_to_vary(self) -> None:
        """Give up where nothing may vary: packages read an empty list as 'everything'."""
        if not self.features_to_vary:
            raise NoAnswer("there is nothing that this person may change")


def _allowed_categories(task: Task, query: Query, j: int) -> tuple[int, ...]:
    present = {int(code) for code in np.unique(task.records[:, j])}
    return tuple(sorted(present & query.box.allowed.get(j, frozenset(present))))


def _allowed_range(task: Task, query: Query, j: int, feature: Feature) -> tuple[float, float]:
    low = max(float(query.box.lower[j]), float(task.records[:, j].min()))
    high = min(float(query.box.upper[j]), float(task.records[:, j].max()))
    if feature.whole:
        return float(np.ceil(low)), float(np.floor(high))
    return low, high
