"""Lessening: changes made smaller, or traded for others, as long as their end stays sound."""

from __future__ import annotations

import numpy as np
import pytest

from localface.search.questions import DensityAlong, ScorePoints
from localface.search.stages.effort import Changes, efforts_of
from localface.search.stages.lessening import _going_further, lessen_end
from scripted import Script, box, someone


def world(**functions) -> Script:
    return Script(np.zeros((0, 2)), **functions)


def lessened(script: Script, end, *, donor=(4.0, 4.0), **options):
    """What an end of someone at the origin comes to, whose one donor is there."""
    start = np.zeros(len(donor))
    graph = script.graph(someone(start, **options))
    graph.add_state(np.array(donor), 1.0, 0)
    changes = Changes.of(graph.person, np.array([donor]))
    end = np.array(end, dtype=float)
    return script.run(lessen_end(graph, changes, end, np.array([0])))


def reaches(needed):
    """The score of states is 0.5 where they are just as far as is needed, by weights."""
    return lambda points: points @ np.asarray(needed) / 2


def test_a_number_goes_back_as_far_as_the_score_allows():
    end = lessened(world(score=reaches([1.0, 0.0])), [3.7, 0.0])

    assert end[0] == pytest.approx(1.0, rel=0.01)
    assert end[0] >= 1.0


def test_a_change_that_is_not_needed_is_taken_back_whole():
    end = lessened(world(score=reaches([1.0, 0.0])), [1.0, 2.0])

    assert end.tolist() == [1.0, 0.0]


def test_a_change_that_raises_the_score_more_is_made_in_place_of_another():
    end = lessened(world(score=reaches([1.0, 0.25])), [0.0, 4.0])

    assert end.sum() < 1.2
    assert (reaches([1.0, 0.25])(end[None, :]) >= 0.5).all()


def test_a_number_is_traded_for_another_that_goes_further_than_any_donor_does():
    def product(points):
        return points.prod(axis=1) / 2

    end = lessened(world(score=product), [4.0, 0.25], donor=(4.0, 0.25))
    seen = (np.zeros(2), np.array([4.0, 0.25]))
    within = lessened(world(score=product), [4.0, 0.25], donor=(4.0, 0.25), seen=seen)

    assert end.sum() < 2.1, "1 and 1 would be least"
    assert product(end[None, :])[0] >= 0.5
    assert within.tolist() == [4.0, 0.25], "nobody has more of the second"


def test_a_number_goes_further_for_another_though_the_score_has_enough_and_gains_nothing_by_it():
    """Just beyond 1 the other one is not needed, and at 1 half of it is."""

    def score(points):
        enough = np.where(points[:, 0] > 1.01, 0.9, 0.45 + 0.9 * (points[:, 1] >= 0.5))
        return np.where(points[:, 0] >= 1.0, np.minimum(enough, 0.9), 0.1)

    end = lessened(world(score=score), [1.0, 0.5], donor=(1.0, 0.5))

    assert end[1] == 0.0
    assert 1.01 < end[0] <= 1.02


def test_only_values_that_numbers_may_stop_at_are_asked_about():
    asked = []

    def score(points):
        asked.append(points.copy())
        return points[:, 0] * (1 + points[:, 1]) / 8

    def whole(column, values):
        return np.sign(values) * np.ceil(np.abs(values) - 1e-9)

    options = {"round_closely": whole, "round_outwards": whole}
    end = lessened(world(score=score), [4.0, 0.0], donor=(4.0, 1.0), **options)

    states = np.concatenate(asked)
    assert end.tolist() == [2.0, 1.0]
    assert (states == np.rint(states)).all(), "a state between is another than the one that is told"


def test_no_end_falls_below_the_floor():
    def log_density(points):
        return np.where((points[:, 0] < 2) & (points[:, 0] > 0), -1.0, 1.0)

    script = world(score=reaches([1.0, 0.0]), log_density=log_density)

    assert lessened(script, [3.0, 0.0])[0] == pytest.approx(2.0, rel=0.01)


