"""Closing a search: what is measured of a path and of its actions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from localface.search.closing import (
    close_improved,
    close_out_of_time,
    close_search,
    close_without_path,
    count_features,
    find_few_actions,
    find_rarer_actions,
    measure_actions,
    outcome_without_measures,
    take_path_as_actions,
    why_no_actions,
)
from localface.search.move import Move
from localface.search.plan import Plan, WalkOptions
from localface.search.questions import DensityAlong, RowDensities
from localface.search.stages.explore import Exploration
from localface.search.trails import GraphPath
from scripted import Script, box, someone, taking_over

ROWS = [[1.0, 0.0], [2.0, 0.0]]
PLAN = Plan(WalkOptions(3))


def lower_further_out(points):
    return 1.0 - points[:, 0] / 4


def known(script: Script, **options):
    graph = script.graph(someone(np.zeros(script.rows.shape[1]), **options))
    script.run(graph.reveal_rows_around(0, 2))
    script.asked.clear()
    return graph


def test_a_path_is_measured_at_its_vertices_and_along_its_edges():
    script = Script(ROWS, log_density=lower_further_out)
    graph = known(script)
    state = graph.add_state(np.array([3.0, 0.0]), 0.9)

    found = script.run(
        close_search("FOUND", graph, GraphPath((0, 1, state), 3.0), entry=True, proven=True)
    )

    assert found.log_densities.tolist() == [1.0, 0.75, 0.25]
    assert found.step_log_densities.tolist() == [0.75, 0.25]
    assert found.ids == (-1, 0, -1)
    assert found.scores == (0.0, 1.0, 0.9)
    assert (found.status, found.cost, found.log_floor) == ("FOUND", 3.0, 0.0)
    assert (found.entry, found.proven, found.relaxed) == (True, True, False)


def test_rows_are_asked_about_as_rows():
    script = Script(ROWS)
    graph = known(script)

    script.run(close_search("FOUND", graph, graph.path_through((0, 1, 2))))

    (asked,) = [question for question in script.asked if isinstance(question, RowDensities)]
    assert asked.ids.tolist() == [0, 1]


def test_without_a_path_the_factual_alone_is_measured():
    script = Script(ROWS)
    graph = script.graph(someone([0.0, 0.0]))

    found = script.run(close_without_path("UNREACHABLE", graph))

    assert (found.status, len(found.points), found.cost) == ("UNREACHABLE", 1, 0.0)
    assert found.step_log_densities.size == 0
    assert [type(question) for question in script.asked] == [DensityAlong]


def test_a_status_alone_measures_nothing():
    person = someone([0.0, 0.0], log_floor=-1.0)

    found = outcome_without_measures("FOUND", person)

    assert (found.status, found.scores, found.log_floor) == ("FOUND", (), -1.0)
    assert found.ids == (-1,)  # the person's own state, which is no row
    assert found.log_densities.size == found.step_log_densities.size == 0


def test_actions_are_measured_after_and_along_each_move():
    script = Script(ROWS, log_density=lower_further_out)
    moves = (Move(np.array([2.0, 0.0]), 0.4), Move(np.array([2.0, 1.0]), 0.6))

    found = script.run(measure_actions(someone([0.0, 0.0]), moves, -1.0, np.array([4, 7])))

    assert found.moves == moves
    assert found.log_densities.tolist() == [0.5, 0.5]
    assert found.step_log_densities.tolist() == [0.5, 0.5]
    assert found.log_floor == -1.0
    assert found.donors == (4, 7)


def test_few_changes_are_made_of_a_path():
    script = Script([[1.0, 1.0], [2.0, 2.0]], score=lambda points: points[:, 0] / 4)
    graph = known(script)

    found = script.run(find_few_actions(graph, PLAN))

    assert [move.point.tolist() for move in found.moves] == [[2.0, 0.0]]


@pytest.mark.parametrize("to_goal", [False, True])
def test_where_nobody_who_was_met_will_do_values_are_taken_over_from_anybody(to_goal):
    """To a given goal there is no other way than there."""
    script = Script(
        [[0.1, 0.0], [0.2, 0.0]],
        composed=[[0.0, 2.0]],
        score=lambda points: points[:, 1] / 4,
        log_density=lambda points: 1.0 - 9.0 * (points[:, 0] >= 0.2),
    )
    own = np.zeros(2)
    graph = known(script, projection=taking_over(box(2), own))
    graph.goal = 2 if to_goal else None

    found = script.run(find_few_actions(graph, PLAN))

    if to_goal:
        assert found is None
    else:
        assert [move.point.tolist() for move in found.moves] == [[0.0, 2.0]]
        assert found.donors == (0,)


def around_a_hole() -> Script:
    """Whoever changes the second column alone, or both at once, falls into a hole."""
    return Script(
        [[1.0, 1.0], [0.0, 2.0]],
        score=lambda points: points[:, 1] / 4,
        log_density=lambda points: np.where(
            np.hypot(points[:, 0], points[:, 1] - 1) < 0.4, -9, 1.0
        ),
    )


def test_several_steps_around_a_hole_are_a_path_and_no_actions():
    script = around_a_hole()
    graph = known(script)

    assert script.run(find_few_actions(graph, PLAN)) is None
    assert script.run(take_path_as_actions(graph, PLAN, (0, 1, 2))) is None


def test_one_step_in_which_few_features_change_together_is_an_action():
    script = around_a_hole()

    found = script.run(take_path_as_actions(known(script), PLAN, (0, 1)))

    assert [move.point.tolist() for move in found.moves] == [[1.0, 1.0]]
    assert [move.follows for move in found.moves] == [()]
    assert found.moves[0].score == 0.25
    assert found.log_floor == 0.0


def whole_numbers(column, values):
    """The next multiples of one, outwards."""
    return np.sign(values) * np.ceil(np.abs(values) - 1e-9)


@pytest.mark.parametrize("hole", [False, True])
def test_the_numbers_of_such_an_action_end_at_multiples_where_that_is_sound(hole):
    script = Script(
        [[0.8, 0.8]],
        score=lambda points: points.min(axis=1),
        log_density=lambda points: np.where(hole & (points[:, 1] > 0.9), -9, 1.0),
    )
    graph = known(script, next_multiples=whole_numbers)

    found = script.run(take_path_as_actions(graph, PLAN, (0, 1)))

    ends = 0.8 if hole else 1.0
    assert [move.point.tolist() for move in found.moves] == [[ends, ends]]
    assert found.moves[0].score == ends


def along_a_wall() -> Script:
    """The way to the end is by one feature, then the other; straight there is a hole."""
    return Script(
        [[1.0, 0.0], [2.0, 0.0], [2.0, 2.0], [1.0, 2.0]],
        score=lambda points: points[:, 1] / 4,
        log_density=lambda points: np.where((points[:, 0] < 1.5) & (points[:, 1] > 0.1), -9, 1.0),
    )


def test_steps_that_each_change_one_feature_are_actions_one_after_the_other():
    script = along_a_wall()
    graph = script.graph(someone([0.0, 0.0]))
    script.run(graph.reveal_rows_around(0, 4))
    places = [graph.points.tolist().index(one) for one in ([1, 0], [2, 0], [2, 2])]

    found = script.run(take_path_as_actions(graph, PLAN, (0, *places)))

    assert [move.point.tolist() for move in found.moves] == [[2.0, 0.0], [2.0, 2.0]], (
        "a number that goes on as it went is one change"
    )
    assert [move.follows for move in found.moves] == [(), (0,)]
    assert [move.score for move in found.moves] == [0.0, 0.5]


def test_a_stop_is_kept_where_a_step_without_it_would_be_too_long():
    script = Script([[1.0, 0.0], [2.0, 0.0]], log_density=lambda points: 1.0 - 0 * points[:, 0])
    graph = known(script, max_step=1.5)

    found = script.run(take_path_as_actions(graph, PLAN, (0, 1, 2)))

    assert [move.point.tolist() for move in found.moves] == [[1.0, 0.0], [2.0, 0.0]]


def test_stops_are_kept_as_they_are_where_a_step_without_them_would_be_too_long():
    script = Script([[0.5, 0.0], [1.8, 0.0]])
    graph = known(script, max_step=1.5)

    found = script.run(take_path_as_actions(graph, PLAN, (0, 1, 2)))

    assert [move.point.tolist() for move in found.moves] == [[0.5, 0.0], [1.8, 0.0]]


def test_of_several_steps_none_may_change_more_than_one_feature():
    script = Script([[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]])

    assert script.run(take_path_as_actions(known(script), PLAN, (0, 1))) is not None
    assert script.run(take_path_as_actions(known(script), PLAN, (0, 1, 2))) is None
    assert script.run(take_path_as_actions(known(script), PLAN, (0, 2))) is not None


def test_a_number_that_turns_back_is_two_changes():
    script = along_a_wall()
    graph = script.graph(someone([0.0, 0.0]))
    script.run(graph.reveal_rows_around(0, 4))
    out, back = (graph.points.tolist().index(one) for one in ([2, 0], [1, 0]))

    found = script.run(take_path_as_actions(graph, PLAN, (0, out, back)))

    assert [move.point.tolist() for move in found.moves] == [[2.0, 0.0], [1.0, 0.0]]


def test_a_step_that_goes_on_from_an_entry_is_no_action():
    script = around_a_hole()

    assert script.run(take_path_as_actions(known(script), PLAN, (1, 2))) is None


@pytest.mark.parametrize("limit", ["fixed", "max_features"])
def test_a_step_is_no_action_where_features_are_fixed_or_few_are_wanted(limit):
    script = around_a_hole()
    fixed = np.array([True, False]) if limit == "fixed" else None
    plan = replace(PLAN, max_features=1) if limit == "max_features" else PLAN

    assert script.run(take_path_as_actions(known(script, fixed=fixed), plan, (0, 1))) is None


def test_a_path_that_leaves_what_is_fixed_as_it_is_can_be_actions():
    script = along_a_wall()
    graph = script.graph(someone([0.0, 0.0], fixed=np.array([False, True])))
    script.run(graph.reveal_rows_around(0, 4))
    places = [graph.points.tolist().index(one) for one in ([1, 0], [2, 0])]

    found = script.run(take_path_as_actions(graph, PLAN, (0, *places)))

    assert [move.point.tolist() for move in found.moves] == [[2.0, 0.0]]


def test_the_fewest_features_that_will_do_are_found_where_fewer_are_wanted():
    script = around_a_hole()
    wanted = replace(PLAN, max_features=1)

    missing = script.run(why_no_actions(known(script), wanted, (0, 1)))
    not_by_steps = script.run(why_no_actions(known(script), wanted, (0, 1, 2)))
    unlimited = script.run(why_no_actions(known(script), PLAN, (0, 1)))

    assert (missing.most, missing.fewest) == (1, 2)
    assert [move.point.tolist() for move in missing.with_more.moves] == [[1.0, 1.0]]
    assert (not_by_steps.most, not_by_steps.fewest) == (1, None)
    assert not_by_steps.with_more is None
    assert (unlimited.most, unlimited.fewest) == (None, None)
    assert not any(one.keeps_limit for one in (missing, not_by_steps, unlimited))


def test_actions_found_without_the_limit_may_keep_it_after_all():
    script = around_a_hole()

    missing = script.run(why_no_actions(known(script), replace(PLAN, max_features=2), (0, 1)))

    assert (missing.most, missing.fewest) == (2, 2)
    assert missing.keeps_limit


def test_actions_through_a_hole_are_found_where_no_others_lead_to_a_common_state():
    script = around_a_hole()

    found = script.run(find_rarer_actions(known(script), PLAN))
    missing = script.run(why_no_actions(known(script), PLAN, (0, 1, 2)))

    assert found.rarer
    assert [move.point.tolist() for move in found.moves] == [[0.0, 2.0]]
    assert found.step_log_densities.tolist() == [-9.0], "what the step falls to is stated"
    assert found.log_densities.tolist() == [1.0]
    assert found.log_floor == 0.0, "the floor that was asked for, which it does not keep"
    assert [move.point.tolist() for move in missing.rarer.moves] == [[0.0, 2.0]]


def two_ways_through_rare_states() -> Script:
    """Each change alone leads to a rare state, the first to a rarer one; both together do not."""

    def log_density(points):
        first = (points[:, 0] > 0.5) & (points[:, 1] < 0.5)
        second = (points[:, 0] < 0.5) & (points[:, 1] > 0.5)
        straight = np.abs(points[:, 0] - points[:, 1]) < 0.1
        between = straight & (points[:, 0] > 0.2) & (points[:, 0] < 0.8)
        return np.select([first, second, between], [-5.0, -1.5, -20.0], 1.0)

    return Script(
        [[1.0, 1.0], [1.0, 1.0]],
        score=lambda points: np.minimum(points[:, 0], points[:, 1]),
        log_density=log_density,
    )


def test_of_orders_through_rare_states_the_one_that_falls_least_is_taken():
    script = two_ways_through_rare_states()

    found = script.run(find_rarer_actions(known(script, min_score=0.9), PLAN))

    assert [(move.point > 0).tolist() for move in found.moves] == [[False, True], [True, True]]
    assert found.step_log_densities.min() == -1.5


def test_to_a_given_goal_no_actions_lead_through_rarer_states():
    script = around_a_hole()
    graph = known(script)
    graph.goal = 2

    assert script.run(find_rarer_actions(graph, PLAN)) is None


def test_actions_that_end_at_a_rare_state_are_none_however_rare_the_way_may_be():
    script = Script([[1.0, 0.0]], log_density=lambda points: 1.0 - 9.0 * (points[:, 0] > 0.5))

    assert script.run(find_rarer_actions(known(script), PLAN)) is None


def test_a_step_that_changes_many_features_is_no_action():
    wide = Script(np.hstack([[[1.0, 1.0], [0.0, 2.0]], np.ones((2, 3))]))

    assert wide.run(take_path_as_actions(known(wide), PLAN, (0, 1))) is None


def test_who_starts_below_the_floor_goes_no_lower_than_they_start():
    script = Script([[1.0, 0.0], [2.0, 0.0]], log_density=lambda points: points[:, 0] - 0.5)

    found = script.run(find_few_actions(known(script), PLAN))

    assert found.log_floor == pytest.approx(-0.5)


def test_a_path_is_measured_even_where_time_is_up_meanwhile():
    script = Script(ROWS, log_density=lower_further_out)
    whole = script.run(close_search("FOUND", known(script), GraphPath((0, 1, 2), 2.0)))
    rounds = len(script.asked)

    for late in range(rounds):
        other = Script(ROWS, log_density=lower_further_out)
        graph = known(other)
        other.late = late
        found = other.run(close_search("FOUND", graph, GraphPath((0, 1, 2), 2.0)))

        assert found.log_densities.tolist() == whole.log_densities.tolist()
        assert found.step_log_densities.tolist() == whole.step_log_densities.tolist()


def test_where_time_is_up_before_there_is_a_path_that_is_the_outcome():
    script = Script(ROWS)

    found = script.run(close_out_of_time(known(script)))

    assert (found.status, found.cut_short, len(found.points)) == ("OUT_OF_TIME", True, 1)


def test_a_feature_counts_once_however_many_moves_change_it_and_linked_ones_together():
    person = someone(np.zeros(4), group_of=np.array([0, 1, 1, 2]))
    moves = tuple(Move(np.array(point), 0.5, ()) for point in ([1.0, 0, 0, 0], [2.0, 3.0, 3.0, 0]))

    assert count_features(person, moves) == 2
    assert count_features(person, moves[:1]) == 1


def test_how_long_a_step_without_a_stop_is_counts_from_where_it_begins():
    """The last stop but one is left out: from (1, 0) to (1, 2) is two, wherever (1, 0) is."""
    script = Script([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    graph = script.graph(someone([0.0, 0.0], max_step=2.0))
    script.run(graph.reveal_rows_around(0, 3))

    found = script.run(take_path_as_actions(graph, PLAN, (0, 1, 2, 3)))

    assert [move.point.tolist() for move in found.moves] == [[1.0, 0.0], [1.0, 2.0]]


@pytest.mark.parametrize(("max_step", "ends"), [(1.0, 1.0), (0.9, 0.8)])
def test_a_rounded_action_may_be_just_as_long_as_a_step_may_be(max_step, ends):
    script = Script([[0.8, 0.0]])
    graph = known(script, next_multiples=whole_numbers, max_step=max_step)

    found = script.run(take_path_as_actions(graph, PLAN, (0, 1)))

    assert [move.point.tolist() for move in found.moves] == [[ends, 0.0]]


def test_of_a_path_nothing_is_said_that_nobody_told():
    script = Script(ROWS)
    graph = known(script)
    path = graph.path_through((0, 1))

    for stage in (close_search("FOUND", graph, path), close_improved(graph, Exploration(()), path)):
        found = script.run(stage)
        said = [found.entry, found.relaxed, found.proven, found.composed, found.cut_short]
        assert said == [False] * 5
        assert found.counts is None


@pytest.mark.parametrize(("most", "is_one"), [(1, False), (2, True)])
def test_an_action_may_change_just_as_many_features_as_are_wanted(most, is_one):
    script = around_a_hole()

    found = script.run(
        take_path_as_actions(known(script), replace(PLAN, max_features=most), (0, 1))
    )

    assert (found is not None) == is_one


def test_the_fewest_features_are_counted_where_least_effort_is_wanted_too():
    """Two large changes will do, or three small ones that are less in all."""

    def score(points):
        large = (points[:, :2] >= 4.0).all(axis=1)
        return np.where(large | (points >= 1.0).all(axis=1), 0.9, 0.1)

    script = Script([[4.0, 4.0, 0.0], [1.0, 1.0, 1.0]], score=score)
    plan = replace(PLAN, max_features=1, least_effort=True)

    missing = script.run(why_no_actions(known(script), plan, (0,)))

    assert missing.fewest == 2
    assert missing.with_more.moves[-1].point.tolist() == [4.0, 4.0, 0.0]
