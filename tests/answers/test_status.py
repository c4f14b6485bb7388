"""How a search ended, in a word and in a sentence."""

from __future__ import annotations

from typing import get_args

from localface.answers.status import Status, StatusName


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
