"""Parts of one search that run side by side."""

from __future__ import annotations

import numpy as np
import pytest

from localface.density.protocol import Hole, SegmentDensities
from localface.search.questions import (
    DensityAlong,
    OutOfTime,
    RowDensities,
    ScorePoints,
    ask_density_along,
    ask_point_scores,
    ask_row_densities,
)
from localface.search.side_by_side import side_by_side
from scripted import replies, values, verdicts

DONORS = np.array([4, 7])


def states(*numbers):
    return np.array(numbers, dtype=float)[:, None]


def score_twice(first, second, donors=DONORS):
    one = yield from ask_point_scores(states(first), donors)
    two = yield from ask_point_scores(states(second), donors)
    return float(one[0]), float(two[0])


def judge(starts, ends, log_floor, rule="lowest"):
    return (yield from ask_density_along(states(*starts), states(*ends), log_floor, rule))


def test_scores_are_asked_for_together_round_by_round():
    parts = [score_twice(1, 2), score_twice(3, 4)]

    asked, found = replies(side_by_side(parts), np.array([0.1, 0.3]), np.array([0.2, 0.4]))

    assert [type(one) for one in asked] == [ScorePoints, ScorePoints]
    assert [one.points.ravel().tolist() for one in asked] == [[1, 3], [2, 4]]
    assert asked[0].donors.tolist() == DONORS.tolist()
    assert found == [(0.1, 0.2), (0.3, 0.4)]


def test_states_of_other_donors_are_asked_about_apart():
    parts = [score_twice(1, 2), score_twice(3, 4, np.array([9]))]

    asked, found = replies(side_by_side(parts), *(np.array([0.1 * i]) for i in range(4)))

    assert [one.donors.tolist() for one in asked] == [[4, 7], [9], [4, 7], [9]]
    assert found == [(0.0, 0.2), (pytest.approx(0.1), pytest.approx(0.3))]


def test_segments_are_judged_together_each_against_its_own_floor_with_its_own_holes():
    hole = Hole(np.zeros(1), 0.5, np.eye(1))
    parts = [judge([0], [1], -2.0), judge([0, 5], [2, 6], -3.0)]

    (asked,), (first, second) = replies(
        side_by_side(parts), verdicts(True, True, False, holes=((2, hole),))
    )

    assert isinstance(asked, DensityAlong)
    assert asked.log_floor.tolist() == [-2, -3, -3]
    assert asked.ends.ravel().tolist() == [1, 2, 6]
    assert first.passes.tolist() == [True]
    assert first.holes == ()
    assert second.passes.tolist() == [True, False]
    assert second.holes == ((1, hole),)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (judge([3], [3], -2.0), "a state is no step"),
        (judge([3], [4], None), "a value is no verdict"),
        (judge([3], [4], -2.0, "mean"), "a mean is no minimum"),
        (ask_row_densities(np.array([1]), states(3)), "a row is known"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_what_is_of_another_kind_is_asked_apart(other, why):
    answers = [verdicts(True), np.array([-1.0]) if "row" in why else values(-1.0)]

    asked, found = replies(side_by_side([judge([0], [1], -2.0), other]), *answers)

    assert len(asked) == 2
    assert isinstance(asked[1], RowDensities) == ("row" in why)
    assert isinstance(found[0], SegmentDensities)


def test_values_in_full_are_asked_for_together():
    (asked,), found = replies(
        side_by_side([judge([0], [1], None), judge([2], [3], None)]), values(-1.0, -2.0)
    )

    assert asked.log_floor is None
    assert [one.log_densities.tolist() for one in found] == [[-1.0], [-2.0]]


def test_one_part_asks_as_it_would_alone():
    asked, found = replies(side_by_side([score_twice(1, 2)]), np.array([0.1]), np.array([0.2]))

    assert [one.points.ravel().tolist() for one in asked] == [[1], [2]]
    assert found == [(0.1, 0.2)]


def test_a_part_that_asks_nothing_returns_at_once():
    def silent():
        return 5
        yield

    asked, found = replies(side_by_side([silent(), score_twice(1, 2)]), *[np.array([0.5])] * 2)

    assert len(asked) == 2
    assert found == [5, (0.5, 0.5)]


def test_when_time_is_up_all_parts_end():
    asks = side_by_side([score_twice(1, 2), score_twice(3, 4)])
    next(asks)

    with pytest.raises(OutOfTime):
        asks.throw(OutOfTime())
