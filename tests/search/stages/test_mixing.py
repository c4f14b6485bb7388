"""Mixing: the fewest changes of several donors, on common ground, at a pace that will do."""

from __future__ import annotations

import numpy as np
import pytest

from localface.search.questions import ScorePoints
from localface.search.stages.mixing import find_way_by_mixing
from scripted import Script, box, someone


def mixed(script: Script, *points, most=3, refused=(), **options):
    """The end that is mixed of what donors have, for someone at the origin; None without one."""
    ends = np.asarray(points, dtype=float)
    graph = script.graph(someone(np.zeros(ends.shape[1]), **options))
    donors = [
        graph.add_state(end, score, row)
        for row, (end, score) in enumerate(zip(ends, script.score(ends), strict=True))
    ]

    def find_way(end):
        return None if end.tolist() in list(refused) else end.tolist()
        yield

    return script.run(find_way_by_mixing(graph, donors, most=most, find_way=find_way))


def nobody(n: int, **functions) -> Script:
    return Script(np.zeros((0, n)), **functions)


def total(points):
    return points.sum(axis=1) / 4


def test_values_of_several_donors_are_mixed():
    script = nobody(3, score=total)

    found = mixed(script, [1.2, 0.2, 0.9], [0.3, 1.1, 0.8], bounds=box(3, upper=1.2))

    assert found == [1.2, 0.0, 0.8]


def test_the_fewest_changes_then_the_least_effort():
    def score(points):
        return np.maximum(points[:, 0] / 4, points[:, 1:].sum(axis=1))

    limits = box(3, upper=[3.0, 0.3, 0.3])

    found = mixed(nobody(3, score=score), [2.0, 0.3, 0.0], [3.0, 0.0, 0.3], bounds=limits)

    assert found == [2.0, 0.0, 0.0]


def test_a_number_may_go_further_than_any_donors_within_the_bounds_and_is_round_then():
    def outwards(column, values):
        return np.ceil(values * 2) / 2

    script = nobody(2, score=lambda points: points.sum(axis=1) / 3)

    assert mixed(script, [1.0, 0.9], round_outwards=outwards) == [1.5, 0.0]
    limits = box(2, upper=[1.4, 1.3])
    assert mixed(script, [1.0, 0.9], most=1, bounds=limits) is None


def test_a_round_value_that_is_sound_no_longer_is_no_end():
    script = nobody(
        2,
        score=lambda points: points[:, 0] / 3,
        log_density=lambda points: 1.6 - points[:, 0],
    )

    assert mixed(script, [1.0, 0.0], most=1) == [1.5, 0.0]
    rounded = mixed(script, [1.0, 0.0], most=1, round_outwards=lambda column, values: values + 0.2)
    assert rounded is None


def test_what_is_linked_is_taken_over_together_and_goes_no_further():
    script = nobody(3, score=lambda points: points[:, :2].min(axis=1) / 2)

    found = mixed(script, [1.0, 1.0, 1.0], group_of=np.array([0, 0, 1]))

    assert found == [1.0, 1.0, 0.0]


def test_ends_below_the_floor_are_passed_over():
    script = nobody(
        2,
        score=lambda points: points.max(axis=1) / 2,
        log_density=lambda points: np.where(points[:, 0] > 0, -1.0, 1.0),
    )

    assert mixed(script, [1.0, 1.2]) == [0.0, 1.2]


def test_where_there_is_no_way_to_the_cheapest_end_the_next_is_tried_and_then_one_change_more():
    script = nobody(2, score=lambda points: points.max(axis=1) / 2)
    limits = box(2, upper=[1.0, 1.2])

    assert mixed(script, [1.0, 1.2], bounds=limits) == [1.0, 0.0]
    assert mixed(script, [1.0, 1.2], bounds=limits, refused=[[1.0, 0.0]]) == [0.0, 1.2]
    refused = [[1.0, 0.0], [0.0, 1.2]]
    assert mixed(script, [1.0, 1.2], bounds=limits, refused=refused) == [1.0, 1.2]


def test_relations_hold_in_what_is_mixed():
    def is_kept(points):
        return points[:, 0] <= points[:, 1]

    limits = box(2, upper=1.0)
    script = nobody(2, score=total)

    assert mixed(script, [1.0, 0.5], [0.5, 1.0], min_score=0.45, bounds=limits) == [1.0, 1.0]
    low = box(2, upper=[1.0, 0.9])
    assert mixed(script, [1.0, 0.9], min_score=0.45, bounds=low, keeps_relations=is_kept) is None


