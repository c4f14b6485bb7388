"""Groups of people who stand below the floor more often than others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from localface.answers.wording import format_percent, to_one_line
from localface.data.schema import Schema
from localface.types import Array, Mask

_SMALLEST = 50  # rows of a group
_BANDS = 5  # of an own number, by quantiles
_MOST = 8  # groups that are reported
_TIMES = 2.0  # as often as others
_SURE = 3.0  # standard deviations by which that is beyond chance


@dataclass(frozen=True, slots=True)
class GroupFinding:
    """A group below the floor in use more than twice as often as others, beyond chance.

    ``others`` is the share of everybody else.
    """

    label: str
    n: int
    n_below: int
    others: float

    @property
    def share(self) -> float:
        """The share of the group that is below the floor in use."""
        return self.n_below / self.n

    @property
    def sentence(self) -> str:
        """Say it with its counts."""
        return (
            f"{self.label}: {self.n_below:,} of {self.n:,} ({format_percent(self.share)}), "
            f"others {format_percent(self.others)}"
        )

    def to_dict(self) -> dict[str, object]:
        """Return the finding as plain values that JSON can hold."""
        return {
            "label": self.label,
            "n": self.n,
            "n_below": self.n_below,
            "others": self.others,
        }


def find_groups(schema: Schema, records: Array, below: Mask) -> tuple[GroupFinding, ...]:
    """Compare every group with everybody else."""
    found = []
    for label, members in _groups(schema, records):
        n = int(members.sum())
        n_below = int(below[members].sum())
        others = float(below[~members].mean())
        noise = np.sqrt(n * max(others * (1 - others), 1 / len(records)))
        if n_below > _TIMES * others * n and n_below > others * n + _SURE * noise:
            times = n_below / n / max(others, 1 / len(records))
            found.append((times, GroupFinding(label, n, n_below, others)))
    found.sort(key=lambda one: (-one[0], one[1].label))
    return tuple(finding for _, finding in found[:_MOST])


def _groups(schema: Schema, records: Array) -> Iterator[tuple[str, Mask]]:
    """Yield the groups that are large enough: categories, and bands of numbers that stay."""
    for j, feature in enumerate(schema):
        column = records[:, j]
        name = to_one_line(feature.display_name)
        if feature.discrete:
            for code in np.unique(column):
                yield from _large(
                    f"{name} {to_one_line(feature.format(float(code)))}", column == code
                )
        elif feature.own:
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
