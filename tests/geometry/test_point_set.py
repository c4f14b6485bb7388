"""Points by nearness: near rows that no batch changes."""

from __future__ import annotations

import numpy as np
import pytest

from localface.geometry.point_set import PointSet
from localface.types import Array


def cloud(width: int, n: int, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, width)) @ (np.eye(width) + 0.3 * rng.normal(size=(width, width)))


def distances(points: Array, place: Array) -> Array:
    return np.sqrt(((points - place) ** 2).sum(axis=1))


@pytest.mark.parametrize("n", [1, 2, 63, 64, 200, 5000])
@pytest.mark.parametrize("most", [1, 192, 10**6])
def test_some_near_rows_are_rows_each_once_and_enough_of_them(n: int, most: int) -> None:
    points, places = cloud(4, n), np.concatenate([cloud(4, 9, seed=1), np.full((1, 4), 1e5)])
    whose, rows = PointSet(points).roughly_nearest_rows(places, most)
    for place in range(len(places)):
        mine = rows[whose == place]
        assert len(set(mine.tolist())) == len(mine) >= min(most, n)
        assert ((mine >= 0) & (mine < n)).all()


def test_near_rows_are_the_same_in_any_batch_and_near_indeed() -> None:
    points, places = cloud(22, 6000), cloud(22, 50, seed=1)
    crowd = PointSet(points)
    whose, rows = crowd.roughly_nearest_rows(places, 192)
    nearer = []
    for place in range(50):
        alone, mine = crowd.roughly_nearest_rows(places[[place]], 192)[1], rows[whose == place]
        np.testing.assert_array_equal(alone, mine)
        apart = distances(points, places[place])
        nearer.append(float((np.median(apart[mine]) > apart).mean()))
        assert len(mine) < 1000
    assert np.mean(nearer) < 0.35  # of all rows, 0.5 would be nearer than half of them


def test_a_row_is_found_by_its_place_and_minus_zero_is_zero() -> None:
    crowd = PointSet(np.array([[0.0, 1.0], [2.0, -3.0]]))
    places = np.array(([-0.0, 1.0], [2.0, -3.0], [2.0, 3.0]))
    assert crowd.rows_at(places).tolist() == [0, 1, -1]
    assert crowd.rows_at_ends(crowd.points, crowd.points[::-1]).tolist() == [[0, 1], [1, 0]]
