"""How a number of a record is written: with the decimals that it has."""

from __future__ import annotations

from functools import cache
from math import ceil, floor, isfinite, log10

import numpy as np

_NOISE = 1e-12  # of a number: by so much arithmetic may be off
_MOST_DIGITS = 10  # that somebody types: a number with more was worked out by a machine
_SHORT = 4  # digits of such a number that are written
_LARGEST = 15  # digits before the point up to which a number is written out


def number_text(value: float, resolution: float | None = None) -> str:
    """Write a number as it is; one with more digits than anybody types is cut short.

    A coarse resolution takes nothing away.

    >>> number_text(37.300000001, 0.1), number_text(6.8, 5), number_text(43210.37)
    ('37.3', '6.8', '43210.37')
    >>> number_text(6.847123498713, 5), number_text(123456.789012345), number_text(2.5e-7)
    ('6.847', '123457', '2.5e-07')
    """
    before_point = floor(log10(abs(value))) + 1 if value and isfinite(value) else 1
    if not isfinite(value) or before_point > _LARGEST:
        return f"{value:.{_SHORT}g}"
    if resolution is None:
        return _trim_zeros(_text_without_resolution(value, before_point))
    fewest = decimals_of(float(resolution))
    for decimals in range(fewest, max(fewest, _MOST_DIGITS - before_point) + 1):
        text = f"{value:.{decimals}f}"
        if _says(text, value) or abs(float(text) - value) <= _NOISE * resolution:
            return _trim_zeros(text)
    return _trim_zeros(f"{value:.{max(fewest, _SHORT - before_point)}f}")


@cache
def decimals_of(resolution: float) -> int:
    """How many decimals multiples of a resolution have: two of 0.25, where that is told."""
    fewest = max(0, ceil(-log10(resolution) - 1e-9))
    for decimals in range(fewest, fewest + 3):
        if abs(round(resolution, decimals) - resolution) <= 1e-9 * resolution:
            return decimals
    return fewest


def _text_without_resolution(value: float, before_point: int) -> str:
    short = f"{value:.0f}" if before_point > _SHORT else f"{value:.{_SHORT}g}"
    if _says(short, value):
        return short
    longer = range(max(_SHORT, before_point) + 1, _MOST_DIGITS + 1)
    texts = (f"{value:.{digits}g}" for digits in longer)
    return next((text for text in texts if _says(text, value)), short)


def _says(text: str, value: float) -> bool:
    """Tell whether a text is a number, also one that was kept in single precision."""
    said = float(text)
    return abs(said - value) <= _NOISE * abs(value) or float(np.float32(said)) == value


def _trim_zeros(text: str) -> str:
    if "." in text and "e" not in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
