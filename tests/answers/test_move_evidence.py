"""What is said of how many people made a move."""

from __future__ import annotations

from typing import Any

import pytest

from localface.answers.move_evidence import MoveEvidence
from localface.errors import InputError


def evidence(**changes: Any) -> MoveEvidence:
    return MoveEvidence(
        **{"similar": 30, "moved": 14, "within": 6.0, "unit": "hours", "well": "leave", **changes}
    )


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"well": ""}, "14 of 30 similar people did this within 6 hours"),
        ({"moved": 0, "people": "patients"}, "none of 30 similar patients did this within 6 hours"),
        ({"unit": "", "well": ""}, "14 of 30 similar people did this within 6"),
        ({"similar": 0, "moved": 0}, "nobody in the longitudinal data was in a similar state"),
        (
            {"untold": ("fio2",)},
            "the longitudinal data knows nothing of 'fio2': nobody can be seen to do this",
        ),
        ({}, "14 of 30 similar people did this within 6 hours; how they fared is not known"),
        (
            {"moved": 1},
            "1 of 30 similar people did this within 6 hours; how that one fared is not known",
        ),
    ],
)
def test_it_says_how_many_did_it(changes: dict[str, Any], sentence: str) -> None:
    assert evidence(**changes).sentence == sentence


@pytest.mark.parametrize(
    ("changes", "fared"),
    [
        (
            {"with_outcome": 14, "fared_well": 11},
            "11 of the 14 went on to leave (79 %, 52 to 92 %)",
        ),
        (
            {"with_outcome": 4, "fared_well": 3},
            "3 of the 4 whose outcome is known went on to leave",
        ),
        ({"with_outcome": 4}, "none of the 4 whose outcome is known went on to leave"),
        ({"moved": 1, "with_outcome": 1, "fared_well": 1}, "that one went on to leave"),
        ({"moved": 1, "with_outcome": 1}, "that one did not go on to leave"),
        (
            {"with_outcome": 4, "others_with_outcome": 1, "others_fared_well": 1},
            "whose outcome is known went on to leave; the one other went on to leave",
        ),
        (
            {"with_outcome": 4, "others_with_outcome": 1},
            "went on to leave; the one other did not go on to leave",
        ),
        (
            {"with_outcome": 4, "others_with_outcome": 10, "others_fared_well": 5},
            "; among the 10 others it was 5 (50 %, 24 to 76 %)",
        ),
    ],
)
def test_it_says_how_they_fared_beside_the_others(changes: dict[str, Any], fared: str) -> None:
    assert evidence(**changes).sentence.endswith(fared)


def test_a_share_comes_with_its_interval_and_only_where_an_outcome_is_known() -> None:
    known = evidence(with_outcome=14, fared_well=11)

    assert known.share == 11 / 14
    assert known.interval() == pytest.approx((0.524, 0.924), abs=1e-3)
    assert evidence().share is None
    assert evidence().interval() is None


def test_it_survives_a_trip_through_plain_values() -> None:
    one = evidence(features=["a", "b"], ignored=["c"], radius=0.5)

    assert one.to_dict()["features"] == ["a", "b"]
    assert MoveEvidence.from_dict(one.to_dict()) == one


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"moved": 31}, "moved of the evidence of a move is 31, and can be 30 at most"),
        ({"moved": -1}, "moved of the evidence of a move is -1: a count is wanted"),
        ({"similar": 2.5}, "similar of the evidence of a move is 2.5: a count is wanted"),
        ({"with_outcome": 15}, "with_outcome .* is 15, and can be 14 at most"),
        ({"others_with_outcome": 17}, "others_with_outcome .* is 17, and can be 16 at most"),
        ({"unit": 3}, "unit of the evidence of a move is 3: text is wanted"),
    ],
)
def test_counts_that_cannot_be_of_the_same_people_are_refused(
    changes: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        evidence(**changes)
