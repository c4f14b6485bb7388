"""The graphs of FACE: who is joined to whom, and what a step between them costs.

Graphs are sparse and built by blocks of rows: no array ever has a place for every pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from localface.density.fit import fit_kde
from localface.density.kde import KDE
from localface.geometry.bounds import Bounds
from localface.geometry.point_set import PointSet
from localface.geometry.segments import norms
from localface.types import Array, Ids, Mask

Rows = npt.NDArray[np.int32]
"""Numbers of rows, kept small: there is one for every end of every step."""
_SCANNED = 2**22  # products held at a time while neighbours are sought
_SUMMED = 2**19  # kernels held at a time while densities are summed
_MEASURED = 2**22  # numbers held at a time while lengths are measured
_PROBES = 2048  # rows from which it is guessed how far the nearest are
_ASKED = 512  # rows that are asked how far their neighbours stand, to choose eps
_SHORTEST = 1e-12  # what two rows that rounding has laid on one another count as apart


@dataclass(frozen=True, slots=True, eq=False)
class Commons:
    """How common places are: a Gaussian KDE on all rows, or on some that are spread evenly over many."""

    kde: KDE
    crowd: PointSet  # the rows that have a kernel
    held: Ids  # which rows of the data those are
    discrete: Mask
    scan: Array  # the product of a place and a 1 with this, less its own square, is a logarithm of kernels

    @classmethod
    def of(cls, crowd: PointSet, discrete: Mask, *, most: int) -> Commons:
        """Fit the density, its bandwidth by leave-one-out likelihood, on at most so many rows."""
        held = spread(len(crowd), most)
        some = crowd if len(held) == len(crowd) else PointSet(crowd.points[held])
        kde = fit_kde(some, discrete)
        scan = np.vstack([some.columns, some.squares / -2]) / kde.bandwidth**2
        return cls(kde, some, held, discrete, scan)

    def at(self, places: Array) -> Array:
        """Log-densities at places."""
        h, width = self.kde.bandwidth, self.crowd.width
        offset = -width / 2 * np.log(2 * np.pi * h * h) - np.log(len(self.crowd))
        found = np.empty(len(places))
        for some in _parts(len(places), _SUMMED // len(self.crowd)):
            logs = _with_one(places[some]) @ self.scan
            top = logs.max(axis=1)
            logs -= top[:, None]
            sums = np.exp(logs.astype(np.float32)).sum(
                axis=1
            )  # single precision suffices below the largest
            found[some] = np.log(sums.astype(np.float64)) + top
        return np.asarray(found - (places * places).sum(axis=1) / (2 * h * h) + offset)

    def levels(self, crowd: PointSet, rows: Ids) -> Array:
        """Leave-one-out log-densities of rows of the data: a row's own kernel never counts for it."""
        place = np.minimum(np.searchsorted(self.held, rows), len(self.held) - 1)
        own = self.held[place] == rows
        found = np.empty(len(rows))
        found[own] = self.kde.row_log_densities(place[own])
        found[~own] = self.at(crowd.points[rows[~own]])
        return found

    def between(self, starts: Array, ends: Array) -> Array:
        """Log-densities in the middle of steps.

        Discrete columns have no middle: where one changes, there is a place before and one
        after the change, and the mean of their log-densities counts.
        """
        flips = self.discrete & (starts != ends)
        middles = (starts + ends) / 2
        found = self.at(np.where(flips, starts, middles))
        some = flips.any(axis=1)
        if some.any():
            found[some] += self.at(np.where(flips, ends, middles)[some])
            found[some] /= 2
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Prices:
    """What a step costs: g(p) times its length, with g(p) = toll + max(0, log p_max - log p) > 0.

    Without ``commons`` p is read off the length d of the step, as 1/d^D: whatever else stands
    in the formulas of the k-NN and the eps graph is the same for all steps and cancels in p / p_max.
    """

    toll: float
    commons: Commons | None = None
    top: float = np.inf  # log p_max

    def logs(self, starts: Array, ends: Array, lengths: Array) -> Array:
        """The log-densities of steps."""
        if self.commons is not None:
            return self.commons.between(starts, ends)
        return np.asarray(-starts.shape[-1] * np.log(np.maximum(lengths, _SHORTEST)))

    def costs(self, logs: Array, lengths: Array) -> Array:
        """What steps of these log-densities and lengths cost."""
        return np.asarray(
            (self.toll + np.maximum(self.top - logs, 0.0)) * np.maximum(lengths, _SHORTEST)
        )


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """Rows and the others nearest to them: one pair an entry, rows in order and the nearest first."""

    starts: Rows
    ends: Rows
    lengths: Array
    reach: Array  # of each row: how far away a newcomer may stand to get onto its list
    cut: Mask  # of each row: whether there were more within the radius than it may have


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """People joined to people: rows, and whoever asks.

    Two are joined where one is among the other's ``most`` nearest within ``radius``. ``n_cut``
    rows had more than that within the radius, and only keep the nearest of them.
    """

    crowd: PointSet
    prices: Prices
    links: csr_array  # symmetric: the cost of the step between two rows
    most: int
    radius: float
    reach: Array
    n_cut: int

    @classmethod
    def of(
        cls, crowd: PointSet, prices: Prices, *, most: int, radius: float, densest: float
    ) -> Graph:
        """Join all rows; p_max is the density that a share ``densest`` of all steps stays below."""
        found = nearest(crowd, np.arange(len(crowd)), most=most, radius=radius)
        starts, ends, lengths = _undirected(found, len(crowd))
        logs = np.empty(len(lengths))
        for some in _parts(len(lengths), _SCANNED // crowd.width):
            logs[some] = prices.logs(
                crowd.points[starts[some]], crowd.points[ends[some]], lengths[some]
            )
        top = float(np.quantile(logs, densest)) if len(logs) else 0.0
        prices = Prices(prices.toll, prices.commons, top)
        links = _symmetric(starts, ends, prices.costs(logs, lengths), len(crowd))
        n_cut = int(found.cut.sum()) if radius < np.inf else 0
        return cls(crowd, prices, links, most, radius, found.reach, n_cut)

    @property
    def n_edges(self) -> int:
        """How many pairs of rows are joined."""
        return int(self.links.nnz) // 2

    def steps(self, point: Array, bounds: Bounds, allowed: Mask) -> tuple[Ids, Array]:
        """The rows that someone at ``point`` may step to, and what each step costs.

        Who stands where a row stands is joined as that row is; anybody else as a newcomer.
        """
        row = self.crowd.row_at(point)
        if row >= 0:
            own = slice(self.links.indptr[row], self.links.indptr[row + 1])
            ends, costs = self.links.indices[own].astype(np.int64), self.links.data[own]
            may = self._may(point, ends, bounds, allowed)
            return ends[may], costs[may]
        lengths = norms(self.crowd.points - point)
        joined = (lengths <= self.reach) & (lengths <= self.radius)
        most = min(self.most, len(lengths))
        near = np.flatnonzero(
            lengths <= min(np.partition(lengths, most - 1)[most - 1], self.radius)
        )
        joined[near[np.argsort(lengths[near], kind="stable")[:most]]] = True
        ends = np.flatnonzero(joined)
        ends = ends[self._may(point, ends, bounds, allowed)]
        places = self.crowd.points[ends]
        logs = self.prices.logs(np.broadcast_to(point, places.shape), places, lengths[ends])
        return ends, self.prices.costs(logs, lengths[ends])

    def backwards(self, inside: Mask, bounds: Bounds) -> csr_array:
        """The links among some rows, seen from where they lead: an entry (b, a) is the step from a to b."""
        one_way = np.flatnonzero(bounds.up | bounds.down)
        if inside.all() and not len(one_way):
            return self.links
        rows = np.flatnonzero(inside)
        some = self.links[rows]
        to, of = np.repeat(rows, np.diff(some.indptr)), some.indices
        kept = inside[of]
        for column in one_way:
            ahead = self.crowd.columns[column][to] - self.crowd.columns[column][of]
            kept &= ahead >= 0 if bounds.up[column] else ahead <= 0
        counts = np.bincount(to[kept], minlength=len(inside))
        firsts = np.concatenate([[0], np.cumsum(counts)]).astype(some.indptr.dtype)
        return csr_array((some.data[kept], of[kept], firsts), shape=self.links.shape)

    def _may(self, point: Array, ends: Ids, bounds: Bounds, allowed: Mask) -> Mask:
        places = self.crowd.points[ends]
        return np.asarray(allowed[ends] & bounds.contain(places) & bounds.one_way(point, places))


def usual_radius(crowd: PointSet, k: int) -> float:
    """How far from an ordinary row its k-th nearest other stands."""
    asked = spread(len(crowd), _ASKED)
    k = min(k, len(crowd) - 1)
    found = nearest(crowd, asked, most=k, radius=np.inf)
    return float(np.median(found.lengths.reshape(len(asked), k)[:, -1]))


def nearest(crowd: PointSet, chosen: Ids, *, most: int, radius: float) -> Lists:
    """List the nearest others of chosen rows: exactly, ties by number, a block of rows at a time."""
    scan = np.vstack([-2 * crowd.columns, crowd.squares])
    parts = _parts(len(chosen), _SCANNED // len(crowd))
    found = [_listed(crowd, scan, chosen[part], most=most, radius=radius) for part in parts]
    names = ("starts", "ends", "lengths", "reach", "cut")
    return Lists(*(np.concatenate([getattr(one, name) for one in found]) for name in names))


def spread(n: int, most: int) -> Ids:
    """At most ``most`` places spread evenly over n rows in canonical order: no chance, no row order."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))


def _listed(crowd: PointSet, scan: Array, some: Ids, *, most: int, radius: float) -> Lists:
    """The lists of one block of rows: candidates by product, then settled on the points themselves."""
    rough = (
        _with_one(crowd.points[some]) @ scan
    )  # squared distances, less the square of the row itself
    rough[np.arange(len(some)), some] = np.inf
    who, ends = _candidates(crowd, rough, crowd.squares[some], wanted=most + 1, radius=radius)
    lengths = _lengths(crowd.points, some[who], ends)
    near = lengths <= radius
    who, ends, lengths = who[near], ends[near], lengths[near]
    order = np.lexsort((ends, lengths, who))
    who, ends, lengths = who[order], ends[order], lengths[order]
    counts = np.bincount(who, minlength=len(some))
    rank = np.arange(len(who)) - np.repeat(np.cumsum(counts) - counts, counts)
    reach = np.full(len(some), radius)
    last = rank == most - 1
    reach[who[last]] = np.nextafter(
        lengths[last], -np.inf
    )  # a newcomer at the same distance comes too late
    kept = rank < most
    starts = some[who[kept]].astype(np.int32)
    return Lists(starts, ends[kept].astype(np.int32), lengths[kept], reach, counts > most)


def _candidates(
    crowd: PointSet, rough: Array, squares: Array, *, wanted: int, radius: float
) -> tuple[Ids, Ids]:
    """Pairs that hold the ``wanted`` nearest within the radius for sure, and few others.

    At least ``wanted`` rows are no further than a guess by product. Rounding moves a squared
    distance by ``unsure`` at most, so whoever is truly as near is found within the guess and twice that.
    """
    n = rough.shape[1]
    probed = np.sort(rough[:, :: max(1, n // _PROBES)], axis=1)
    rank = int(np.ceil(1.3 * wanted / n * probed.shape[1])) + 2
    guess = probed[:, rank] if rank < probed.shape[1] else np.full(len(rough), np.inf)
    short = np.flatnonzero((rough <= guess[:, None]).sum(axis=1) < wanted)
    if wanted < n:
        guess[short] = np.partition(rough[short], wanted - 1, axis=1)[:, wanted - 1]
    else:
        guess[:] = np.inf
    guess = np.minimum(guess, radius * radius - squares)
    everyone = np.isinf(guess)
    reach = np.sqrt(np.maximum(np.where(everyone, 0.0, guess) + squares, 0.0))
    unsure = crowd.rounding(squares + (np.sqrt(squares) + reach) ** 2)
    edge = np.where(
        everyone, np.finfo(float).max, guess + 2 * unsure
    )  # finite: a row is not on its own list
    flat = np.flatnonzero(rough <= edge[:, None])
    return flat // n, flat % n


def _lengths(points: Array, starts: Ids, ends: Ids) -> Array:
    found = np.empty(len(starts))
    for some in _parts(len(starts), _MEASURED // points.shape[1]):
        found[some] = norms(points[starts[some]] - points[ends[some]])
    return found


def _undirected(found: Lists, n: int) -> tuple[Rows, Rows, Array]:
    """Each pair once, whoever of the two has the other on the list."""
    low, high = np.minimum(found.starts, found.ends), np.maximum(found.starts, found.ends)
    _, first = np.unique(low.astype(np.int64) * n + high, return_index=True)
    return low[first], high[first], found.lengths[first]


def _symmetric(starts: Rows, ends: Rows, costs: Array, n: int) -> csr_array:
    both = (
        np.concatenate([costs, costs]),
        (np.concatenate([starts, ends]), np.concatenate([ends, starts])),
    )
    links = csr_array(both, shape=(n, n))
    links.sort_indices()
    return links


def _with_one(places: Array) -> Array:
    return np.column_stack([places, np.ones(len(places))])


def _parts(n: int, most: int) -> Iterator[slice]:
    step = max(1, most)
    return (slice(first, first + step) for first in range(0, n, step))
