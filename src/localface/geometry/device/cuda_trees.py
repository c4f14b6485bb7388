"""The descent through trees, on a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from localface.geometry.compiled.tree_tables import lay_out_nodes
from localface.geometry.device.cuda import cupy, put_on_device
from localface.types import Array

_THREADS = 128
_RECORDS = 2**20  # at a time


@cache
def _sum_of_leaves(real: str) -> Any:
    """Compile the kernel for trees that answer in double or in single precision."""
    source = Path(__file__).with_name("trees.cu").read_text()
    module = cupy().RawModule(code=source, options=(f"-DREAL={real}", "--std=c++14"))
    return module.get_function("sum_of_leaves")


class CudaTrees:
    """The nodes of trees in the memory of a GPU; see ``TreeTables``."""

    def __init__(self, arrays: Mapping[str, npt.NDArray[np.generic]]) -> None:
        self._arrays = dict(arrays)

    @cached_property
    def _there(self) -> tuple[Any, ...]:
        """The nodes on the device, in the order of the kernel's arguments."""
        arrays = self._arrays
        names = ("roots", "nodes", "missing_right", "category_list", "category_right", "value")
        found = {name: put_on_device(arrays[name]) for name in names if name != "nodes"}
        found["nodes"] = put_on_device(lay_out_nodes(arrays).view(np.uint8))
        if not len(arrays["category_right"]):
            found["category_list"] = np.uint64(0)
        return tuple(found[name] for name in names)

    def sum_of_leaves(
        self, records: Array, start: npt.NDArray[np.floating]
    ) -> npt.NDArray[np.floating]:
        """Add up what the trees answer, one after another, beginning with ``start``."""
        value = self._arrays["value"]
        total = np.tile(np.asarray(start, dtype=value.dtype), (len(records), 1))
        sizes = (len(self._arrays["roots"]), value.shape[1])
        numbers = (*sizes, self._arrays["category_right"].shape[1])
        for first in range(0, len(records), _RECORDS):
            some = put_on_device(records[first : first + _RECORDS], np.float64)
            summed = put_on_device(total[first : first + _RECORDS])
            shape = map(np.int64, (*some.shape, *numbers))
            run = _sum_of_leaves("float" if value.dtype == np.float32 else "double")
            grid = (-(-len(some) // _THREADS),)
            run(grid, (_THREADS,), (*shape, *self._there, some, summed))
            total[first : first + _RECORDS] = summed.get()
        return total
