"""What one person may take over from others: each column as far as it may go, groups as one."""

from __future__ import annotations

import numpy as np

from localface.geometry.bounds import Bounds
from localface.geometry.projection import Projection

FREE = np.inf


def projection(lower: list[float], upper: list[float], groups: list[int]) -> Projection:
    one_way = np.zeros(len(lower), dtype=bool)
    bounds = Bounds(np.array(lower), np.array(upper), one_way, one_way)
    return Projection(bounds, np.full(len(lower), 0.5), np.array(groups))


def test_a_number_goes_as_far_as_it_may() -> None:
    one = projection([0.0, -FREE, 2.0], [1.0, FREE, 2.0], [0, 1, 2])

    states = one.states_of(np.array([[-3.0, 7.0, 1.0], [0.2, -7.0, 5.0]]))

    assert states.tolist() == [[0.0, 7.0, 2.0], [0.2, -7.0, 2.0]]
    assert one.limited.tolist() == [True, False, True]


def test_a_group_is_taken_over_as_a_whole_or_stays_as_it_is() -> None:
    one = projection([-FREE, 0.0, -FREE], [FREE, 1.0, FREE], [0, 0, 1])

    states = one.states_of(np.array([[3.0, 0.7, 9.0], [3.0, 1.7, 9.0]]))

    assert states.tolist() == [[3.0, 0.7, 9.0], [0.5, 0.5, 9.0]]
    assert one.limited.tolist() == [True, True, False]
    assert [columns.tolist() for columns in one.taken_together] == [[0, 1]]


def test_nobody_s_points_are_changed() -> None:
    points = np.array([[3.0, 1.7]])

    projection([0.0, 0.0], [1.0, 1.0], [0, 0]).states_of(points)

    assert points.tolist() == [[3.0, 1.7]]
