"""Points by nearness: near rows that no batch changes."""

from __future__ import annotations

import numpy as np
import pytest

from localface.geometry.point_set import PointSet, are_first_of_equals, keys_of
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
    crowd = PointSet(np.array([[0.0, 1.0], [2.0, -3.0], [4.0, -0.0]]))
    places = np.array(([-0.0, 1.0], [2.0, -3.0], [2.0, 3.0], [4.0, 0.0], [4.0, -0.0]))
    assert crowd.rows_at(places).tolist() == [0, 1, -1, 2, 2]
    crowd = PointSet(crowd.points[:2])
    assert crowd.rows_at_ends(crowd.points, crowd.points[::-1]).tolist() == [[0, 1], [1, 0]]


def test_squared_distances_are_those_of_brute_force_but_for_their_rounding() -> None:
    points, places = cloud(7, 300) + 40, cloud(7, 20, seed=1) + 40
    crowd = PointSet(points)
    brute = ((places[:, None, :] - points) ** 2).sum(axis=2)
    off = np.abs(crowd.squared_distances(places) - brute)
    error = crowd.rounding_error(crowd.squares + (places * places).sum(axis=1)[:, None])
    assert (off <= error).all()
    assert error.max() < 1e-9
    near = np.argsort(brute, axis=1)[:, :1]
    settled = np.take_along_axis(crowd.settled_squared_distances(places, 1e-13), near, axis=1)
    np.testing.assert_allclose(settled, np.take_along_axis(brute, near, axis=1), rtol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 64, 700, 9000])
def test_regions_hold_every_row_once_near_its_own_centre_and_within_its_radius(n: int) -> None:
    points = cloud(3, n)
    regions = PointSet(points).regions
    assert sorted(regions.order.tolist()) == list(range(n))
    assert regions.firsts[0] == 0
    assert regions.firsts[-1] == n
    assert len(regions.centres) <= 1 + n // 64 + n // 512
    home = np.repeat(np.arange(len(regions.centres)), np.diff(regions.firsts))
    away = np.sqrt(((points[regions.order, None] - regions.centres) ** 2).sum(axis=2))
    mine = away[np.arange(n), home]
    np.testing.assert_allclose(mine, away.min(axis=1), atol=1e-7)
    radii = regions.radii(points)
    assert (mine <= radii[home]).all()
    for number, radius in enumerate(radii):
        assert radius == pytest.approx(mine[home == number].max())


def test_the_first_of_equal_points_is_told_from_the_later_ones() -> None:
    points = np.array([[1.0, 2.0], [0.0, 2.0], [1.0, 2.0], [1.0, 3.0], [0.0, 2.0], [1.0, 2.0]])
    assert are_first_of_equals(points).tolist() == [True, True, False, True, False, False]


def test_points_have_the_same_key_exactly_when_they_are_the_same() -> None:
    points = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 4.0], [1.0, 2.0, 3.0]])
    assert keys_of(points) == [point.tobytes() for point in points]


def test_the_first_near_rows_are_those_of_the_region_whose_centre_is_nearest() -> None:
    points, places = cloud(5, 2000) + 3, cloud(5, 40, seed=1) + 3
    crowd = PointSet(points)
    regions = crowd.regions

    whose, rows = crowd.roughly_nearest_rows(places, 1)

    for place in range(40):
        home = int(distances(regions.centres, places[place]).argmin())
        members = regions.order[regions.firsts[home] : regions.firsts[home + 1]]
        assert rows[whose == place].tolist() == members.tolist()
