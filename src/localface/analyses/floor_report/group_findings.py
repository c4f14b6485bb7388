"""Groups of people who stand below the floor more often than others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from localface.answers.wording import format_percent, to_one_line
from localface.data.schema import Schema
from localface.density.common_states import CommonStates
from localface.density.common_states.distances import evenly_spread
from localface.types import Array, Mask

_SMALLEST = 50  # rows of a group
_BANDS = 5  # of an own number, by quantiles
_MOST = 8  # groups that are reported
_TIMES = 2.0  # as often as others
_SURE = 3.0  # standard deviations by which that is beyond chance
_LOOKED_AT = 300  # rows of a group that the stricter model judges


@dataclass(frozen=True, slots=True)
class GroupFinding:
    """A group below the floor in use more than twice as often as others, beyond chance.

    ``among_comparable`` is the share of ``n_judged`` of its rows that the model of kernels and
    pairs puts below the floor, among people who are alike in what cannot change.
    """

    label: str
    n: int
    n_below: int
    others: float
    n_judged: int
    among_comparable: float

    @property
    def share(self) -> float:
        """The share of the group that is below the floor in use."""
        return self.n_below / self.n

    @property
    def sentence(self) -> str:
        """Say it with its counts."""
        stricter = format_percent(self.among_comparable)
        return (
            f"{self.label}: {self.n_below:,} of {self.n:,} ({format_percent(self.share)}), "
            f"others {format_percent(self.others)}; by kernels and pairs {stricter} "
            f"of {self.n_judged:,}"
        )

    def to_dict(self) -> dict[str, object]:
        """Return the finding as plain values that JSON can hold."""
        return {
            "label": self.label,
            "n": self.n,
            "n_below": self.n_below,
            "others": self.others,
            "n_judged": self.n_judged,
            "among_comparable": self.among_comparable,
        }


def find_groups(
    schema: Schema, records: Array, below: Mask, *, model: CommonStates, floor: float
) -> tuple[GroupFinding, ...]:
    """Compare every group with everybody else; ``records`` are the rows of the model."""
    found = []
    for label, members in _groups(schema, records):
        n = int(members.sum())
        n_below = int(below[members].sum())
        others = float(below[~members].mean())
        noise = np.sqrt(n * max(others * (1 - others), 1 / len(records)))
        if n_below > _TIMES * others * n and n_below > others * n + _SURE * noise:
            found.append((n_below / n / max(others, 1 / len(records)), label, members))
    found.sort(key=lambda one: (-one[0], one[1]))
    return tuple(
        _finding(label, members, below, model=model, floor=floor)
        for _, label, members in found[:_MOST]
    )


def _finding(
    label: str, members: Mask, below: Mask, *, model: CommonStates, floor: float
) -> GroupFinding:
    rows = np.flatnonzero(members)
    some = rows[evenly_spread(len(rows), _LOOKED_AT)]
    return GroupFinding(
        label,
        n=len(rows),
        n_below=int(below[rows].sum()),
        others=float(below[~members].mean()),
        n_judged=len(some),
        among_comparable=float(np.mean(model.row_shares(some) < floor)),
    )


def _groups(schema: Schema, records: Array) -> Iterator[tuple[str, Mask]]:
    """Yield the groups that are large enough: categories, and bands of numbers that stay."""
    for j, feature in enumerate(schema):
        column = records[:, j]
        name = to_one_line(feature.name)
        if feature.discrete:
            for code in np.unique(column):
                yield from _large(
                    f"{name} {to_one_line(feature.format(float(code)))}", column == code
                )
        elif feature.moves == "never":
            edges = np.unique(np.quantile(column, np.arange(1, _BANDS) / _BANDS))
            band = np.searchsorted(edges, column, "left")
            for number in np.unique(band):
                inside = band == number
                low = feature.format(float(column[inside].min()))
                high = feature.format(float(column[inside].max()))
                yield from _large(f"{name} {low} to {high}", inside)


def _large(label: str, members: Mask) -> Iterator[tuple[str, Mask]]:
    n = int(members.sum())
    if n >= _SMALLEST and len(members) - n >= _SMALLEST:
        yield label, members
