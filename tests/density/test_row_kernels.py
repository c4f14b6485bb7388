"""Kernels on rows: how far off a distance may be for a value to be stated."""

from __future__ import annotations

import numpy as np
import pytest

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
