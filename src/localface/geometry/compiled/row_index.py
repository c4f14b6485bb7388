"""Which row lies exactly at a point, compiled."""

from __future__ import annotations

import ctypes

import numpy as np

from localface.geometry.compiled.library import address, load_library
from localface.types import Array, Ids, Mask


class _RowIndex(ctypes.Structure):
    """As in steps.c."""

    _fields_ = (
        ("width", ctypes.c_int64),
        ("n_slots", ctypes.c_int64),
        ("points", ctypes.c_void_p),
        ("slots", ctypes.c_void_p),
    )


class RowIndex:
    """A hash table of different rows by their points."""

    def __init__(self, library: ctypes.CDLL, points: Array) -> None:
        self._library = library
        self._points = np.ascontiguousarray(points, dtype=np.float64)
        n_rows, width = self._points.shape
        self._slots = np.empty(1 << (2 * n_rows).bit_length(), dtype=np.int64)
        library.fill_slots(
            address(self._points), n_rows, width, address(self._slots), len(self._slots)
        )
        self._struct = _RowIndex(
            width, len(self._slots), address(self._points), address(self._slots)
        )
        self.address = ctypes.addressof(self._struct)

    @classmethod
    def or_none(cls, points: Array) -> RowIndex | None:
        """Make an index where the library is there."""
        library = load_library()
        return None if library is None else cls(library, points)

    def rows_at(self, points: Array) -> Ids:
        """Return the rows that lie exactly at points; -1 where there is none."""
        points = np.ascontiguousarray(points, dtype=np.float64)
        found = np.empty(len(points), dtype=np.int64)
        self._library.rows_at(self.address, len(points), address(points), address(found))
        return found


def first_of_equals(points: Array) -> Mask | None:
    """Tell which points equal none before them; None: NumPy has to."""
    library = load_library()
    if library is None:
        return None
    points = np.ascontiguousarray(points)
    n, width = points.shape
    slots = np.empty(1 << (2 * n).bit_length(), dtype=np.int64)
    first = np.empty(n, dtype=bool)
    library.first_of_equals(address(points), n, width, address(slots), len(slots), address(first))
    return first
