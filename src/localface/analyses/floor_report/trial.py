"""The trial that a floor is put to: rows it has not seen, beside records that are nobody's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.density.common_states.composing import compose_records, swap_one_value
from localface.density.common_states.distances import evenly_spread
from localface.types import Array, Ids

_MOST_ROWS = 15_500  # rows that take part
_MOST_HELD_OUT = 1_500


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """Rows to fit on, rows that are held out, and records made of those.

    ``groups`` numbers the person of each row that is fitted on, None where nobody said. A
    person is either fitted on or held out.
    """

    known: Array
    held_out: Array
    composed: Array
    one_swapped: Array
    groups: Ids | None

    @classmethod
    def of(cls, records: Array, groups: Ids | None, seed: int) -> Trial:
        """Split records by chance; a quarter at most is held out."""
        chance = np.random.default_rng(seed)
        some = evenly_spread(len(records), _MOST_ROWS)
        records = records[some]
        people = np.arange(len(some)) if groups is None else groups[some]
        held = _held_out(people, min(_MOST_HELD_OUT, len(records) // 4), chance)
        new = records[held]
        return cls(
            known=records[~held],
            held_out=new,
            composed=compose_records(new, chance),
            one_swapped=swap_one_value(new, chance),
            groups=None if groups is None else people[~held],
        )


def _held_out(people: Ids, most: int, chance: np.random.Generator) -> np.ndarray:
    """Choose people by chance until their rows are about as many as wanted."""
    every, counts = np.unique(people, return_counts=True)
    order = chance.permutation(len(every))
    n_people = max(1, int(np.searchsorted(np.cumsum(counts[order]), most, "right")))
    n_people = min(n_people, len(every) - 1)
    return np.isin(people, every[order[:n_people]])


def area_under_curve(real: Array, other: Array) -> float:
    """Return how often a real row is above another record, ties counting half.

    >>> area_under_curve(np.array([1.0, 2.0]), np.array([0.0, 1.0]))
    0.875
    """
    ordered = np.sort(other)
    below = np.searchsorted(ordered, real, "left") + np.searchsorted(ordered, real, "right")
    return float(below.mean() / (2 * len(other)))
