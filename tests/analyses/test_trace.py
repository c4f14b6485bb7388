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
    return trace_search(engine, check_ask(engine, Ask(**said)).request(person))


def test_the_recourse_is_the_one_that_is_found_without_a_trace() -> None:
    engine = small_engine()
    asked = check_ask(engine, Ask(actions=False))
    ((_, plain),) = engine.answered([asked.request(PERSON)], asked.plan)

    traced = trace(engine)

    assert np.array_equal(traced.recourse.records, plain.records)
    assert traced.recourse.disclosure.questions == plain.disclosure.questions
    assert len(traced.explored) + len(traced.exploited) == plain.disclosure.rows


def test_the_trail_leads_from_the_person_over_steps_that_passed() -> None:
    engine = small_engine()

    traced = trace(engine)

    taken = traced.tried.passes
    steps = {
        (tuple(start), tuple(end))
        for start, end in zip(
            traced.tried.starts[taken].tolist(), traced.tried.ends[taken].tolist(), strict=True
        )
    }
    trail = [tuple(point) for point in traced.trail.tolist()]
    assert trail[0] == tuple(engine.space.points(np.array([[-0.8, 0.1]]))[0].tolist())
    assert set(itertools.pairwise(trail)) <= steps


def test_without_a_target_the_trail_is_empty_and_the_reasons_are_still_told() -> None:
    traced = trace(small_engine(), where={"a": 0.0001})

    assert traced.recourse.status is Status.NO_TARGET
    assert traced.recourse.opens == (("a",),)
    assert len(traced.trail) == 0
    assert traced.balls == ()
