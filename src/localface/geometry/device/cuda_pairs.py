"""What pairs of features say of the cells along steps, on a GPU."""

from __future__ import annotations

from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from localface.geometry.compiled.pair_rule import PairLayout
from localface.geometry.device.cuda import Placed, cupy, put_on_device
from localface.types import Array

_THREADS = 64  # as in pairs.cu
_BLOCKS = 4096  # segments under way at a time


@cache
def _lowest_pairs() -> Any:
    """Compile the kernel: nothing may be fused, so that it is the same to the last bit."""
    source = Path(__file__).with_name("pairs.cu").read_text()
    module = cupy().RawModule(code=source, options=("--fmad=false", "--std=c++14"))
    return module.get_function("lowest_pairs")


class CudaPairs:
    """Tables of pairs in the memory of a GPU; see ``PairRule``."""

    def __init__(self, layout: PairLayout) -> None:
        self.layout = layout
        self._n_features = len(layout.arrays["columns"])
        self._room = self._n_features * layout.arrays["edges"].shape[1] + 3

    @cached_property
    def _tables(self) -> tuple[Any, ...]:
        """The tables on the device, when they are first asked for: the structure, then the rest."""
        arrays = {name: put_on_device(one) for name, one in self.layout.arrays.items()}
        lines = [[put_on_device(one) for one in line] for line in self.layout.lines]
        addresses = {name: one.data.ptr for name, one in arrays.items()}
        struct = self.layout.fill(addresses, [[one.data.ptr for one in line] for line in lines])
        return put_on_device(np.frombuffer(bytes(struct), dtype=np.uint8)), arrays, lines

    def lowest_along(
        self,
        starts: Array,
        ends: Array,
        *,
        left_out: npt.NDArray[np.uint8],
        mean: Array,
        spread: Array,
        log_floors: Array | None = None,
        only_ends: bool = False,
    ) -> Array:
        """Return the lowest that pairs stand for along each segment; see ``PairRule``."""
        n = len(starts)
        if n == 0:
            return np.zeros(0)
        xp = cupy()
        placed = Placed(starts, ends, left_out, mean, spread)
        blocks = min(n, _BLOCKS)
        scratch = xp.empty((blocks, self._room))
        bins = xp.empty((blocks, _THREADS + 2, self._n_features), dtype=np.int16)
        lowest = xp.empty(n)
        head = (self._tables[0], np.int32(n), *placed.addresses)
        arguments = (*head, np.int32(only_ends), scratch, bins, lowest)
        _lowest_pairs()((blocks,), (_THREADS,), arguments)
        return np.asarray(lowest.get())
