"""Scores: rounded but never across the threshold, checked on every call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.data.table_format import TableFormat
from localface.errors import ModelError
from localface.models.output import read_output, signed
from localface.models.scorer import Scorer

SCHEMA = Schema([Feature("x"), Feature("y")])
FORMAT = TableFormat.of(np.zeros((1, 2)), SCHEMA)
RECORDS = np.array([[0.25, 0.0], [0.5, 1.0]])


def scorer(model: Any, *, target: object = 1, min_score: float = 0.5) -> Scorer:
    return Scorer(read_output(model, target=target), FORMAT, min_score=min_score)


def test_a_score_is_that_of_the_model_to_ten_digits() -> None:
    score = scorer(lambda table: table[:, 0] + 1e-13)

    assert score(RECORDS).tolist() == [0.25, 0.5]
    assert score.exact_scores(RECORDS).tolist() == [0.25 + 1e-13, 0.5 + 1e-13]


def test_rounding_lifts_nobody_over_the_threshold() -> None:
    score = scorer(lambda table: table[:, 0] - 1e-13)

    assert score(RECORDS)[1] < 0.5


def test_where_less_is_better_scores_turn_round_and_are_shown_as_they_came() -> None:
    score = scorer(signed(lambda table: table[:, 0]), target="at most", min_score=0.3)

    assert score(RECORDS).tolist() == [-0.25, -0.5]
    assert score.min_score == -0.3
    assert score.display_score(-0.25) == 0.25


def test_another_threshold_leaves_the_model_as_it_is() -> None:
    score = scorer(lambda table: table[:, 0])

    other = score.with_min_score(0.9)

    assert (score.min_score, other.min_score) == (0.5, 0.9)
    assert other(RECORDS).tolist() == score(RECORDS).tolist()


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (lambda table: 1 / 0, r"the model failed on 2 record\(s\): ZeroDivisionError"),
        (lambda table: ["a", "b"], "which is no array of numbers"),
        (lambda table: np.zeros(3), r"returned shape \(3,\) for 2 record\(s\)"),
        (lambda table: table[:, 0] * np.nan, "NaN or infinity for 2 of 2"),
        (lambda table: -table[:, 0], r"a negative score \(-0.5\)"),
    ],
)
def test_what_is_no_score_is_refused(model: Any, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        scorer(model)(RECORDS)


def test_a_target_that_the_model_does_not_know_names_its_option() -> None:
    with pytest.raises(ModelError) as caught:
        read_output(signed(lambda table: table[:, 0]), target="rich")

    assert caught.value.option == "target"
