"""A device that works on all rows at once, and how one is asked for by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from localface.errors import InputError
from localface.geometry.compiled.library import load_library
from localface.geometry.compiled.pair_rule import PairLayout, PairRule
from localface.geometry.device.cuda import cupy
from localface.geometry.device.numpy_scan import NumpyScan
from localface.geometry.device.scan import RowScan
from localface.geometry.device.shared import SharedPairs, SharedScan
from localface.types import Array, Ids

if TYPE_CHECKING:
    from localface.geometry.device.cuda_trees import CudaTrees


class Device(Protocol):
    """Where rows are brought to be looked at all at once."""

    def scan_of(self, rows: Array, groups: Ids | None = None) -> RowScan:
        """Bring rows to the device; ``groups`` numbers the person of each."""
        ...

    def rule_of(self, layout: PairLayout) -> PairRule | SharedPairs | None:
        """Bring tables of pairs to the device; None where the processor is to look them up."""
        ...

    def trees_of(self, arrays: Mapping[str, npt.NDArray[np.generic]]) -> CudaTrees | None:
        """Bring trees to the device; None where the processor is to go through them."""
        ...


def device_named(name: str | None) -> Device | None:
    """Return the device of that name; None for the processor.

    Raises where there is no such device, and says what to do.
    """
    if name is None or name == "cpu":
        return None
    if name != "cuda":
        raise InputError(
            f"device={name!r}: 'cuda' (a GPU) or 'cpu' is wanted, or None to have the processor "
            "look at as many rows as it can quickly",
            option="device",
        )
    cupy()
    return CudaDevice()


class CudaDevice:
    """A GPU, by CuPy. Nothing is brought there before it is asked for."""

    def scan_of(self, rows: Array, groups: Ids | None = None) -> RowScan:
        """Bring rows to the GPU; see ``Device``."""
        from localface.geometry.device.cuda_scan import CudaScan

        return SharedScan(CudaScan(rows, groups))

    def rule_of(self, layout: PairLayout) -> PairRule | SharedPairs | None:
        """Bring tables to the GPU; see ``Device``."""
        from localface.geometry.device.cuda_pairs import CudaPairs

        return SharedPairs(CudaPairs(layout))

    def trees_of(self, arrays: Mapping[str, npt.NDArray[np.generic]]) -> CudaTrees | None:
        """Bring trees to the GPU; see ``Device``."""
        from localface.geometry.device.cuda_trees import CudaTrees

        return CudaTrees(arrays)


class NumpyDevice:
    """The same by NumPy, for tests: what a GPU does in a second takes it an hour."""

    def scan_of(self, rows: Array, groups: Ids | None = None) -> RowScan:
        """Keep the rows; see ``Device``."""
        return SharedScan(NumpyScan(rows, groups))

    def rule_of(self, layout: PairLayout) -> PairRule | SharedPairs | None:
        """Leave pairs to the processor; see ``Device``."""
        library = load_library()
        return None if library is None else PairRule(library, layout)

    def trees_of(self, arrays: Mapping[str, npt.NDArray[np.generic]]) -> CudaTrees | None:
        """Leave trees to the processor; see ``Device``."""
        return None
