"""A density on a device decides as the one on the processor does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from localface.density import exact_segment
from localface.density.device_kde import DeviceKDE
from localface.density.kde import KDE
from localface.geometry.device.numpy_scan import NumpyScan
from localface.geometry.point_set import PointSet
from localface.types import Array

RNG = np.random.default_rng(0)
DISCRETE = np.array([False, False, True])
ROWS = np.column_stack([RNG.normal(size=(250, 2)), RNG.integers(0, 2, size=250)]).astype(float)
MATRIX = np.array([[1.2, 0.3, 0.0], [0.0, 0.8, 0.0], [0.2, 0.0, 1.5]])


def make_both() -> tuple[KDE, DeviceKDE]:
    rows = PointSet(ROWS)
    common: dict[str, Any] = {
        "bandwidth": 0.4,
        "matrix": MATRIX,
        "row_log_densities": np.full(len(ROWS), np.nan),
    }
    kde = KDE(rows, DISCRETE, **common)
    places = kde._kernels.point_set.points
    return kde, DeviceKDE(rows, DISCRETE, **common, places=places, scan=NumpyScan(places))


def make_segments(n: int) -> tuple[Array, Array]:
    starts = ROWS[RNG.integers(len(ROWS), size=n)]
    ends = ROWS[RNG.integers(len(ROWS), size=n)]
    ends[::3] = starts[::3]
    ends[1::4, :2] += 0.4
    return starts, ends


def test_the_lowest_densities_are_the_same() -> None:
    kde, device = make_both()
    starts, ends = make_segments(80)

    found = device.lowest_along(starts, ends, None).log_densities

    expected = kde.lowest_along(starts, ends, None).log_densities
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_the_verdicts_are_the_same_and_holes_are_below_the_floor() -> None:
    kde, device = make_both()
    starts, ends = make_segments(120)
    values = kde.lowest_along(starts, ends, None).log_densities
    floor = float(np.median(values))

    found = device.lowest_along(starts, ends, floor)

    np.testing.assert_array_equal(found.passes, kde.lowest_along(starts, ends, floor).passes)
    assert 20 < found.passes.sum() < 100
    told = found.log_densities
    assert (told[found.passes] >= floor - 1e-8).all()
    assert (told[found.passes] <= values[found.passes] + 1e-8).all()
    assert (told[~found.passes] >= values[~found.passes] - 1e-8).all()
    assert (told[~found.passes] < floor).all()
    assert found.holes
    deep = ~found.passes & (starts != ends).any(axis=1) & (values < floor - 0.5)
    assert {segment for segment, _ in found.holes} <= set(np.flatnonzero(deep).tolist())
    for _, hole in found.holes:
        inside = np.linalg.solve(MATRIX.T, hole.centre)[None, :]
        assert kde.lowest_along(inside, inside, None).log_densities[0] < floor


def test_what_is_too_close_to_call_is_settled_on_the_processor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kde, device = make_both()
    starts, ends = make_segments(30)
    values = kde.lowest_along(starts, ends, None).log_densities
    settled = []
    stays_above = exact_segment.ExactLeg.stays_above

    def note(self: exact_segment.ExactLeg, log_floor: float) -> bool:
        settled.append(log_floor)
        return stays_above(self, log_floor)

    monkeypatch.setattr(exact_segment.ExactLeg, "stays_above", note)
    floors = values + 1e-9  # as near to the floor as the tolerance is wide
    found = device.lowest_along(starts, ends, floors)

    assert settled
    np.testing.assert_array_equal(found.passes, kde.lowest_along(starts, ends, floors).passes)


def test_it_is_the_device_that_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    _, device = make_both()
    starts, ends = make_segments(30)
    asked = []
    sums = NumpyScan.kernel_sums

    def note(self: NumpyScan, samples: Any, bandwidth: float) -> Any:
        asked.append(len(samples.legs))
        return sums(self, samples, bandwidth)

    monkeypatch.setattr(NumpyScan, "kernel_sums", note)
    device.lowest_along(starts, ends, -3.0)
    with_floor = sum(asked)
    device.lowest_along(starts, ends, None)

    assert 0 < with_floor < sum(asked)


def test_nothing_asked_is_nothing_answered() -> None:
    _, device = make_both()

    assert len(device.lowest_along(ROWS[:0], ROWS[:0], -3.0).passes) == 0
    assert len(device.lowest_along(ROWS[:0], ROWS[:0], None).passes) == 0
