"""Many paths in one array, so that all of them are measured at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from localface.data.space import Space
from localface.evaluation.metrics.record_points import points_of_records
from localface.evaluation.metrics.violations import with_existing_categories
from localface.types import Array, Ids


@dataclass(frozen=True, slots=True, eq=False)
class StackedPaths:
    """The states of all paths one after the other, as records and as points."""

    records: Array
    points: Array
    firsts: Ids
    lasts: Ids

    @classmethod
    def of(cls, space: Space, paths: Sequence[Array]) -> StackedPaths:
        """Stack paths of at least one state each."""
        ends = np.cumsum([len(path) for path in paths]).astype(np.int64)
        records = np.concatenate(list(paths))
        points = points_of_records(with_existing_categories(records, space.schema), space)
        firsts = np.concatenate([[0], ends[:-1]]).astype(np.int64)
        return cls(records, points, firsts, ends - 1)

    @property
    def state_slices(self) -> list[slice]:
        """Where the states of each path are."""
        return [slice(first, last + 1) for first, last in zip(self.firsts, self.lasts, strict=True)]

    @property
    def step_slices(self) -> list[slice]:
        """Where the steps of each path are among all steps; a path that stays put has one."""
        ends = np.cumsum(np.maximum(self.lasts - self.firsts, 1))
        return [slice(first, end) for first, end in zip([0, *ends[:-1]], ends, strict=True)]

    @property
    def step_ends(self) -> tuple[Array, Array]:
        """The points where steps start, and where they end, of all paths."""
        pairs = list(zip(self.firsts, self.lasts, strict=True))
        before = [np.arange(first, max(last, first + 1)) for first, last in pairs]
        after = [np.arange(min(first + 1, last), last + 1) for first, last in pairs]
        return self.points[np.concatenate(before)], self.points[np.concatenate(after)]

    @property
    def lengths_of_steps(self) -> Array:
        """The length of every step."""
        starts, ends = self.step_ends
        return np.asarray(np.sqrt(((ends - starts) ** 2).sum(axis=1)))

    def start_and_end_records(self, i: int) -> tuple[Array, Array]:
        """Where one path starts and where it ends, as records."""
        return self.records[self.firsts[i]], self.records[self.lasts[i]]
