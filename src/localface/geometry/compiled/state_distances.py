"""How far the states are that a person may take over from rows, compiled."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from localface.geometry.compiled.library import address
from localface.types import Array, Ids, Mask

_FLOATS = ("columns", "point", "lower", "upper", "allowed_lower", "allowed_upper", "kept")
_WHOLE = ("alone", "group_firsts", "group_columns", "group_decides")


class _StateQuestion(ctypes.Structure):
    """As in values.c."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("n_rows", "width", "n_groups")),
        *((name, ctypes.c_void_p) for name in (*_FLOATS, *_WHOLE)),
    )


def state_distances(
    library: ctypes.CDLL,
    columns: Array,
    point: Array,
    limits: tuple[Array, Array],
    *,
    allowed: tuple[Array, Array],
    kept: Array,
    groups: Sequence[tuple[Ids, Mask]],
) -> Array:
    """Return squared distances from a point to the states of all rows.

    ``columns`` are those of the rows. Values are cut short at the limits; a group of columns
    (with which of them decide) is as in ``kept`` where one that decides would be cut. Rows
    outside what is allowed are infinitely far.
    """
    alone = np.ones(len(point), dtype=np.int64)
    members = [np.zeros(0, dtype=np.int64), *(one for one, _ in groups)]
    group_columns = np.concatenate(members).astype(np.int64)
    alone[group_columns] = 0
    decides = np.concatenate([np.zeros(0, dtype=bool), *(mask for _, mask in groups)])
    floats = [columns, point, *limits, *allowed, kept]
    whole = [alone, np.cumsum([len(one) for one in members]), group_columns, decides]
    arrays = [np.ascontiguousarray(one, dtype=np.float64) for one in floats]
    arrays += [np.ascontiguousarray(one, dtype=np.int64) for one in whole]
    question = _StateQuestion(
        n_rows=columns.shape[1],
        width=len(point),
        n_groups=len(groups),
        **dict(zip((*_FLOATS, *_WHOLE), map(address, arrays), strict=True)),
    )
    found = np.empty(columns.shape[1])
    library.state_distances(ctypes.addressof(question), address(found))
    return found
