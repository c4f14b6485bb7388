"""What one search knows of states: nothing is asked twice."""

from __future__ import annotations

import numpy as np
import pytest

from localface.density.protocol import SegmentDensities
from localface.search.known_states import KnownStates
from localface.search.questions import DensityAlong, ScorePoints
from localface.types import NO_ROWS

STATES = np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])


@pytest.fixture
def known() -> KnownStates:
    return KnownStates(np.zeros(2), 0.5, rule="lowest")


def run(asks, asked: list):
    """Answer with the first column as score and as log-density; note how much was asked."""
    answer = None
    while True:
        try:
            question = asks.send(answer)
        except StopIteration as end:
            return end.value
        if isinstance(question, ScorePoints):
            asked.append(len(question.points))
            answer = question.points[:, 0]
            continue
        assert isinstance(question, DensityAlong)
        asked.append(len(question.starts))
        lowest = np.minimum(question.starts, question.ends)[:, 0]
        answer = SegmentDensities(lowest, lowest >= question.log_floor)


def test_only_scores_of_states_that_are_new_are_asked_for(known):
    asked: list[int] = []

    first = run(known.scores_of(STATES[:2], NO_ROWS), asked)
    second = run(known.scores_of(STATES, NO_ROWS), asked)
    nothing = run(known.scores_of(STATES[:0], NO_ROWS), asked)

    assert first.tolist() == [1.0, 2.0]
    assert second.tolist() == [1.0, 2.0, 3.0]
    assert len(nothing) == 0
    assert asked == [2, 1]


def test_a_state_is_the_same_whether_it_is_given_as_one_or_as_a_step_to_itself(known):
    asked: list[int] = []

    states = run(known.keep_floor(STATES, STATES, 2.0), asked)
    steps = run(known.keep_floor(STATES.copy(), STATES.copy(), 2.0), asked)

    assert states.tolist() == steps.tolist() == [False, True, True]
    assert asked == [3]


def test_steps_and_floors_are_known_apart(known):
    asked: list[int] = []
    backwards = STATES[::-1].copy()

    run(known.keep_floor(STATES, STATES, 2.0), asked)
    steps = run(known.keep_floor(STATES, backwards, 2.0), asked)  # the middle one goes nowhere
    higher = run(known.keep_floor(STATES, STATES, 3.0), asked)

    assert steps.tolist() == [False, True, False]
    assert higher.tolist() == [False, False, True]
    assert asked == [3, 2, 3]
