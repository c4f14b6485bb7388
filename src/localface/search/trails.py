"""Vertices in order, and the steps between them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from localface.types import Ids, Mask

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


def edges_among(verdicts: Mapping[Edge, bool], vertices: list[int], n: int) -> tuple[Ids, Mask]:
    """Edges between some of ``n`` vertices, as positions among these, each with its verdict."""
    flat = itertools.chain.from_iterable(verdicts)
    edges = np.fromiter(flat, np.int64, 2 * len(verdicts)).reshape(-1, 2)
    passes = np.fromiter(verdicts.values(), bool, len(verdicts))
    position = np.full(n, -1)
    position[vertices] = np.arange(len(vertices))
    places = position[edges]
    inside = (places >= 0).all(axis=1)
    return places[inside], passes[inside]
