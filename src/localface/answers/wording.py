"""How numbers, shares or names are written in a sentence."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence

from localface.data.row_words import PEOPLE, RowWords

SAMPLED = " (sampled, not proven)"
"""What is added to a claim that rests on samples."""

_HARDLY_ANY = 0.05  # share of people below whom nothing is called more common than they are
_SAID_AS_ONE_IN = 25  # people up to whom any number is said so: 1 in 7, but not 1 in 314


def format_percent(share: float, digits: int = 2) -> str:
    """Say a share in per cent, with as many digits as the nearer end of the scale deserves.

    >>> format_percent(0.05), format_percent(0.0074589), format_percent(0.9961)
    ('5 %', '0.75 %', '99.61 %')
    >>> format_percent(0.125)
    '12 %'
    """
    value = 100 * share
    room = min(value, 100 - value)
    if room <= 0:
        return f"{value:.0f} %"
    if room < 1e-4:
        return "less than 0.0001 %" if value < 50 else "more than 99.9999 %"
    decimals = max(0, digits - 1 - math.floor(math.log10(room)))
    return f"{_without_trailing_zeros(f'{value:.{decimals}f}')} %"


def format_whole_percent(share: float) -> str:
    """Say an estimate in whole per cents: certain, or impossible, is only what is.

    >>> format_whole_percent(0.984), format_whole_percent(0.99979), format_whole_percent(0.001)
    ('98 %', 'more than 99 %', 'less than 1 %')
    >>> format_whole_percent(1.0), format_whole_percent(0.0), format_whole_percent(0.7149)
    ('100 %', '0 %', '71 %')
    """
    if 0 < share < 0.005:
        return "less than 1 %"
    if 0.995 <= share < 1:
        return "more than 99 %"
    return f"{100 * share:.0f} %"


def format_distinct_percents(first: float, second: float) -> tuple[str, str]:
    """Say two different shares so that they also look different.

    >>> format_distinct_percents(0.125, 0.124)
    ('12.5 %', '12.4 %')
    """
    for digits in range(2, 8):
        pair = (format_percent(first, digits), format_percent(second, digits))
        if pair[0] != pair[1]:
            break
    return pair


def format_lowered_floor(before: float, after: float) -> str:
    """Say by how much a floor was lowered.

    >>> format_lowered_floor(0.3, 0.12), format_lowered_floor(0.3, 0.3)
    ('from 30 % to 12 %', 'to just below 30 %')
    """
    if after == before:
        return f"to just below {format_percent(before)}"
    return "from {} to {}".format(*format_distinct_percents(before, after))


def round_share_down(share: float) -> float:
    """Round a share down to tenths of a per cent, and to two digits where it is smaller.

    >>> round_share_down(0.1179), round_share_down(0.0349), round_share_down(0.000678)
    (0.117, 0.034, 0.00067)
    """
    decimals = max(3, 1 - math.floor(math.log10(share)))
    return round(math.floor(share * 10.0**decimals) / 10.0**decimals, decimals)


def format_share_of_people(share: float, rows: RowWords = PEOPLE) -> str:
    """Say a share of people, or of whatever rows are, the way people do, where that is true.

    >>> format_share_of_people(0.05), format_share_of_people(0.03), format_share_of_people(0.4)
    ("1 in 20 people's", "3 % of people's", "40 % of people's")
    >>> format_share_of_people(1 / 500), format_share_of_people(1 / 314), format_share_of_people(1)
    ("1 in 500 people's", "0.32 % of people's", "anybody's")
    """
    if share >= 1:
        return f"{rows.anybody}'s"
    if sys.float_info.min <= share <= 0.25:  # the inverse of less is infinite
        one_in = round(1 / share)
        round_number = one_in <= _SAID_AS_ONE_IN or one_in == int(float(f"{one_in:.1g}"))
        if round_number and abs(one_in * share - 1) < 1e-3:
            return f"1 in {one_in:,} {rows.of_many}"
    return f"{format_percent(share)} of {rows.of_many}"


def format_more_unusual_than(share: float, rows: RowWords = PEOPLE) -> str:
    """Say how unusual a state is where ``share`` of people have a less common one.

    >>> format_more_unusual_than(0.01), format_more_unusual_than(0)
    ("more unusual than 99 % of people's", "more unusual than anybody's")
    """
    if share > 0:
        return f"more unusual than {format_percent(1 - share)} of {rows.of_many}"
    return f"more unusual than {rows.anybody}'s"


def format_state_reached(share: float, rows: RowWords = PEOPLE) -> str:
    """Say how common the state is that an action leads to, ``share`` of people's being less so.

    What leaves hardly anybody behind is not told as common.

    >>> format_state_reached(0.4), format_state_reached(0.0042)
    ("leads to a state more common than 40 % of people's", \
"leads to a state more unusual than 99.58 % of people's")
    >>> format_state_reached(1), format_state_reached(0)
    ("leads to a state more common than anybody's", "leads to a state more unusual than anybody's")
    """
    if share >= _HARDLY_ANY:
        return f"leads to a state more common than {format_share_of_people(share, rows)}"
    return f"leads to a state {format_more_unusual_than(share, rows)}"


def format_number(value: float, decimals: int | None = None) -> str:
    """Write a number: about four digits, thousands set apart, no exponent unless it must be.

    >>> format_number(40000.0), format_number(0.75), format_number(-12.3456), format_number(0.0)
    ('40,000', '0.75', '-12.35', '0')
    """
    size = abs(value)
    if size and not 1e-4 <= size < 1e15:
        return f"{value:.4g}"
    if decimals is None:
        decimals = max(0, 3 - math.floor(math.log10(size))) if size else 0
    return _without_trailing_zeros(f"{value:,.{decimals}f}")


def format_count(n: int, singular: str, plural: str) -> str:
    """Say how many there are of something.

    >>> format_count(1, "person", "people"), format_count(1200, "person", "people")
    ('1 person', '1,200 people')
    """
    return f"{n:,} {singular if n == 1 else plural}"


def format_about(n: int) -> str:
    """Write a number of which only the first two digits mean something.

    >>> format_about(318), format_about(7), format_about(12345)
    ('320', '7', '12,000')
    """
    return f"{int(float(f'{n:.2g}')):,}"


def format_amount(amount: float, unit: str | None) -> str:
    """Write an amount with its unit; one that is a word of several is not said of one.

    >>> format_amount(2, "weeks"), format_amount(1, "weeks"), format_amount(1, "lbs")
    ('2 weeks', '1', '1 lbs')
    """
    several = len(unit or "") > len("lbs") and str(unit).endswith("s")
    said = "" if several and amount == 1 else unit
    return " ".join(part for part in (format_number(amount), said) if part)


def join_numbers(numbers: Iterable[int]) -> str:
    """Join numbers for a sentence.

    >>> join_numbers([1]), join_numbers([1, 2, 3])
    ('1', '1, 2 and 3')
    """
    return join_words([str(number) for number in numbers])


def join_words(words: Sequence[str], word: str = "and") -> str:
    """Join words for a sentence.

    >>> join_words(["debt"]), join_words(["debt", "income", "term"])
    ('debt', 'debt, income and term')
    >>> join_words(["oil", "gas"], "or")
    'oil or gas'
    """
    *most, last = words
    return f"{', '.join(most)} {word} {last}" if most else last


def to_one_line(text: str) -> str:
    r"""Keep a name from the data on one line, free of control characters.

    >>> to_one_line("two\nlines")
    'two lines'
    """
    if not text.isprintable():
        text = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(text.split())


def _without_trailing_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text
