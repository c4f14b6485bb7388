"""Fits how common states are: kernels, pairs, what is expected given what is own."""

from __future__ import annotations

import numpy as np

from localface.data.space import Space
from localface.density.common_states.bins import FeatureBins
from localface.density.common_states.common_scale import CommonScale
from localface.density.common_states.comparable import ComparablePeople
from localface.density.common_states.device_sums import log_sums_on_device, row_weights_on_device
from localface.density.common_states.distances import evenly_spread
from localface.density.common_states.given_own import GivenOwn, OwnRows
from localface.density.common_states.joint_density import (
    RowLogSums,
    are_few,
    leave_one_out_log_sums,
)
from localface.density.common_states.kernel_shape import KernelShape
from localface.density.common_states.model import CommonStates
from localface.density.common_states.own_density import OwnDensity
from localface.density.common_states.pair_tables import PairTables
from localface.density.common_states.pair_weights import WeightedPairs
from localface.density.device_kde import DeviceKDE
from localface.density.kde import KDE
from localface.density.protocol import DensityScale
from localface.density.row_kernels import map_points
from localface.geometry.device.device import Device
from localface.geometry.device.scan import RowScan
from localface.geometry.point_set import PointSet
from localface.types import Array, Ids

_RANKED_ON = 20_000  # rows whose leave-one-out values make the scale


def fit_common_states(
    rows: PointSet, space: Space, *, groups: Ids | None = None, device: Device | None = None
) -> CommonStates:
    """Fit on distinct rows; features that never change are what a person has as their own.

    ``groups`` numbers the person of each row, where people have several; None looks for
    near-copies. Floors are set by rows as if each were new: without all rows of the same
    person, by pair weights learnt from others. Where there is a ``device``, it sums over all
    rows, here and whenever the density is asked.
    """
    points = rows.points
    chosen = evenly_spread(len(points), _RANKED_ON)
    shape = KernelShape.fit(points, space, groups)
    places = map_points(points, shape.matrix)
    scan = None
    if device is not None and not are_few(len(points), shape.numbers):
        scan = device.scan_of(places, shape.copies.groups)
        kde, joint = _fit_kernels_on_device(scan, rows, places, space, shape, chosen)
        weights = row_weights_on_device(scan, places, shape.copies)
    else:
        kde, joint = _fit_kernels(rows, places, space, shape, chosen)
        weights = shape.copies.row_weights(places)
    bins = FeatureBins.fit(points, space)
    binned = bins.of(points)
    own = np.array([j for j, one in enumerate(space.schema) if one.own], dtype=np.int64)
    own_columns = space.own_columns
    halves = shape.copies.halves(len(points))
    pairs = WeightedPairs.fit(PairTables.fit(bins, binned, weights), binned, halves, own)
    binned = binned[chosen]
    fair = np.column_stack([joint.fair, pairs.cross_fitted_values(binned, halves[chosen])])
    plain = np.column_stack([joint.plain, pairs.values_of_rows(binned)])
    given_own = comparable = None
    if (points[:, own_columns] != points[0, own_columns]).any():  # else all are comparable
        comparable = ComparablePeople.fit(points, space, own, n_people=float(weights.sum()))
        given_own, own_rows = _fit_given_own(points[chosen], fair, space, shape)
        fair = _standardise(fair, given_own.for_rows(own_rows, left_out=True))
        plain = _standardise(plain, given_own.for_rows(own_rows, left_out=False))
    common = CommonScale.fit(fair)
    known = np.full(len(points), np.nan)
    known[chosen] = _combine(common, plain, pairs)
    return CommonStates(
        space=space,
        rows=rows,
        kde=kde,
        pairs=pairs,
        common=common,
        given_own=given_own,
        copies=shape.copies,
        scale=DensityScale(np.sort(_combine(common, fair, pairs))),
        known_log_densities=known,
        comparable=comparable,
        device=None if scan is None else device,
    )


def _fit_kernels_on_device(
    scan: RowScan, rows: PointSet, places: Array, space: Space, shape: KernelShape, chosen: Ids
) -> tuple[KDE, RowLogSums]:
    """Put the kernels on the rows, where a device sums them."""
    known, log_sums = log_sums_on_device(scan, places, chosen, shape.bandwidth, shape.copies)
    kde = DeviceKDE(
        rows,
        space.discrete,
        bandwidth=shape.bandwidth,
        matrix=shape.matrix,
        row_log_densities=known,
        places=places,
        scan=scan,
    )
    normaliser = kde.log_normaliser
    return kde, RowLogSums(log_sums.plain + normaliser, log_sums.fair + normaliser)


def _fit_kernels(
    rows: PointSet, places: Array, space: Space, shape: KernelShape, chosen: Ids
) -> tuple[KDE, RowLogSums]:
    """Put the kernels on the rows; returns the leave-one-out log-densities of chosen ones too.

    ``places`` are the rows in the space of the kernels.
    """
    log_sums = leave_one_out_log_sums(
        places,
        chosen,
        shape.bandwidth,
        shape.copies,
        shape.numbers,
        _one_hot_columns(space),
    )
    known = np.full(len(rows), np.nan)
    known[chosen] = log_sums.plain
    kde = KDE(
        rows,
        space.discrete,
        bandwidth=shape.bandwidth,
        matrix=shape.matrix,
        row_log_densities=known,
    )
    normaliser = kde.log_normaliser
    return kde, RowLogSums(log_sums.plain + normaliser, log_sums.fair + normaliser)


def _fit_given_own(
    points: Array, values: Array, space: Space, shape: KernelShape
) -> tuple[GivenOwn, OwnRows]:
    """Learn what is expected of people with the same own features, from rows and their values."""
    mine = points[:, space.own_columns]
    density = OwnDensity.fit(mine, shape.marginal_matrix(space.own_columns), shape.bandwidth)
    rows = OwnRows.of(mine, density)
    return GivenOwn.fit(rows, values, space, density=density), rows


def _one_hot_columns(space: Space) -> tuple[tuple[int, int], ...]:
    """Return the columns of each categorical feature: the first, and the one after the last."""
    firsts = space.first_columns.tolist()
    features = zip(space.schema, firsts, [*firsts[1:], space.width], strict=True)
    return tuple((first, end) for one, first, end in features if one.kind == "categorical")


def _standardise(values: Array, expected: tuple[Array, Array]) -> Array:
    mean, spread = expected
    return np.asarray((values - mean) / spread)


def _combine(common: CommonScale, values: Array, pairs: WeightedPairs) -> Array:
    """Return the one value that counts, of (rows, questions)."""
    if not len(pairs.considered):
        return values[:, 0]
    return np.minimum(values[:, 0], common.lowest(values[:, 1:]))
