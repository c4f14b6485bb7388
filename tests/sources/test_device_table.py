"""A table on a device answers as the table in memory does, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from localface.geometry.bounds import Bounds
from localface.geometry.device.numpy_scan import NumpyScan
from localface.geometry.point_set import PointSet
from localface.geometry.projection import Projection
from localface.sources.device_table import DeviceTable
from localface.sources.protocol import Nearest
from localface.sources.table import TableSource
from localface.types import NO_ROWS, Array

NOWHERE = np.zeros(5, dtype=bool)


def make_points(seed: int) -> Array:
    """Numbers, one of few values, and three columns of which one is set."""
    rng = np.random.default_rng(seed)
    category = np.eye(3)[rng.integers(3, size=400)]
    points = np.column_stack([rng.normal(size=400), rng.integers(0, 4, size=400), category])
    return np.unique(points, axis=0)


def both(points: Array) -> tuple[TableSource, DeviceTable]:
    rows = np.arange(len(points))
    held = PointSet(points)
    return (
        TableSource(held, points, rows, n_rows=len(points)),
        DeviceTable(held, points, rows, n_rows=len(points), scan=NumpyScan(points)),
    )


def make_bounds(rng: np.random.Generator, point: Array) -> Bounds:
    low = np.where(rng.random(5) < 0.2, point - 1, -np.inf)
    return Bounds(low, np.where(rng.random(5) < 0.2, point + 1, np.inf), NOWHERE, NOWHERE)


def make_question(points: Array, seed: int, *, projected: bool) -> Nearest:
    rng = np.random.default_rng(seed)
    point = points[rng.integers(len(points))].copy()
    point[0] += rng.normal()
    projection = None
    if projected:
        kept = points[rng.integers(len(points))]
        comparable = make_bounds(rng, point) if seed % 3 == 0 else None
        groups = np.array([0, 1, 2, 2, 2])
        projection = Projection(make_bounds(rng, kept), kept, groups, comparable=comparable)
    return Nearest(
        point,
        int(rng.integers(0, 80)),
        make_bounds(rng, point),
        rng.choice(len(points), 20, replace=False) if seed % 2 else NO_ROWS,
        radius=1.0 if seed % 5 == 0 else np.inf,
        projection=projection,
    )


@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_neighbours_are_the_same_to_the_last_bit(seed: int, projected: bool) -> None:
    points = make_points(seed)
    table, device = both(points)
    asked = [make_question(points, 40 * seed + i, projected=projected) for i in range(40)]

    found = device.nearest(asked)

    n_found = 0
    for one, other in zip(found, table.nearest(asked), strict=True):
        np.testing.assert_array_equal(one.ids, other.ids)
        np.testing.assert_array_equal(one.points, other.points)
        np.testing.assert_array_equal(one.distances, other.distances)
        if projected:
            np.testing.assert_array_equal(one.moved, other.moved)
        n_found += len(one.ids)
    assert n_found > 300


def test_rows_and_states_may_be_asked_for_in_one_batch() -> None:
    points = make_points(7)
    table, device = both(points)
    asked = [make_question(points, i, projected=i % 2 == 0) for i in range(10)]

    found = device.nearest(asked)

    expected = [one.ids.tolist() for one in table.nearest(asked)]
    assert [one.ids.tolist() for one in found] == expected


def test_without_the_compiled_part_it_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    points = make_points(8)
    table, device = both(points)
    asked = [make_question(points, i, projected=True) for i in range(10)]
    expected = [one.ids.tolist() for one in table.nearest(asked)]
    monkeypatch.setattr("localface.sources.table_states.load_library", lambda: None)

    assert [one.ids.tolist() for one in device.nearest(asked)] == expected


def test_more_groups_than_a_device_has_bits_for_are_left_to_the_processor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    points = make_points(9)
    table, device = both(points)
    asked = [make_question(points, i, projected=True) for i in range(10)]
    monkeypatch.setattr("localface.sources.device_table._MOST_GROUPS", 0)

    found = device.nearest(asked)

    expected = [one.ids.tolist() for one in table.nearest(asked)]
    assert [one.ids.tolist() for one in found] == expected
