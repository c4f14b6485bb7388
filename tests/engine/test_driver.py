"""Searches advance in lock-step, whatever they return; failures find their search."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from localface.engine.driver import Driver
from localface.engine.job import SearchJob
from localface.errors import InputError, ModelError
from localface.geometry.bounds import Bounds
from localface.search.questions import (
    OutOfTime,
    Questions,
    ask_nearest_rows,
    ask_point_scores,
    ask_target_counts,
)
from localface.types import NO_ROWS
from small_engine import (
    LineScore,
    SomeRows,
    job,
    line_density,
    line_driver,
    line_source,
    points,
    up_to,
)


def score_of(*values: float) -> Questions[list[float]]:
    """Ask for scores one after the other."""
    found = []
    for value in values:
        found += (yield from ask_point_scores(points(value))).tolist()
    return found


def rows_near(value: float, k: int) -> Questions[list[int]]:
    found = yield from ask_nearest_rows(np.array([value]), k, Bounds.unlimited(1), NO_ROWS)
    return list(found.ids.tolist())


def targets_up_to(limit: float) -> Questions[int]:
    return (yield from ask_target_counts(up_to(limit))).targets


def test_a_search_returns_what_it_returns() -> None:
    results = {
        n: one for n, one, _ in line_driver().run([job(score_of(4.0)), job(rows_near(4, 3))])
    }

    assert results == {0: [0.4], 1: [4, 3, 5]}


def test_searches_of_one_round_share_a_model_call() -> None:
    score = LineScore()
    jobs = [job(score_of(1.0, 2.0)), job(score_of(3.0)), job(score_of(5.0, 6.0))]

    done = [(number, result) for number, result, _ in line_driver(score).run(jobs)]

    assert score.calls == [[1.0, 3.0, 5.0], [2.0, 6.0]]
    assert done == [(1, [0.3]), (0, [0.1, 0.2]), (2, [0.5, 0.6])]


def test_each_search_has_an_account_of_its_own() -> None:
    jobs = [job(rows_near(4.0, 3), max_rows=2), job(score_of(1.0, 2.0))]

    seen = {number: one for number, _, one in line_driver().run(jobs)}

    assert (seen[0].rows, seen[0].questions, seen[0].model_calls) == (2, 1, 0)
    assert (seen[1].rows, seen[1].questions, seen[1].model_calls) == (0, 2, 2)
    assert set(seen[0].seconds) == {"Nearest"}
    assert seen[0].of == 10


def test_no_more_searches_advance_together_than_the_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("localface.engine.driver._WIDTH", 2)
    score = LineScore()

    list(line_driver(score).run([job(score_of(float(i), i + 0.5)) for i in range(5)]))

    assert [len(call) for call in score.calls] == [2, 2, 2, 2, 1, 1]


def test_a_source_that_scans_narrows_the_width_to_what_memory_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("localface.engine.driver._MEMORY", 8 * 10 * 3)
    jobs = [lambda i=i: job(score_of(float(i))) for i in range(6)]
    scanning = LineScore()
    indexed = LineScore()

    list(line_driver(scanning).run(make() for make in jobs))
    driver = Driver(line_source(SomeRows), line_density(), indexed)
    list(driver.run(make() for make in jobs))

    assert [len(call) for call in scanning.calls] == [3, 3]
    assert [len(call) for call in indexed.calls] == [6]


def test_a_search_that_nobody_waits_for_ends_without_its_answer() -> None:
    waiting = iter([True, False])
    jobs = [job(score_of(1.0, 2.0, 3.0), wanted=lambda: next(waiting)), job(score_of(4.0))]

    results = {number: result for number, result, _ in line_driver().run_or_error(jobs)}

    assert isinstance(results[0], InputError)
    assert "nobody waits" in str(results[0])
    assert results[1] == [0.4]


class Arriving(Iterator[SearchJob[Any]]):
    """Searches that run dry and have more later."""

    def __init__(self, *batches: list[SearchJob[Any]]) -> None:
        self.batches = list(batches)

    def __next__(self) -> SearchJob[Any]:
        if not self.batches:
            raise StopIteration
        if not self.batches[0]:
            self.batches.pop(0)
            raise StopIteration
        return self.batches[0].pop(0)


def test_searches_that_come_later_join_those_under_way() -> None:
    score = LineScore()
    arriving = Arriving([job(score_of(1.0, 2.0, 3.0))], [job(score_of(7.0))])

    results = {number: result for number, result, _ in line_driver(score).run(arriving)}

    assert results == {0: [0.1, 0.2, 0.3], 1: [0.7]}
    assert score.calls == [[1.0], [2.0, 7.0], [3.0]]


def test_apart_only_the_search_whose_question_fails_ends_with_the_error() -> None:
    score = LineScore(fails_on=[2.0])
    jobs = [job(score_of(float(i)), person=10 + i) for i in range(4)]

    results = {number: one for number, one, _ in line_driver(score).run_or_error(jobs, apart=True)}

    assert [isinstance(results[i], ModelError) for i in range(4)] == [False, False, True, False]
    error = results[2]
    assert isinstance(error, ModelError)
    assert (error.person, error.stage) == (12, "score_of")


def test_together_all_end_and_the_error_names_the_search_whose_question_it_was() -> None:
    score = LineScore(fails_on=[2.0])
    jobs = [job(score_of(float(i)), person=i) for i in range(4)]

    with pytest.raises(ModelError, match=r"failed on 4 record") as failed:
        list(line_driver(score).run(jobs))

    assert failed.value.person == 2
    assert failed.value.stage == "score_of"


class FailsOnMany(LineScore):
    """A model that fails only when it is asked about several records at once."""

    def exact_scores(self, records: Any) -> Any:
        if len(records) > 1:
            raise ModelError("too many")
        return super().exact_scores(records)


def test_where_nobodys_own_question_fails_nobody_is_named() -> None:
    jobs = [job(score_of(1.0), person=1), job(score_of(2.0), person=2)]

    with pytest.raises(ModelError, match="too many") as failed:
        list(line_driver(FailsOnMany()).run(jobs))

    assert failed.value.person is None
    assert failed.value.stage is None


def test_an_error_that_is_not_the_models_has_a_person_and_no_stage() -> None:
    class Broken(LineScore):
        def exact_scores(self, records: Any) -> Any:
            raise InputError("no")

    ((_, error, _),) = line_driver(Broken()).run_or_error([job(score_of(1.0), person=3)])

    assert isinstance(error, InputError)
    assert error.person == 3


def test_a_table_that_is_scored_beforehand_needs_no_call_for_a_census() -> None:
    score = LineScore()
    driver = line_driver(score)

    driver.prescore()
    ((_, count, seen),) = driver.run([job(targets_up_to(6.0))])

    assert count == 2
    assert len(score.calls) == 1
    assert seen.rows == 0


# deadlines


def score_in_time(*values: float) -> Questions[list[float]]:
    """Ask for scores one after the other, as long as there is time; then once more."""
    found: list[float] = []
    try:
        for value in values:
            found += (yield from ask_point_scores(points(value))).tolist()
    except OutOfTime:
        found += (yield from ask_point_scores(points(9.0))).tolist()
        found += (yield from ask_point_scores(points(8.0))).tolist()
    return found


LONG_AGO = float("-inf")


def test_a_search_whose_time_is_up_is_told_so_once_and_may_still_close() -> None:
    results = {
        number: result
        for number, result, _ in line_driver().run(
            [
                job(score_in_time(1.0, 2.0, 3.0), deadline=LONG_AGO),
                job(score_in_time(1.0, 2.0, 3.0)),
            ]
        )
    }

    assert results == {0: [0.1, 0.9, 0.8], 1: [0.1, 0.2, 0.3]}


def test_what_is_answered_is_handed_over_before_time_is_up() -> None:
    """A search that has nothing more to ask never hears of its deadline."""
    jobs = [job(score_of(4.0), deadline=LONG_AGO), job(targets_up_to(9.0), deadline=LONG_AGO)]

    assert {number: one for number, one, _ in line_driver().run(jobs)} == {0: [0.4], 1: 5}


def test_the_question_that_is_not_answered_is_not_paid_for() -> None:
    score = LineScore()

    list(line_driver(score).run([job(score_in_time(1.0, 2.0), deadline=LONG_AGO)]))

    assert score.calls == [[1.0], [9.0], [8.0]]


def test_time_is_up_when_the_clock_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(100))
    monkeypatch.setattr("localface.engine.driver.time.perf_counter", lambda: next(clock))

    ((_, found, seen),) = line_driver().run(
        [job(score_in_time(*([1.0] * 20)), deadline=7.5)]  # three readings a round
    )

    assert found == [0.1, 0.1, 0.1, 0.9, 0.8]
    assert seen.questions == 5


def test_a_search_may_end_at_once_when_its_time_is_up() -> None:
    def ends_at_once() -> Questions[str]:
        try:
            yield from score_of(1.0, 2.0)
        except OutOfTime:
            return "late"
        return "in time"

    ((_, found, _),) = line_driver().run([job(ends_at_once(), deadline=LONG_AGO)])

    assert found == "late"
