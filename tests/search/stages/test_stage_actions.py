"""Actions as a stage: the fewest changes that have a route, each no larger than needed, or none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from localface.search.move import Move
from localface.search.plan import Plan, WalkOptions
from localface.search.questions import OutOfTime, ScorePoints
from localface.search.stages.actions import _ActionSearch, find_actions
from localface.search.stages.way import Way
from localface.search.stages.ways_to_ends import WaysToEnds
from scripted import Script, box, someone

PLAN = Plan(WalkOptions(3))


def actions_to(script: Script, *ends, plan=PLAN, log_floor=0.0, **options):
    """The actions of someone at the origin who could take over from these ends."""
    points = np.asarray(ends, dtype=float)
    graph = script.graph(someone(np.zeros(points.shape[1]), **options))
    scores = script.score(points)
    donors = [
        graph.add_state(point, score, row)
        for row, (point, score) in enumerate(zip(points, scores, strict=True))
    ]
    graph.goal = donors[0] if plan.every_change else None
    found = script.run(find_actions(graph, plan, donors, log_floor=log_floor))
    return None if found is None else found.moves


def nobody(n: int, **functions) -> Script:
    return Script(np.zeros((0, n)), **functions)


def ended(moves) -> list[float]:
    return moves[-1].point.tolist()


def test_only_what_the_score_needs_is_changed():
    (move,) = actions_to(nobody(3, score=lambda points: points[:, 1] / 2), [1.0, 1.0, 1.0])

    assert move.point.tolist() == [0.0, 1.0, 0.0]
    assert (move.score, move.follows) == (0.5, ())


def test_a_change_is_no_larger_than_the_target_needs():
    (move,) = actions_to(nobody(2, score=lambda points: points[:, 0]), [1.0, 1.0])

    assert (move.point.tolist(), move.score) == ([0.5, 0.0], 0.5)


def test_few_changes_of_a_far_person_come_before_many_of_a_near_one():
    script = nobody(3, score=lambda points: np.maximum(points[:, :2].sum(axis=1), points[:, 2]) / 2)

    moves = actions_to(script, [0.5, 0.5, 0.0], [0.0, 0.0, 1.0])

    assert [move.point.tolist() for move in moves] == [[0.0, 0.0, 1.0]]


def test_where_the_smaller_changes_lead_below_the_floor_the_larger_ones_are_made():
    """Half way is rare unless the other column has changed in full."""

    def log_density(points):
        return np.where(np.abs(points[:, 0] - 0.5) + np.abs(points[:, 1]) < 0.2, -1.0, 1.0)

    script = nobody(2, score=lambda points: points[:, 0], log_density=log_density)

    moves = actions_to(script, [1.0, 1.0])

    assert [move.point.tolist() for move in moves] == [[0.0, 1.0], [1.0, 1.0]]


def test_every_change_is_made_where_that_is_asked_for():
    script = nobody(3, score=lambda points: points[:, 1])

    moves = actions_to(script, [1.0, 1.0, 1.0], plan=replace(PLAN, every_change=True))

    assert ended(moves) == [1.0, 1.0, 1.0]
    assert moves[0].point.tolist() == [0.0, 1.0, 0.0]


def test_every_change_of_many_is_made_too():
    script = nobody(7, score=lambda points: points[:, 1])

    moves = actions_to(script, np.ones(7), plan=replace(PLAN, every_change=True))

    assert len(moves) == 7
    assert ended(moves) == [1.0] * 7


def test_where_the_smallest_set_has_no_route_the_next_is_taken():
    script = nobody(
        2,
        score=lambda points: points[:, 1] + points[:, 0] / 4,
        log_density=lambda points: points[:, 0] - points[:, 1] + 0.4,
    )

    moves = actions_to(script, [1.0, 1.0], bounds=box(2, upper=1.0))

    assert moves[0].point[1] == 0.0
    assert (moves[-1].point > 0).all()
    assert moves[-1].score >= 0.5


def test_all_that_somebody_has_is_taken_over_where_it_just_reaches_the_target():
    """Seven changes are needed, more than are looked for one by one."""
    script = nobody(7, score=lambda points: np.where((points == 1.0).all(axis=1), 0.5, 0.0))

    moves = actions_to(script, np.ones(7))

    assert ended(moves) == [1.0] * 7
    assert moves[-1].score == 0.5


def test_where_no_route_keeps_the_floor_there_are_no_actions():
    assert actions_to(nobody(2, log_density=lambda points: -points[:, 0]), [1.0, 1.0]) is None


def test_where_nothing_differs_there_are_no_actions():
    assert actions_to(nobody(2), [0.0, 0.0]) is None


def needing(n: int) -> Script:
    """The target takes so many changes out of seven."""
    return nobody(7, score=lambda points: points.sum(axis=1) / (2 * n))


def test_more_than_a_few_changes_are_what_is_left_of_one_persons():
    moves = actions_to(needing(6), np.ones(7), bounds=box(7, upper=1.0))

    assert len(moves) == 6
    assert (moves[-1].point > 0).sum() == 6
    assert moves[-1].score >= 0.5


@pytest.mark.parametrize("least_effort", [False, True])
def test_no_more_features_are_changed_than_wanted(least_effort):
    def found_within(n, *, most):
        plan = replace(PLAN, max_features=most, least_effort=least_effort)
        return actions_to(needing(n), np.ones(7), plan=plan, bounds=box(7, upper=1.0)) is not None

    assert found_within(6, most=6)
    assert not found_within(6, most=5)
    assert found_within(2, most=2)
    assert not found_within(2, most=1)


def test_a_wish_for_few_features_that_the_actions_keep_without_it_changes_nothing():
    """Six changes of the only donor would do, or three that go further: more than five, or not."""
    unlimited = actions_to(needing(6), np.ones(7))
    n_changed = np.count_nonzero(ended(unlimited))

    for most in range(n_changed, 8):
        limited = actions_to(needing(6), np.ones(7), plan=replace(PLAN, max_features=most))
        assert [move.point.tolist() for move in limited] == [m.point.tolist() for m in unlimited]

    assert n_changed == 3
    assert actions_to(needing(6), np.ones(7), plan=replace(PLAN, max_features=2)) is None


def test_actions_of_the_least_effort_keep_a_wish_for_few_features():
    """Mixing makes three changes of six; what is known before it changes too many."""
    plan = replace(PLAN, max_features=3, least_effort=True)

    moves = actions_to(needing(6), np.ones(7), plan=plan)

    assert np.count_nonzero(ended(moves)) == 3


def test_where_no_few_will_do_the_donor_is_taken_who_needs_the_fewest():
    script = nobody(8, score=lambda points: np.maximum(points[:, :6].sum(axis=1) / 12, 0))
    many = [0.9] * 5 + [1.5, 0.2, 0.2]
    fewer = [1.2] * 5 + [0.0, 0.1, 0.1]

    moves = actions_to(script, many, fewer, bounds=box(8, upper=1.5))

    assert np.flatnonzero(ended(moves)).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("dear", "taken"), [(0, 1.0), (6, 1.1)])
def test_of_donors_who_need_as_many_changes_the_one_is_taken_whose_take_least_effort(dear, taken):
    """Seven changes are needed; what one feature takes more counts by its weight."""
    weights = np.ones(7)
    weights[dear] = 9.0
    small_first = np.array([1.0, *[1.2] * 5, 1.6])
    small_last = np.array([1.1, *[1.2] * 5, 1.4])
    script = nobody(
        7, score=lambda points: np.where((points >= 1.0).all(axis=1), 0.9, points.sum(axis=1) / 99)
    )

    moves = actions_to(
        script,
        small_last,
        small_first,
        weights=weights,
        bounds=box(7, upper=1.6),
        round_outwards=lambda _, values: np.where(values > 0, 9.0, values),
    )

    assert ended(moves)[0] == taken


@pytest.mark.parametrize(("dear", "spared"), [(6, 7), (7, 6)])
def test_where_no_few_will_do_the_donor_is_taken_who_needs_the_fewest_by_weight(dear, spared):
    """Six changes are needed, and either of two others, which each donor has one of."""
    weights = np.ones(8)
    weights[dear] = 9.0
    ends = np.ones((2, 8))
    ends[0, 7] = ends[1, 6] = 0.0
    script = nobody(
        8,
        score=lambda points: np.where(
            (points[:, :6] >= 1.0).all(axis=1) & (points[:, 6:] >= 1.0).any(axis=1), 0.9, 0.1
        ),
    )

    moves = actions_to(script, *ends, weights=weights, bounds=box(8, upper=1.0))

    assert np.flatnonzero(ended(moves)).tolist() == [*range(6), spared]


def test_what_is_reduced_need_not_differ_in_all_that_others_differ_in():
    script = nobody(
        8,
        score=lambda points: np.where((points[:, :7] > 0).all(axis=1), 0.9, 0.1),
        log_density=lambda points: 0.5 - points[:, 7],
    )

    moves = actions_to(script, [1.0] * 8, [1.1] * 7 + [0.0], bounds=box(8, upper=1.1))

    assert (moves[-1].point > 0).tolist() == [True] * 7 + [False]


def test_what_costs_as_much_in_every_way_does_not_take_the_place_of_what_is_known():
    """One dear change, further than anybody's, would do as well as two that cost half of it."""

    def score(points):
        first, second, third = points.T
        return np.where((first >= 1.0) | ((second >= 1.0) & (third >= 1.0)), 0.9, 0.1 + first / 10)

    def ended_with(weight):
        weights = np.array([weight, 1.0, 1.0])
        return ended(actions_to(nobody(3, score=score), [0.5, 1.0, 1.0], weights=weights))

    assert ended_with(2.0) == [0.0, 1.0, 1.0]
    assert np.flatnonzero(ended_with(1.9)).tolist() == [0]


