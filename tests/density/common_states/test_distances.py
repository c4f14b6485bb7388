"""The smallest values of lines, found without sorting them."""

from __future__ import annotations

import numpy as np
import pytest

from localface.density.common_states.distances import (
    chunks,
    evenly_spread,
    smallest_of_lines,
    squared_distances,
)


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


@pytest.mark.parametrize("n", [0, 1, 16, 17, 5000])
@pytest.mark.parametrize("width", [0, 1, 1000, 10**7])
def test_lines_are_held_in_portions_each_line_once(n, width):
    found = list(chunks(n, width))

    assert [line for some in found for line in range(some.start, some.stop)] == list(range(n))
    assert all(some.stop - some.start <= max(16, 2**19 // max(1, width)) for some in found)


@pytest.mark.parametrize("n", [1, 7, 100])
@pytest.mark.parametrize("most", [1, 5, 200])
def test_some_rows_are_spread_from_the_first_to_the_last(n, most):
    found = evenly_spread(n, most)

    assert len(found) == min(n, most)
    assert found[0] == 0
    assert most == 1 or found[-1] == n - 1
    assert (np.ptp(np.diff(found)) if len(found) > 2 else 0) <= 1


def test_squared_distances_are_those_of_differences_to_rows_that_are_near():
    chance = np.random.default_rng(0)
    rows = 1e6 + chance.normal(size=(40, 3))
    points = rows[:10] + 1e-3

    found = squared_distances(points, rows, resolution=1e-9)

    exact = ((points[:, None] - rows) ** 2).sum(axis=2)
    np.testing.assert_allclose(found[:, :10].diagonal(), exact[:, :10].diagonal(), atol=1e-9)
    assert (found >= 0).all()
