"""CuPy, where there is one and a GPU that it sees: imported when it is asked for."""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from localface.errors import InputError, install_command

_ALIGNED = 16  # bytes that an array begins at a multiple of


@cache
def cupy() -> ModuleType:
    """Return CuPy; raises where it is not there, or no GPU is."""
    try:
        import cupy as found
    except ImportError as error:
        raise InputError(
            f"device='cuda' needs CuPy, which cannot be imported ({error}); run: "
            f"{install_command('gpu')}, or leave device= out to search on the processor",
            option="device",
        ) from error
    try:
        n_devices = found.cuda.runtime.getDeviceCount()
    except found.cuda.runtime.CUDARuntimeError as error:
        raise InputError(
            f"device='cuda' was asked for, but CuPy finds no GPU ({error}): leave device= out to "
            "search on the processor",
            option="device",
        ) from error
    if n_devices < 1:
        raise InputError(
            "device='cuda' was asked for, but there is no GPU: leave device= out to search on the "
            "processor",
            option="device",
        )
    module: ModuleType = found
    return module


def put_on_device(array: Any, dtype: Any = None) -> Any:
    """Bring an array to the device to stay there."""
    return cupy().asarray(np.ascontiguousarray(array, dtype=dtype))


class Placed:
    """Arrays that were brought to the device in one transfer, which takes as long as a small one.

    ``addresses`` are where each of them lies, for a kernel to be called with; they are good for as
    long as this lives.
    """

    def __init__(self, *arrays: Any) -> None:
        sizes = [-(-one.nbytes // _ALIGNED) * _ALIGNED for one in arrays]
        firsts = [0, *np.cumsum(sizes).tolist()]
        packed = np.empty(max(firsts[-1], 1), dtype=np.uint8)
        for one, first in zip(arrays, firsts, strict=False):
            flat = np.ascontiguousarray(one).reshape(-1)
            packed[first : first + one.nbytes] = flat.view(np.uint8)
        self._there = cupy().asarray(packed)
        address = self._there.data.ptr
        self.addresses = [np.uint64(address + first) for first in firsts[:-1]]