def test_where_the_changes_that_the_score_needs_lead_nowhere_dense_others_come_along():
    n = 14
    script = nobody(
        n,
        score=lambda points: points[:, 0],
        log_density=lambda points: 0.3 - np.abs(points[:, 0] - points[:, -1]),
    )

    (move,) = actions_to(script, np.ones(n))

    assert np.flatnonzero(move.point).tolist() == [0, n - 1]


def test_where_all_must_move_together_one_action_moves_them():
    n = 6

    def log_density(points):
        return np.where(np.abs(points - points[:, :1]).max(axis=1) > 0.3, -1.0, 1.0)

    script = nobody(n, score=lambda points: points.sum(axis=1) / n, log_density=log_density)

    moves = actions_to(script, np.ones(n))

    assert len(moves) == 1
    assert (moves[0].point > 0).all()


def test_actions_end_within_the_bounds():
    script = nobody(2, score=lambda points: points.max(axis=1))

    moves = actions_to(script, [1.0, 1.0], bounds=box(2, lower=[0.25, -9.0]))

    assert ended(moves)[0] >= 0.25


def test_what_is_fixed_is_no_action():
    script = nobody(2, score=lambda points: points.max(axis=1))

    moves = actions_to(script, [0.6, 1.0], fixed=np.array([True, False]))

    assert ended(moves) == [0.0, 0.5]


