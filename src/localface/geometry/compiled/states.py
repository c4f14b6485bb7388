"""The states that a person may take over from rows, compiled: how far they are, the nearest."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from localface.geometry.bounds import Bounds
from localface.geometry.compiled.library import address, check_memory
from localface.geometry.projection import Projection
from localface.geometry.settling import rounding_of_products
from localface.types import Array, Ids, Mask

_FLOATS = ("columns", "point", "lower", "upper", "allowed_lower", "allowed_upper", "kept")
_SPARSE = ("sparse_squares", "sparse")
_WHOLE = ("cuts", "alone", "group_firsts", "group_columns", "group_decides")
_LIMITS = ("lower", "upper", "comparable_lower", "comparable_upper")


class _StateQuestion(ctypes.Structure):
    """As in states.c."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("n_rows", "width", "n_groups")),
        *((name, ctypes.c_void_p) for name in (*_FLOATS, *_SPARSE, *_WHOLE)),
    )


class _NearestQuestion(ctypes.Structure):
    """As in states.c."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("states", "points", *_LIMITS)),
        ("k", ctypes.c_int64),
        *((name, ctypes.c_double) for name in ("radius", "square", "rounding")),
    )


class SparseColumns(NamedTuple):
    """Columns that are mostly zero, and taken over as they are or not at all: categories.

    ``squares`` are what they add to the squared length of each row: those in no group, and then
    those of each group.
    """

    squares: Array
    are_sparse: Ids


@dataclass(frozen=True, slots=True, eq=False)
class NearestStates:
    """The rows that states are taken from, their distances, values, and which are no row's own."""

    rows: Ids
    distances: Array
    points: Array
    moved: Mask


class StateScan:
    """Rows as states of one person, seen from a point.

    ``points`` are the rows, ``columns`` the same column by column. Rows outside what is
    ``allowed``, the lowest and the highest point, may be left out. In columns that it ``cuts``
    some row is beyond the limits; ``sparse`` ones are not looked at where the point is zero.
    """

    def __init__(
        self,
        library: ctypes.CDLL,
        points: Array,
        columns: Array,
        *,
        projection: Projection,
        point: Array,
        allowed: tuple[Array, Array],
        cuts: Mask,
        sparse: SparseColumns | None,
    ) -> None:
        self._library = library
        self._points = np.ascontiguousarray(points, dtype=np.float64)
        self._projection = projection
        limits = projection.bounds
        floats = [columns, point, limits.lower, limits.upper, *allowed, projection.kept]
        arrays = [np.ascontiguousarray(one, dtype=np.float64) for one in floats]
        whole = [cuts.astype(np.int64), *group_arrays(projection)]
        self._point = arrays[1]
        self._kept_alive = (arrays, sparse, whole)  # the question has their addresses
        self._question = _StateQuestion(
            *self._points.shape,
            len(projection.taken_together),
            *map(address, arrays),
            *((None, None) if sparse is None else map(address, sparse)),
            *map(address, whole),
        )

    def squared_distances(self) -> Array:
        """Return squared distances to the states of all rows, infinite for those left out."""
        found = np.empty(len(self._points))
        check_memory(
            self._library.state_distances(ctypes.addressof(self._question), address(found))
        )
        return found

    def nearest(self, rough: Array, k: int, radius: float, bounds: Bounds) -> NearestStates:
        """Return the ``k`` nearest different states within a radius and bounds, but the point.

        ``rough`` are the squared distances of all rows, infinite where one is left out.
        """
        points = self._points
        width = points.shape[1]
        comparable = self._projection.comparable or Bounds.unlimited(width)
        limits = [bounds.lower, bounds.upper, comparable.lower, comparable.upper]
        arrays = [points, *(np.ascontiguousarray(one, dtype=np.float64) for one in limits)]
        most = min(k, len(points))  # memory is taken for as many
        question = _NearestQuestion(
            ctypes.addressof(self._question),
            *map(address, arrays),
            most,
            radius,
            float((self._point * self._point).sum()),
            float(rounding_of_products(1.0, width)),
        )
        rows = np.empty(most, dtype=np.int64)
        distances = np.empty(most)
        states = np.empty((most, width))
        moved = np.empty(most, dtype=bool)
        results = map(address, (rows, distances, states, moved))
        found = self._library.nearest_states(ctypes.addressof(question), address(rough), *results)
        check_memory(found < 0)
        return NearestStates(rows[:found], distances[:found], states[:found], moved[:found])


def group_arrays(projection: Projection) -> list[Ids]:
    """Which columns are alone, where each group begins, its columns, and which of them decide."""
    nothing = np.zeros(0, dtype=np.int64)
    members = [nothing, *projection.taken_together]
    columns = np.concatenate(members)
    alone = np.ones(len(projection.kept), dtype=np.int64)
    alone[columns] = 0
    decides = np.ones(len(columns), dtype=np.int64)
    if len(projection.part_of_the_way):
        decides = (~projection.part_of_the_way[columns]).astype(np.int64)
    return [alone, np.cumsum([len(one) for one in members]), columns, decides]
