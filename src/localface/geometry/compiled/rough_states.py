"""Rough distances to states that a person may take over from rows in cells, compiled."""

from __future__ import annotations

import ctypes

import numpy as np

from localface.geometry.compiled.library import address, load_library
from localface.types import Floats, Ids

_FLOATS = ("near", "lower", "upper", "least", "most", "point")
_LANE = 16  # columns worked on at a time
_NOTHING = (0.0, 0.0, -np.inf, np.inf, 0.0)  # limits and point of columns that add nothing


class _RoughStates(ctypes.Structure):
    """As in states.c."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("n_rows", "stride", "padded")),
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
    padded = -(-len(limits[0]) // _LANE) * _LANE
    arrays = [_padded(one, padded, rest) for one, rest in zip(limits, _NOTHING, strict=True)]
    firsts, lasts = (np.ascontiguousarray(one, dtype=np.int64) for one in ranges)
    question = _RoughStates(*near.shape, padded, address(near), *map(address, arrays))
    spare = np.zeros(padded + near.shape[1], dtype=np.float32)
    squares = np.empty(int((lasts - firsts).sum()), dtype=np.float32)
    library.rough_state_squares(
        ctypes.addressof(question),
        len(firsts),
        *map(address, (firsts, lasts, spare, squares)),
    )
    return squares


def _padded(values: Floats, n: int, rest: float) -> Floats:
    found = np.full(n, rest, dtype=np.float32)
    found[: len(values)] = values
    return found
