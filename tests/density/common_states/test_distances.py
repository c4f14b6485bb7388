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


@pytest.mark.parametrize("count", [1, 5, 20])
def test_of_many_lines_the_few_smallest_are_found_in_every_one(count):
    values = np.random.default_rng(count).random((100, 40_000))

    found = smallest_of_lines(values, count)

    np.testing.assert_array_equal(found, np.sort(values, axis=1)[:, :count])


def test_no_lines_have_no_smallest_values():
    assert smallest_of_lines(np.zeros((0, 5000)), 20).shape == (0, 20)
