"""Lessening: changes made smaller, or traded for others, as long as their end stays sound."""

from __future__ import annotations

import numpy as np
import pytest

from localface.search.stages.effort import Changes, efforts_of
from localface.search.stages.lessening import lessen_end
from scripted import Script, someone


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
