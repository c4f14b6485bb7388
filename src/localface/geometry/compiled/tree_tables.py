"""Trees laid out for compiled code, which goes through them."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from localface.geometry.compiled.library import address, check_memory, load_library
from localface.geometry.compiled.small_trees import MANY, SmallTrees
from localface.types import Array

_NUMBERS = ("n_trees", "n_outputs", "n_categories", "depth", "single")
_ARRAYS = ("roots", "nodes", "missing_right", "category_list", "category_right", "value")
_NODE = np.dtype([("threshold", np.float64), ("left", np.int32), ("feature", np.int32)])


class _Trees(ctypes.Structure):
    """As in trees.c."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in _NUMBERS),
        *((name, ctypes.c_void_p) for name in _ARRAYS),
    )


def lay_out_nodes(arrays: Mapping[str, npt.NDArray[np.generic]]) -> npt.NDArray[np.void]:
    """Put what a node holds side by side, as trees.c wants it."""
    nodes = np.empty(len(arrays["left"]), dtype=_NODE)
    for name in _NODE.names or ():
        nodes[name] = arrays[name]
    return nodes


class TreeTables:
    """The nodes of trees, end to end, by the names that ``Trees`` has for them."""

    def __init__(
        self, library: ctypes.CDLL, arrays: Mapping[str, npt.NDArray[np.generic]], depth: int
    ) -> None:
        self._library = library
        kept = {name: arrays[name] for name in _ARRAYS if name != "nodes"}
        self._arrays = {name: np.ascontiguousarray(array) for name, array in kept.items()}
        self._arrays["nodes"] = lay_out_nodes(arrays)
        value = self._arrays["value"]
        self._dtype = value.dtype
        by_numbers = not len(self._arrays["category_right"])
        self._struct = _Trees(
            n_trees=len(arrays["roots"]),
            n_outputs=value.shape[1],
            n_categories=self._arrays["category_right"].shape[1],
            depth=depth,
            single=value.dtype == np.float32,
            **{name: address(array) for name, array in self._arrays.items()},
        )
        if by_numbers:
            self._struct.category_list = None
        self._address = ctypes.addressof(self._struct)
        nodes = {
            **self._arrays,
            **{name: arrays[name] for name in ("left", "feature", "threshold")},
        }
        self._small = SmallTrees.or_none(library, nodes)

    @classmethod
    def or_none(
        cls, arrays: Mapping[str, npt.NDArray[np.generic]], depth: int
    ) -> TreeTables | None:
        """Lay trees out where the library is there."""
        library = load_library()
        return None if library is None else cls(library, arrays, depth)

    def sum_of_leaves(
        self, records: Array, start: npt.NDArray[np.floating]
    ) -> npt.NDArray[np.floating]:
        """Add up what the trees answer, one after another, beginning with ``start``."""
        records = np.ascontiguousarray(records, dtype=np.float64)
        total = np.tile(np.asarray(start, dtype=self._dtype), (len(records), 1))
        if self._small is not None and len(records) >= MANY and not np.isnan(records).any():
            self._small.add_up(records, total)
            return total
        add_up = self._library.sum_of_leaves
        check_memory(
            add_up(self._address, len(records), records.shape[1], address(records), address(total))
        )
        return total
