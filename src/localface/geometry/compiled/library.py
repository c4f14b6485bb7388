"""The compiled library: loaded once where it was built, else None.

Set ``LOCALFACE_COMPILED=0`` to do without it. Answers are the same either way.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

LIBRARY = Path(__file__).with_name("_kernels.so")
"""Where the library is built; the name is the same on every platform."""

_NUMBER = ctypes.c_int64
_ADDRESS = ctypes.c_void_p
_SIGNATURES: dict[str, tuple[type | None, list[type]]] = {
    "fill_slots": (None, [_ADDRESS, _NUMBER, _NUMBER, _ADDRESS, _NUMBER]),
    "first_of_equals": (None, [_ADDRESS, _NUMBER, _NUMBER, _ADDRESS, _NUMBER, _ADDRESS]),
    "rows_at": (None, [_ADDRESS, _NUMBER, _ADDRESS, _ADDRESS]),
    "judge_segments": (ctypes.c_int, [_ADDRESS, _NUMBER, *[_ADDRESS] * 8]),
    "judge_states": (ctypes.c_int, [_ADDRESS, _NUMBER, *[_ADDRESS] * 5]),
    "lowest_log_sums": (ctypes.c_int, [_ADDRESS, _NUMBER, *[_ADDRESS] * 4]),
    "lowest_pairs": (ctypes.c_int, [_ADDRESS, _NUMBER, *[_ADDRESS] * 6, ctypes.c_int, _ADDRESS]),
    "apply_lines": (None, [_ADDRESS, _NUMBER, _ADDRESS, _ADDRESS]),
    "nearest_codes": (None, [*[_ADDRESS] * 6, _NUMBER, _ADDRESS, _ADDRESS]),
    "take_over_values": (
        None,
        [_NUMBER, _NUMBER, _NUMBER, _ADDRESS, _ADDRESS, _NUMBER, *[_ADDRESS] * 3],
    ),
    "state_distances": (None, [_ADDRESS, _ADDRESS]),
    "sum_of_leaves": (None, [_ADDRESS, _NUMBER, _NUMBER, _ADDRESS, _ADDRESS]),
}


@cache
def load_library() -> ctypes.CDLL | None:
    """Return the compiled library, or None where it was not built or is not wanted."""
    if os.environ.get("LOCALFACE_COMPILED") == "0" or not LIBRARY.exists():
        return None
    try:
        library = ctypes.CDLL(str(LIBRARY))
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(library, name)
            function.restype = result
            function.argtypes = arguments
    except (OSError, AttributeError):  # built for another platform, or from older sources
        return None
    return library


def address(array: npt.NDArray[np.generic]) -> int:
    """Return where the values of a contiguous array are."""
    found: int = array.__array_interface__["data"][0]
    return found


def check_memory(failed: int) -> None:
    """Raise where a function could not get the memory it needs."""
    if failed:
        raise MemoryError("not enough memory to judge steps")
