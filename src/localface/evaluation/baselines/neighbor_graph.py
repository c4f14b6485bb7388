"""The graph of FACE: rows joined to their neighbours, with the cost of each edge.

Graphs are sparse and built by blocks of rows: no array ever has an entry for every pair.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from localface.evaluation.baselines.face_density import FaceDensity
from localface.evaluation.baselines.neighbor_lists import (
    MAX_PRODUCTS,
    NeighborLists,
    RowNumbers,
    block_slices,
    nearest_neighbors,
)
from localface.geometry.bounds import Bounds
from localface.geometry.point_set import PointSet
from localface.geometry.segments import norms
from localface.types import Array, Ids, Mask

_SHORTEST = 1e-12  # the distance of two rows that are equal but for rounding


@dataclass(frozen=True, slots=True, eq=False)
class EdgeCosts:
    """What an edge costs: g(p) times its length, g(p) = toll + max(0, log p_max - log p) > 0.

    Without ``density`` p is taken from the length d of the edge, as 1/d^D: whatever else is
    in the formulas of the k-NN and the eps graph is the same for all edges and cancels in
    p / p_max.
    """

    toll: float
    density: FaceDensity | None = None
    log_p_max: float = np.inf

    def log_densities(self, starts: Array, ends: Array, lengths: Array) -> Array:
        """The log-density of each edge."""
        if self.density is not None:
            return self.density.log_densities_mid_step(starts, ends)
        return np.asarray(-starts.shape[-1] * np.log(np.maximum(lengths, _SHORTEST)))

    def costs(self, log_densities: Array, lengths: Array) -> Array:
        """What edges of these log-densities and lengths cost."""
        price = self.toll + np.maximum(self.log_p_max - log_densities, 0.0)
        return np.asarray(price * np.maximum(lengths, _SHORTEST))


@dataclass(frozen=True, slots=True, eq=False)
class NeighborGraph:
    """Rows joined to each other, and any new point joined to rows.

    Two are joined where one is among the other's ``most`` nearest within ``radius``. ``n_cut``
    rows had more than that within the radius, and only keep the nearest of them. ``links`` is
    symmetric: the cost of the edge between two rows.
    """

    points: PointSet
    edge_costs: EdgeCosts
    links: csr_array
    most: int
    radius: float
    reach: Array
    n_cut: int

    @classmethod
    def build(
        cls, points: PointSet, edge_costs: EdgeCosts, *, most: int, radius: float, densest: float
    ) -> NeighborGraph:
        """Join all rows; p_max is the density that a share ``densest`` of all edges is below."""
        found = nearest_neighbors(points, np.arange(len(points)), most=most, radius=radius)
        starts, ends, lengths = _undirected_edges(found, len(points))
        logs = np.empty(len(lengths))
        for block in block_slices(len(lengths), MAX_PRODUCTS // points.width):
            logs[block] = edge_costs.log_densities(
                points.points[starts[block]], points.points[ends[block]], lengths[block]
            )
        log_p_max = float(np.quantile(logs, densest)) if len(logs) else 0.0
        edge_costs = EdgeCosts(edge_costs.toll, edge_costs.density, log_p_max)
        links = _symmetric_cost_matrix(starts, ends, edge_costs.costs(logs, lengths), len(points))
        n_cut = int(found.cut.sum()) if radius < np.inf else 0
        return cls(points, edge_costs, links, most, radius, found.reach, n_cut)

    @property
    def n_edges(self) -> int:
        """How many pairs of rows are joined."""
        return int(self.links.nnz) // 2

    def steps_from(self, point: Array, bounds: Bounds, allowed: Mask) -> tuple[Ids, Array]:
        """The rows that a person at ``point`` may step to, and what each step costs.

        A point that equals a row is joined as that row is; any other as a new row would be.
        """
        row = int(self.points.rows_at(point[None, :])[0])
        if row >= 0:
            own = slice(self.links.indptr[row], self.links.indptr[row + 1])
            ends = self.links.indices[own].astype(np.int64)
            costs = self.links.data[own]
            kept = self._which_steps_allowed(point, ends, bounds, allowed)
            return ends[kept], costs[kept]
        lengths = norms(self.points.points - point)
        ends = self._rows_joined_to(lengths)
        ends = ends[self._which_steps_allowed(point, ends, bounds, allowed)]
        targets = self.points.points[ends]
        logs = self.edge_costs.log_densities(
            np.broadcast_to(point, targets.shape), targets, lengths[ends]
        )
        return ends, self.edge_costs.costs(logs, lengths[ends])

    def _rows_joined_to(self, lengths: Array) -> Ids:
        """The rows that a new point at these distances is joined to."""
        joined = (lengths <= self.reach) & (lengths <= self.radius)
        most = min(self.most, len(lengths))
        furthest = min(np.partition(lengths, most - 1)[most - 1], self.radius)
        near = np.flatnonzero(lengths <= furthest)
        joined[near[np.argsort(lengths[near], kind="stable")[:most]]] = True
        return np.flatnonzero(joined)

    def reversed_links(self, inside: Mask, bounds: Bounds) -> csr_array:
        """The links among some rows, reversed: an entry (b, a) is the step from a to b."""
        one_way = np.flatnonzero(bounds.up | bounds.down)
        if inside.all() and not len(one_way):
            return self.links
        rows = np.flatnonzero(inside)
        some = self.links[rows]
        later = np.repeat(rows, np.diff(some.indptr))
        earlier = some.indices
        kept = inside[earlier]
        for column in one_way:
            values = self.points.columns[column]
            ahead = values[later] - values[earlier]
            kept &= ahead >= 0 if bounds.up[column] else ahead <= 0
        counts = np.bincount(later[kept], minlength=len(inside))
        firsts = np.concatenate([[0], np.cumsum(counts)]).astype(some.indptr.dtype)
        return csr_array((some.data[kept], earlier[kept], firsts), shape=self.links.shape)

    def _which_steps_allowed(self, point: Array, ends: Ids, bounds: Bounds, allowed: Mask) -> Mask:
        targets = self.points.points[ends]
        return np.asarray(
            allowed[ends] & bounds.contain(targets) & bounds.respects_one_way(point, targets)
        )


def _undirected_edges(found: NeighborLists, n: int) -> tuple[RowNumbers, RowNumbers, Array]:
    """Each pair once, whichever of the two has the other on its list."""
    low = np.minimum(found.starts, found.ends)
    high = np.maximum(found.starts, found.ends)
    _, first = np.unique(low.astype(np.int64) * n + high, return_index=True)
    return low[first], high[first], found.lengths[first]


def _symmetric_cost_matrix(starts: RowNumbers, ends: RowNumbers, costs: Array, n: int) -> csr_array:
    values = np.concatenate([costs, costs])
    rows = np.concatenate([starts, ends])
    columns = np.concatenate([ends, starts])
    links = csr_array((values, (rows, columns)), shape=(n, n))
    links.sort_indices()
    return links
