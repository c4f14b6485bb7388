"""Rows, or states taken over from rows, that were revealed to a search."""

from __future__ import annotations

from collections.abc import Container, Sequence

import numpy as np

from localface.sources.protocol import Neighbors
from localface.types import Array, Ids, Mask


def rows_not_known(found: Sequence[Neighbors], known: Container[int]) -> tuple[Ids, Array, Mask]:
    """Return the rows that are new, each once, with their points and whether they were moved."""
    if len(found) == 1:  # no row is twice in one answer
        (one,) = found
        new = [i for i, row in enumerate(one.ids.tolist()) if row not in known]
        moves = np.zeros(len(new), dtype=bool) if one.moved is None else one.moved[new]
        return one.ids[new], one.points[new], moves
    ids = np.concatenate([one.ids for one in found])
    first: dict[int, int] = {}  # where each row comes first
    for i, row in enumerate(ids.tolist()):
        if row not in known:
            first.setdefault(row, i)
    moved = [
        np.zeros(len(one.ids), dtype=bool) if one.moved is None else one.moved for one in found
    ]
    places = np.array(list(first.values()), dtype=np.int64)
    points = np.concatenate([one.points for one in found])
    return ids[places], points[places], np.concatenate(moved)[places]
