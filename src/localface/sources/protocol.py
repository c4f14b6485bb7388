"""What a search may ask of the rows: who is near."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from localface.geometry.bounds import Bounds
from localface.geometry.projection import Projection
from localface.types import Array, Ids, Mask


@dataclass(frozen=True, slots=True, eq=False)
class Nearest:
    """The question for the ``k`` nearest allowed rows within ``radius``; see ``Neighbors``.

    With a ``projection`` it is a question for the nearest different states that a person may
    take over from rows: distances, bounds and radius are those of the states, and a state that
    is where ``point`` is does not count. ``exclude`` are rows all the same.
    """

    point: Array
    k: int
    bounds: Bounds
    exclude: Ids
    radius: float = np.inf
    projection: Projection | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Neighbors:
    """Rows near a point, nearest first; ``cut`` says that the row budget withheld some.

    Where states were asked for, ``points`` are theirs, and ``ids`` the rows that they are taken
    from: the first by id of rows that come to the same state. ``moved`` then marks the states
    that are not the row's own.
    """

    ids: Ids
    points: Array
    distances: Array
    cut: bool = False
    moved: Mask | None = None


class Source(Protocol):
    """Rows as a search sees them: found by nearness, never listed.

    Whoever owns the rows may do more with them: see ``localface.sources.holder``.
    """

    @property
    def n_rows(self) -> int:
        """How many rows there are, duplicates counted."""
        ...

    @property
    def exact(self) -> bool:
        """Whether every near row is found, so that what is not found is not there."""
        ...

    @property
    def recall(self) -> float:
        """The share of the nearest rows that is found, as measured."""
        ...

    @property
    def width(self) -> int:
        """How many columns a point has."""
        ...

    def nearest(self, questions: Sequence[Nearest]) -> list[Neighbors]:
        """Answer each question: allowed rows only, nearest first, ties by id.

        Rows outside a question's bounds are never revealed, and an answer does not
        depend on what else is asked in the same batch.
        """
        ...

    def records(self, ids: Ids) -> Array:
        """Return rows that were revealed, in the user's units."""
        ...

    def row_numbers(self, ids: Ids) -> Ids:
        """Return the positions of these rows in the user's table."""
        ...
