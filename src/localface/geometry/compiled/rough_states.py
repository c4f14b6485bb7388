"""Rough distances to states that a person may take over from rows in cells, compiled."""

from __future__ import annotations

import ctypes

import numpy as np

from localface.geometry.compiled.library import address, load_library
from localface.types import Floats, Ids

_FLOATS = ("near", "lower", "upper", "least", "most", "point")


class _RoughStates(ctypes.Structure):
    """As in states.c."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("stride", "width")),
        *((name, ctypes.c_void_p) for name in _FLOATS),
    )


def rough_state_squares(
    near: Floats, ranges: tuple[Ids, Ids], limits: tuple[Floats, ...]
) -> Floats | None:
    """Return squared distances in single precision to the states of rows; None: NumPy has to.

    ``near`` has a line a row, which begins with its point; ``ranges`` are the first rows and the
    last ones, not included. ``limits`` are the values at which states are cut short (lowest,
    highest), those beyond which they are left out (likewise), and the point.
    """
    library = load_library()
    if library is None or not near.flags.c_contiguous or near.dtype != np.float32:
        return None
    arrays = [np.ascontiguousarray(one, dtype=np.float32) for one in limits]
    firsts, lasts = (np.ascontiguousarray(one, dtype=np.int64) for one in ranges)
    question = _RoughStates(near.shape[1], len(arrays[0]), address(near), *map(address, arrays))
    squares = np.empty(int((lasts - firsts).sum()), dtype=np.float32)
    library.rough_state_squares(
        ctypes.addressof(question), len(firsts), address(firsts), address(lasts), address(squares)
    )
    return squares