def test_what_a_change_costs_decides_which_goes_back():
    both = reaches([1.0, 1.0])
    first = lessened(world(score=both), [1.0, 1.0], weights=np.array([1.0, 3.0]))
    second = lessened(world(score=both), [1.0, 1.0], weights=np.array([3.0, 1.0]))

    assert first.tolist() == [1.0, 0.0]
    assert second.tolist() == [0.0, 1.0]


def test_limits_and_what_nobody_could_notice_are_kept():
    noticed = (np.full(2, -2.5), np.full(2, 2.5))

    end = lessened(world(score=reaches([1.0, 0.0])), [4.0, 0.0], just_noticeable=noticed)

    assert end[0] == pytest.approx(2.5, rel=0.05)
    assert end[0] >= 2.5


def test_an_end_that_nothing_makes_less_stays_bit_for_bit():
    script = world(score=lambda points: np.where((points == [1.3, 0.7]).all(axis=1), 0.9, 0.1))

    assert lessened(script, [1.3, 0.7]).tolist() == [1.3, 0.7]


def test_efforts_add_up_what_changes_together():
    person = someone(np.zeros(3), group_of=np.array([0, 0, 1]))

    assert efforts_of(person, np.array([[3.0, 4.0, 2.0], [0.0, 0.0, 1.5]])).tolist() == [7.0, 1.5]


def asked_of(script: Script) -> np.ndarray:
    """All states whose score was asked for."""
    return np.concatenate([one.points for one in script.asked if isinstance(one, ScorePoints)])


def test_a_number_is_taken_back_whole_and_in_seven_parts_each_half_of_the_one_before():
    script = world(score=lambda points: 0 * points[:, 0])
    seen = (np.zeros(2), np.array([4.0, 0.0]))

    lessened(script, [4.0, 0.0], donor=(4.0, 0.0), seen=seen)

    first = next(one.points for one in script.asked if isinstance(one, ScorePoints))
    parts = 1 - 0.5 ** np.arange(1, 8)  # whole is her own state, whose score is known
    assert sorted(first[:, 0]) == (4.0 * parts).tolist()


def test_a_number_goes_further_by_five_small_steps_up_or_down():
    """Its donor has just as much, so that there is no further to go by what donors have."""
    script = world(score=lambda points: 0 * points[:, 0])

    lessened(script, [1.0, 1.0], donor=(1.0, 1.0))

    tried = asked_of(script)
    steps = [0.02, 0.05, 0.1, 0.2, 0.4]
    for mine, other in ((0, 1), (1, 0)):
        further = tried[(tried[:, mine] > 1.0) & (tried[:, other] == 1.0), mine]
        assert np.unique(further) - 1.0 == pytest.approx(steps)
    script = world(score=lambda points: 0 * points[:, 0])
    lessened(script, [-1.0, 0.0], donor=(-1.0, 0.0))
    tried = asked_of(script)
    assert np.unique(tried[tried[:, 0] < -1.0, 0]) == pytest.approx(-1.0 - np.array(steps[::-1]))


def further(script: Script, state, donor) -> np.ndarray:
    start = np.zeros(len(donor))
    graph = script.graph(someone(start))
    graph.add_state(np.array(donor), 1.0, 0)
    changes = Changes.of(graph.person, np.array([donor]))
    return script.run(_going_further(graph, changes, np.array(state), np.array([0])))


def test_what_goes_further_gains_and_those_come_first_that_gain_most_for_their_effort():
    """The first number is worth the less the further it goes; the third is worth nothing."""

    def score(points):
        return 0.1 + np.sqrt(np.abs(points[:, 0])) / 10 + points[:, 1] / 50

    state = np.array([1.0, 1.0, 1.0])

    states = further(world(score=score), state, (2.0, 2.0, 2.0))

    more = states.sum(axis=1) - 3.0
    gained = score(states) - score(state[None, :])
    assert (more > 0).all()
    assert (gained > 0).all()
    assert (np.diff(gained / more) <= 1e-9).all()
    assert (states[:, 2] == 1.0).all()
    assert {int(np.flatnonzero(one != state)[0]) for one in states} == {0, 1}


