"""Scores are kept by row id: each row is scored once, unknown ones in one call."""

from __future__ import annotations

import numpy as np
import pytest

from localface.engine.score_cache import ScoreCache
from small_engine import LineScore, ids, line_source, points


def test_a_row_is_scored_once() -> None:
    score = LineScore()
    cache = ScoreCache(score.exact_scores, line_source())

    first = cache.scores_of_rows(ids(3, 1, 3))
    again = cache.scores_of_rows(ids(1, 3))

    assert first.tolist() == [0.3, 0.1, 0.3]
    assert again.tolist() == [0.1, 0.3]
    assert score.calls == [[1.0, 3.0]]


def test_unknown_rows_come_each_once_and_in_order() -> None:
    cache = ScoreCache(LineScore().exact_scores, line_source())
    cache.scores_of_rows(ids(2))

    assert cache.unscored_rows(ids(5, 2, 4, 5)).tolist() == [4, 5]


def test_rows_and_other_records_are_scored_in_one_call() -> None:
    score = LineScore()
    cache = ScoreCache(score.exact_scores, line_source())
    fresh = cache.unscored_rows(ids(7))

    scores = cache.score_rows_and_states(fresh, [points(2.5), points(3.5, 4.5)])

    assert score.calls == [[7.0, 2.5, 3.5, 4.5]]
    assert scores.tolist() == [0.25, 0.35, 0.45]
    assert cache.scores_of_rows(ids(7)).tolist() == [0.7]


def test_nothing_to_score_is_no_call() -> None:
    score = LineScore()

    assert ScoreCache(score.exact_scores, line_source()).score_rows_and_states(ids()).tolist() == []
    assert score.calls == []


def test_very_many_rows_are_scored_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("localface.engine.score_cache.BLOCK_ROWS", 4)
    score = LineScore()
    cache = ScoreCache(score.exact_scores, line_source())

    scores = cache.scores_of_rows(np.arange(10))

    assert [len(call) for call in score.calls] == [4, 4, 2]
    assert scores.tolist() == [row / 10 for row in range(10)]


def test_arrays_that_came_read_only_from_another_process_are_copied() -> None:
    cache = ScoreCache(LineScore().exact_scores, line_source())
    cache.scores_of_rows(ids(9))
    for array in (cache._scores, cache._is_known):
        array.setflags(write=False)

    assert cache.scores_of_rows(ids(4, 9)).tolist() == [0.4, 0.9]
