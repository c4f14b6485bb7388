"""Checks of options: each says what came and what was wanted."""

from __future__ import annotations

import math
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any

from localface.errors import InputError, did_you_mean


def raise_on_mistakes(mistakes: Iterator[tuple[str, str]]) -> None:
    """Raise one error that tells every mistake; its ``option`` is the first of them."""
    found = list(mistakes)
    if found:
        raise InputError("; ".join(text for _, text in found), option=found[0][0])


def min_score_mistakes(value: object) -> Iterator[tuple[str, str]]:
    """What is wrong with a score to reach."""
    if not is_number(value):
        yield "min_score", f"min_score={value!r}: a finite number is wanted"


def min_density_mistakes(value: Any) -> Iterator[tuple[str, str]]:
    """What is wrong with a floor."""
    if not (is_number(value) and 0 <= value < 1):
        share = "a share from 0 to below 1 is wanted"
        meaning = "(0.05 means: no state more unusual than 95 % of people's)"
        yield "min_density", f"min_density={value!r}: {share} {meaning}"


def choice_mistakes(name: str, value: object, known: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """What is wrong with an option that is one of some words."""
    if value not in known:
        listed = ", ".join(map(repr, known))
        yield name, f"{name}={value!r}: one of {listed} is wanted{did_you_mean(value, known)}"


def whole_number_mistakes(name: str, value: object, least: int) -> Iterator[tuple[str, str]]:
    """What is wrong with a whole number."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        yield name, f"{name}={value!r}: a whole number of at least {least} is wanted"


def positive_number_mistakes(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """What is wrong with a positive number, or None."""
    if value is not None and not (is_number(value) and value > 0):
        yield name, f"{name}={value!r}: a positive number is wanted, or None"


def share_mistakes(name: str, value: object, of: str) -> Iterator[tuple[str, str]]:
    """What is wrong with a share above 0."""
    if not is_share(value):
        yield name, f"{name}={value!r}: a share {of} above 0, up to 1, is wanted (0.9 means 90 %)"


def lasting_mistakes(value: Any) -> Iterator[tuple[str, str]]:
    """What is wrong with a probability that an answer is to last with."""
    if not (is_number(value) and 0 < value < 1):
        wanted = "a probability above 0 and below 1 is wanted (0.9 means 90 %)"
        yield "lasting", f"lasting={value!r}: {wanted}"


def is_share(value: object) -> bool:
    """Tell whether a value is a share above 0."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return 0 < float(value) <= 1


def is_number(value: object) -> bool:
    """Tell whether a value is a finite number; a text such as "0.5" is none."""
    if isinstance(value, str | bytes):
        return False
    try:
        return math.isfinite(float(value))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False


def to_plain_value(value: object) -> object:
    """A setting as JSON can hold it, NumPy's numbers too; anything else by the name of its type."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    return type(value).__name__