def test_nothing_comes_after_the_target():
    """Two changes were needed in full; once the first has settled, it is enough alone."""
    script = nobody(2, score=lambda points: points.sum(axis=1) / 4)

    moves = actions_to(script, [1.9, 1.9])

    reached = [move.score >= 0.5 for move in moves]
    assert reached == [False] * (len(moves) - 1) + [True]


def test_states_are_scored_with_the_values_of_those_they_are_taken_from():
    script = nobody(3, score=lambda points: points.sum(axis=1) / 4)

    actions_to(script, [1.0, 1.0, 1.0], [0.9, 0.9, 0.9])

    asked = [question for question in script.asked if isinstance(question, ScorePoints)]
    assert asked
    assert all(question.donors.tolist() == [0, 1] for question in asked)


def reached_early(points):
    """High enough around one in the first column, and wherever both columns are large."""
    early = np.abs(points[:, 0] - 1) < 0.3
    return np.where(early | (points.sum(axis=1) >= 3), 0.6, 0.0)


def test_a_change_that_a_smaller_one_makes_needless_is_left_out():
    """In full it took two changes; the first, once it is smaller, is enough alone."""
    (move,) = actions_to(nobody(2, score=reached_early), [2.0, 2.0])

    assert move.point.tolist() == [0.75, 0.0]


def test_someone_below_the_floor_goes_on_until_they_are_above_it():
    script = nobody(
        2,
        score=reached_early,
        log_density=lambda points: np.where(points[:, 1] >= 0.1, 1.0, -1.0),
    )

    moves = actions_to(script, [2.0, 2.0], log_floor=-1.0)

    assert ended(moves)[1] >= 0.1


