"""What is said of one step."""

from __future__ import annotations

import pytest
from handmade import STRICT

from localface.answers.certificate import Certificate


@pytest.mark.parametrize(
    ("certificate", "sentence"),
    [
        (STRICT, "every state on this step is at least as common as 7 % of people's"),
        (
            Certificate("average", 1, 0.2, 0.05),
            "this step passes on average through states as common as 1 in 5 people's",
        ),
        (
            Certificate("cover", 1, 0.2, 0.05, people=5, radius=0.8),
            (
                "there are at least 5 people within 0.8 standard deviations "
                "of every state on this step"
            ),
        ),
        (
            Certificate("cover", 1, 0.2, 0.05, people=5, radius=1.0),
            "there are at least 5 people within 1 standard deviation of every state on this step",
        ),
        (
            Certificate("strict", 1, 0.2, 0.05, certified=False),
            (
                "every state on this step is at least as common as 1 in 5 people's "
                "(sampled, not proven)"
            ),
        ),
        (
            Certificate("strict", 1, 0.0, 0.05, entry=True),
            "entry: this first step passes through states more unusual than anybody's",
        ),
    ],
)
def test_a_certificate_says_what_is_known_of_a_step(
    certificate: Certificate, sentence: str
) -> None:
    assert certificate.sentence == sentence
    assert certificate.holds is (certificate.lowest >= 0.05)


def test_without_a_floor_a_step_may_pass_states_that_nobody_is_in():
    rarest = Certificate("strict", 1, lowest=0.0, floor=0.0)

    assert rarest.holds
    assert rarest.sentence == "this step passes through states more unusual than anybody's"


@pytest.mark.parametrize(("rule", "mean"), [("strict", ""), ("average", "on average ")])
def test_a_step_below_the_floor_says_by_how_much(rule: str, mean: str) -> None:
    certificate = Certificate(rule, 1, lowest=0.002, floor=0.05)

    assert not certificate.holds
    assert certificate.sentence == (
        f"below the floor of 5 %: this step {mean}passes through states "
        "more unusual than 99.8 % of people's"
    )


def test_rounding_does_not_put_a_step_below_the_floor() -> None:
    assert Certificate("strict", 1, lowest=0.05 - 1e-10, floor=0.05).holds
    assert not Certificate("strict", 1, lowest=0.05 - 1e-8, floor=0.05).holds
