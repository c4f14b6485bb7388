"""The smallest values of lines, found without sorting them."""

from __future__ import annotations

import numpy as np
import pytest

from localface.density.common_states.distances import smallest_of_lines


@pytest.mark.parametrize("width", [20, 63, 5000])
def test_the_smallest_values_are_those_of_a_full_sort(width):
    values = np.random.default_rng(width).integers(0, 2000, size=(12, width)).astype(float)
    values[3, 10:] = np.inf
    values[:, ::7] = np.inf

    found = smallest_of_lines(values, 20)

    assert found.tolist() == np.sort(values, axis=1)[:, :20].tolist()


def test_no_lines_have_no_smallest_values():
    assert smallest_of_lines(np.zeros((0, 5000)), 20).shape == (0, 20)
