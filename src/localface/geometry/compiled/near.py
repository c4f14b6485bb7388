"""Which rows are nearest, and which segments touch holes, compiled."""

from __future__ import annotations

import ctypes

import numpy as np

from localface.geometry.compiled.library import address, check_memory, load_library
from localface.types import Array, Ids, Mask


class _NearQuestion(ctypes.Structure):
    """As in near.c."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("n_rows", "width", "k")),
        *((name, ctypes.c_void_p) for name in ("points", "lower", "upper", "point")),
        ("radius", ctypes.c_double),
    )


def nearest_allowed(
    points: Array,
    rough: Array,
    asked: tuple[Array, int, float],
    limits: tuple[Array, Array],
    edge: float,
) -> tuple[Ids, Array] | None:
    """Return the nearest allowed of the rows within a rough squared distance; None: NumPy has to.

    ``asked`` are the point, how many rows, and how far; ``limits`` the lowest and the highest
    point that is allowed.
    """
    library = load_library()
    if library is None or not points.flags.c_contiguous or points.dtype != np.float64:
        return None
    point, k, radius = asked
    lower, upper, point, rough = map(_numbers, (*limits, point, rough))
    n_rows, width = points.shape
    question = _NearQuestion(
        n_rows, width, k, address(points), address(lower), address(upper), address(point), radius
    )
    most = min(k, n_rows)
    rows = np.empty(most, dtype=np.int64)
    distances = np.empty(most)
    found = library.nearest_allowed(
        ctypes.addressof(question), address(rough), edge, address(rows), address(distances)
    )
    check_memory(found < 0)
    return rows[:found], distances[:found]


def touch_holes(centres: Array, radii: Array, starts: Array, ends: Array) -> Mask | None:
    """Tell which segments touch any of some holes; None: NumPy has to."""
    library = load_library()
    if library is None:
        return None
    centres, radii, starts, ends = map(_numbers, (centres, radii, starts, ends))
    touched = np.zeros(len(ends), dtype=bool)
    check_memory(
        library.touch_holes(
            len(centres), centres.shape[1], address(centres), address(radii), len(ends),
            address(starts), address(ends), address(touched),
        )
    )  # fmt: skip
    return touched


def _numbers(values: Array) -> Array:
    return np.ascontiguousarray(values, dtype=np.float64)
