"""Rows of a longitudinal table that are known in some features, as points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from localface.data.schema import Schema
from localface.data.space import Space
from localface.geometry.segments import norms
from localface.types import Array, Ids, Mask

_SAMPLED = 200  # rows that tell how far away an ordinary person's neighbours are
_BLOCK = 2**21  # distances measured at a time
_ROUNDING = 1e-9  # by which a distance may seem to exceed the radius


@dataclass(frozen=True, slots=True, eq=False)
class KnownRows:
    """Rows of a longitudinal table, in the explainer's space restricted to some of its features."""

    space: Space
    columns: Ids
    rows: Ids
    people: Ids
    points: Array
    squares: Array
    radius: float

    @classmethod
    def from_codes(
        cls,
        schema: Schema,
        scales: Sequence[float],
        names: Sequence[str],
        *,
        codes: Array,
        person_of: Ids,
        nearest: float,
        radius: float | None,
    ) -> KnownRows:
        """Take the rows that have a value of every named feature; people come in one run each."""
        columns = np.array([schema.index(name) for name in names], dtype=np.int64)
        scale = np.array(scales, dtype=np.float64)[columns]
        space = Space(Schema(schema[name] for name in names), np.zeros(len(names)), scale)
        rows = np.flatnonzero(np.isfinite(codes[:, columns]).all(axis=1))
        points = space.points(codes[np.ix_(rows, columns)])
        squares = (points * points).sum(axis=1)
        people = person_of[rows]
        if radius is None:
            radius = _median_distance_to_nearest_share(points, squares, people, nearest)
        return cls(space, columns, rows, people, points, squares, float(radius))

    def most_similar_row_per_person(self, state: Array, able: Mask) -> Ids:
        """One row for each similar person: the most similar able one, the earliest of equals."""
        if not len(self.rows):
            return self.rows
        point = self.space.points(state[None, self.columns])[0]
        squared = self.squares - 2 * (self.points @ point) + point @ point
        limit = self.radius * self.radius + _ROUNDING * (
            1 + float(self.squares.max()) + float(point @ point)
        )
        close = np.flatnonzero((squared <= limit) & able[self.rows])
        away = norms(self.points[close] - point)
        near = away <= self.radius * (1 + _ROUNDING)
        close = close[near]
        away = away[near]
        order = close[np.lexsort((close, away, self.people[close]))]
        _, firsts = np.unique(self.people[order], return_index=True)
        return np.asarray(self.rows[order[firsts]])


def _median_distance_to_nearest_share(
    points: Array, squares: Array, people: Ids, nearest: float
) -> float:
    """How far an ordinary row is from the ``nearest`` share of other people, at their closest."""
    firsts = np.flatnonzero(np.diff(people, prepend=-1))
    if len(firsts) < 2:
        return 0.0
    k = int(np.ceil(nearest * (len(firsts) - 1)))
    sample = np.unique(np.linspace(0, len(points) - 1, _SAMPLED).round().astype(np.int64))
    found = []
    step = max(1, _BLOCK // len(points))
    for start in range(0, len(sample), step):
        some = sample[start : start + step]
        squared = squares - 2 * (points[some] @ points.T) + squares[some, None]
        least = np.minimum.reduceat(squared, firsts, axis=1)
        own = np.searchsorted(firsts, some, side="right") - 1
        least[np.arange(len(some)), own] = np.inf
        found.append(np.partition(least, k - 1, axis=1)[:, k - 1])
    return float(np.sqrt(max(0.0, float(np.median(np.concatenate(found))))))
