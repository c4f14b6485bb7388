"""What measuring a missing value could show: which values would do, and where all of them do."""

from __future__ import annotations

import numpy as np
import pytest
from handmade import acted_answer, refusal

from localface.answers.measurement import Measurement, measurement_sentence, values_in_words
from localface.answers.page import page_of
from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.data.feature import Feature

WARMTH = Feature("warmth", unit="°C", resolution=0.5)
TRIED = np.array([15.0, 22.0, 16.5, 17.0, 18.0, 24.0, 20.0])
HEATING = Feature("heating", kind="categorical", categories=tuple("abcdef"))


@pytest.mark.parametrize(
    ("enough", "said"),
    [
        ([16.5, 17.0, 18.0], "16.5 to 18 °C"),
        ([17.0], "17 °C"),
        ([15.0, 16.5], "16.5 °C or less"),
        ([22.0, 24.0], "22 °C or more"),
        ([15.0, 17.0, 18.0, 22.0, 24.0], "15 °C or less, 17 to 18 °C or 22 °C or more"),
        ([], ""),
        (TRIED.tolist(), ""),
    ],
)
def test_the_numbers_that_are_enough_are_told_as_ranges_of_those_tried(
    enough: list[float], said: str
) -> None:
    assert values_in_words(WARMTH, TRIED, np.isin(TRIED, enough)) == said


def test_numbers_that_are_enough_here_and_there_are_told_by_their_ends() -> None:
    tried = np.arange(20.0)

    assert values_in_words(WARMTH, tried, tried % 2 == 1) == "certain values from 1 to 19 °C"


@pytest.mark.parametrize(
    ("enough", "said"),
    [([1], "b"), ([2, 0], "a or c"), ([4, 3, 2, 1, 0], "a, b, c or 2 more")],
)
def test_the_categories_that_are_enough_are_named(enough: list[int], said: str) -> None:
    tried = np.array([5.0, 4.0, 3.0, 2.0, 1.0, 0.0])

    assert values_in_words(HEATING, tried, np.isin(tried, enough)) == said


def test_a_share_of_values_is_no_chance_and_is_not_told_as_one() -> None:
    some = measurement_sentence(Measurement("w", 19, 9, "20 °C or less"), "warmth")
    of_old = measurement_sentence(Measurement("w", 19, 9), "warmth")

    assert some == (
        "find out warmth: enough if it is 20 °C or less (9 of the 19 different values that "
        "others have); nothing here counts on it"
    )
    assert of_old.startswith("find out warmth: enough in some cases (9 of the 19 ")
    assert "%" not in some


def test_where_measuring_alone_would_do_that_stands_on_top() -> None:
    every = (Measurement("gcs_min", 12, 12),)
    some = (Measurement("gcs_min", 12, 11, "9 or more"),)

    for answer in (acted_answer(measurements=every), refusal(measurements=every)):
        assert page_of(answer).opening[-1].startswith("finding out gcs_min may be all it takes")
    for quiet in (
        acted_answer(measurements=some),
        refusal(status=Status.ALREADY_THERE, measurements=every),
    ):
        assert not any("measured" in line for line in page_of(quiet).opening)


def test_which_values_are_enough_survives_json_and_older_documents_lack_it() -> None:
    answer = acted_answer(measurements=(Measurement("gcs_min", 12, 11, "9 or more"),))
    text = answer.to_json()

    assert Recourse.from_json(text).measurements == answer.measurements
    older = text.replace(', "enough": "9 or more"', "").replace(',"enough":"9 or more"', "")
    assert Recourse.from_json(older).measurements == (Measurement("gcs_min", 12, 11),)
