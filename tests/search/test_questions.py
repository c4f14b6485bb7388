"""The questions: each function asks one, and returns the answer as it came."""

from __future__ import annotations

import numpy as np
import pytest

from localface.search import questions
from localface.sources.protocol import Nearest
from localface.types import NO_ROWS
from scripted import box, replies

POINT = np.zeros(2)
POINTS = np.ones((3, 2))
IDS = np.array([4, 2])

CASES = [
    (questions.ask_nearest_rows(POINT, 3, box(2), NO_ROWS, radius=1.5), Nearest),
    (questions.ask_row_scores(IDS), questions.ScoreRows),
    (questions.ask_point_scores(POINTS, IDS), questions.ScorePoints),
    (questions.ask_density_along(POINTS, POINTS, -1.0, "mean"), questions.DensityAlong),
    (questions.ask_row_densities(IDS, POINTS[:2]), questions.RowDensities),
    (questions.ask_target_counts(box(2)), questions.Census),
    (questions.ask_widening_factor(box(2), POINT, POINT), questions.Widening),
]


@pytest.mark.parametrize(("asks", "kind"), CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_one_question_of_its_kind_and_the_answer_as_it_came(asks, kind):
    answer = object()

    asked, found = replies(asks, answer)

    assert [type(question) for question in asked] == [kind]
    assert found is answer


def test_a_question_says_all_that_was_wanted():
    (asked,), _ = replies(questions.ask_nearest_rows(POINT, 3, box(2), IDS, radius=1.5), None)
    assert (asked.k, asked.radius, asked.exclude.tolist()) == (3, 1.5, [4, 2])

    (asked,), _ = replies(questions.ask_density_along(POINTS, 2 * POINTS, None, "mean"), None)
    assert (asked.log_floor, asked.rule, asked.ends[0].tolist()) == (None, "mean", [2.0, 2.0])

    (asked,), _ = replies(questions.ask_target_counts(box(2), why=False), None)
    assert asked.why is False


def composed(*ids, **said):
    rows = np.array(ids, dtype=np.int64)
    return questions.ComposedStates(POINT + rows[:, None], rows / 10, rows, **said)


@pytest.mark.parametrize(
    "near", [composed(6, 7, 8), composed(6), composed(6, ended=False, cut=True)]
)
def test_the_nearest_composed_states_do_where_enough_have_the_score_or_there_are_no_more(near):
    (asked,), found = replies(questions.ask_composed_states(POINT, None, 3, 0.5), near)

    assert (asked.k, asked.first, asked.last) == (3, 0, 256)
    assert found is near


def test_states_further_away_are_composed_where_too_few_of_the_nearest_have_the_score():
    near, far = composed(6, ended=False), composed(7, 8, cut=True)

    (_, asked), found = replies(questions.ask_composed_states(POINT, None, 3, 0.5), near, far)

    assert (asked.k, asked.min_score, asked.first, asked.last) == (2, 0.5, 256, 1024)
    assert found.ids.tolist() == [6, 7, 8]
    assert found.scores.tolist() == [0.6, 0.7, 0.8]
    assert found.points[:, 0].tolist() == [6.0, 7.0, 8.0]
    assert found.cut


def test_who_asks_for_counts_alone_asks_why_there_are_none_and_for_no_states():
    (asked,), _ = replies(questions.ask_target_counts(box(2)), None)

    assert (asked.why, asked.which) == (True, False)
    plain = questions.Census(box(2))
    assert (plain.why, plain.which) == (True, False)
    assert questions.TargetCounts(1, 1, 1, np.zeros(2, dtype=np.int64)).of_states is False
