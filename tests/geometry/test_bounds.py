"""Boxes of points: what they hold, which way they open."""

from __future__ import annotations

import numpy as np

from localface.geometry.bounds import Bounds

BOX = Bounds(
    np.array([0.0, -np.inf]),
    np.array([2.0, 5.0]),
    up=np.array([True, False]),
    down=np.array([False, True]),
)


def test_a_point_on_a_side_is_inside() -> None:
    points = np.array([[0.0, 5.0], [2.0, -9.0], [2.1, 0.0], [1.0, 5.1]])

    assert BOX.contain(points).tolist() == [True, True, False, False]


def test_an_unlimited_box_holds_everything() -> None:
    box = Bounds.unlimited(3)

    assert box.contain(np.array([[1e300, -1e300, 0.0]])).all()
    assert not box.up.any()
    assert not box.down.any()


def test_one_way_columns_shut_what_lies_behind() -> None:
    box = BOX.reachable_from(np.array([1.0, 3.0]))

    assert box.lower.tolist() == [1.0, -np.inf]
    assert box.upper.tolist() == [2.0, 3.0]


def test_a_step_back_on_a_one_way_column_is_noticed() -> None:
    starts = np.array([[1.0, 1.0]] * 3)
    ends = np.array([[2.0, 0.0], [0.5, 0.0], [2.0, 2.0]])

    assert BOX.respects_one_way(starts, ends).tolist() == [True, False, False]


def test_the_limits_of_one_column_can_be_taken_alone() -> None:
    box = BOX.with_only_column(1)

    assert box.lower.tolist() == [-np.inf, -np.inf]
    assert box.upper.tolist() == [np.inf, 5.0]
    assert not box.up.any()
