"""A table in memory: the rows of brute force, whatever rounding does to a product of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localface.geometry.bounds import Bounds
from localface.geometry.point_set import PointSet
from localface.sources.protocol import Nearest, Neighbors
from localface.sources.table import TableSource
from localface.types import NO_ROWS, Array, Ids


def cloud(width: int, n: int, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, width)) @ (np.eye(width) + 0.3 * rng.normal(size=(width, width)))


def anywhere(width: int) -> Bounds:
    free = np.full(width, np.inf)
    return Bounds(-free, free, np.zeros(width, dtype=bool), np.zeros(width, dtype=bool))


def box(lower: Any, upper: Any) -> Bounds:
    lower, upper = np.array(lower, dtype=float), np.array(upper, dtype=float)
    return Bounds(lower, upper, np.zeros(len(lower), dtype=bool), np.zeros(len(lower), dtype=bool))


def table(points: Array) -> TableSource:
    return TableSource(PointSet(points), points, np.arange(len(points)), n_rows=len(points))


def distances(points: Array, place: Array) -> Array:
    return np.sqrt(((points - place) ** 2).sum(axis=1))


def brute(points: Array, asked: Nearest) -> Ids:
    """Every row by its exact distance, ties by id."""
    apart = distances(points, asked.point)
    fine = ((points >= asked.bounds.lower) & (points <= asked.bounds.upper)).all(axis=1) & (
        apart <= asked.radius
    )
    fine[asked.exclude] = False
    order = np.lexsort((np.arange(len(points)), apart))
    return order[fine[order]][: asked.k]


def assert_right(points: Array, found: Neighbors, asked: Nearest) -> None:
    np.testing.assert_array_equal(found.ids, brute(points, asked))
    np.testing.assert_array_equal(found.points, points[found.ids])
    np.testing.assert_array_equal(found.distances, distances(points[found.ids], asked.point))


def questions(points: Array, n: int, seed: int) -> list[Nearest]:
    """With rows exactly on a side of the box, exclusions, radii, too many wanted, from far off."""
    rng = np.random.default_rng(seed)
    asked = []
    for i in range(n):
        width, place = points.shape[1], points[rng.integers(len(points))]
        point = [place, place + rng.normal(size=width), place + 1e4 * rng.normal(size=width)][i % 3]
        sides = np.sort(points[rng.integers(0, len(points), 2)], axis=0)
        bounds = box(*sides) if i % 4 == 1 else anywhere(width)
        exclude = rng.permutation(len(points))[: len(points) // 2] if i % 5 == 2 else NO_ROWS
        radius = float(distances(points, point)[rng.integers(len(points))]) if i % 2 else np.inf
        k = int(rng.choice([1, 5, 50, len(points), 2 * len(points)]))
        asked.append(Nearest(point, k, bounds, exclude, radius))
    return asked


@pytest.mark.parametrize("width", [1, 2, 22])
@pytest.mark.parametrize("n", [2, 40, 700, 3000])
def test_the_nearest_rows_are_those_of_brute_force(width: int, n: int) -> None:
    points = np.unique(cloud(width, n), axis=0)
    asked = questions(points, 60, seed=n)
    for one, found in zip(asked, table(points).nearest(asked), strict=True):
        assert_right(points, found, one)


@pytest.mark.parametrize("width", [2, 22])
def test_an_answer_does_not_depend_on_what_else_is_asked(width: int) -> None:
    points = np.unique(cloud(width, 2000), axis=0)
    asked, source = questions(points, 40, seed=1), table(points)
    together = source.nearest(asked)
    for order in (np.arange(40)[::-1], np.random.default_rng(0).permutation(40)):
        for some in np.array_split(order, 9):
            for i, found in zip(some, source.nearest([asked[i] for i in some]), strict=True):
                np.testing.assert_array_equal(found.ids, together[i].ids)
                np.testing.assert_array_equal(found.distances, together[i].distances)
    for one, found in zip(asked, together, strict=True):
        np.testing.assert_array_equal(source.nearest([one])[0].ids, found.ids)


@given(
    rows=st.lists(st.tuples(*[st.integers(-3, 3)] * 3), min_size=2, max_size=80, unique=True),
    person=st.tuples(*[st.integers(-4, 4)] * 3),
    scale=st.sampled_from([1.0, 0.1, 1 / 3, 1e3 / 7]),
    shift=st.sampled_from([0.0, 0.1, 100.3]),
    k=st.integers(0, 90),
    radius=st.sampled_from([np.inf, 1.0, np.sqrt(2), 2.0, 3.0]),
    sides=st.tuples(st.integers(-3, 3), st.integers(-3, 3)),
    leave=st.integers(0, 6),
)
def test_ties_on_a_grid_are_broken_by_id_and_whoever_is_on_a_side_is_inside(
    rows: Any,
    person: Any,
    scale: float,
    shift: float,
    k: int,
    radius: float,
    sides: Any,
    leave: int,
) -> None:
    points = np.unique(np.array(rows, dtype=float) * scale + shift, axis=0)
    low, high = min(sides) * scale + shift, max(sides) * scale + shift
    bounds = box([low, -np.inf, -np.inf], [high, np.inf, high])
    exclude = np.arange(len(points))[:: leave + 1] if leave else NO_ROWS
    one = Nearest(np.array(person) * scale + shift, k, bounds, exclude, float(radius * scale))
    assert_right(points, table(points).nearest([one])[0], one)


def test_among_rows_a_bit_apart_nobody_within_the_radius_is_missed() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        width = int(rng.integers(1, 6))
        centre = rng.normal(size=width) * 30
        alike = centre + rng.integers(-3, 4, size=(200, width)) * np.spacing(np.abs(centre))
        points = np.unique(np.concatenate([alike, rng.normal(size=(60, width)) * 50]), axis=0)
        person = centre + rng.normal(size=width)
        radii = np.unique(distances(points, person))[:4].tolist()
        asked = [
            Nearest(person, k, anywhere(width), NO_ROWS, radius)
            for radius in radii
            for k in (3, 40, 300)
        ]
        for one, found in zip(asked, table(points).nearest(asked), strict=True):
            assert_right(points, found, one)


def test_one_row_far_off_misplaces_nobody() -> None:
    points = np.concatenate([cloud(5, 600), np.full((1, 5), 1e8)])
    asked = [Nearest(point, 20, anywhere(5), NO_ROWS) for point in (*points[:30], points[-1])]
    for one, found in zip(asked, table(points).nearest(asked), strict=True):
        assert_right(points, found, one)
