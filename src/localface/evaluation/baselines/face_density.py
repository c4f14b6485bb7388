"""The density that FACE uses: a Gaussian KDE on all rows, or on an even sample of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.density.fit import fit_kde
from localface.density.kde import KDE
from localface.evaluation.baselines.neighbor_lists import (
    append_column_of_ones,
    block_slices,
    evenly_spaced_rows,
)
from localface.geometry.point_set import PointSet
from localface.types import Array, Ids, Mask

_SUMMED = 2**19  # kernels in memory at a time while densities are summed


@dataclass(frozen=True, slots=True, eq=False)
class FaceDensity:
    """A Gaussian KDE on at most so many rows; ``sampled`` says which rows have a kernel.

    Its kernels are round, as published: FACE is compared as it is, and judged like all others.

    The product of a point with a 1 appended and ``scan``, less half the point's own square
    over the squared bandwidth, is the logarithm of each kernel.
    """

    kde: KDE
    points: PointSet
    sampled: Ids
    discrete: Mask
    scan: Array

    @classmethod
    def fit(cls, points: PointSet, discrete: Mask, *, most: int) -> FaceDensity:
        """Fit the density, its bandwidth by leave-one-out likelihood, on at most so many rows."""
        sampled = evenly_spaced_rows(len(points), most)
        some = points if len(sampled) == len(points) else PointSet(points.points[sampled])
        kde = fit_kde(some, discrete)
        scan = np.vstack([some.columns, some.squares / -2]) / kde.bandwidth**2
        return cls(kde, some, sampled, discrete, scan)

    def log_densities(self, points: Array) -> Array:
        """The log-density at each point."""
        h = self.kde.bandwidth
        width = self.points.width
        offset = -width / 2 * np.log(2 * np.pi * h * h) - np.log(len(self.points))
        found = np.empty(len(points))
        for block in block_slices(len(points), _SUMMED // len(self.points)):
            logs = append_column_of_ones(points[block]) @ self.scan
            top = logs.max(axis=1)
            logs -= top[:, None]
            # single precision suffices below the largest
            sums = np.exp(logs.astype(np.float32)).sum(axis=1)
            found[block] = np.log(sums.astype(np.float64)) + top
        return np.asarray(found - (points * points).sum(axis=1) / (2 * h * h) + offset)

    def leave_one_out_log_densities(self, points: PointSet, rows: Ids) -> Array:
        """The log-density at rows of the data, each without its own kernel."""
        rank = np.minimum(np.searchsorted(self.sampled, rows), len(self.sampled) - 1)
        own = self.sampled[rank] == rows
        found = np.empty(len(rows))
        found[own] = self.kde.row_log_densities(rank[own])
        found[~own] = self.log_densities(points.points[rows[~own]])
        return found

    def log_densities_mid_step(self, starts: Array, ends: Array) -> Array:
        """The log-density in the middle of each step.

        Discrete columns have no middle: where one changes, there is a point before and one
        after the change, and the mean of their log-densities counts.
        """
        flips = self.discrete & (starts != ends)
        middles = (starts + ends) / 2
        found = self.log_densities(np.where(flips, starts, middles))
        some = flips.any(axis=1)
        if some.any():
            found[some] += self.log_densities(np.where(flips, ends, middles)[some])
            found[some] /= 2
        return found
