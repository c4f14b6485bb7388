"""How numbers and shares are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localface.answers.wording import (
    format_count,
    format_distinct_percents,
    format_more_unusual_than,
    format_number,
    format_percent,
    format_share_of_people,
    format_state_reached,
    join_numbers,
    to_one_line,
)


@pytest.mark.parametrize("share", [0.0, 1e-9, 0.01, 0.5, 0.99, 1 - 1e-9, 1.0])
def test_only_nothing_is_nought_per_cent_and_only_everything_a_hundred(share: float) -> None:
    assert (format_percent(share) == "0 %") is (share == 0.0)
    assert (format_percent(share) == "100 %") is (share == 1.0)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.05, "5 %"),
        (0.0074589, "0.75 %"),
        (0.9961, "99.61 %"),
        (0.125, "12 %"),
        (0.1, "10 %"),
        (1e-9, "less than 0.0001 %"),
        (1 - 1e-9, "more than 99.9999 %"),
    ],
)
def test_a_share_has_the_digits_that_its_nearer_end_deserves(share: float, text: str) -> None:
    assert format_percent(share) == text


@given(st.floats(0, 1), st.floats(0, 1))
def test_shares_in_per_cent_keep_their_order(one: float, other: float) -> None:
    low, high = (_read(format_percent(share)) for share in sorted((one, other)))

    assert low <= high + 1.0  # two digits of the nearer end: half a per cent each at most


def _read(text: str) -> float:
    return float(text.removesuffix(" %").removeprefix("less than ").removeprefix("more than "))


@given(st.floats(0.001, 0.999), st.floats(0.001, 0.999))
def test_different_shares_look_different(one: float, other: float) -> None:
    pair = format_distinct_percents(one, other)

    assert pair[0] != pair[1] or abs(one - other) < 1e-6


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.05, "1 in 20 people's"),
        (0.0001, "1 in 10,000 people's"),
        (0.03, "3 % of people's"),
        (0.4, "40 % of people's"),
        (0.0, "0 % of people's"),
        (5e-324, "less than 0.0001 % of people's"),
    ],
)
def test_a_share_of_people_is_said_the_way_people_do(share: float, text: str) -> None:
    assert format_share_of_people(share) == text


def test_how_unusual_a_state_is() -> None:
    assert format_more_unusual_than(0.01) == "more unusual than 99 % of people's"
    assert format_more_unusual_than(0.0) == "more unusual than anybody's"


def test_how_common_the_state_is_that_an_action_leads_to() -> None:
    assert format_state_reached(0.05) == "leads to a state more common than 1 in 20 people's"
    assert format_state_reached(0.0) == "leads to a state more unusual than anybody's"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (40_000.0, "40,000"),
        (0.75, "0.75"),
        (-12.3456, "-12.35"),
        (0.0, "0"),
        (1e-7, "1e-07"),
        (3e15, "3e+15"),
    ],
)
def test_a_number_is_short_and_without_an_exponent_where_it_can_be(value: float, text: str) -> None:
    assert format_number(value) == text


def test_a_number_takes_the_decimals_it_is_given() -> None:
    assert format_number(1.23456, 2) == "1.23"
    assert format_number(1234.0, 0) == "1,234"


@given(st.floats(-1e12, 1e12))
def test_a_written_number_is_right_to_about_four_digits(value: float) -> None:
    assert float(format_number(value).replace(",", "")) == pytest.approx(value, rel=1e-3)


def test_counts_and_lists_in_a_sentence() -> None:
    assert format_count(1, "person", "people") == "1 person"
    assert format_count(0, "person", "people") == "0 people"
    assert format_count(1200, "person", "people") == "1,200 people"
    assert join_numbers([1]) == "1"
    assert join_numbers(iter([1, 2, 3])) == "1, 2 and 3"


@given(st.text())
def test_any_name_fits_on_one_line(text: str) -> None:
    line = to_one_line(text)

    assert line.isprintable()
    assert to_one_line(line) == line
    assert len(line.splitlines()) <= 1
