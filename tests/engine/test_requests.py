"""What people ask, and the searches that belong to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from localface.engine.requests import Request, SearchJobs
from localface.search.questions import Questions, ask_point_scores
from small_engine import job, points, small_engine


def test_the_goal_is_known_to_the_last_bit_where_there_is_one() -> None:
    engine = small_engine()
    record = np.array([0.1, 0.2])
    goal = np.array([0.3, 0.4])
    box = engine.schema.box(record, None)

    assert Request(record, engine.form, box).known_records == [record]
    assert Request(record, engine.form, box, goal=goal).known_records == [record, goal]


def asks(value: float) -> Questions[Any]:
    return (yield from ask_point_scores(points(value)))


def test_what_is_asked_stays_open_until_its_search_is_done() -> None:
    jobs = SearchJobs(["first", "second"], lambda entry: job(asks(len(entry)), person=len(entry)))

    started = list(jobs)

    assert [one.person for one in started] == [5, 6]
    assert jobs.pop(1) == ("second", started[1])
    with pytest.raises(KeyError):
        jobs.pop(1)


def test_requests_may_run_dry_and_go_on() -> None:
    class Arriving:
        def __init__(self) -> None:
            self.waiting: list[str] = []

        def __iter__(self) -> Arriving:
            return self

        def __next__(self) -> str:
            if not self.waiting:
                raise StopIteration
            return self.waiting.pop(0)

    arriving = Arriving()
    jobs = SearchJobs(arriving, lambda entry: job(asks(1.0)))
    assert list(jobs) == []

    arriving.waiting.append("late")

    assert len(list(jobs)) == 1
    assert jobs.pop(0)[0] == "late"
