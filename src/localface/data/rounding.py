"""Round numbers, as people would choose them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from math import ceil, floor, isfinite, log10

import numpy as np

_STEPS = (5, 2, 1)
_NEARLY = 1 + 1e-6  # of the interval: a product of floats may be off by its last digits
_FINEST = 12  # digits beyond the size of the interval that are tried


_POWERS = range(308, -309, -1)  # those of ten that are looked up
_SIZES = np.array([step * 10.0**power for power in _POWERS for step in _STEPS])


def roundest_between(near: float, far: float) -> float:
    """Return the roundest number from ``near`` to ``far``; of several, the one nearest to ``near``.

    >>> roundest_between(50.805, 53.0), roundest_between(-1.234, -1.31), roundest_between(7.0, 7.0)
    (52.0, -1.3, 7.0)
    """
    width = abs(far - near)
    if width == 0 or not isfinite(width):
        return near
    largest = max(abs(near), abs(far))
    exponent = floor(log10(largest)) + 1 if largest else 0
    for power in range(exponent, exponent - _FINEST - 4, -1):
        for step in _STEPS:
            size = step * 10.0**power
            if size > 2 * largest:
                continue
            count = ceil(near / size) if far > near else floor(near / size)
            if abs(count * size - near) > width * _NEARLY:
                continue  # far outside: not worth an exact decimal
            found = float(Decimal(count * step).scaleb(power))
            if min(near, far) <= found <= max(near, far):
                return found + 0.0
    return near


def roundest_between_each(near: Sequence[float], far: Sequence[float]) -> list[float]:
    """Return the same for many pairs of numbers at once.

    >>> roundest_between_each([50.805, 7.0], [53.0, 7.0])
    [52.0, 7.0]
    """
    nears, fars = np.asarray(near, dtype=np.float64), np.asarray(far, dtype=np.float64)
    widths = np.abs(fars - nears)
    largest = np.maximum(np.abs(nears), np.abs(fars))
    usual = (widths > 0) & (largest < 1e300) & (largest > 1e-280)
    sized = zip(largest.tolist(), usual.tolist(), strict=True)
    exponents = [floor(log10(one)) + 1 if fine else 0 for one, fine in sized]
    n_tried = len(_STEPS) * (_FINEST + 4)
    firsts = len(_STEPS) * (_POWERS[0] - np.array(exponents, dtype=np.int64))
    sizes = _SIZES[firsts[:, None] + np.arange(n_tried)]
    counts = nears[:, None] / sizes
    counts = np.where((fars > nears)[:, None], np.ceil(counts), np.floor(counts))
    close = np.abs(counts * sizes - nears[:, None]) <= (widths * _NEARLY)[:, None]
    close &= sizes <= 2 * largest[:, None]
    found = []
    for i, j in enumerate(close.argmax(axis=1).tolist()):
        low, high = min(near[i], far[i]), max(near[i], far[i])
        one = np.nan
        if usual[i] and close[i, j]:
            step, power = _STEPS[j % len(_STEPS)], exponents[i] - j // len(_STEPS)
            one = float(f"{int(counts[i, j]) * step}e{power}")
        # The product was off by its last digits, or nothing is near: all are tried, one by one.
        found.append(one + 0.0 if low <= one <= high else roundest_between(near[i], far[i]))
    return found


def roundest_multiples(
    near: Sequence[float], far: Sequence[float], step: float, *, upwards: Sequence[bool]
) -> list[float]:
    """Return the roundest number between each two, of multiples of ``step`` where there is one.

    Where no multiple lies between them, the next one after ``near``.
    """
    if not step:
        return roundest_between_each(near, far)
    firsts, lasts = [], []
    for start, end, up in zip(near, far, upwards, strict=True):
        first = ceil(round(start / step, 9)) if up else floor(round(start / step, 9))
        firsts.append(first)
        lasts.append(max(first, end / step) if up else min(first, end / step))
    exact = Decimal(str(step))
    return [float(exact * int(one)) for one in roundest_between_each(firsts, lasts)]
