"""How a search ended, in a word and in a sentence."""

from __future__ import annotations

from typing import get_args

import numpy as np
from handmade import PATH, refusal

from localface.answers.status import Status, StatusName
from localface.apps.web.views.words import fact_lines


def test_every_status_is_a_sentence() -> None:
    assert {status.name for status in Status} == {
        "FOUND",
        "ALREADY_THERE",
        "NO_TARGET",
        "UNREACHABLE",
        "NOT_LASTING",
        "BUDGET",
        "OUT_OF_TIME",
    }
    assert [status.name for status in Status] == list(get_args(StatusName))
    assert all(len(status.value.split()) > 5 for status in Status)


def test_a_status_in_a_word_or_two() -> None:
    assert Status.FOUND.word == "found"
    assert Status.ALREADY_THERE.word == "already there"


def test_somebody_who_is_there_already_is_not_told_with_whom_they_were_compared():
    there = refusal(status=Status.ALREADY_THERE, reason="", n_comparable=300)
    refused = refusal(n_comparable=300)

    assert "compared with" not in str(there)
    assert not any(one["term"] == "comparable" for one in fact_lines(there))
    if refused.compared_by:
        assert "compared with about 300" in str(refused)


def test_somebody_who_is_there_already_is_told_what_is_missing_and_of_no_action():
    record = np.array(PATH[:1])
    record[0, 1] = np.nan
    there = refusal(status=Status.ALREADY_THERE, reason="", records=record)

    assert there.missing
    assert f"no value of {there.missing[0]}\n" in str(there) + "\n"
    assert "no action needs" not in str(there)


def test_a_refusal_speaks_of_no_action_that_needs_what_is_missing():
    record = np.array(PATH[:1])
    record[0, 1] = np.nan
    refused = refusal(records=record)

    assert f"no value of {refused.missing[0]}: it stays so\n" in str(refused)
