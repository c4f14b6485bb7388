"""A trace reads, stage by stage, what one search asked and was answered."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from localface import Status
from localface.analyses.trace import Asked, Trace, _Explored, points_by_purpose, trace_search
from localface.engine.asking import check_ask
from localface.engine.engine import Engine
from localface.geometry.bounds import Bounds
from localface.options import Ask
from localface.search.questions import ComposedStates, ComposeStates
from localface.sources.protocol import Nearest, Neighbors
from localface.types import NO_ROWS
from small_engine import small_engine

PERSON = {"a": -0.8, "b": 0.1}


def trace(engine: Engine, person: Any = PERSON, **said: Any) -> Trace:
    asked = check_ask(engine, Ask(**said))
    return trace_search(engine, asked.make_request(person), asked.plan)


def test_the_recourse_is_the_one_that_is_found_without_a_trace() -> None:
    for actions in (True, False):
        engine = small_engine()
        asked = check_ask(engine, Ask(actions=actions))
        ((_, plain),) = engine.answer([asked.make_request(PERSON)], asked.plan)

        log_questions = trace(engine, actions=actions)

        assert np.array_equal(log_questions.recourse.records, plain.records)
        assert len(log_questions.recourse.actions) == len(plain.actions)
        assert log_questions.recourse.disclosure.questions == plain.disclosure.questions


def test_every_row_that_was_revealed_is_told_once_with_what_it_was_revealed_for() -> None:
    for actions in (True, False):
        log_questions = trace(small_engine(), actions=actions)

        rows = [log_questions.explored, log_questions.for_actions, log_questions.exploited]
        together = np.concatenate(rows)
        assert len(together) == log_questions.recourse.disclosure.rows
        assert len(np.unique(together, axis=0)) == len(together)
        assert (len(log_questions.for_actions) > 0) == actions


def test_a_row_belongs_to_what_it_was_first_revealed_for() -> None:
    nearest = Nearest(np.zeros(1), 2, Bounds.unlimited(1), NO_ROWS)
    compose = ComposeStates(np.zeros(1), None, 2, 0.5)

    def neighbors(*rows: float) -> Neighbors:
        points = np.array(rows)[:, None]
        return Neighbors(points[:, 0].astype(np.int64), points, points[:, 0])

    def composed(*rows: float) -> ComposedStates:
        points = np.array(rows)[:, None]
        return ComposedStates(points, points[:, 0], points[:, 0].astype(np.int64))

    found = points_by_purpose(
        [
            Asked("explore", nearest, neighbors(1, 2)),
            Asked("donors", nearest, neighbors(2, 3)),
            Asked("straight", compose, composed(3, 4)),
            Asked("exploit", nearest, neighbors(1, 5)),
            Asked("relax", nearest, neighbors(5, 6)),
        ]
    )

    rows = {purpose: np.ravel(points).tolist() for purpose, points in found.items()}
    assert rows == {"explore": [1, 2, 6], "actions": [3, 4], "exploit": [5]}


def test_the_trail_leads_from_the_person_over_steps_that_passed() -> None:
    engine = small_engine()

    log_questions = trace(engine)

    taken = log_questions.tried.passes
    steps = {
        (tuple(start), tuple(end))
        for start, end in zip(
            log_questions.tried.starts[taken].tolist(),
            log_questions.tried.ends[taken].tolist(),
            strict=True,
        )
    }
    trail = [tuple(point) for point in log_questions.trail.tolist()]
    assert trail[0] == tuple(engine.space.points(np.array([[-0.8, 0.1]]))[0].tolist())
    assert set(itertools.pairwise(trail)) <= steps


def test_without_a_target_the_trail_is_empty_and_the_reasons_are_still_told() -> None:
    log_questions = trace(small_engine(), where={"a": 0.0001})

    assert log_questions.recourse.status is Status.NO_TARGET
    assert log_questions.recourse.opens == (("a",),)
    assert len(log_questions.trail) == 0
    assert log_questions.balls == ()


def test_steps_judged_both_ways_lead_round_in_no_circle() -> None:
    explored = _Explored()
    here, there, far = (np.array([value]) for value in (0.0, 1.0, 2.0))
    explored.reached.add((0.0,))
    explored.note_step(here, there, passes=True)
    explored.reached.add((1.0,))
    explored.note_step(there, here, passes=True)
    explored.goal = explored.note_step(there, far, passes=True)

    assert explored.path_to_goal(here).ravel().tolist() == [0.0, 1.0, 2.0]


def test_who_is_around_need_not_be_asked_again_for_a_way_to_be_read() -> None:
    explored = _Explored()
    first, second, third = np.zeros(1), np.ones(1), np.full(1, 2.0)

    explored.note_step(first, second, passes=True)
    explored.goal = explored.note_step(third, second, passes=True)  # the way back, as asked

    assert explored.path_to_goal(first).tolist() == [[0.0], [1.0], [2.0]]
