"""Scores beside the target that they are to reach."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localface.answers.target import Target


@pytest.mark.parametrize(
    ("score", "target", "shown"),
    [
        (0.7499, Target("class 1", 0.75), "0.7499"),
        (0.75, Target("class 1", 0.75), "0.75"),
        (40_350.4, Target("at least", 40_000, kind="value"), "40,350"),
        (39_999.9, Target("at least", 40_000, kind="value"), "39,999.9"),
        (40_000.2, Target("at most 40000", 40_000, at_most=True, kind="value"), "40,000.2"),
        (-1.23456, Target("ready", 0.0, kind="decision"), "-1.235"),
        (0.0, Target("ready", 0.0, kind="decision"), "0"),
    ],
)
def test_a_score_never_looks_as_if_it_were_on_the_other_side_of_the_target(
    score: float, target: Target, shown: str
) -> None:
    assert target.format_score(score) == shown


@given(st.floats(0, 1), st.sampled_from([0.25, 0.5, 0.75]), st.booleans())
def test_a_shown_probability_is_on_the_side_of_the_target_where_it_is(
    score: float, wanted: float, at_most: bool
) -> None:
    target = Target("class 1", wanted, at_most=at_most)

    shown = float(target.format_score(score))

    assert target.is_reached_by(shown) == target.is_reached_by(score) or abs(score - wanted) < 1e-8


@pytest.mark.parametrize("score", [math.inf, -math.inf, math.nan])
def test_a_score_that_is_no_finite_number_is_shown_as_it_is(score: float) -> None:
    assert Target("class 1", 0.5).format_score(score) == str(score)


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        (Target("class 1", 0.75), "class 1, score at least 0.75"),
        (Target("score", 0.5), "score at least 0.5"),
        (Target("risk", 0.5, at_most=True), "risk, score at most 0.5"),
        (Target("at most", 40_000, at_most=True, kind="value"), "at most 40,000"),
    ],
)
def test_a_target_says_what_is_wanted(target: Target, sentence: str) -> None:
    assert target.sentence == sentence
