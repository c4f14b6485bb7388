"""Which row lies at a point: the same as by looking at every row, and soon."""

from __future__ import annotations

import time

import numpy as np
import pytest

from by_numpy import needs_compiled, point_set_by_numpy
from localface.geometry.compiled.row_index import RowIndex, first_of_equals
from localface.geometry.point_set import PointSet

pytestmark = needs_compiled


def index_of(points: np.ndarray) -> RowIndex:
    found = RowIndex.or_none(points)
    assert found is not None
    return found


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("width", [1, 2, 40])
def test_rows_are_found_as_by_their_bytes(seed: int, width: int) -> None:
    chance = np.random.default_rng([seed, width])
    values = [0.0, 1.0, -1.0, 0.5, 1e-300, 1e100, np.sqrt(0.5)]
    drawn = chance.choice(values, size=(int(chance.integers(1, 300)), width))
    rows = PointSet(np.unique(drawn, axis=0))
    asked = np.concatenate([rows.points, chance.choice(values, size=(50, width))])
    asked = asked * chance.choice([1.0, -1.0], size=asked.shape)  # minus zero among them

    found = rows.rows_at(asked)

    np.testing.assert_array_equal(found, point_set_by_numpy(rows).rows_at(asked))
    same = (rows.points[:, None, :] == asked).all(axis=2)
    np.testing.assert_array_equal(found, np.where(same.any(axis=0), same.argmax(axis=0), -1))


def test_arrays_may_lie_in_memory_as_they_like() -> None:
    points = np.random.default_rng(0).normal(size=(60, 4))
    every_other = np.repeat(points, 2, axis=0)[::2]

    for one in (np.asfortranarray(points), every_other, points[:, ::-1][:, ::-1]):
        np.testing.assert_array_equal(index_of(one).rows_at(one), np.arange(60))
    np.testing.assert_array_equal(index_of(points.astype(">f8")).rows_at(points), np.arange(60))
    whole = np.arange(12).reshape(6, 2)
    np.testing.assert_array_equal(index_of(whole).rows_at(whole), np.arange(6))


def test_no_points_and_no_rows_are_nothing_special() -> None:
    assert index_of(np.zeros((0, 3))).rows_at(np.ones((2, 3))).tolist() == [-1, -1]
    assert index_of(np.zeros((1, 3))).rows_at(np.zeros((0, 3))).tolist() == []


def test_whole_numbers_are_looked_up_as_soon_as_others() -> None:
    n = 50_000
    numbers = np.arange(n)
    whole = np.column_stack([numbers // 300, numbers % 300]).astype(float)
    other = np.random.default_rng(0).normal(size=(n, 2))

    def seconds(points: np.ndarray) -> float:
        begun = time.process_time()
        index_of(points).rows_at(points)
        return time.process_time() - begun

    least = min(seconds(other) for _ in range(3))
    assert min(seconds(whole) for _ in range(3)) < 20 * max(least, 1e-3)  # 250 times it once was


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("width", [1, 3, 30])
def test_of_equal_points_the_first_is_told(seed: int, width: int) -> None:
    chance = np.random.default_rng([seed, width])
    points = chance.choice([0.0, -0.0, 1.0, 0.5], size=(int(chance.integers(0, 200)), width))

    first = first_of_equals(points)

    seen = [next(i for i, one in enumerate(points) if (one == point).all()) for point in points]
    assert first is not None
    assert first.tolist() == [i == j for i, j in enumerate(seen)]
