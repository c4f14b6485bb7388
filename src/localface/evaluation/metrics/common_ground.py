"""How common states are by kernels, pairs and own features, worked out again by the judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from localface.density.common_states import CommonStates
from localface.evaluation.metrics.kernel_density import log_densities_along_step
from localface.evaluation.metrics.own_features import OwnFeatures
from localface.evaluation.metrics.pair_evidence import PairEvidence
from localface.evaluation.metrics.reference_rows import ReferenceRows
from localface.types import Array, Mask

_AT_ONCE = 256  # rows that are compared with all rows at a time


@dataclass(frozen=True, slots=True, eq=False)
class CommonGround:
    """The density that LocalFACE searches by, from the numbers that were fitted and no other code.

    What was chosen is taken over as plain numbers: the map and the bandwidth of the kernels,
    where bins end, which pairs count and how much, what own features let expect, and how
    values of pairs stand on the scale of the joint density. What follows from the rows is
    worked out again: all kernels are summed, all pairs counted, steps walked on a fine grid
    and through every cell.
    """

    rows: ReferenceRows
    discrete: Mask
    matrix: Array
    bandwidth: float
    pairs: PairEvidence | None
    own: OwnFeatures | None
    scales: tuple[tuple[Array, Array], ...]  # of each pair value: values, joint log-densities
    _mapped: ReferenceRows

    @classmethod
    def of(cls, density: CommonStates, rows: ReferenceRows) -> CommonGround:
        """Take the numbers of a fitted density; ``rows`` are those it was fitted on."""
        matrix = density.kde.matrix
        assert matrix is not None  # kernels of a fitted density always have one
        mapped = ReferenceRows(rows.points @ matrix)
        return cls(
            rows,
            density.space.discrete,
            matrix,
            density.bandwidth,
            _count_pairs(density, rows, mapped),
            _own_features(density),
            tuple(zip(density.common.values, density.common.heights, strict=True)),
            mapped,
        )

    def along(
        self, start: Array, end: Array, *, left_out: Sequence[int] = ()
    ) -> tuple[float, float]:
        """The lowest log-density along a step, and the logarithm of the mean density.

        Of the person at its start. The mean is that of the kernels; pairs count at both ends.
        """
        means = np.zeros(3)
        spreads = np.ones(3)
        if self.own is not None:
            means, spreads = self.own.expected_at(start)
        lowest, mean = (
            (joint - means[0]) / spreads[0]
            for joint in log_densities_along_step(
                (start, end),
                self.discrete,
                self._mapped,
                self.bandwidth,
                matrix=self.matrix,
                left_out=left_out,
            )
        )
        if self.pairs is None:
            return float(lowest), float(mean)
        passed = self.pairs.points_in_every_cell(start, end, self.discrete)
        values = (self.pairs.values(passed, left_out) - means[1:]) / spreads[1:]
        stands_for = self._on_joint_scale(values)
        return float(min(lowest, stands_for.min())), float(min(mean, stands_for[:2].min()))

    def _on_joint_scale(self, pair_values: Array) -> Array:
        """The lower of the joint log-densities that both values stand for, at every point."""
        found = np.full(len(pair_values), np.inf)
        for column, (values, heights) in zip(pair_values.T, self.scales, strict=True):
            stands_for = np.interp(column, values, heights)
            below = column < values[0]
            stands_for[below] += column[below] - values[0]
            found = np.minimum(found, stands_for)
        return found


def _count_pairs(
    density: CommonStates, rows: ReferenceRows, mapped: ReferenceRows
) -> PairEvidence | None:
    fitted = density.pairs
    if not len(fitted.considered):
        return None
    features = density.space.feature_of
    bins = fitted.tables.bins
    return PairEvidence.count(
        rows.points,
        _row_weights(density, mapped),
        columns=[np.flatnonzero(features == j) for j in range(len(density.space.schema))],
        edges=[line[np.isfinite(line)] for line in bins.edges],
        pairs=np.column_stack([fitted.tables.first, fitted.tables.second])[fitted.considered],
        weights=(fitted.weights[0] + fitted.weights[1])[fitted.considered] / 2,
    )


def _row_weights(density: CommonStates, mapped: ReferenceRows) -> Array:
    """What each row counts, so that everybody counts once: rows of one person share one."""
    groups = density.copies.groups
    if groups is not None:
        _, person, counts = np.unique(groups, return_inverse=True, return_counts=True)
        return np.asarray(1.0 / counts[person])
    if not density.copies.distance:
        return np.ones(len(mapped))
    near = []
    for first in range(0, len(mapped), _AT_ONCE):
        squared = mapped.squared_distances(mapped.points[first : first + _AT_ONCE])
        near.append((squared <= density.copies.distance**2).sum(axis=1))
    return np.asarray(1.0 / np.concatenate(near))


def _own_features(density: CommonStates) -> OwnFeatures | None:
    fitted = density.given_own
    if fitted is None:
        return None
    return OwnFeatures(
        columns=fitted.columns,
        discrete=fitted.expectation.discrete,
        rows=fitted.density.rows,
        counts=fitted.density.counts,
        matrix=fitted.density.matrix,
        bandwidth=fitted.density.bandwidth,
        centre=fitted.expectation.centre,
        means=fitted.expectation.mean,
        slopes=fitted.expectation.slopes,
        spread_slopes=fitted.expectation.spread_slopes,
    )
