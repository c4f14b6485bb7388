"""How much each stage tries: as many as it says, and not one more.

What is tried beyond that costs everybody time, and what is no longer tried loses answers.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from localface.search.move import Move
from localface.search.plan import Plan, WalkOptions
from localface.search.questions import (
    ComposeStates,
    DensityAlong,
    Nearest,
    ScorePoints,
)
from localface.search.stages.actions import find_actions
from localface.search.stages.donors import find_donors
from localface.search.stages.effort import find_ends_of_little_effort, find_shrunken_ends
from localface.search.stages.fewest import find_fewest_changes
from localface.search.stages.joint_moves import route_by_joint_moves
from localface.search.stages.mixing import find_way_by_mixing
from localface.search.stages.reduce import reduce_changes
from localface.search.stages.settle import settle_values
from localface.search.stages.small_steps import break_into_small_steps
from localface.search.stages.straight import FAR_STATES, NEAR_STATES, find_straight_way
from localface.types import NO_ROWS
from scripted import Script, box, someone, taking_over

PLAN = Plan(WalkOptions(3))


def nobody(n: int, **functions) -> Script:
    return Script(np.zeros((0, n)), **functions)


def started(script: Script, ends, **options):
    """A graph of someone at the origin, and donors at these ends."""
    points = np.asarray(ends, dtype=float)
    graph = script.graph(someone(np.zeros(points.shape[1]), **options))
    donors = [
        graph.add_state(point, float(score), row)
        for row, (point, score) in enumerate(zip(points, script.score(points), strict=True))
    ]
    return graph, donors


def scored(script: Script) -> list[np.ndarray]:
    return [question.points for question in script.asked if isinstance(question, ScorePoints)]


def checked(script: Script) -> list[int]:
    """Of how many states it was asked each time whether they keep the floor."""
    along = [question for question in script.asked if isinstance(question, DensityAlong)]
    return [len(one.starts) for one in along if (one.starts == one.ends).all()]


# Mixing


def mix(script: Script, ends, *, most, way=None, **options):
    """Mix what donors have; returns the ends to which a way was looked for."""
    graph, donors = started(script, ends, **options)
    tried = []

    def find_way(end):
        tried.append(end.tolist())
        return way
        yield

    script.run(find_way_by_mixing(graph, donors, most=most, find_way=find_way))
    return tried


def test_one_number_alone_is_tried_at_six_places_beyond_the_furthest_donor():
    script = nobody(1, score=lambda points: np.zeros(len(points)))

    mix(script, [[1.0]], most=1)

    (points,) = scored(script)
    assert np.unique(points).tolist() == [1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5]


@pytest.mark.parametrize("away", [64.0, -64.0])
def test_beyond_the_furthest_donor_is_as_far_wherever_somebody_stands(away):
    script = nobody(1, score=lambda points: np.zeros(len(points)))
    graph = script.graph(someone([away]))
    donors = [graph.add_state(np.array([away + one]), 0.9, 0) for one in (-1.0, 2.0)]

    def find_way(end):
        return None
        yield

    script.run(find_way_by_mixing(graph, donors, most=1, find_way=find_way))

    (points,) = scored(script)
    factors = np.array([1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5])
    assert np.unique(points - away).tolist() == sorted([*(-factors), *(2 * factors)])


def test_with_other_changes_a_number_has_the_four_values_that_raise_the_score_most():
    """Of eight: six donors', and two that are further than theirs. Those in between are left."""
    script = nobody(2, score=lambda points: points[:, 0] / 40 + points[:, 1] / 400)
    ends = [[1.0 + i, 0.0] for i in range(6)] + [[0.0, 1.0]]

    mix(script, ends, most=2, min_score=0.5)

    _, pairs = scored(script)
    assert np.unique(pairs[:, 0]).tolist() == [5.0, 6.0, 9.0, 15.0]
    assert np.unique(pairs[:, 1]).tolist() == [1.0, 1.5, 2.5]


