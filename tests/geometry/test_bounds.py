"""Boxes of points: what they hold, which way they open."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

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


@pytest.mark.parametrize("height", [0.7, 1.0, 3.0])
@pytest.mark.parametrize("one_way", [(), (3,)], ids=["any way", "one way"])
def test_a_category_is_entered_only_from_the_one_that_leads_there(
    height: float, one_way: tuple[int, ...]
) -> None:
    """Three categories, a column each: the third is entered from the second alone."""
    width = 4
    up = np.isin(np.arange(width), one_way)
    down = np.zeros(width, dtype=bool)
    no_limit = np.full(width, np.inf)
    box = Bounds(-no_limit, no_limit, up, down, entered_from=((2, 1),))
    categories = np.column_stack([height * np.eye(3), np.zeros(3)])

    for a, b in product(range(3), repeat=2):
        start = categories[a]
        end = categories[b]
        wanted = (a, b) != (0, 2)
        assert box.may_step(start, end) == wanted
        assert box.respects_one_way(start, np.tile(end, (2, 1))).tolist() == [wanted] * 2
        assert box.respects_one_way(categories[[a, a]], categories[[b, 1]])[0] == wanted
        assert box.reachable_from(start).may_step(start, end) == wanted
        back = end - np.array([0.0, 0.0, 0.0, 1.0])
        assert box.may_step(start, back) == (wanted and not one_way)


def test_in_a_box_that_opens_every_way_any_step_may_be_taken() -> None:
    box = Bounds.unlimited(2)
    starts = np.zeros((3, 1, 2))
    ends = np.ones((4, 2))

    assert box.may_step(ends[0], -ends[0])
    assert box.respects_one_way(starts, ends).shape == (3, 4)
    assert box.respects_one_way(starts, ends).all()
    assert box.respects_one_way(ends[0], ends).tolist() == [True] * 4
    assert box.reachable_from(ends[0]) is box
