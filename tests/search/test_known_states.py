"""What one search knows of states: nothing is asked twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from localface.density.protocol import SegmentDensities
from localface.geometry.bounds import Bounds
from localface.geometry.projection import Projection
from localface.search.known_states import KnownStates
from localface.search.questions import ComposedStates, ComposeStates, DensityAlong, ScorePoints
from localface.types import NO_ROWS
from scripted import Script

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


HERE = np.zeros(1)
ROWS = [[0.1], [0.6], [0.7], [0.8]]


def projection() -> Projection:
    return Projection(Bounds.unlimited(1), HERE, np.zeros(1, dtype=np.int64))


def composed(script: Script, known: KnownStates, k: int, **other: object) -> ComposedStates:
    asked = {"projection": PROJECTION, "k": k, "min_score": 0.5, **other}
    return script.run(known.composed_of_targets(**asked))  # type: ignore[no-any-return, arg-type]


PROJECTION = projection()


@pytest.mark.parametrize(
    ("first", "then", "n_asked"), [(3, 3, 1), (3, 2, 1), (4, 9, 1), (3, 9, 2), (2, 3, 2)]
)
def test_states_are_composed_again_only_where_there_may_be_more(
    first: int, then: int, n_asked: int
) -> None:
    script = Script(ROWS, composed=ROWS)
    known = KnownStates(HERE, 0.0, rule="lowest")
    composed(script, known, first)

    found = composed(script, known, then)

    fresh = composed(Script(ROWS, composed=ROWS), KnownStates(HERE, 0.0, rule="lowest"), then)
    assert script.n_asked(ComposeStates) == n_asked
    assert found.points.tolist() == fresh.points.tolist()
    assert found.scores.tolist() == fresh.scores.tolist()
    assert found.ids.tolist() == fresh.ids.tolist()


def test_states_for_something_else_are_composed_for_it() -> None:
    script = Script(ROWS, composed=ROWS)
    known = KnownStates(HERE, 0.0, rule="lowest")
    composed(script, known, 9)

    assert len(composed(script, known, 9, min_score=0.75).ids) == 1
    composed(script, known, 9, projection=projection())

    assert script.n_asked(ComposeStates) == 3


def test_states_of_which_the_budget_withheld_some_are_asked_for_again() -> None:
    script = replace(Script(ROWS, composed=ROWS), composed_cut=True)
    known = KnownStates(HERE, 0.0, rule="lowest")

    assert composed(script, known, 9).cut
    assert composed(script, known, 9).cut

    assert script.n_asked(ComposeStates) == 2