def test_of_mixed_ends_sixty_four_are_looked_at_and_ways_looked_for_to_four():
    n = 80
    script = nobody(n, score=lambda points: (points > 0).any(axis=1) * 0.9)

    tried = mix(script, [1.0 + np.arange(n) / n], most=1)

    assert checked(script) == [64]
    assert [np.flatnonzero(end).tolist() for end in tried] == [[0], [1], [2], [3]]


def test_of_mixed_states_that_do_not_reach_the_target_seventy_two_are_looked_at():
    n = 80
    script = nobody(n, score=lambda points: (points > 0).sum(axis=1) / 5)

    mix(script, np.ones((1, n)), most=2)

    assert checked(script)[0] == 72


def test_twenty_four_mixed_states_are_carried_on():
    n = 30
    script = nobody(n, score=lambda points: (points > 0).sum(axis=1) / 5)

    mix(script, np.ones((1, n)), most=2, bounds=box(n, upper=1.0))

    first, second = scored(script)
    assert len(first) == n
    assert len(second) == n * (n - 1) / 2 - 6 * 5 / 2  # pairs, without those of the six left


@pytest.mark.parametrize(("gain", "levels"), [(0.19, 1), (0.2, 2), (0.21, 2)])
def test_mixing_goes_on_where_each_change_to_come_need_add_no_more_than_half_as_much_again(
    gain, levels
):
    """The first change gains ``gain``; the second may then gain one and a half times that."""
    script = nobody(2, score=lambda points: gain * points.sum(axis=1))

    mix(script, np.ones((1, 2)), most=2, bounds=box(2, upper=1.0))

    assert len(scored(script)) == levels


# Effort


def grow(script: Script, ends, *, most=None, least=np.inf, **options):
    graph, donors = started(script, ends, **options)
    return script.run(
        find_ends_of_little_effort(graph, donors, log_floor=0.0, most=most, least=least)
    )


def test_a_change_of_a_number_comes_in_twelve_sizes_the_small_ones_closer_together():
    script = nobody(1, score=lambda points: np.zeros(len(points)))

    grow(script, [[1.0]])

    assert scored(script)[0].ravel() == pytest.approx((np.arange(1, 13) / 12) ** 2)


def test_an_end_shrinks_in_twelve_equal_parts():
    script = nobody(1, score=lambda points: points[:, 0])
    graph, donors = started(script, [[1.0]])

    script.run(find_shrunken_ends(graph, donors, np.array([[1.0]])))

    (points,) = scored(script)
    assert sorted(points.ravel()) == pytest.approx((np.arange(0, 13) / 12)[-len(points) :])


def test_of_ends_of_little_effort_thirty_two_are_looked_at_and_six_handed_back():
    n = 40
    script = nobody(n, score=lambda points: (points > 0).any(axis=1) * 0.9)

    ends = grow(script, [1.0 + np.arange(n)])

    assert checked(script)[0] == 32
    assert len(ends) == 6


def in_whole(n: int) -> dict:
    """No column may stop half way, and whoever changes one reaches no target by it."""
    return {"discrete": np.ones(n, dtype=bool)}


def test_of_states_of_little_effort_thirty_two_are_looked_at_and_eight_carried_on():
    n = 40
    script = nobody(n, score=lambda points: (points > 0).sum(axis=1) / 80)

    grow(script, np.ones((1, n)), **in_whole(n))

    first, second = scored(script)[:2]
    assert checked(script)[0] == 32
    assert len(first) == n
    # eight with one of the others each, and the eight themselves: they are known by then
    assert len(second) == n * (n - 1) / 2 - 32 * 31 / 2


def test_ends_grow_by_no_more_than_ten_changes():
    script = nobody(12, score=lambda points: (points > 0).sum(axis=1) / 100)

    grow(script, np.ones((1, 12)), **in_whole(12))

    assert max((points > 0).sum(axis=1).max() for points in scored(script)) == 10


