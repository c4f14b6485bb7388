"""Kernels on rows: how far off a distance may be for a value to be stated."""

from __future__ import annotations

import numpy as np
import pytest

from localface.density.fit import fit_kde
from localface.density.row_kernels import STATED_TO, RowKernels
from localface.geometry.point_set import PointSet

ROWS = PointSet(np.random.default_rng(0).normal(size=(50, 2)))


@pytest.mark.parametrize("h", [0.05, 0.7, 3.0])
def test_a_distance_that_is_off_by_the_resolution_moves_a_kernel_by_what_is_stated(h):
    kernels = RowKernels(ROWS, np.zeros(2, dtype=bool), h)

    near, off = kernels.turn_into_log_kernels(np.array([0.0, kernels.resolution]))

    assert near - off == pytest.approx(STATED_TO)


@pytest.mark.parametrize("stretch", [0.2, 1.0, 5.0])
def test_a_segment_that_is_long_in_the_space_of_the_kernels_is_never_taken_for_a_short_one(stretch):
    kernels = RowKernels(ROWS, np.zeros(2, dtype=bool), 0.5, stretch * np.eye(2))
    starts, ends = np.zeros((1, 2)), np.array([[1.0, 0.0]])
    for factor in np.geomspace(0.01, 1e6, 200):
        some = factor * ends
        if kernels.is_long(kernels.legs_of(starts, some)).any():
            assert kernels.may_be_long(starts, some)
    assert not kernels.may_be_long(starts, 0.01 * ends)
    assert kernels.is_long(kernels.legs_of(starts, 1e6 * ends)).all()


def test_only_what_is_long_is_worked_out_by_itself():
    """Ten thousand bandwidths are long; a category that changes half way makes two legs."""
    rows = np.column_stack([np.linspace(0, 2e4, 40), np.zeros(40)])
    kde = fit_kde(PointSet(rows), np.array([False, True]), bandwidth=1.0)
    starts = np.array([[0.5, 0.0], [0.5, 0.0], [0.5, 0.0]])
    ends = np.array([[0.9, 0.0], [10_000.6, 0.0], [16_000.6, 1.0]])

    for some in ([0, 1, 2], [0, 2]):
        log_sums = np.full(len(some), np.nan)
        kde.settle_long(starts[some], ends[some], log_sums)
        assert np.isnan(log_sums).tolist() == [one != 1 for one in some]

    log_sums = np.full(3, np.nan)
    kde.settle_long(starts, ends, log_sums)
    gap = rows[1, 0] - rows[0, 0]  # the lowest is half way between two rows
    assert log_sums[1] == pytest.approx(np.log(2.0) - (gap / 2) ** 2 / 2, abs=1e-6)


def test_a_step_is_long_by_how_far_apart_its_ends_are_wherever_they_lie():
    """Ten thousand bandwidths of 0.5."""
    kernels = RowKernels(PointSet(np.zeros((2, 1))), np.zeros(1, dtype=bool), 0.5)
    far, half = np.array([[1e6]]), np.array([[2600.0]])

    assert not kernels.may_be_long(far, far + 4900.0)
    assert kernels.may_be_long(far, far + 5100.0)
    assert kernels.may_be_long(-half, half)