@pytest.mark.parametrize(
    ("log_floor", "above_from", "kept"),
    [(0.0, 9, 2), (-1.0, 1, 2), (-1.0, 2, 2), (-1.0, 3, 3), (-1.0, 4, 4), (-1.0, 9, 4)],
)
def test_moves_end_where_the_target_is_reached_above_the_floor(log_floor, above_from, kept):
    """The second of four moves reaches it; who starts below the floor may go on for that."""
    script = nobody(1, log_density=lambda points: np.where(points[:, 0] >= above_from, 1.0, -0.5))
    graph = script.graph(someone([0.0]))
    way = Way(tuple(Move(np.array([i]), score) for i, score in enumerate([0.2, 0.6, 0.7, 0.8], 1)))

    found = script.run(WaysToEnds(graph, PLAN, log_floor).stop_at_target(way))

    assert found.moves == way.moves[:kept]


def test_smaller_changes_do_not_leave_someone_below_the_floor():
    script = nobody(
        1,
        score=lambda points: points[:, 0],
        log_density=lambda points: np.where(points[:, 0] >= 0.9, 1.0, -1.0),
    )

    (move,) = actions_to(script, [1.0], log_floor=-1.0)

    assert move.point.tolist() == [1.0]


def test_changes_of_several_people_are_mixed_where_that_takes_fewer():
    script = nobody(4, score=lambda points: points.sum(axis=1) / 8)
    near = [1.9, 0.7, 0.7, 0.7]
    other = [0.7, 1.9, 0.7, 0.7]
    limits = box(4, upper=[1.9, 1.9, 1.0, 1.0])
    of_one = actions_to(script, near, min_score=0.47, bounds=limits)

    moves = actions_to(script, near, other, min_score=0.47, bounds=limits)

    assert np.flatnonzero(ended(of_one)).tolist() == [0, 1, 2]
    assert np.flatnonzero(ended(moves)).tolist() == [0, 1]


def test_one_change_that_goes_further_than_anybodys_comes_before_two():
    script = nobody(2, score=lambda points: points.sum(axis=1) / 3)

    (move,) = actions_to(script, [1.0, 1.0])

    assert move.point.tolist() == [1.5, 0.0]


def test_nobody_goes_further_than_one_step_may_to_change_fewer():
    script = nobody(2, score=lambda points: points.sum(axis=1) / 3)

    moves = actions_to(script, [1.0, 1.0], max_step=1.2)

    assert np.flatnonzero(ended(moves)).tolist() == [0, 1]


@pytest.mark.parametrize("away", [0.0, 64.0, -64.0])
@pytest.mark.parametrize(("longest", "n_changed"), [(1.5, 1), (1.45, 2)])
def test_a_step_is_as_long_wherever_it_begins(longest, n_changed, away):
    script = nobody(2, score=lambda points: (points - away).sum(axis=1) / 3)
    graph = script.graph(someone(np.full(2, away), max_step=longest))
    donors = [graph.add_state(np.full(2, away + 1.0), 2 / 3, 0)]

    found = script.run(find_actions(graph, PLAN, donors, log_floor=0.0))

    assert (found.moves[-1].point != away).sum() == n_changed


@pytest.mark.parametrize("away", [0.0, 64.0, -64.0])
@pytest.mark.parametrize(("longest", "is_taken"), [(5.0, True), (4.9, False)])
def test_what_takes_less_effort_is_no_further_than_a_step_may_lead(longest, is_taken, away):
    """Three and four are less than eight, and five apart."""

    def score(points):
        first, second, third = (points - away).T
        fine = (first >= 8.0) | ((second > 0) & (third > 0))
        return np.where(fine, 0.9, 0.1 + (second + third) / 100)

    script = nobody(3, score=score)
    whole = np.array([True, True, True])
    graph = script.graph(someone(np.full(3, away), max_step=longest, discrete=whole))
    donors = [
        graph.add_state(away + np.array(end), 0.9, row)
        for row, end in enumerate(([8.0, 0.0, 0.0], [0.0, 3.0, 4.0]))
    ]

    found = script.run(find_actions(graph, replace(PLAN, least_effort=True), donors, log_floor=0.0))

    assert (found.moves[-1].point[0] == away) == is_taken


