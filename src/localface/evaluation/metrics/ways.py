"""Many paths laid end to end, so that all of them are measured at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from localface.data.space import Space
from localface.evaluation.metrics.laws import settled
from localface.types import Array, Ids


@dataclass(frozen=True, slots=True, eq=False)
class Ways:
    """The states of all paths one after the other, as records and as points."""

    records: Array
    points: Array
    firsts: Ids
    lasts: Ids

    @classmethod
    def of(cls, space: Space, paths: Sequence[Array]) -> Ways:
        """Lay out paths of at least one state each."""
        ends = np.cumsum([len(path) for path in paths]).astype(np.int64)
        records = np.concatenate(list(paths))
        firsts = np.concatenate([[0], ends[:-1]]).astype(np.int64)
        return cls(records, space.points(settled(records, space.schema)), firsts, ends - 1)

    @property
    def states(self) -> list[slice]:
        """Where the states of each path are."""
        return [slice(first, last + 1) for first, last in zip(self.firsts, self.lasts, strict=True)]

    @property
    def steps(self) -> list[slice]:
        """Where the steps of each path are among all ``stretches``; a path that stays put has one, of no length."""
        ends = np.cumsum(np.maximum(self.lasts - self.firsts, 1))
        return [slice(first, end) for first, end in zip([0, *ends[:-1]], ends, strict=True)]

    @property
    def stretches(self) -> tuple[Array, Array]:
        """The points where steps start, and where they end."""
        before = [np.arange(a, max(b, a + 1)) for a, b in zip(self.firsts, self.lasts, strict=True)]
        after = [
            np.arange(min(a + 1, b), b + 1) for a, b in zip(self.firsts, self.lasts, strict=True)
        ]
        return self.points[np.concatenate(before)], self.points[np.concatenate(after)]

    @property
    def lengths(self) -> Array:
        """The length of every stretch."""
        starts, ends = self.stretches
        return np.asarray(np.sqrt(((ends - starts) ** 2).sum(axis=1)))

    def ends_of(self, i: int) -> tuple[Array, Array]:
        """Where one path starts and where it ends, as records."""
        return self.records[self.firsts[i]], self.records[self.lasts[i]]
