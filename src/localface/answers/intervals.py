"""How sure a counted share is."""

from __future__ import annotations

import math

_Z = 1.959963984540054  # of a 95 % interval


def wilson_interval(share: float, n: int) -> tuple[float, float]:
    """The 95 % Wilson interval of a share.

    >>> [round(end, 3) for end in wilson_interval(11 / 14, 14)]
    [0.524, 0.924]
    """
    z2 = _Z * _Z
    middle = share + z2 / (2 * n)
    half = _Z * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    low = 0.0 if share == 0 else max(0.0, (middle - half) / (1 + z2 / n))
    high = 1.0 if share == 1 else min(1.0, (middle + half) / (1 + z2 / n))
    return low, high