def test_a_feature_that_costs_much_is_not_changed_in_place_of_two_that_cost_little():
    def score(points):
        return np.maximum(points[:, 0] / 3, points[:, 1:].sum(axis=1) / 4)

    limits = box(3, upper=[9.0, 1.0, 1.0])

    alike = actions_to(nobody(3, score=score), np.ones(3), bounds=limits)
    dear = actions_to(
        nobody(3, score=score), np.ones(3), bounds=limits, weights=np.array([5.0, 1.0, 1.0])
    )

    assert np.flatnonzero(ended(alike)).tolist() == [0]
    assert np.flatnonzero(ended(dear)).tolist() == [1, 2]


def test_when_time_is_up_while_fewer_changes_are_looked_for_the_known_ones_are_taken():
    def score(points):
        return points.sum(axis=1) / 3

    whole = nobody(2, score=score)
    actions_to(whole, [1.0, 1.0])
    beyond = [
        isinstance(question, ScorePoints) and bool((question.points > 1.0).any())
        for question in whole.asked
    ]

    moves = actions_to(nobody(2, score=score, late=beyond.index(True)), [1.0, 1.0])

    assert np.flatnonzero(ended(moves)).tolist() == [0, 1]
    assert [move.follows for move in moves] == [(), (0,)]


def below_the_floor(**functions) -> Script:
    """A common state takes the second column, the score the first, or the last two together."""
    return nobody(
        3,
        score=lambda points: np.maximum(points[:, 0] / 2, points[:, 2] * (points[:, 1] >= 1) / 2.4),
        log_density=lambda points: np.where(points[:, 1] >= 1, 1.0, -0.5),
        **functions,
    )


def changed(moves) -> list[int]:
    return np.flatnonzero(moves[-1].point).tolist()


def test_who_starts_below_the_floor_makes_no_change_for_that_alone_where_as_few_do_without():
    donors = [1.0, 1.0, 1.2]

    assert changed(actions_to(below_the_floor(), donors, log_floor=-0.5)) == [1, 2]


@pytest.mark.parametrize(
    ("donor", "plan"),
    [([1.0, 1.0, 0.0], PLAN), ([1.0, 1.0, 1.2], replace(PLAN, least_effort=True))],
    ids=["no other", "least effort"],
)
def test_such_a_change_is_made_where_nothing_else_does_or_the_least_effort_counts(donor, plan):
    assert changed(actions_to(below_the_floor(), donor, plan=plan, log_floor=-0.5)) == [0, 1]


@pytest.mark.parametrize(
    ("own", "end"), [(0.0, [1.0, 1.0, 0.0, 0.0]), (-0.5, [0.0, 0.0, 2.0, 2.0])]
)
def test_a_change_that_the_score_does_not_need_is_spared_only_who_starts_below_the_floor(own, end):
    """With the first alone one ends at a rare state; the third and fourth are both needed."""

    def score(points):
        return np.where((points[:, 0] >= 1.0) | (points[:, 2:] >= 2.0).all(axis=1), 0.9, 0.1)

    def log_density(points):
        common = (points[:, :2] >= 1.0).all(axis=1) | (points[:, 2:] >= 2.0).all(axis=1)
        return np.where(common, 1.0, own)

    def rarer_alone(points):
        alone = (points[:, 0] > 0.0) & (points[:, 1] < 1.0)
        return np.where(alone & (points[:, 2:] == 0.0).all(axis=1), -0.2, log_density(points))

    script = nobody(4, score=score, log_density=rarer_alone if own == 0.0 else log_density)
    ends = [[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 2.0, 2.0]]

    moves = actions_to(script, *ends, log_floor=own, discrete=np.ones(4, dtype=bool))

    assert ended(moves) == end


@pytest.mark.parametrize(("most", "is_found"), [(6, False), (7, True), (8, True)])
def test_what_is_left_of_a_donors_changes_may_be_just_as_many_as_are_wanted(most, is_found):
    script = nobody(8, score=lambda points: np.where((points[:, :7] > 0).all(axis=1), 0.9, 0.1))

    moves = actions_to(
        script, np.ones(8), plan=replace(PLAN, max_features=most), bounds=box(8, upper=1.0)
    )

    assert (moves is not None) == is_found


def several_ways(**functions) -> tuple[Script, np.ndarray]:
    """Two donors' changes each reach the target; a mix of both does so by less."""
    return nobody(3, score=lambda points: points.sum(axis=1) / 4, **functions), np.array(
        [[1.2, 0.2, 0.9], [0.3, 1.1, 0.8]]
    )


