"""Each kind of question is answered in one call for everyone who asks it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from localface.engine import answering
from localface.engine.answering import QuestionAnswerer
from localface.engine.job import take_points_as_records
from localface.engine.meter import Meter
from localface.geometry.bounds import Bounds
from localface.search.questions import (
    Census,
    ComposeStates,
    DensityAlong,
    NearestToEach,
    RowDensities,
    ScorePoints,
    ScoreRows,
    Widening,
)
from localface.sources.protocol import Nearest
from localface.types import NO_ROWS
from small_engine import (
    LineScore,
    ids,
    line_density,
    line_source,
    points,
    taking_over_up_to,
    up_to,
)


def meter(min_score: float = 0.5, max_rows: int | None = None) -> Meter:
    return Meter(take_points_as_records, min_score, max_rows)


def answerer(score: LineScore | None = None, **options: Any) -> QuestionAnswerer:
    return QuestionAnswerer(line_source(), line_density(), score or LineScore(), **options)


def answers(
    one: QuestionAnswerer, questions: Sequence[Any], meters: Sequence[Meter] | None = None
) -> Sequence[Any]:
    """Answer questions of one kind."""
    (answer,) = [found for kinds, found in one.answer_kinds if isinstance(questions[0], kinds)]
    meters = [meter() for _ in questions] if meters is None else meters
    return answer(list(zip(meters, questions, strict=True)))


def test_every_kind_of_question_is_answered_by_one_function() -> None:
    kinds = [kind for some, _ in answerer().answer_kinds for kind in some]

    assert len(kinds) == len(set(kinds)) == 10


def test_near_rows_are_metered_for_each_search() -> None:
    meters = [meter(), meter(max_rows=1)]
    question = Nearest(np.array([2.1]), 2, Bounds.unlimited(1), NO_ROWS)

    free, limited = answers(answerer(), [question, question], meters)

    assert free.ids.tolist() == [2, 3]
    assert limited.ids.tolist() == [2]
    assert limited.cut
    assert [len(one.own.rows) for one in meters] == [2, 1]


def test_rows_points_and_a_census_of_one_round_take_one_model_call() -> None:
    score = LineScore()
    meters = [meter(), meter(), meter()]
    questions = [
        ScoreRows(ids(2, 3)),
        ScorePoints(points(4.5), NO_ROWS),
        Census(up_to(np.inf)),
    ]

    rows, states, counts = answers(answerer(score), questions, meters)

    assert rows.tolist() == [0.2, 0.3]
    assert states.tolist() == [0.45]
    assert counts.targets == 5
    assert len(score.calls) == 1
    assert [one.own.rows_scored for one in meters] == [2, 1, 0]
    assert [one.own.model_calls for one in meters] == [1, 1, 0]


def test_rows_that_were_scored_before_cost_no_call() -> None:
    score = LineScore()
    one = answerer(score)
    one.prescore()
    account = meter()

    (scores,) = answers(one, [ScoreRows(ids(2, 3))], [account])

    assert scores.tolist() == [0.2, 0.3]
    assert len(score.calls) == 1
    assert (account.own.model_calls, account.own.rows_scored) == (0, 0)


def test_a_census_whose_target_score_is_known_scores_nobody() -> None:
    score = LineScore()
    one = answerer(score)

    first = answers(one, [Census(up_to(np.inf))])
    again = answers(one, [Census(up_to(6.0))])

    assert (first[0].targets, again[0].targets) == (5, 2)
    assert len(score.calls) == 1


def test_segments_are_judged_together_and_handed_back_to_those_who_asked() -> None:
    density = line_density()
    starts = points(1.0, 3.0)
    ends = points(2.0, 30.0)
    questions = [
        DensityAlong(starts, ends, -5.0, "lowest"),
        DensityAlong(starts[:1], ends[:1], None, "lowest"),
        DensityAlong(starts[1:], ends[1:], -5.0, "lowest"),
        DensityAlong(starts, ends, None, "mean"),
    ]

    verdicts, in_full, far, mean = answers(answerer(), questions)

    assert verdicts.passes.tolist() == [True, False]
    assert far.passes.tolist() == [False]
    expected = density.lowest_along(starts[:1], ends[:1], None).log_densities
    assert in_full.log_densities == pytest.approx(expected)
    assert mean.log_densities == pytest.approx(density.mean_along(starts, ends, None).log_densities)


@pytest.mark.parametrize("sampled", [False, True])
def test_densities_of_rows_are_those_the_density_has_of_them(sampled: bool) -> None:
    density = line_density()
    questions = [RowDensities(ids(2, 3), points(2.0, 3.0)), RowDensities(ids(4), points(4.0))]

    first, second = answers(answerer(fitted_on_sample=sampled), questions)

    assert first == pytest.approx(density.row_log_densities(ids(2, 3)))
    assert second == pytest.approx(density.row_log_densities(ids(4)))


def test_a_widening_is_answered_with_a_factor() -> None:
    question = Widening(Bounds.unlimited(1), np.array([3.0]), np.array([1.0]))

    assert answers(answerer(), [question]) == [2.0]


def test_composed_states_have_the_score_and_their_rows_are_seen() -> None:
    account = meter(max_rows=1)
    question = ComposeStates(np.array([4.0]), taking_over_up_to(6.5), 3, 0.6)

    (made,) = answers(answerer(), [question], [account])

    assert made.points[:, 0].tolist() == [6.0]  # 5 lacks the score, 6.5 is over the budget
    assert made.scores.tolist() == [0.6]
    assert made.cut
    assert account.own.rows == {6}
    assert (account.own.model_calls, account.own.rows_scored) == (1, 3)


def test_no_more_states_are_composed_than_are_wanted() -> None:
    account = meter()
    question = ComposeStates(np.array([4.0]), None, 2, 0.5)

    (made,) = answers(answerer(), [question], [account])

    assert made.points[:, 0].tolist() == [5.0, 6.0]
    assert not made.cut
    assert account.own.rows == {5, 6}


def test_states_are_composed_from_one_rank_to_another() -> None:
    account = meter()
    question = ComposeStates(np.array([4.0]), None, 4, 0.5, first=1, last=3)

    (made,) = answers(answerer(), [question], [account])

    assert made.points[:, 0].tolist() == [6.0, 7.0]
    assert not made.ended  # 8 and 9 were not looked at
    assert account.own.rows_scored == 2
    (rest,) = answers(answerer(), [replace(question, first=3, last=6)], [meter()])
    assert rest.points[:, 0].tolist() == [8.0, 9.0]
    assert rest.ended


def test_nothing_is_composed_where_nobody_reaches_the_target() -> None:
    score = LineScore()
    account = meter(min_score=2.0)
    question = ComposeStates(np.array([4.0]), None, 3, 2.0)

    (made,) = answers(answerer(score), [question], [account])

    assert len(made.points) == len(made.scores) == 0
    assert account.own.model_calls == 0
    assert len(score.calls) == 1  # everyone, once


def test_states_that_a_person_may_take_over_are_counted_and_how_good_the_best_is() -> None:
    score = LineScore()
    account = meter()
    question = Census(up_to(9.0), projection=taking_over_up_to(6.5), point=np.zeros(1))

    (found,) = answers(answerer(score), [question], [account])

    assert (found.allowed, found.targets) == (8, 3)
    assert found.best is not None
    assert (found.best.score, found.best.changes.tolist()) == (0.65, [True])
    assert score.calls == [[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 6.5]]


def test_very_many_states_are_scored_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    question = Census(up_to(9.0), projection=taking_over_up_to(6.5), point=np.zeros(1))
    (wanted,) = answers(answerer(), [question])
    score = LineScore()
    account = meter()

    monkeypatch.setattr(answering, "BLOCK_ROWS", 3)
    (found,) = answers(answerer(score), [question], [account])

    assert score.calls == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 6.5]]
    assert (found.allowed, found.targets) == (wanted.allowed, wanted.targets) == (8, 3)
    assert found.best.score == wanted.best.score
    assert account.own.rows_scored == 8


def test_counting_states_reveals_no_row() -> None:
    account = meter(max_rows=1)

    answers(answerer(), [Census(up_to(9.0), projection=taking_over_up_to(6.5))], [account])

    assert account.close(10).rows == 0


def test_rows_and_states_are_counted_in_one_round() -> None:
    rows = Census(up_to(6.0))
    states = Census(up_to(9.0), projection=taking_over_up_to(4.5), point=np.zeros(1))

    by_row, by_state = answers(answerer(), [rows, states])

    assert (by_row.targets, by_row.of_states, by_row.best) == (2, False, None)
    assert (by_state.allowed, by_state.targets) == (6, 0)
    assert by_state.best.score == 0.45


def test_rows_near_several_points_are_those_near_each_and_share_one_budget() -> None:
    near = [Nearest(points(x)[0], 2, Bounds.unlimited(1), NO_ROWS) for x in (0.0, 3.0)]
    one = answerer()

    (both,) = answers(one, [NearestToEach(tuple(near))])
    (cut,) = answers(one, [NearestToEach(tuple(near))], [meter(max_rows=3)])

    alone = answers(one, near)
    assert [found.ids.tolist() for found in both] == [found.ids.tolist() for found in alone]
    assert [found.cut for found in cut] == [False, True]


def test_each_step_may_have_a_floor_of_its_own() -> None:
    starts = points(0.0, 0.0)
    floors = np.array([-1e3, 1e3])

    (found,) = answers(answerer(), [DensityAlong(starts, starts, floors, "lowest")])

    assert found.passes.tolist() == [True, False]


def test_the_densities_of_rows_are_one_call_whoever_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    density = line_density()
    asked: list[list[int]] = []
    work_out = density.row_log_densities

    def note(some: Any) -> Any:
        asked.append(some.tolist())
        return work_out(some)

    monkeypatch.setattr(density, "row_log_densities", note)
    one = QuestionAnswerer(line_source(), density, LineScore())
    questions = [RowDensities(ids(2, 3), points(2.0, 3.0)), RowDensities(ids(4), points(4.0))]

    found = answers(one, questions)

    assert asked == [[2, 3, 4]]
    assert [len(each) for each in found] == [2, 1]


def test_states_that_are_counted_are_scored_search_by_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits = [3.5, 6.5, 9.0]
    questions = [Census(Bounds.unlimited(1), projection=taking_over_up_to(one)) for one in limits]
    asked = [questions[0], ScorePoints(points(2.5), NO_ROWS), *questions[1:]]
    together = LineScore()
    apart = LineScore()
    wanted = answers(answerer(together), asked)

    monkeypatch.setattr(answering, "_FEW_ROWS", 5)
    found = answers(answerer(apart), asked)

    counts = [(one.allowed, one.targets) for one in (found[0], *found[2:])]
    assert counts == [(one.allowed, one.targets) for one in (wanted[0], *wanted[2:])]
    assert counts == [(5, 0), (8, 3), (10, 5)]
    assert found[1].tolist() == wanted[1].tolist() == [0.25]
    assert [len(call) for call in together.calls] == [24]
    assert [len(call) for call in apart.calls] == [1, 5, 8, 10]
