"""A trace reads, stage by stage, what one search asked and was answered."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from localface import Status
from localface.analyses.trace import Trace, trace_search
from localface.engine.asking import check_ask
from localface.engine.engine import Engine
from localface.options import Ask
from small_engine import small_engine

PERSON = {"a": -0.8, "b": 0.1}


def trace(engine: Engine, person: Any = PERSON, **said: Any) -> Trace:
    return trace_search(engine, check_ask(engine, Ask(**said)).make_request(person))


def test_the_recourse_is_the_one_that_is_found_without_a_trace() -> None:
    engine = small_engine()
    asked = check_ask(engine, Ask(actions=False))
    ((_, plain),) = engine.answer([asked.make_request(PERSON)], asked.plan)

    log_questions = trace(engine)

    assert np.array_equal(log_questions.recourse.records, plain.records)
    assert log_questions.recourse.disclosure.questions == plain.disclosure.questions
    assert len(log_questions.explored) + len(log_questions.exploited) == plain.disclosure.rows


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