def brought_above_it(**functions) -> tuple[Script, np.ndarray]:
    """Somebody below it, whom a change that the score does not need brings above it."""
    return below_the_floor(**functions), np.array([[1.0, 1.0, 1.2]])


@pytest.mark.parametrize("least_effort", [False, True])
@pytest.mark.parametrize("helped", [0.4, 1.0])
@pytest.mark.parametrize(("world", "log_floor"), [(several_ways, 0.0), (brought_above_it, -0.5)])
def test_at_whatever_question_time_is_up_a_plan_that_is_known_says_so(
    world, log_floor, helped, least_effort
):
    """It is told even where the plan would not have become any better."""
    plan = replace(PLAN, least_effort=least_effort)

    def found(late):
        script, ends = world(helps=lambda some: np.full(len(some), helped), late=late)
        graph = script.graph(someone(np.zeros(ends.shape[1])))
        scores = script.score(ends).tolist()
        donors = [graph.add_state(end, scores[i], i) for i, end in enumerate(ends)]
        try:
            actions = script.run(find_actions(graph, plan, donors, log_floor=log_floor))
        except OutOfTime:
            return len(script.asked), None
        assert actions is not None
        return len(script.asked), graph.out_of_time

    n_asked, out_of_time = found(None)

    assert out_of_time is False
    told = [found(late)[1] for late in range(n_asked)]
    first = told.index(True)
    assert told == [None] * first + [True] * (n_asked - first)


def test_time_that_is_up_while_unneeded_changes_are_looked_for_is_told_and_the_way_stays():
    script = below_the_floor(late=0)
    graph = script.graph(someone(np.zeros(3)))
    way = Way((Move(np.array([1.0, 1.0, 0.0]), 0.5),))

    search = _ActionSearch(graph, PLAN, -0.5)
    found = script.run(search.by_needed_changes(way, None, []))

    assert found == (way, None)
    assert len(script.asked) == 1
    assert graph.out_of_time


@pytest.mark.parametrize(("log_floor", "n_left"), [(0.0, 1), (-0.5, 2)])
def test_a_way_stops_where_it_has_reached_the_target_on_common_ground(log_floor, n_left):
    """The first of three moves has the score; the second one leads above the floor."""

    def log_density(points):
        return np.where(points[:, 1] >= 1.0, 1.0, min(log_floor, 0.0))

    script = nobody(3, score=lambda points: points[:, 0], log_density=log_density)
    graph = script.graph(someone(np.zeros(3)))
    donors = [graph.add_state(np.ones(3), 1.0, 0)]
    search = _ActionSearch(graph, PLAN, log_floor)
    states = np.array([[0.6, 0.0, 0.0], [0.6, 1.0, 0.0], [0.6, 1.0, 0.4]])
    way = Way(tuple(Move(state, float(state[0])) for state in states))

    shorter, helped = script.run(search.no_further_than_target(way, None, donors))

    assert [move.point.tolist() for move in shorter.moves] == states[:n_left].tolist()
    changed = (states[n_left - 1] != 0).sum()
    assert helped is not None
    asked_about = helped.columns.any(axis=0).sum()
    assert asked_about == changed, "it is asked again whom the changes that are left help"


def test_a_way_that_reaches_the_target_by_its_last_move_is_left_as_it_is():
    script = nobody(2, score=lambda points: points.sum(axis=1) / 2)
    graph = script.graph(someone(np.zeros(2)))
    donors = [graph.add_state(np.ones(2), 1.0, 0)]
    way = Way((Move(np.array([0.6, 0.0]), 0.3), Move(np.array([0.6, 0.6]), 0.6)))

    found = script.run(_ActionSearch(graph, PLAN, 0.0).no_further_than_target(way, None, donors))

    assert found == (way, None)


def test_whatever_way_is_found_no_action_comes_after_the_target(monkeypatch):
    """Where changes are made together, a way may come by the target before its last move."""
    states = np.array([[0.6, 0.6, 0.0], [0.6, 0.6, 0.4]])
    way = Way(tuple(Move(state, float(state[0])) for state in states))

    def found(*_):
        return [way], [way]
        yield

    monkeypatch.setattr(_ActionSearch, "by_few_changes", found)
    script = nobody(3, score=lambda points: points[:, 0])

    (move,) = actions_to(script, [1.0, 1.0, 1.0])

    assert move.point.tolist() == states[0].tolist()
