"""The pairs of features that refuse most, each with an example that never occurs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.answers.pair_words import describe_pair
from localface.density.common_states import CommonStates
from localface.types import Array

_MOST = 5  # pairs that are reported


@dataclass(frozen=True, slots=True)
class PairFinding:
    """A pair of features, and how many of the refused composed records it is rarest in."""

    features: tuple[str, str]
    n_refused: int
    example: str

    def to_dict(self) -> dict[str, object]:
        """Return the finding as plain values that JSON can hold."""
        return {
            "features": list(self.features),
            "n_refused": self.n_refused,
            "example": self.example,
        }


def find_pairs(model: CommonStates, refused: Array) -> tuple[PairFinding, ...]:
    """Count in which pair each refused record is rarest; the most frequent come first."""
    pairs = model.pairs.considered
    tables = model.pairs.tables
    if not len(pairs) or not len(refused):
        return ()
    numbers, counts = np.unique(
        tables.rarest_of_each(tables.bins.of(model.space.points(refused)), pairs),
        return_counts=True,
    )
    found = []
    for i in np.argsort(-counts, kind="stable")[:_MOST]:
        table = tables.tables[numbers[i]]
        example = describe_pair(table, tables.bins, model.space)
        if example is not None:
            found.append(PairFinding(example.features, int(counts[i]), example.sentence))
    return tuple(found)
