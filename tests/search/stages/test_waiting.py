"""Waiting: what grows by itself is tried alone, told, and credited to nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from localface.search.closing import outcome_without_measures
from localface.search.outcome import Outcome
from localface.search.person import Person
from localface.search.questions import DensityAlong, OutOfTime, ScorePoints
from localface.search.stages.waiting import add_waiting
from scripted import Script, someone

GROWN = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0]])


def score_of_second(points):
    return points[:, 1] / 4


def found(person: Person) -> Outcome:
    return outcome_without_measures("FOUND", person)


def test_the_soonest_state_that_reaches_the_target_is_told():
    person = someone([0.0, 0.0], grown=GROWN)
    script = Script([], score=score_of_second)

    outcome = script.run(add_waiting(person, found(person)))

    assert outcome.status == "FOUND"
    assert outcome.waiting.point.tolist() == [0, 2]
    assert outcome.waiting.score == 0.5
    assert [type(one) for one in script.asked] == [ScorePoints, DensityAlong]


def test_a_state_that_is_too_uncommon_is_passed_over():
    person = someone([0.0, 0.0], grown=GROWN)
    script = Script([], score=score_of_second, log_density=lambda points: points[:, 1] - 2.5)

    outcome = script.run(add_waiting(person, found(person)))

    assert outcome.waiting.point.tolist() == [0, 3]


def test_where_waiting_does_not_help_nothing_is_said():
    person = someone([0.0, 0.0], grown=GROWN, min_score=0.9)
    script = Script([], score=score_of_second)

    assert script.run(add_waiting(person, found(person))).waiting is None
    assert [type(one) for one in script.asked] == [ScorePoints]


@pytest.mark.parametrize("cut_short", [True, False])
def test_nothing_is_asked_where_nothing_grows_or_time_is_up(cut_short):
    person = someone([0.0, 0.0], grown=GROWN if cut_short else None)
    script = Script([])
    outcome = replace(found(person), cut_short=cut_short)

    assert script.run(add_waiting(person, outcome)) is outcome
    assert not script.asked


def test_when_time_is_up_the_answer_stands_and_is_marked():
    person = someone([0.0, 0.0], grown=GROWN)
    asks = add_waiting(person, found(person))
    next(asks)

    with pytest.raises(StopIteration) as end:
        asks.throw(OutOfTime())

    assert end.value.value.cut_short
    assert end.value.value.waiting is None
