"""The scale of densities, and holes in them."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localface.density.protocol import DensityScale, Hole, Holes


def test_shares_and_quantiles_undo_each_other():
    scale = DensityScale(np.sort(np.random.default_rng(0).normal(size=501)))
    for share in (0.0, 0.05, 0.333, 1.0):
        assert float(scale.share_below(scale.quantile(share))) == pytest.approx(share)


def test_rounding_does_not_choose_among_people_with_the_same_density():
    levels = np.sort(np.concatenate([np.full(40, 1 / 3), np.arange(60) / 7]))
    scale = DensityScale(np.sort(levels + 1e-15 * np.arange(100)))

    shares = scale.share_below(1 / 3 + np.linspace(-1e-13, 1e-13, 21))

    assert len(set(shares.tolist())) == 1


def distance_to_segment(centre, start, end):
    """How near a segment comes, worked out in fractions."""
    centre, start, end = ([Fraction(float(x)) for x in one] for one in (centre, start, end))
    along = [b - a for a, b in zip(start, end, strict=True)]
    away = [c - a for a, c in zip(start, centre, strict=True)]
    length = sum(x * x for x in along)
    t = sum(x * y for x, y in zip(along, away, strict=True)) / length if length else Fraction(0)
    t = min(max(t, Fraction(0)), Fraction(1))
    off = [x - t * y for x, y in zip(away, along, strict=True)]
    return float(sum(x * x for x in off)) ** 0.5


def test_a_segment_touches_a_hole_where_it_comes_nearer_than_its_radius():
    hole = Hole(np.array([1.0, 0.0]), 0.5)
    starts = np.array([[0.0, 0.0], [0.0, 0.6]])
    ends = np.array([[2.0, 0.0], [2.0, 0.6], [0.2, 0.0]])

    assert hole.is_touched(starts, ends).tolist() == [[True, True, False], [True, False, False]]


def test_a_hole_is_round_where_its_matrix_maps_points_to():
    matrix = np.array([[1.0, 0.0], [0.0, 4.0]])
    hole = Hole(np.array([1.0, 0.0]), 0.5, matrix)
    starts = np.array([[0.0, 0.1], [0.0, 0.2]])

    assert hole.is_touched(starts, starts + np.array([2.0, 0.0])).diagonal().tolist() == [
        True,
        False,
    ]


@given(st.integers(0, 2**32), st.sampled_from([1.0, 100.0, 1e6, 1e9]))
def test_what_is_said_to_touch_a_hole_does(seed, far):
    chance = np.random.default_rng(seed)
    points = chance.normal(size=(8, 3))
    points[4:, 0] = far  # steps between these leave the one far column as it is
    points[1] = points[0] + 1e-9  # next to nothing
    hole = Hole(chance.normal(size=3), float(chance.uniform(0.1, 2) * chance.choice([1, far])))

    touched = hole.is_touched(points, points)

    for i, j in itertools.product(range(8), repeat=2):
        near = distance_to_segment(hole.centre, points[i], points[j])
        assert near <= hole.radius or not touched[i, j]
        if near < 0.999 * hole.radius and far <= 100 and i != j:
            outside = min(np.linalg.norm(points[[i, j]] - hole.centre, axis=1)) > hole.radius
            assert touched[i, j] or not outside


@pytest.mark.parametrize("radius", [0.5, 20.0, 7e6])
def test_standing_still_just_outside_a_hole_does_not_touch_it(radius):
    chance = np.random.default_rng(0)
    hole = Hole(chance.normal(size=16), radius)
    way = chance.normal(size=(400, 16))
    points = hole.centre + 1.001 * radius * way / np.linalg.norm(way, axis=1)[:, None]

    assert not hole.is_touched(points, points).diagonal().any()


@pytest.mark.parametrize("seed", range(10))
def test_many_holes_are_held_against_steps_at_once_as_one_by_one(seed: int) -> None:
    chance = np.random.default_rng(seed)
    matrix = chance.normal(size=(3, 3)) if seed % 2 else None
    holes = [
        Hole(chance.normal(size=3), float(chance.uniform(0.05, 0.6)), matrix) for _ in range(9)
    ]
    starts = chance.normal(size=(40, 3))
    ends = chance.normal(size=(40, 3))

    places = (starts, ends) if matrix is None else (starts @ matrix, ends @ matrix)
    touched = Holes.of(holes).are_touched(*places)

    one_by_one = [hole.is_touched(starts, ends).diagonal() for hole in holes]
    assert touched.tolist() == np.any(one_by_one, axis=0).tolist()
    assert 0 < touched.sum() < 40