def test_after_two_turns_in_vain_no_end_of_less_effort_is_looked_for():
    """One large change will do at once; many small ones of the others never would."""

    def score(points):
        return np.where(points[:, 0] > 0, 0.9, (points[:, 1:] > 0).sum(axis=1) / 100)

    script = nobody(12, score=score)

    grow(script, [[50.0, *np.ones(11)]], **in_whole(12))

    assert [int((points[:, 1:] > 0).sum(axis=1).max()) for points in scored(script)] == [1, 2, 3]


def test_no_more_than_the_allowed_features_change_however_little_they_change():
    script = nobody(3, score=lambda points: (points > 0).sum(axis=1) / 4)

    ends = grow(script, np.ones((1, 3)), most=2, **in_whole(3))

    assert sorted(ends.tolist()) == [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    assert len(grow(script, np.ones((1, 3)), most=1, **in_whole(3))) == 0


# Fewest


def few(script: Script, ends, *, most=2, **options):
    graph, donors = started(script, ends, **options)
    return script.run(find_fewest_changes(graph, donors, log_floor=0.0, max_changes=1, most=most))


@pytest.mark.parametrize(("n_features", "n_pairs"), [(8, 10 * 28), (9, 10 * (36 - 10))])
def test_all_sets_of_eight_features_are_carried_on_and_of_more_those_that_score_most(
    n_features, n_pairs
):
    """Of nine features, four of each donor's: pairs of the five others are never looked at."""
    worth = 1 + np.arange(n_features)
    script = nobody(n_features, score=lambda points: points @ worth / 1e4)

    few(script, [np.full(n_features, 1 + i / 100) for i in range(10)])

    first, second = scored(script)
    assert len(first) == 10 * n_features
    assert len(second) == n_pairs


def test_of_many_donors_forty_eight_sets_are_carried_on():
    """Of thirteen donors' four each: the last donor's score least, and are left."""
    worth = 1 + np.arange(9)
    script = nobody(9, score=lambda points: points @ worth**0.01 / 1e4)

    few(script, [np.full(9, 2.0 - i / 10) for i in range(13)])

    _, second = scored(script)
    assert checked(script)[0] == 52
    assert len(second) == 12 * (36 - 10)


def test_of_sets_that_are_carried_on_a_hundred_and_forty_four_are_looked_at():
    script = nobody(9, score=lambda points: points.sum(axis=1) / 1e4)

    few(script, [np.full(9, 1.0 + i / 100) for i in range(40)])

    assert checked(script)[0] == 144


def test_of_ends_by_few_changes_a_hundred_and_twenty_eight_are_looked_at():
    script = nobody(1, log_density=lambda points: np.where(points[:, 0] > 0, -1.0, 1.0))

    assert few(script, [[1 + i / 1000] for i in range(200)]) == []
    assert sum(checked(script)) == 128


def test_four_sets_of_as_few_changes_are_handed_back():
    script = nobody(6, score=lambda points: (points > 0).any(axis=1) * 0.9)

    found = few(script, [1.0 + np.arange(6) / 10])

    assert [np.flatnonzero(one.lattice.states[-1]).tolist() for one in found] == [
        [0],
        [1],
        [2],
        [3],
    ]


@pytest.mark.parametrize(("n_features", "tried"), [(2, 8), (1, 32)])
def test_routes_are_looked_for_to_eight_ends_or_to_thirty_two_of_the_last_level(n_features, tried):
    """Half way there is a gap, so that no end has a route."""
    script = nobody(
        2, log_density=lambda points: np.where(np.abs(points[:, 0] - 0.5) < 0.1, -1.0, 1.0)
    )
    ends = [[1 + i / 100, 0.0] for i in range(40)]
    other = [[0.0, -0.1]] * (n_features - 1)

    few(script, ends + other, most=1)

    along = [one for one in script.asked if isinstance(one, DensityAlong)]
    steps = [len(one.starts) for one in along if (one.starts != one.ends).any()]
    assert sum(steps) == tried


# Actions


def act(script: Script, ends, *, plan=PLAN, **options):
    graph, donors = started(script, ends, **options)
    if plan.every_change:
        graph.goal = donors[0]
    return script.run(find_actions(graph, plan, donors, log_floor=0.0))


@pytest.mark.parametrize(("n", "looked_at"), [(6, 62), (7, 7)])
def test_of_six_changes_every_order_is_looked_at_and_of_seven_one_step_after_the_other(
    n, looked_at
):
    script = nobody(n)

    act(script, np.ones((1, n)), plan=replace(PLAN, every_change=True))

    (first, *_) = [one for one in script.asked if isinstance(one, DensityAlong)]
    assert len(first.starts) == looked_at  # all states in between, or all single steps


def test_sets_of_six_changes_are_tried_and_none_of_seven():
    script = nobody(7, score=lambda points: np.where((points > 0).all(axis=1), 0.9, 0.1))

    found = act(script, np.ones((1, 7)), bounds=box(7, upper=1.0))

    assert len(found.moves) == 7
    sets = [points for points in scored(script) if len(points) > 1]
    assert [int((points > 0).sum(axis=1).max()) for points in sets][:6] == [1, 2, 3, 4, 5, 6]
    assert not (sets[5] > 0).all(axis=1).any()


def test_what_a_donor_has_is_reduced_for_four_of_them():
    script = nobody(9, score=lambda points: np.where((points > 0).all(axis=1), 0.9, 0.1))

    act(script, [np.full(9, 1.0 + i / 10) for i in range(6)], bounds=box(9, upper=1.5))

    asked = [one for one in script.asked if isinstance(one, ScorePoints)]
    of_one = {int(one.donors[0]) for one in asked if len(one.donors) == 1}
    assert of_one == {0, 1, 2, 3}


def test_ways_of_little_effort_are_looked_for_to_four_ends():
    """A large change reaches the target, and so do any two of six small ones: fifteen ends."""

    def score(points):
        return np.where(points[:, 0] > 0, 0.9, 0.1 + 0.2 * (points[:, 1:] > 0).sum(axis=1))

    script = nobody(7, score=score)

    act(
        script,
        [[50.0, *(1 + np.arange(6) / 10)]],
        plan=replace(PLAN, least_effort=True),
        **in_whole(7),
    )

    along = [one for one in script.asked if isinstance(one, DensityAlong)]
    steps = [len(one.starts) for one in along if (one.starts != one.ends).any()]
    assert max(steps) == 4 * 4  # of each end, both changes in both orders


def test_values_are_mixed_for_up_to_eight_changes():
    """Ten changes reach the target, and each adds so much that nine might be thought to."""

    def score(points):
        n = np.minimum(points, 1.0).sum(axis=1) + points.sum(axis=1) / 1e6
        return np.where(n <= 7.1, n, 7 + 0.7 * (n - 7)) / 20

    script = nobody(10, score=score)

    act(script, np.ones((1, 10)), min_score=8.45 / 20)

    furthest = [points[(points == 2.5).any(axis=1)] for points in scored(script)]
    assert max((points > 0).sum(axis=1).max() for points in furthest if len(points)) == 8


# Joint moves, reduce, settle, small steps


@pytest.mark.parametrize(
    ("n", "sizes"), [(6, [6, 15, 20, 1]), (10, [10, 45, 120, 1]), (11, [11, 55, 1])]
)
def test_two_and_three_changes_are_tried_together_in_every_way_unless_these_are_too_many(n, sizes):
    script = nobody(n, log_density=lambda points: np.where((points != 0).any(axis=1), -1.0, 1.0))
    graph = script.graph(someone(np.zeros(n)))

    found = script.run(
        route_by_joint_moves(graph, np.ones(n), list(range(n)), rows=NO_ROWS, log_floor=0.0)
    )

    assert found is None
    assert [len(one.starts) for one in script.asked if isinstance(one, DensityAlong)] == sizes


def test_changes_are_put_back_in_six_turns():
    """Only the first of those that are left can be put back, so that a turn puts back one."""

    def score(points):
        put_back = points == 0
        in_turn = (np.diff(put_back.astype(int), axis=1) <= 0).all(axis=1)
        return np.where(in_turn, 0.9, 0.1)

    script = nobody(9, score=score)
    graph = script.graph(someone(np.zeros(9)))

    kept = script.run(reduce_changes(graph, np.ones(9), list(range(9)), NO_ROWS))

    assert kept == [6, 7, 8]


def test_a_value_settles_at_a_sixteenth_of_its_way():
    script = nobody(1, score=lambda points: np.zeros(len(points)))
    graph = script.graph(someone(np.zeros(1)))

    script.run(settle_values(graph, np.array([4.0]), [0], NO_ROWS))

    (points,) = scored(script)
    assert points.ravel().tolist() == (np.arange(1, 17) / 4).tolist()


@pytest.mark.parametrize(("stop", "n_pieces"), [(2 / 9, 2), (3 / 10, 1)])
def test_a_move_is_cut_finer_by_up_to_seven_pieces(stop, n_pieces):
    """Two pieces would be short enough; yet there is one stop alone, which nine or ten have."""

    def snap(point):
        x = point[0] - 10 * stop
        return np.array([5.0 if abs(x) < 1e-9 else 10.0 * (x > 0), 0.0])

    script = nobody(2)
    person = someone([0.0, 0.0], max_step=5.5, snap=snap)

    pieces = script.run(break_into_small_steps(person, (Move(np.array([10.0, 0.0]), 0.9),), 0.0))

    assert len(pieces) == n_pieces


# Donors, and states of anybody


@pytest.mark.parametrize(("known", "asks"), [(12, False), (11, True)])
def test_twelve_donors_are_enough(known, asks):
    script = Script([[1.0 + i, 0.0] for i in range(60)], score=lambda points: points[:, 0])
    graph = script.graph(someone([0.0, 0.0]))
    script.run(graph.reveal_rows_around(0, known))
    script.asked.clear()

    script.run(find_donors(graph, 3))

    assert (script.n_asked(Nearest) > 0) == asks


@pytest.mark.parametrize(("k", "asked"), [(25, [50, 100, 200]), (24, [48, 96, 192, 384])])
def test_donors_are_looked_for_among_two_hundred_rows(k, asked):
    script = Script(np.arange(1.0, 500.0)[:, None], score=lambda points: np.zeros(len(points)))
    graph = script.graph(someone([0.0]))

    script.run(find_donors(graph, k))

    assert [one.k for one in script.asked if isinstance(one, Nearest)] == asked


@pytest.mark.parametrize(("among", "asked_for"), [(NEAR_STATES, 48), (FAR_STATES, 240)])
def test_forty_eight_states_of_anybody_are_taken_for_ends(among, asked_for):
    """Of the nearest, or, of two hundred and forty, of those on common ground."""
    states = [[1.0 + i / 1000] for i in range(300)]
    script = nobody(
        1, log_density=lambda points: np.where(np.abs(points[:, 0] - 0.5) < 0.1, -1.0, 1.0)
    )
    script.composed = states
    graph = script.graph(someone([0.0]))
    projection = taking_over(graph.person.bounds, [0.0])

    way = script.run(find_straight_way(graph, PLAN, projection, 0.0, among=among))

    (asked,) = [one for one in script.asked if isinstance(one, ComposeStates)]
    assert way.moves is None
    assert asked.k == asked_for
    assert len(scored(script)[0]) == 48


def test_of_two_changes_that_can_be_made_together_neither_is_tried_again_alone():
    script = nobody(
        2, log_density=lambda points: np.where((points > 0.6).sum(axis=1) == 1, -1.0, 1.0)
    )
    graph = script.graph(someone(np.zeros(2)))

    found = script.run(route_by_joint_moves(graph, np.ones(2), [0, 1], rows=NO_ROWS, log_floor=0.0))

    assert found is not None
    assert [len(one.starts) for one in script.asked if isinstance(one, DensityAlong)] == [2, 1]
