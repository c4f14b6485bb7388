"""The different states that a person may take over from rows, compiled."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable

import numpy as np

from localface.geometry.bounds import Bounds
from localface.geometry.compiled.library import address, check_memory, load_library
from localface.geometry.compiled.states import group_arrays
from localface.geometry.projection import Projection
from localface.types import Array

_LIMITS = ("lower", "upper", "kept", "comparable_lower", "comparable_upper", "least", "most")
_GROUPS = ("group_firsts", "group_columns", "group_decides")


class _Composing(ctypes.Structure):
    """As in composing.c."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("width", "n_groups")),
        *((name, ctypes.c_void_p) for name in (*_LIMITS, *_GROUPS)),
    )


def compose_states(
    blocks: Iterable[Array], n_rows: int, projection: Projection, bounds: Bounds
) -> Array | None:
    """Return the different states of rows at points within bounds; None: NumPy has to.

    Rows come in blocks, ``n_rows`` in all. States are in the order of the first row that comes to
    each; rows that are not comparable are left out.
    """
    library = load_library()
    if library is None:
        return None
    width = len(projection.kept)
    comparable = projection.comparable or Bounds.unlimited(width)
    limits = (projection.bounds.lower, projection.bounds.upper, projection.kept)
    beyond = (comparable.lower, comparable.upper, bounds.lower, bounds.upper)
    arrays = [np.ascontiguousarray(one, dtype=np.float64) for one in (*limits, *beyond)]
    groups = group_arrays(projection)[1:]
    question = _Composing(
        width, len(projection.taken_together), *map(address, arrays), *map(address, groups)
    )
    states = np.empty((n_rows + 1, width))  # one more: where the next one is tried
    slots = np.full(1 << (2 * n_rows + 1).bit_length(), -1, dtype=np.int32)
    found = 0
    for points in blocks:
        points = np.ascontiguousarray(points, dtype=np.float64)
        found = library.compose_states(
            ctypes.addressof(question),
            len(points),
            address(points),
            address(states),
            found,
            address(slots),
            len(slots),
        )
        check_memory(found < 0)
    return states[:found]