def test_it_ends_where_the_score_rises_too_slowly():
    slow = nobody(9, score=lambda points: np.tanh(points.sum(axis=1)) * 0.4)
    fast = nobody(9, score=lambda points: points.sum(axis=1) / 20)
    limits = box(9, upper=1.0)

    assert mixed(slow, np.ones(9), most=8, bounds=limits) is None
    assert mixed(fast, np.ones(9), most=8, min_score=0.25, bounds=limits) is not None

    def levels(script):
        return len([question for question in script.asked if isinstance(question, ScorePoints)])

    assert levels(slow) < levels(fast)


def test_values_that_do_not_raise_the_score_are_left_alone():
    script = nobody(3, score=lambda points: (points[:, 0] + points[:, 1] - points[:, 2]) / 4)

    mixed(script, [1.0, 1.0, 1.0], most=2, min_score=0.6, bounds=box(3, upper=1.0))

    first, *later = [
        question.points for question in script.asked if isinstance(question, ScorePoints)
    ]
    assert (first[:, 2] > 0).any()
    assert not any((points[:, 2] > 0).any() for points in later)


def test_a_donor_without_any_change_that_helps_gives_nothing():
    assert mixed(nobody(2, score=lambda points: np.zeros(len(points))), [1.0, 1.0]) is None


def test_no_number_goes_further_than_anybodys_in_the_data():
    def outwards(column, values):
        return np.ceil(values * 2) / 2

    script = nobody(2, score=lambda points: points.sum(axis=1) / 3)
    seen = (np.zeros(2), np.array([1.2, 1.3]))

    assert mixed(script, [1.0, 0.9], most=1, round_outwards=outwards, seen=seen) is None
    assert mixed(script, [1.0, 0.9], most=2, round_outwards=outwards, seen=seen) == [1.0, 0.9]
    nearly = (np.zeros(2), np.array([1.6, 1.3]))
    found = mixed(script, [1.0, 0.9], most=1, round_outwards=lambda _, v: v + 0.2, seen=nearly)
    assert found == [1.6, 0.0]  # not 1.7: nobody has that


def test_a_change_counts_by_its_weight_however_small_it_is():
    script = nobody(2, score=lambda points: (points > 0).any(axis=1) * 0.9)

    found = mixed(script, [0.5, 1.5], weights=np.array([3.0, 1.0]), bounds=box(2, upper=[0.5, 1.5]))

    assert found == [0.0, 1.5]


@pytest.mark.parametrize("away", [0.0, 64.0, -64.0])
@pytest.mark.parametrize(("off", "taken"), [(3e-10, 1.0), (3e-9, 2.0)])
def test_of_values_that_raise_the_score_as_much_but_for_rounding_the_nearest_is_taken(
    off, taken, away
):
    """With the other change either will do; of values that are alike one is kept."""

    def score(points):
        first, second = (points - away).T
        rise = np.where(first >= 2.0, 0.3 + off, 0.3)
        return np.where(first > 0, rise, 0.0) + 0.2 * (second > 0)

    script = nobody(2, score=score)
    graph = script.graph(
        someone(np.full(2, away), min_score=0.4, bounds=box(2, upper=[away + 2.0, away + 1.0]))
    )
    donors = [graph.add_state(away + np.array([one, 1.0]), 0.5, 0) for one in (1.0, 2.0)]

    def find_way(end):
        return None
        yield

    script.run(find_way_by_mixing(graph, donors, most=2, find_way=find_way))

    *_, pairs = [one.points for one in script.asked if isinstance(one, ScorePoints)]
    assert (away + 2.0 in pairs[:, 0]) == (taken == 2.0)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_beyond_any_donor_a_change_may_be_one_that_can_just_be_noticed(sign):
    """One and a half times as far as one donor is too little to be noticed, unless it is just that.

    Another donor goes the other way, so that the number is one that changes.
    """
    script = nobody(1, score=lambda points: sign * points[:, 0] / 4)
    noticed = (np.array([-3.0]), np.array([3.0]))

    found = mixed(script, [2.0 * sign], [-9.0 * sign], just_noticeable=noticed)

    assert found == [3.0 * sign]


def test_what_raises_no_score_by_itself_is_not_mixed():
    script = nobody(3, score=lambda points: points[:, :2].sum(axis=1) / 5)

    mixed(script, [1.0, 1.0, 1.0], most=2, bounds=box(3, upper=1.0), min_score=0.4)

    single, pairs = [one.points for one in script.asked if isinstance(one, ScorePoints)][:2]
    assert (single[:, 2] > 0).any()
    assert (pairs[:, 2] == 0).all()


def test_who_has_only_categories_to_change_has_them_mixed():
    """No number goes further than a donor's, as there is none."""
    script = nobody(3, score=lambda points: (points == 1.0).sum(axis=1) / 4)

    found = mixed(script, [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], discrete=np.ones(3, dtype=bool))

    assert found == [1.0, 0.0, 1.0]
