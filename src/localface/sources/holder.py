"""What only the owner of the rows may do: list them, and see them all as points."""

from __future__ import annotations

from typing import Protocol

from localface.geometry.bounds import Bounds
from localface.sources.protocol import Source
from localface.types import Array, Ids


class RowHolder(Source, Protocol):
    """A source whose rows can also be listed, and read as points.

    For those who work on behalf of the table's owner: fitting, the page's list of people, batch
    manifests, plots, and the driver where it counts rows and passes on nothing but numbers.
    Searches are answered from a ``Source``.
    """

    def list_rows(self, bounds: Bounds) -> Ids:
        """Return the ids of all rows within the bounds."""
        ...

    def points(self, ids: Ids) -> Array:
        """Return rows as points, whether or not a search has revealed them."""
        ...

    @property
    def extremes(self) -> tuple[Array, Array]:
        """The lowest and the highest value that points of all rows have in each column."""
        ...


def list_all_rows(holder: RowHolder) -> Ids:
    """Return the ids of all rows."""
    return holder.list_rows(Bounds.unlimited(holder.width))
