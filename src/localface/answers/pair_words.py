"""Two features that do not go together, in the user's units and with counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from localface.answers.wording import format_number, to_one_line
from localface.data.row_words import PEOPLE, RowWords
from localface.data.space import Space
from localface.density.common_states import CommonStates
from localface.density.common_states.bins import FeatureBins
from localface.density.common_states.pair_tables import PairTable
from localface.density.protocol import RESTATED_TOLERANCE, Density
from localface.types import Array

_NOBODY = 0.5  # people fewer than that are nobody: repeated rows count in parts
_FEW = 10  # expected rows below which parts of one are told


@dataclass(frozen=True, slots=True)
class UnusualPair:
    """Values of two features that hardly anybody has together.

    ``values`` say which, in words. ``count`` of the ``n_rows`` rows have both; ``expected`` is how
    many would if the two had nothing to do with each other. ``alone`` is whether the pair alone
    refuses the state, or is the one of several that lowers it most; ``each_row`` is what rows are
    called.
    """

    features: tuple[str, str]
    values: tuple[str, str]
    count: int
    expected: float
    n_rows: int
    alone: bool = True
    each_row: RowWords = PEOPLE

    @property
    def sentence(self) -> str:
        """Say that they do not go together."""
        first, second = self.values
        who = f"only {self.count:,}" if self.count else self.each_row.nobody
        have = "has" if self.count <= 1 else "have"
        counts = f"{self.count:,} of {self.n_rows:,} rows"
        chance = f"chance alone would make it {_format_expected(self.expected)}"
        return f"{who} with {first} {have} {second} ({counts}; {chance})"

    @property
    def clause(self) -> str:
        """The same, to follow a sentence that says that a state is too uncommon."""
        return f": {self.sentence}" if self.alone else f", most of all because {self.sentence}"

    def to_dict(self) -> dict[str, object]:
        """Return the pair as plain values that JSON can hold."""
        return {
            "features": list(self.features),
            "values": list(self.values),
            "count": self.count,
            "expected": self.expected,
            "n_rows": self.n_rows,
            "alone": self.alone,
            "sentence": self.sentence,
        }


def refusing_pair(
    density: Density | None, record: Array, log_floor: float, *, asker: Array | None = None
) -> UnusualPair | None:
    """Name two features that put a state below the floor, be the rest of it as it may.

    ``asker`` is the record of the person whom it is about, who does not vouch for it. None where
    no pair does, or where the density knows no pairs.
    """
    if not isinstance(density, CommonStates):
        return None
    records = np.stack([record, record if asker is None else asker])
    point, at = density.space.points(records)
    tables = density.pairs.tables
    for question in density.questions_at(point, asker=at):
        if question.pair is not None and question.log_density < log_floor - RESTATED_TOLERANCE:
            return describe_pair(
                tables.tables[question.pair.table],
                tables.bins,
                density.space,
                point=point,
                alone=question.name == "rarest pair",
            )
    return None


def describe_pair(
    table: PairTable,
    bins: FeatureBins,
    space: Space,
    *,
    point: Array | None = None,
    alone: bool = True,
) -> UnusualPair | None:
    """Say which values of a pair never meet though chance would have them meet most often.

    With a point they are values that hold of it. None where they meet as often as by chance.
    """
    first = list(_regions(table.first, bins, space, point))
    second = list(_regions(table.second, bins, space, point))
    rows = np.array([mask for _, mask in first], dtype=np.float64)
    columns = np.array([mask for _, mask in second], dtype=np.float64)
    counts = rows @ table.counts @ columns.T
    expected = rows @ table.expected @ columns.T
    surprise = (expected - counts) / np.sqrt(expected + 1)
    nobody = counts < _NOBODY
    if (nobody & (expected >= 1)).any():
        surprise = np.where(nobody, surprise, -np.inf)
    i, k = np.unravel_index(int(surprise.argmax()), surprise.shape)
    if surprise[i, k] <= 0:
        return None
    names = space.schema.names
    return UnusualPair(
        (names[table.first], names[table.second]),
        (first[i][0], second[k][0]),
        count=round(counts[i, k]),
        expected=float(expected[i, k]),
        n_rows=round(table.counts.sum()),
        alone=alone,
        each_row=space.schema.each_row,
    )


def _regions(
    j: int, bins: FeatureBins, space: Space, point: Array | None
) -> Iterator[tuple[str, list[bool]]]:
    """Yield what can be said of a feature in few words, and the bins that it means.

    With a point, only what holds of it.
    """
    feature = space.schema.features[j]
    n = int(bins.n_bins[j])
    here = None if point is None else int(bins.of(point[None, :])[0, j])
    name = to_one_line(feature.display_name)
    gaps = [feature.format(code) for code in space.absences[j]] if space.absences else []
    n_values = n - len(gaps)  # what is missing has the last bins
    words = [*gaps]
    if feature.discrete:
        words = [*map(feature.format, range(n_values)), *gaps]
    for word, b in zip(words, range(n - len(words), n), strict=True):
        if here in (None, b):
            yield f"{name} {to_one_line(word)}", [one == b for one in range(n)]
    if feature.discrete or (here is not None and here >= n_values):
        return
    unit = f" {to_one_line(feature.unit)}" if feature.unit else ""
    lowest, highest = _extremes(j, bins, space, point)
    for b in range(n_values - 1):
        if here is None or here <= b:
            yield f"{name} up to {highest[b]}{unit}", [one <= b for one in range(n)]
        if here is None or here > b:
            more = [b < one < n_values for one in range(n)]
            yield f"{name} of {lowest[b + 1]}{unit} or more", more
    if here is not None:
        value = " to ".join(dict.fromkeys((lowest[here], highest[here])))
        yield f"{name} of {value}{unit}", [one == here for one in range(n)]


def _extremes(
    j: int, bins: FeatureBins, space: Space, point: Array | None
) -> tuple[list[str], list[str]]:
    """Return the lowest and the highest value of each bin of a number, a point's own included."""
    feature = space.schema.features[j]
    lowest = space.column_codes(j, bins.lowest[j])
    highest = space.column_codes(j, bins.highest[j])
    if point is not None:
        here = int(bins.of(point[None, :])[0, j])
        value = space.records(point[None, :])[0, j]
        lowest[here] = min(lowest[here], value)
        highest[here] = max(highest[here], value)
    return (
        [feature.format(float(code)) for code in lowest],
        [feature.format(float(code)) for code in highest],
    )


def _format_expected(expected: float) -> str:
    """Write how many would be expected: whole ones, unless they are few.

    >>> _format_expected(1234.5), _format_expected(2.04), _format_expected(0.36)
    ('1,234', '2', '0.36')
    """
    if expected >= _FEW:
        return format_number(expected, 0)
    return format_number(float(f"{expected:.2g}"))
