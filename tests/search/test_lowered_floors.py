"""Floors that are lowered in turn: by no more than it takes, and no further than there is anything.

Straight to a state of anybody, and by actions through rarer states.
"""

from __future__ import annotations

import numpy as np
import pytest

from localface.search.closing import find_rarer_actions, take_path_as_actions
from localface.search.going_straight import go_straight_below_floor
from localface.search.plan import Plan, WalkOptions
from scripted import Script, someone, taking_over

PLAN = Plan(WalkOptions(3))


@pytest.mark.parametrize(
    ("depth", "lowered_by"),
    [(0.4, 0.5), (0.6, 2.0), (1.9, 2.0), (2.1, 8.0), (7.9, 8.0), (8.1, 1000.0), (999.0, 1000.0)],
)
def test_the_floor_comes_down_step_by_step_until_somebodys_state_can_be_gone_to(
    depth: float, lowered_by: float
) -> None:
    script = Script(
        np.zeros((0, 1)),
        composed=[[1.0]],
        log_density=lambda points: np.where(points[:, 0] > 0.2, 3.0 - depth, 3.5),
    )
    everything = taking_over(someone([0.0]).bounds, [0.0])
    graph = script.graph(someone([0.0], log_floor=3.0, projection=everything))

    found = script.run(go_straight_below_floor(graph, PLAN))

    assert found.relaxed
    assert found.log_floor == 3.0 - lowered_by


def test_no_floor_is_lower_than_a_thousand_nats() -> None:
    script = Script(
        np.zeros((0, 1)),
        composed=[[1.0]],
        log_density=lambda points: np.where(points[:, 0] > 0.2, -1000.5, 1.0),
    )
    everything = taking_over(someone([0.0]).bounds, [0.0])
    graph = script.graph(someone([0.0], projection=everything))

    assert script.run(go_straight_below_floor(graph, PLAN)) is None


@pytest.mark.parametrize("withheld", [True, False])
def test_it_is_remembered_that_rows_were_withheld_where_no_floor_helped(withheld: bool) -> None:
    script = Script(np.zeros((0, 1)), composed=[], composed_cut=withheld)
    everything = taking_over(someone([0.0]).bounds, [0.0])
    graph = script.graph(someone([0.0], projection=everything))

    assert script.run(go_straight_below_floor(graph, PLAN)) is None
    assert graph.cut == withheld


def between_two_falls(first: float, second: float) -> Script:
    """Both changes are needed; made first, one of them falls so far. The score is for the first."""

    def log_density(points: np.ndarray) -> np.ndarray:
        one, other = points.T > 0.5
        between = (points.min(axis=1) > 0.1) & (points.max(axis=1) < 0.9)
        return np.select([between, one & ~other, other & ~one], [-2e3, -first, -second], 1.0)

    return Script(
        [[1.0, 1.0]],
        score=lambda points: np.where((points >= 1.0).all(axis=1), 0.9, 0.1 + points[:, 0] / 10),
        log_density=log_density,
    )


def moves_through_rarer_states(script: Script, **options):
    graph = script.graph(someone([0.0, 0.0], **options))
    script.run(graph.reveal_rows_around(0, 1))
    found = script.run(find_rarer_actions(graph, PLAN))
    return found and [move.point.tolist() for move in found.moves]


@pytest.mark.parametrize("level", [0.5, 1.0, 2.0, 4.0, 8.0])
def test_of_two_orders_the_one_that_keeps_a_higher_level_is_taken(level: float) -> None:
    script = between_two_falls(1.05 * level, 0.95 * level)

    assert moves_through_rarer_states(script) == [[0.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize(
    ("first", "second"), [(0.45, 0.1), (0.95, 0.55), (1.9, 1.1), (3.9, 2.1), (7.9, 4.1), (900, 9)]
)
def test_of_two_orders_on_one_level_the_one_is_taken_whose_score_rises_sooner(
    first: float, second: float
) -> None:
    script = between_two_falls(first, second)

    assert moves_through_rarer_states(script) == [[1.0, 0.0], [1.0, 1.0]]


def test_actions_that_fall_a_thousand_nats_below_the_floor_are_none() -> None:
    assert moves_through_rarer_states(between_two_falls(999.0, 1500.0)) is not None
    assert moves_through_rarer_states(between_two_falls(1001.0, 1500.0)) is None


def test_who_starts_below_the_floor_falls_so_far_below_where_they_start() -> None:
    """From 0.75 below, the next level is 1.25 below."""

    def moves(first: float, second: float):
        script = between_two_falls(first, second)
        usual = script.log_density
        script.log_density = lambda points: np.where(
            (points < 0.1).all(axis=1), -0.75, usual(points)
        )
        return moves_through_rarer_states(script)

    assert moves(1.3, 1.2) == [[0.0, 1.0], [1.0, 1.0]]
    assert moves(1.2, 1.1) == [[1.0, 0.0], [1.0, 1.0]]


@pytest.mark.parametrize(("n", "is_one"), [(1, True), (3, True), (4, False)])
def test_up_to_three_features_are_changed_by_one_action(n: int, is_one: bool) -> None:
    end = np.zeros(5)
    end[:n] = 1.0
    script = Script([end])
    graph = script.graph(someone(np.zeros(5)))
    script.run(graph.reveal_rows_around(0, 1))

    found = script.run(take_path_as_actions(graph, PLAN, (0, 1)))

    assert (found is not None) == is_one
