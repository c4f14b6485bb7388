"""What fitting takes from all rows at once, where a device does it."""

from __future__ import annotations

import numpy as np

from localface.density.common_states.copies import Copies
from localface.density.common_states.joint_density import (
    SMALLEST_SUM,
    RowLogSums,
    sums_row_by_row,
)
from localface.geometry.device.scan import COUNTS, KernelSamples, RowScan
from localface.types import Array, Ids

_ANY_BANDWIDTH = 1.0  # for counts, which take none


def log_sums_on_device(
    scan: RowScan, places: Array, chosen: Ids, bandwidth: float, copies: Copies
) -> tuple[Array, RowLogSums]:
    """Return the log-sums of the kernels of others at all rows, and those of chosen ones.

    ``scan`` has the rows where kernels are round, as ``places`` says. The chosen ones are as
    ``leave_one_out_log_sums`` has them; sums of other rows that are too small are not a number.
    """
    every = np.arange(len(places))
    samples = KernelSamples.at_points(places, np.column_stack([every, every]))
    sums = scan.kernel_sums(samples, bandwidth)[0]
    plain = np.log(np.where(sums < SMALLEST_SUM, np.nan, sums))
    fair = plain[chosen]
    if copies.any:
        some = KernelSamples(
            np.arange(len(chosen)),
            np.zeros(len(chosen)),
            places[chosen],
            np.zeros((len(chosen), places.shape[1])),
            np.column_stack([chosen, chosen]),
            groups=None if copies.groups is None else copies.groups[chosen],
            nearest=copies.distance**2,
        )
        sums = scan.kernel_sums(some, bandwidth)[0]
        fair = np.log(np.where(sums < SMALLEST_SUM, np.nan, sums))
    unsure = np.isnan(plain[chosen]) | np.isnan(fair)
    if unsure.any():
        exact = sums_row_by_row(places, chosen[unsure], bandwidth, copies)
        plain[chosen[unsure]] = exact.plain
        fair[unsure] = exact.fair
    alone = np.isneginf(fair)
    fair[alone] = fair[~alone].min() if not alone.all() else 0.0
    return plain, RowLogSums(plain[chosen], fair)


def row_weights_on_device(scan: RowScan, places: Array, copies: Copies) -> Array:
    """Return what each row counts, so that every person counts once; see ``Copies``."""
    if copies.groups is not None or not copies.distance:
        return copies.row_weights(places)
    reach = np.full(len(places), copies.distance)
    samples = KernelSamples.at_points(places, offsets=reach, mode=COUNTS)
    return np.asarray(1.0 / np.maximum(scan.kernel_sums(samples, _ANY_BANDWIDTH)[0], 1.0))
