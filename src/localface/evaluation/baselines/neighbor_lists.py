"""The exact nearest neighbours of many rows, found by blocks of matrix products."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from localface.geometry.point_set import PointSet
from localface.geometry.segments import norms
from localface.types import Array, Ids, Mask

RowNumbers = npt.NDArray[np.int32]
"""Numbers of rows, in 32 bits: there is one for every end of every edge."""

MAX_PRODUCTS = 2**22  # products in memory at a time while neighbours are searched
_MEASURED = 2**22  # numbers in memory at a time while lengths are computed
_PROBES = 2048  # rows from which the distance of the nearest is estimated
_SAMPLED = 512  # rows on which the typical radius is measured


@dataclass(frozen=True, slots=True, eq=False)
class NeighborLists:
    """Rows with the others nearest to them: one pair an entry, rows in order, nearest first."""

    starts: RowNumbers
    ends: RowNumbers
    lengths: Array
    reach: Array  # of each row: how far away a new point may be to get onto its list
    cut: Mask  # of each row: whether there were more within the radius than it may have


def nearest_neighbors(points: PointSet, chosen: Ids, *, most: int, radius: float) -> NeighborLists:
    """List the nearest others of chosen rows: exactly, ties by number, a block at a time."""
    scan = np.vstack([-2 * points.columns, points.squares])
    found = [
        _neighbors_of_block(points, scan, chosen[block], most=most, radius=radius)
        for block in block_slices(len(chosen), MAX_PRODUCTS // len(points))
    ]
    names = ("starts", "ends", "lengths", "reach", "cut")
    return NeighborLists(*(np.concatenate([getattr(one, name) for one in found]) for name in names))


def typical_radius(points: PointSet, k: int) -> float:
    """The median distance from a row to its k-th nearest other row, over at most 512 rows."""
    sample = evenly_spaced_rows(len(points), _SAMPLED)
    k = min(k, len(points) - 1)
    found = nearest_neighbors(points, sample, most=k, radius=np.inf)
    return float(np.median(found.lengths.reshape(len(sample), k)[:, -1]))


def evenly_spaced_rows(n: int, most: int) -> Ids:
    """At most ``most`` of n rows in canonical order, evenly spaced: nothing is random."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))


def block_slices(n: int, most: int) -> Iterator[slice]:
    """Slices of n things, ``most`` in each."""
    step = max(1, most)
    return (slice(first, first + step) for first in range(0, n, step))


def append_column_of_ones(points: Array) -> Array:
    """Points with a 1 appended, to multiply with a scan."""
    return np.column_stack([points, np.ones(len(points))])


def _neighbors_of_block(
    points: PointSet, scan: Array, some: Ids, *, most: int, radius: float
) -> NeighborLists:
    """The lists of one block of rows: candidates by product, then ranked by exact distances."""
    # squared distances, less the square of the row itself
    rough = append_column_of_ones(points.points[some]) @ scan
    rough[np.arange(len(some)), some] = np.inf
    owners, ends = _candidate_pairs(
        points, rough, points.squares[some], wanted=most + 1, radius=radius
    )
    lengths = _pair_distances(points.points, some[owners], ends)
    near = np.flatnonzero(lengths <= radius)
    order = near[np.lexsort((ends[near], lengths[near], owners[near]))]
    owners = owners[order]
    ends = ends[order]
    lengths = lengths[order]
    counts = np.bincount(owners, minlength=len(some))
    rank = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
    reach = np.full(len(some), radius)
    last = rank == most - 1
    # a new point at the same distance as the last neighbour does not get onto the list
    reach[owners[last]] = np.nextafter(lengths[last], -np.inf)
    kept = rank < most
    starts = some[owners[kept]].astype(np.int32)
    return NeighborLists(starts, ends[kept].astype(np.int32), lengths[kept], reach, counts > most)


def _candidate_pairs(
    points: PointSet, rough: Array, squares: Array, *, wanted: int, radius: float
) -> tuple[Ids, Ids]:
    """Pairs that contain the ``wanted`` nearest within the radius for sure, and few others.

    At least ``wanted`` rows are no further than a guess by product. Rounding moves a squared
    distance by ``unsure`` at most, so a row that is truly as near is found within the guess
    and twice that.
    """
    n = rough.shape[1]
    guess = _guess_squared_radii(rough, wanted)
    guess = np.minimum(guess, radius * radius - squares)
    everyone = np.isinf(guess)
    reach = np.sqrt(np.maximum(np.where(everyone, 0.0, guess) + squares, 0.0))
    unsure = points.rounding_error(squares + (np.sqrt(squares) + reach) ** 2)
    # finite: a row is not on its own list
    edge = np.where(everyone, np.finfo(float).max, guess + 2 * unsure)
    flat = np.flatnonzero(rough <= edge[:, None])
    return flat // n, flat % n


def _guess_squared_radii(rough: Array, wanted: int) -> Array:
    """A squared distance that at least ``wanted`` rows are within, of each row, by product."""
    n = rough.shape[1]
    if wanted >= n:
        return np.full(len(rough), np.inf)
    probed = np.sort(rough[:, :: max(1, n // _PROBES)], axis=1)
    rank = int(np.ceil(1.3 * wanted / n * probed.shape[1])) + 2
    guess = probed[:, rank] if rank < probed.shape[1] else np.full(len(rough), np.inf)
    short = np.flatnonzero((rough <= guess[:, None]).sum(axis=1) < wanted)
    guess[short] = np.partition(rough[short], wanted - 1, axis=1)[:, wanted - 1]
    return guess


def _pair_distances(points: Array, starts: Ids, ends: Ids) -> Array:
    found = np.empty(len(starts))
    for block in block_slices(len(starts), _MEASURED // points.shape[1]):
        found[block] = norms(points[starts[block]] - points[ends[block]])
    return found
