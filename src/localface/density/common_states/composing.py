"""Records put together from different rows: what a floor should refuse."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from localface.types import Array, Ids

Codes = TypeVar("Codes", Array, Ids)

_TRIES = 20  # draws of another value


def compose_records(records: Codes, chance: np.random.Generator) -> Codes:
    """Take every column from somebody else, so that each value is real and no record is."""
    return np.column_stack([chance.permutation(column) for column in records.T])


def swap_one_value(records: Array, chance: np.random.Generator) -> Array:
    """Give each record somebody else's value in one column, a different one where there is one."""
    found = records.copy()
    n = len(records)
    column = chance.integers(0, records.shape[1], n)
    same = np.arange(n)
    for _ in range(_TRIES):
        found[same, column[same]] = records[chance.integers(0, n, len(same)), column[same]]
        same = same[found[same, column[same]] == records[same, column[same]]]
        if not len(same):
            break
    return found
