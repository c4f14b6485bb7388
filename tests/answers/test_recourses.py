"""The answers to many people."""

from __future__ import annotations

import pytest
from handmade import answer, refusal

from localface.answers.many import Recourses
from localface.errors import InputError


def test_answers_come_in_order_and_slices_keep_whose_they_are() -> None:
    every = [answer(), refusal(), answer()]

    many = Recourses(every, numbers=(0, 2, 5))

    assert len(many) == 3
    assert list(many) == every
    assert many[1:].numbers == (2, 5)
    assert many[-1] is every[-1]
    assert many.found == [True, False, True]


def test_the_repr_counts_how_the_searches_ended() -> None:
    mistake = InputError("no")

    assert repr(Recourses([answer(), refusal(), answer()])) == (
        "<3 recourses: 2 found, 1 unreachable>"
    )
    assert repr(Recourses([answer()], numbers=(1,), errors={0: mistake}, unfinished=2)) == (
        "<1 recourses: 1 found, 1 could not be answered, 2 unfinished>"
    )


def test_the_table_has_one_line_a_person() -> None:
    pytest.importorskip("pandas")

    frame = Recourses([answer(), refusal()]).to_frame()

    assert frame["status"].tolist() == ["FOUND", "UNREACHABLE"]
    assert frame["steps"].tolist() == [3, 0]
    assert frame["score_after"].tolist() == [0.81, 0.21]
    assert "person" not in frame.columns


@pytest.mark.parametrize(
    "some",
    [
        Recourses([answer()], numbers=(3,)),
        Recourses([answer()], numbers=(0,), unfinished=1),
        Recourses([answer()], errors={1: InputError("no")}),
    ],
)
def test_the_table_says_whose_the_answers_are_where_some_have_none(some: Recourses) -> None:
    assert some.to_frame()["person"].tolist() == list(some.numbers)


def test_nobody_has_no_lines() -> None:
    assert len(Recourses([]).to_frame()["status"]) == 0
