"""Round numbers, as people would choose them."""

from __future__ import annotations

from decimal import Decimal
from math import ceil, floor, isfinite, log10

_STEPS = (5, 2, 1)
_NEARLY = 1 + 1e-6  # of the interval: a product of floats may be off by its last digits
_FINEST = 12  # digits beyond the size of the interval that are tried


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


def roundest_multiple(near: float, far: float, step: float, *, upwards: bool) -> float:
    """Return the roundest number between two, of multiples of ``step`` where there is one.

    Where no multiple lies between them, the next one after ``near``.
    """
    if not step:
        return roundest_between(near, far)
    first = ceil(round(near / step, 9)) if upwards else floor(round(near / step, 9))
    last = max(first, far / step) if upwards else min(first, far / step)
    return float(Decimal(str(step)) * int(roundest_between(first, last)))
