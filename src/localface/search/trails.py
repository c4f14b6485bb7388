"""Vertices in order, and the steps between them."""

from __future__ import annotations

from dataclasses import dataclass

Edge = tuple[int, int]
"""The step from one vertex to another."""
Trail = tuple[int, ...]
"""Vertices in order."""


@dataclass(frozen=True, slots=True)
class GraphPath:
    """Vertices in order, and what the edges between them cost."""

    vertices: Trail
    cost: float

    @property
    def edges(self) -> list[Edge]:
        """The steps from vertex to vertex."""
        return list(zip(self.vertices[:-1], self.vertices[1:], strict=True))


def undirected_key(edge: Edge) -> Edge:
    """The key of an edge, as its density is the same in both directions."""
    return edge if edge[0] <= edge[1] else (edge[1], edge[0])
