"""Rows as they lie in cells, and rough distances to them in float32."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from localface.geometry.bounds import Bounds
from localface.sources.partition import Floats, Partition, blocks
from localface.types import Array, Ids

_BLOCK = 1 << 16  # rows turned into float32 at once


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """Distinct rows, sorted by cell.

    ``near`` holds points in float32 with half their squared length as the last column: its
    product with (-q, 1) is half the squared distance from q, but for a part that is the same
    for all rows. ``folder`` is where the arrays are mapped from, if they are.
    """

    near: Floats
    records: Array
    rows: Ids
    folder: Path | None = None

    def rough(self, partition: Partition, cells: Ids, point: Array) -> Floats:
        """Half the squared distance, but for a constant, from a point to each row of some cells."""
        asked = np.append(-point, 1.0).astype(np.float32)
        ends = zip(
            partition.starts[cells].tolist(), partition.starts[cells + 1].tolist(), strict=True
        )
        parts = [self.near[first:last] @ asked for first, last in ends]
        return np.concatenate([np.zeros(0, dtype=np.float32), *parts])

    def within(
        self, partition: Partition, cells: Sequence[Ids], points: Array, limits: Array
    ) -> list[Ids]:
        """Return for each point the rows of its cells whose rough distance is no more than its limit.

        Points that ask for the same cell share one product, so that its rows are read once.
        """
        edges = np.nextafter(limits.astype(np.float32), np.float32(np.inf))
        if len(points) == 1:
            places = np.flatnonzero(self.rough(partition, cells[0], points[0]) <= edges[0])
            return [partition.ids(cells[0], places)]
        asked = np.column_stack([-points, np.ones(len(points))]).astype(np.float32)
        which = np.concatenate(cells)
        who = np.repeat(np.arange(len(cells)), [len(mine) for mine in cells])
        rank = np.argsort(which, kind="stable")
        turns = (
            np.flatnonzero(np.diff(which[rank], prepend=-1, append=-1)).tolist()
            if len(which)
            else []
        )
        whose, found = [who[:0]], [which[:0]]
        for first, last in pairwise(turns):
            askers, start = who[rank[first:last]], partition.starts[which[rank[first]]]
            rows = self.near[start : partition.starts[which[rank[first]] + 1]]
            near = (asked[askers] @ rows.T <= edges[askers, None]).reshape(-1).nonzero()[0]
            whose.append(askers[near // len(rows)])
            found.append(start + near % len(rows))
        return _dealt(np.concatenate(whose), np.concatenate(found), len(points))

    def screened(self, ids: Ids, bounds: Bounds, exclude: Ids) -> Ids:
        """Return the places of rows that may be inside the box and are not excluded (ids in order).

        Rounding to float32 keeps the order of numbers, so that no row inside is dropped; one
        that is outside by less than float32 can tell may stay.
        """
        with np.errstate(over="ignore"):
            lower, upper = bounds.lower.astype(np.float32), bounds.upper.astype(np.float32)
        places = np.arange(len(ids))
        for column in np.flatnonzero((lower > -np.inf) | (upper < np.inf)):
            values = self.near[ids[places], column]
            places = places[(values >= lower[column]) & (values <= upper[column])]
        if len(exclude):
            at = np.minimum(np.searchsorted(exclude, ids[places]), len(exclude) - 1)
            places = places[exclude[at] != ids[places]]
        return places


def with_halves(points: Array, order: Ids) -> Floats:
    """Points in float32, in some order, with half their squared length as the last column."""
    near = np.empty((len(order), points.shape[1] + 1), dtype=np.float32)
    for block in blocks(len(order), _BLOCK):
        chosen = points[order[block]]
        near[block, :-1] = chosen
        near[block, -1] = (chosen * chosen).sum(axis=1) / 2
    return near


def _dealt(whose: Ids, ids: Ids, n: int) -> list[Ids]:
    """Give each of n askers the ids that are theirs."""
    order = np.argsort(whose, kind="stable")
    return np.split(ids[order], np.cumsum(np.bincount(whose, minlength=n))[:-1])
