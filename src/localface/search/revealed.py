"""Rows, or states taken over from rows, that were revealed to a search."""

from __future__ import annotations

from collections.abc import Container, Sequence

import numpy as np

from localface.sources.protocol import Neighbors
from localface.types import NO_ROWS, Array, Ids, Mask


def rows_not_known(found: Sequence[Neighbors], known: Container[int]) -> tuple[Ids, Array, Mask]:
    """Return the rows that are new, each once, with their points and whether they were moved."""
    if len(found) == 1:  # no row is twice in one answer
        (one,) = found
        new = [i for i, row in enumerate(one.ids.tolist()) if row not in known]
        moves = np.zeros(len(new), dtype=bool) if one.moved is None else one.moved[new]
        return one.ids[new], one.points[new], moves
    fresh: dict[int, tuple[Array, bool]] = {}
    for one in found:
        moved = [False] * len(one.ids) if one.moved is None else one.moved.tolist()
        for row, point, is_moved in zip(one.ids.tolist(), one.points, moved, strict=True):
            if row not in known:
                fresh.setdefault(row, (point, is_moved))
    if not fresh:
        return NO_ROWS, np.zeros((0, 0)), np.zeros(0, dtype=bool)
    rows = np.array(list(fresh), dtype=np.int64)
    points = np.stack([point for point, _ in fresh.values()])
    return rows, points, np.array([is_moved for _, is_moved in fresh.values()])
