"""The compiled library: loaded once where it was built, else None.

Set ``LOCALFACE_COMPILED=0`` to do without it. Answers are the same either way, and
``localface --version`` says whether it is in use.
"""

from __future__ import annotations

import ctypes
import os
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

LIBRARY = Path(__file__).with_name("_kernels.so")

_NUMBER = ctypes.c_int64
_ADDRESS = ctypes.c_void_p
_SIGNATURES: dict[str, tuple[type | None, list[type]]] = {
    "fingerprint": (ctypes.c_uint64, []),
    "fill_slots": (None, [_ADDRESS, _NUMBER, _NUMBER, _ADDRESS, _NUMBER]),
    "first_of_equals": (None, [_ADDRESS, _NUMBER, _NUMBER, _ADDRESS, _NUMBER, _ADDRESS]),
    "rows_at": (None, [_ADDRESS, _NUMBER, _ADDRESS, _ADDRESS]),
    "judge_segments": (ctypes.c_int, [_ADDRESS, _NUMBER, *[_ADDRESS] * 8]),
    "judge_states": (ctypes.c_int, [_ADDRESS, _NUMBER, *[_ADDRESS] * 5]),
    "lowest_log_sums": (ctypes.c_int, [_ADDRESS, _NUMBER, *[_ADDRESS] * 4]),
    "lowest_pairs": (ctypes.c_int, [_ADDRESS, _NUMBER, *[_ADDRESS] * 7, ctypes.c_int, _ADDRESS]),
    "judge_on_ground": (ctypes.c_int, [_ADDRESS, _NUMBER, *[_ADDRESS] * 10]),
    "lowest_on_ground": (ctypes.c_int, [_ADDRESS, _NUMBER, *[_ADDRESS] * 7]),
    "nearest_allowed": (_NUMBER, [_ADDRESS, _ADDRESS, ctypes.c_double, _ADDRESS, _ADDRESS]),
    "touch_holes": (
        ctypes.c_int,
        [_NUMBER, _NUMBER, _ADDRESS, _ADDRESS, _NUMBER, _ADDRESS, _ADDRESS, _ADDRESS],
    ),
    "exponentials": (None, [_ADDRESS, _NUMBER]),
    "apply_lines": (None, [_ADDRESS, _NUMBER, _ADDRESS, _ADDRESS]),
    "nearest_codes": (None, [*[_ADDRESS] * 6, _NUMBER, _ADDRESS, _ADDRESS]),
    "take_over_values": (
        None,
        [_NUMBER, _NUMBER, _NUMBER, _ADDRESS, _ADDRESS, _NUMBER, *[_ADDRESS] * 3],
    ),
    "keep_within_limits": (None, [_NUMBER, _NUMBER, _NUMBER, *[_ADDRESS] * 7]),
    "state_distances": (ctypes.c_int, [_ADDRESS, _ADDRESS]),
    "nearest_states": (_NUMBER, [_ADDRESS] * 6),
    "compose_states": (_NUMBER, [_ADDRESS, _NUMBER, *[_ADDRESS] * 2, _NUMBER, _ADDRESS, _NUMBER]),
    "rough_state_squares": (None, [_ADDRESS, _NUMBER, *[_ADDRESS] * 4]),
    "sum_of_leaves": (ctypes.c_int, [_ADDRESS, _NUMBER, _NUMBER, _ADDRESS, _ADDRESS]),
    "sum_of_small_trees": (ctypes.c_int, [_ADDRESS, _NUMBER, _NUMBER, _ADDRESS, _ADDRESS]),
}


@cache
def load_library() -> ctypes.CDLL | None:
    """Return the compiled library, or None where it was not built or is not wanted."""
    if os.environ.get("LOCALFACE_COMPILED") == "0" or not LIBRARY.exists():
        return None
    try:
        return open_library(LIBRARY)
    except (OSError, AttributeError, ValueError) as error:
        warnings.warn(
            f"the compiled part of localface is not used, and NumPy does its work more slowly: "
            f"{error}. python -m localface.geometry.compiled.build builds it again",
            RuntimeWarning,
            stacklevel=2,
        )
        return None


_first_byte_of = ctypes.c_char.from_buffer


def open_library(path: Path) -> ctypes.CDLL:
    """Open a library that was built from the sources beside this file.

    Raises OSError where it is built for another platform, AttributeError or ValueError where
    it was built from other sources, whose structures may be laid out in another way.
    """
    from localface.geometry.compiled.build import fingerprint_of_sources  # run as a module too

    library = ctypes.CDLL(str(path))
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    expected = fingerprint_of_sources()
    if expected is not None and library.fingerprint() != expected:
        raise ValueError(f"{path.name} was built from other sources than those beside it")
    return library


def address(array: npt.NDArray[np.generic]) -> int:
    """Return where the values of a contiguous array are.

    It is asked hundreds of times for an answer: the first way takes a third as long, but not an
    array that is empty or may only be read.
    """
    try:
        return ctypes.addressof(_first_byte_of(array))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        found: int = array.__array_interface__["data"][0]
        return found


def check_memory(failed: int) -> None:
    """Raise where a function could not get the memory it needs."""
    if failed:
        raise MemoryError("not enough memory to judge steps")
