"""The nearest rows and touched holes, compiled: NumPy's to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from by_numpy import needs_compiled
from localface.density import protocol
from localface.density.protocol import Hole, Holes
from localface.geometry.bounds import Bounds
from localface.geometry.point_set import PointSet
from localface.sources import table
from localface.sources.protocol import Nearest
from localface.sources.table import TableSource

pytestmark = needs_compiled


def by_numpy(*_: object) -> None:
    """What compiled code says where it is not built."""
    return


@pytest.mark.parametrize("width", [1, 2, 7, 8, 22, 140])
def test_nearest_rows_are_those_of_numpy_with_ties_by_row(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = np.random.default_rng(width)
    drawn = chance.normal(size=(400, width))
    drawn[::3] = np.rint(drawn[::3])  # many at the same distance
    points = np.unique(drawn, axis=0)
    source = TableSource(PointSet(points), points, np.arange(len(points)), n_rows=len(points))
    free = Bounds.unlimited(width)
    half = Bounds(np.where(np.arange(width) < 1, 0.0, -np.inf), free.upper, free.up, free.down)
    nobody = Bounds(free.lower + 1e300, free.upper, free.up, free.down)
    questions = [
        Nearest(point, k, bounds, np.array([3, 5]), radius)
        for point in (points[0], np.zeros(width), np.full(width, 50.0))
        for k in (1, 20, 1000)
        for bounds in (free, half, nobody)
        for radius in (np.inf, 2.0, 0.0)
    ]

    compiled = source.nearest(questions)
    monkeypatch.setattr(table, "nearest_allowed", by_numpy)
    wanted = source.nearest(questions)

    assert any(len(one.ids) for one in compiled)
    for found, other in zip(compiled, wanted, strict=True):
        np.testing.assert_array_equal(found.ids, other.ids)
        np.testing.assert_array_equal(found.points, other.points)
        np.testing.assert_array_equal(found.distances, other.distances)


@pytest.mark.parametrize("width", [1, 2, 9, 22])
def test_holes_are_touched_as_numpy_says(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(width)
    points = chance.normal(size=(200, width))
    points[-1] = points[100]  # a segment without a length
    starts = points[100 * (np.arange(200) // 100)]
    centres = (points[0] + points[1:31]) / 2 + 0.3 * chance.normal(size=(30, width))
    holes = Holes.of(
        [Hole(one, radius) for one, radius in zip(centres, 2 * chance.random(30), strict=True)]
    )

    found = holes.are_touched(starts, points)
    monkeypatch.setattr(protocol, "touch_holes", by_numpy)
    wanted = holes.are_touched(starts, points)

    assert found.any()
    assert not found.all()
    np.testing.assert_array_equal(found, wanted)
