"""Holes: how deep and how wide a ball must be that rules out other steps, with one row alone.

One row at 0 makes the density at x fall as exp(-x^2 / 2): every ball can be worked out by hand.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from by_numpy import kde_by_numpy
from localface.density.device_kde import DeviceKDE
from localface.density.kde import KDE
from localface.geometry.device.numpy_scan import NumpyScan
from localface.geometry.point_set import PointSet

ROW = np.zeros((1, 1))
NONE = np.zeros(1, dtype=bool)
COMMON: dict[str, Any] = {"bandwidth": 1.0, "row_log_densities": np.zeros(1)}
KINDS = {
    "as it is": KDE(PointSet(ROW), NONE, **COMMON),
    "by numpy": kde_by_numpy(KDE(PointSet(ROW), NONE, **COMMON)),
    "on a device": DeviceKDE(PointSet(ROW), NONE, **COMMON, scan=NumpyScan(ROW)),
}


def hole_at(kde: KDE, place: float, log_sum: float) -> float | None:
    """The radius of the hole that a short step finds at a place, under a floor; None without."""
    start = np.array([[place]])
    found = kde.lowest_along(start, start + 1e-6, log_sum + kde.log_normaliser)
    assert not found.passes[0]
    return float(found.holes[0][1].radius) if found.holes else None


@pytest.mark.parametrize("kde", KINDS.values(), ids=KINDS)
def test_what_is_refused_by_less_than_half_a_nat_is_no_hole(kde: KDE) -> None:
    assert hole_at(kde, 1.0, -0.5 + 0.45) is None  # though a ball of half the radius would do
    assert hole_at(kde, 1.0, -0.5 + 0.55) is not None


@pytest.mark.parametrize("kde", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("radius", [0.3, 0.5, 1.0])
def test_a_hole_is_as_wide_as_the_floor_allows_and_no_wider(kde: KDE, radius: float) -> None:
    found = hole_at(kde, 4.0, -((4.0 - radius) ** 2) / 2)

    assert found is not None
    assert radius - 0.15 < found <= radius


@pytest.mark.parametrize("kde", KINDS.values(), ids=KINDS)
def test_a_hole_narrower_than_a_quarter_of_a_bandwidth_is_none(kde: KDE) -> None:
    assert hole_at(kde, 4.0, -((4.0 - 0.24) ** 2) / 2) is None
    assert hole_at(kde, 4.0, -((4.0 - 0.26) ** 2) / 2) == pytest.approx(0.25, abs=0.01)


@pytest.mark.parametrize("kde", KINDS.values(), ids=KINDS)
def test_a_state_is_no_hole_however_deep_it_lies(kde: KDE) -> None:
    place = np.array([[4.0]])

    assert kde.lowest_along(place, place, kde.log_normaliser - 1.0).holes == ()


@pytest.mark.parametrize("kde", KINDS.values(), ids=KINDS)
def test_next_to_a_row_there_is_no_hole(kde: KDE) -> None:
    """The row itself would be inside."""
    assert hole_at(kde, 0.2, 3.0) is None


@pytest.mark.parametrize("kde", KINDS.values(), ids=KINDS)
def test_what_passes_is_told_no_higher_than_it_is(kde: KDE) -> None:
    places = np.linspace(0.5, 3.0, 20)[:, None]
    exact = -(places[:, 0] ** 2) / 2 + kde.log_normaliser

    for ends in (places, places - 0.25):
        found = kde.lowest_along(places, ends, exact)
        assert found.passes.all()
        assert (found.log_densities <= exact + 1e-12).all()
        assert (found.log_densities >= exact - 2e-9).all()
