"""Rough distances to states, compiled: what NumPy has, but for rounding in single precision."""

from __future__ import annotations

import numpy as np
import pytest

from localface.geometry.compiled.library import load_library
from localface.geometry.compiled.rough_states import rough_state_squares
from localface.sources.cell_states import _rough_squares, _rows_in

pytestmark = pytest.mark.skipif(load_library() is None, reason="nothing is compiled here")

EPS = np.finfo(np.float32).eps


@pytest.mark.parametrize("width", [1, 5, 22, 67])
def test_they_are_those_of_numpy_but_for_rounding(width):
    chance = np.random.default_rng(width)
    near = chance.normal(size=(300, width + 1)).astype(np.float32)
    lower = np.where(chance.random(width) < 0.3, -0.5, -np.inf)
    upper = np.where(chance.random(width) < 0.3, 0.7, np.inf)
    least = np.where(chance.random(width) < 0.1, -1.5, -np.inf)
    most = np.where(chance.random(width) < 0.1, 1.5, np.inf)
    limits = tuple(
        one.astype(np.float32) for one in (lower, upper, least, most, chance.normal(size=width))
    )
    ranges = (np.array([3, 40, 40, 200]), np.array([17, 40, 120, 300]))

    found = rough_state_squares(near, ranges, limits)

    expected = _rough_squares(_rows_in(near[:, :-1], ranges), limits)
    assert len(found) == 14 + 80 + 100
    assert (np.isinf(found) == np.isinf(expected)).all()
    inside = np.isfinite(expected)
    assert inside.any()
    assert found[inside] == pytest.approx(expected[inside], rel=float((width + 8) * EPS))


def test_what_is_not_in_single_precision_is_left_to_numpy():
    limits = (np.zeros(2, dtype=np.float32),) * 5

    assert rough_state_squares(np.zeros((4, 3)), (np.array([0]), np.array([4])), limits) is None
