"""Piecewise linear functions of columns, and the codes of points, compiled."""

from __future__ import annotations

import ctypes

import numpy as np
import numpy.typing as npt

from localface.geometry.compiled.library import address, load_library
from localface.types import Array, Mask

_PARTS = ("knots", "anchors", "heights", "slopes", "tops")


class _Lines(ctypes.Structure):
    """As in values.c."""

    _fields_ = (
        ("n_columns", ctypes.c_int64),
        ("n_knots", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in _PARTS),
    )


class LineTables:
    """One increasing, piecewise linear function a column; see ``PiecewiseLines``."""

    def __init__(self, library: ctypes.CDLL, parts: tuple[Array, ...]) -> None:
        self._library = library
        self._parts = tuple(np.ascontiguousarray(part) for part in parts)
        addresses = dict(zip(_PARTS, map(address, self._parts), strict=True))
        n_columns, n_knots = self._parts[0].shape
        self._struct = _Lines(n_columns=n_columns, n_knots=n_knots, **addresses)
        self.address = ctypes.addressof(self._struct)

    @classmethod
    def or_none(cls, *parts: Array) -> LineTables | None:
        """Lay functions out where the library is there."""
        library = load_library()
        return None if library is None else cls(library, parts)

    def apply(self, columns: Array) -> Array:
        """Apply each column's function: (points, columns) to the same shape."""
        columns = np.ascontiguousarray(columns)
        found = np.empty(columns.shape)
        self._library.apply_lines(self.address, len(columns), address(columns), address(found))
        return found


class CodeTables:
    """From the columns of points to the nearest codes; see ``Space.records``.

    Parameters
    ----------
    to_codes, to_points : functions of the columns, and their inverses
    whole : the columns whose codes are whole
    limits : the first and the last code of each
    digits : how many digits codes are worth writing with; None where they stay as they are
    """

    def __init__(
        self,
        to_codes: LineTables,
        to_points: LineTables,
        *,
        whole: Mask,
        limits: tuple[Array, Array],
        digits: list[int | None],
    ) -> None:
        library = load_library()
        assert library is not None
        self._library = library
        tens = [0.0 if one is None else _power_of_ten(one) for one in digits]
        arrays: tuple[npt.NDArray[np.generic], ...] = (
            np.ascontiguousarray(whole, dtype=np.uint8),
            *(np.ascontiguousarray(limit, dtype=np.float64) for limit in limits),
            np.array(tens),
        )
        self._kept = (to_codes, to_points, arrays)  # as long as their addresses are in use
        self._addresses = (to_codes.address, to_points.address, *map(address, arrays))

    def nearest_codes(self, values: Array) -> Array:
        """Return the codes of columns, numbers with few digits where that is the same point."""
        values = np.ascontiguousarray(values)
        codes = np.empty(values.shape)
        self._library.nearest_codes(*self._addresses, len(values), address(values), address(codes))
        return codes


def _power_of_ten(digits: int) -> float:
    """The power of ten that numbers are rounded with, negative for digits before the point."""
    return 10.0**digits if digits >= 0 else -(10.0**-digits)
