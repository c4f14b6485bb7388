"""The list of people is searched as people write."""

from __future__ import annotations

import numpy as np
import pytest

from localface import Feature, Schema
from localface.apps.web.views.labels import Labels
from localface.apps.web.views.people_search import PeopleSearch
from localface.errors import DataError

SCHEMA = Schema(
    [
        Feature("hr_min", label="lowest heart rate", resolution=1),
        Feature("hr_max", label="highest heart rate", resolution=1),
        Feature("temp", label="temperature", resolution=0.1),
        Feature(
            "sex",
            kind="binary",
            categories=("f", "m"),
            category_labels={"f": "female", "m": "male"},
        ),
    ]
)
RECORDS = np.array(
    [
        [60.0, 90.0, 36.5, 0.0],
        [70.0, 130.0, 37.0, 1.0],
        [125.0, 140.0, 38.2, 0.0],
        [80.0, 100.0, np.nan, 1.0],
    ]
)
SEARCH = PeopleSearch(
    SCHEMA, Labels(), np.array([3, 17, 170, 8]), RECORDS, np.array([0.1, 0.45, 0.5, np.nan])
)


def found(text: str) -> list[int]:
    matches, _ = SEARCH.find(text)
    return SEARCH.ids[matches].tolist()


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("", [3, 17, 170, 8]),
        ("17", [17, 170]),
        ("person 8", [8]),
        ("hr_max>120", [17, 170]),
        ("hr_max > 120", [17, 170]),
        ("highest heart rate >= 130", [17, 170]),
        ("heart rate < 65", [3]),
        ("Highest Heart Rate ≥ 140", [170]),
        ("score < 0.5", [3, 17]),
        ("score 0.4 to 0.5", [17, 170]),
        ("score between 0.4 and 0.5 and hr_max < 135", [17]),
        ("temp = 36.5", [3]),
        ("temperature = 36,5", [3]),
        ("temp = missing", [8]),
        ("temp != 37", [3, 170]),
        ("male", [17, 8]),
        ("female, heart rate > 120", [170]),
        ("sex = m", [17, 8]),
        ("hr_max 95-135 & male", [17, 8]),
    ],
)
def test_conditions_are_read_with_blanks_labels_ranges_and_several_at_once(
    text: str, people: list[int]
) -> None:
    assert found(text) == people


def test_what_was_understood_is_said() -> None:
    _, words = SEARCH.find("heart rate>120 female")
    assert words == "lowest heart rate or highest heart rate above 120 and sex female"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pulse > 3", "nothing here is called 'pulse'"),
        ("temperatur > 37", "did you mean 'temperature'"),
        ("hr_max > many", "cannot be compared with 'many'"),
        ("bananas", "no number of a person and no word of a category"),
    ],
)
def test_what_cannot_be_read_is_said_and_not_answered_with_nobody(text: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        SEARCH.find(text)