@pytest.mark.parametrize(("n", "n_further"), [(2, 16), (3, 24), (4, 24)])
def test_twenty_four_changes_go_further_and_no_more(n, n_further):
    """Of each number there are five steps and three sizes of change that are larger."""
    states = further(
        world(score=lambda points: points.sum(axis=1) / 100), np.full(n, 1.0), np.full(n, 1.6)
    )

    assert len(states) == n_further


def test_nothing_goes_further_where_nothing_may():
    script = world(score=lambda points: points[:, 0] / 10)

    states = further(script, [0.0, 0.0], (0.0, 0.0))

    assert (np.abs(states).sum(axis=1) > 0).all()
    graph = script.graph(someone([0.0], bounds=box(1, lower=0.0, upper=0.0)))
    graph.add_state(np.zeros(1), 1.0, 0)
    script.asked.clear()
    changes = Changes.of(graph.person, np.zeros((1, 1)))
    none = script.run(_going_further(graph, changes, np.zeros(1), np.array([0])))
    assert (len(none), script.asked) == (0, [])


def test_only_a_number_that_goes_back_is_rounded():
    """To quarters, outwards: 2.1 stays as it is where the other goes back."""

    def quarters(column, values):
        return np.sign(values) * np.ceil(np.abs(values) * 4) / 4

    script = world(score=reaches([1.0, 0.0]))

    end = lessened(script, [3.0, 2.1], donor=(3.0, 2.1), round_closely=quarters)

    assert end.tolist() == [1.0, 0.0]
    first = next(one.points for one in script.asked if isinstance(one, ScorePoints))
    alone = first[first[:, 1] == 2.1]
    assert (alone[:, 0] * 4 % 1 == 0).all()
    assert (first[(first[:, 0] == 3.0)][:, 1] != 2.1).all()
    moved = first[first[:, 1] != 2.1, 1]
    assert (moved * 4 % 1 == 0).all()
    assert 2.1 in first[:, 1]


def test_of_ends_of_less_effort_thirty_two_are_held_against_the_floor_the_least_first():
    """Eight numbers go back alone in seven parts and whole, and all of them together."""

    def log_density(points):
        return np.where((points == 1.0).all(axis=1), 1.0, -1.0)

    script = Script(
        np.zeros((0, 8)), score=lambda points: 0.9 + 0 * points[:, 0], log_density=log_density
    )

    assert lessened(script, np.ones(8), donor=np.ones(8)).tolist() == [1.0] * 8

    checked = [one.starts for one in script.asked if isinstance(one, DensityAlong)]
    sizes = checked[0].sum(axis=1)
    assert len(sizes) == 32
    assert (np.diff(sizes) >= 0).all()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_number_goes_back_to_what_can_just_be_noticed(sign):
    noticed = (np.full(2, -2.0), np.full(2, 2.0))
    script = world(score=lambda points: sign * points[:, 0] / 3)

    end = lessened(script, [4.0 * sign, 0.0], donor=(4.0 * sign, 0.0), just_noticeable=noticed)

    assert end.tolist() == [2.0 * sign, 0.0]


def test_each_change_is_taken_back_whole_by_itself():
    script = Script(np.zeros((0, 3)), score=lambda points: points[:, [0, 2]].min(axis=1) / 2)

    assert lessened(script, [1.0, 2.0, 1.0], donor=(1.0, 2.0, 1.0)).tolist() == [1.0, 0.0, 1.0]


def test_of_steps_that_gain_as_much_those_up_come_first():
    script = world(score=lambda points: 0.1 + np.abs(points[:, 1]) / 10)

    states = further(script, [1.0, 0.0], (1.0, 0.0))

    assert np.sign(states[:, 1]).tolist() == [1.0] * 5 + [-1.0] * 5
