"""The pairs of features that refuse most, each with an example that never occurs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from localface.answers.wording import to_one_line
from localface.data.space import Space
from localface.density.common_states import CommonStates
from localface.density.common_states.bins import FeatureBins
from localface.density.common_states.pair_tables import PairTable
from localface.types import Array

_MOST = 5  # pairs that are reported
_NOBODY = 0.5  # people fewer than that are nobody: repeated rows count in parts


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
    schema = model.space.schema
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
        names = (schema.names[table.first], schema.names[table.second])
        found.append(
            PairFinding(names, int(counts[i]), example_of(table, tables.bins, model.space))
        )
    return tuple(found)


def example_of(table: PairTable, bins: FeatureBins, space: Space) -> str:
    """Say which values of a pair never meet though chance would have them meet most often."""
    first = list(_regions(table.first, bins, space))
    second = list(_regions(table.second, bins, space))
    rows = np.array([mask for _, mask in first], dtype=np.float64)
    columns = np.array([mask for _, mask in second], dtype=np.float64)
    counts = rows @ table.counts @ columns.T
    expected = rows @ table.expected @ columns.T
    surprise = (expected - counts) / np.sqrt(expected + 1)
    nobody = counts < _NOBODY
    if (nobody & (expected >= 1)).any():
        surprise = np.where(nobody, surprise, -np.inf)
    i, k = np.unravel_index(int(surprise.argmax()), surprise.shape)
    total = round(table.counts.sum())
    count = round(counts[i, k])
    who = "nobody" if not count else f"only {count:,}"
    have = "has" if count <= 1 else "have"
    chance = f"chance alone would make it {expected[i, k]:,.0f}"
    return f"{who} with {first[i][0]} {have} {second[k][0]}: {count:,} of {total:,} rows; {chance}"


def _regions(j: int, bins: FeatureBins, space: Space) -> Iterator[tuple[str, list[bool]]]:
    """Yield what can be said of a feature in few words, and the bins that it means."""
    feature = space.schema.features[j]
    n = int(bins.n_bins[j])
    name = to_one_line(feature.name)
    unit = f" {to_one_line(feature.unit)}" if feature.unit else ""
    if feature.discrete:
        for code in range(n):
            yield f"{name} {to_one_line(feature.format(code))}", [b == code for b in range(n)]
        return
    lowest = space.column_codes(j, bins.lowest[j])
    highest = space.column_codes(j, bins.highest[j])
    for b in range(n - 1):
        up_to = feature.format(float(highest[b]))
        over = feature.format(float(lowest[b + 1]))
        yield f"{name} up to {up_to}{unit}", [one <= b for one in range(n)]
        yield f"{name} of {over}{unit} or more", [one > b for one in range(n)]
