"""Rows, kernels and pairs in one call: the same as one question after the other."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from by_numpy import needs_compiled
from localface.density.common_states.model import CommonStates
from localface.density.protocol import LogFloor, SegmentDensities
from made_crowds import Crowd, make_crowd

pytestmark = needs_compiled

Array = np.ndarray
CROWDS = [(2, 200, 0), (3, 40, 1), (6, 300, 0), (9, 1200, 2), (14, 400, 1)]  # width, rows, own


def one_after_the_other(density: CommonStates) -> CommonStates:
    """The same density, whose questions are asked one by one."""
    found = copy.copy(density)
    vars(found)["_ground"] = None
    return found


def segments_of(crowd: Crowd, seed: int, n: int = 80) -> tuple[Array, Array]:
    """Steps between rows, and from rows to states that nobody is in."""
    chance = np.random.default_rng(seed)
    points = crowd.density.rows.points
    starts, ends, others = (points[chance.integers(0, len(points), n)] for _ in range(3))
    taken = (chance.random((n, len(crowd.schema))) < 0.5)[:, crowd.density.space.feature_of]
    ends = np.where((chance.random(n) < 0.6)[:, None], np.where(taken, others, starts), ends)
    apart = (starts != ends).any(axis=1)
    return starts[apart], ends[apart]


def assert_same(found: SegmentDensities, wanted: SegmentDensities) -> None:
    np.testing.assert_array_equal(found.passes, wanted.passes)
    np.testing.assert_array_equal(found.log_densities, wanted.log_densities)
    assert [i for i, _ in found.holes] == [i for i, _ in wanted.holes]
    for (_, one), (_, other) in zip(found.holes, wanted.holes, strict=True):
        np.testing.assert_array_equal(one.centre, other.centre)
        assert one.radius == other.radius


@pytest.mark.parametrize(("width", "n", "own"), CROWDS)
def test_steps_and_states_are_judged_as_one_question_after_the_other_does(
    width: int, n: int, own: int
) -> None:
    crowd = make_crowd(width + n, width, n, own=own, gaps=0.1)
    together, apart = crowd.density, one_after_the_other(crowd.density)
    starts, ends = segments_of(crowd, seed=n)
    values = apart.lowest_along(starts, ends, None).log_densities

    floors: list[LogFloor] = [float(np.quantile(values, q)) for q in (0.02, 0.3, 0.7, 0.98)]
    for floor in [*floors, values, values + 1e-3, -np.inf, None]:
        for segments in ((starts, ends), (ends, ends), (starts[:1], ends[:1])):
            one = floor[: len(segments[0])] if isinstance(floor, np.ndarray) else floor
            assert_same(together.lowest_along(*segments, one), apart.lowest_along(*segments, one))
            askers = np.resize(together.rows.points, segments[0].shape)
            assert_same(
                together.lowest_along(*segments, one, askers=askers),
                apart.lowest_along(*segments, one, askers=askers),
            )


def test_steps_among_states_are_judged_too() -> None:
    crowd = make_crowd(5, 4, 300)
    together, apart = crowd.density, one_after_the_other(crowd.density)
    starts, ends = segments_of(crowd, seed=1)
    ends[::2] = starts[::2]
    floor = crowd.density.scale.quantile(0.3)

    assert_same(together.lowest_along(starts, ends, floor), apart.lowest_along(starts, ends, floor))


def test_no_segments_are_no_trouble() -> None:
    density = make_crowd(1, 5, 200).density
    nothing = np.zeros((0, density.space.width))
    assert len(density.lowest_along(nothing, nothing, 0.0).passes) == 0
    assert len(density.lowest_along(nothing, nothing, None).log_densities) == 0
