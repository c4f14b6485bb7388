"""Exponentials of many numbers at once, compiled.

Where a processor works on four numbers at a time NumPy's own takes each by itself.
"""

from __future__ import annotations

import numpy as np

from localface.geometry.compiled.library import address, load_library
from localface.types import Array


def exponentials(logs: Array) -> Array:
    """Put the exponentials of numbers, none of them above 0 but for rounding, in their place.

    Off by a few units in the last digit at most. NumPy does it where nothing is compiled.
    """
    library = load_library()
    if library is None:
        return np.exp(logs, out=logs)
    values = np.ascontiguousarray(logs)
    library.exponentials(address(values), values.size)
    if values is not logs:
        logs[...] = values
    return logs
