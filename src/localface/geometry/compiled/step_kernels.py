"""Kernel sums along steps, compiled."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from localface.geometry.compiled.library import address, check_memory
from localface.types import Array, Ids, Mask

_NUMBERS = ("n_rows", "width", "depth", "n_regions")
_ARRAYS = (
    "matrix",
    "columns",
    "rough_columns",
    "rough_squares",
    "sparse",
    "sparse_squares",
    "centre_sparse_squares",
    "position",
    "centres",
    "rough_centres",
    "rough_centre_squares",
    "radii",
    "firsts",
    "discrete",
)
_MOSTLY = 0.5  # of rows that are zero in a column that counts as sparse: one category of several


class _Kernels(ctypes.Structure):
    """As in steps.c."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in _NUMBERS),
        *((name, ctypes.c_void_p) for name in _ARRAYS),
        ("bandwidth", ctypes.c_double),
        ("largest", ctypes.c_double),
    )


@dataclass(frozen=True, slots=True, eq=False)
class StepVerdicts:
    """Which segments pass: 1, 0, or -1 for those too close to call.

    ``bounds`` are log-sums on the same side of the floor. Around the ``places`` of refused
    segments everything is refused as far as ``radii`` say; 0 where that is not known.
    """

    verdicts: npt.NDArray[np.int8]
    bounds: Array
    places: Array
    radii: Array


class StepKernels:
    """Rows with a round kernel on each, laid out for judging steps.

    They stand region by region, so that those near a step are next to each other in memory.

    Parameters
    ----------
    places : the rows, where kernels are round
    order, firsts : the rows region by region, and where each region begins (and the last ends)
    centres, radii : of the regions
    discrete : the columns of points that flip half way along a step
    bandwidth : of the kernels
    matrix : what maps points, from the right, to places; None where they are the same
    """

    def __init__(
        self,
        library: ctypes.CDLL,
        places: Array,
        *,
        order: Ids,
        firsts: Ids,
        centres: Array,
        radii: Array,
        discrete: Mask,
        bandwidth: float,
        matrix: Array | None,
    ) -> None:
        self._library = library
        position = np.empty_like(order)
        position[order] = np.arange(len(order))
        columns = np.ascontiguousarray(places[order].T)
        arrays: dict[str, npt.NDArray[np.generic]] = {
            "columns": columns,
            "rough_columns": columns.astype(np.float32),
            "rough_squares": (columns * columns).sum(axis=0).astype(np.float32),
            "position": np.ascontiguousarray(position, dtype=np.int64),
            "centres": np.ascontiguousarray(centres.T),
            "rough_centres": np.ascontiguousarray(centres.T, dtype=np.float32),
            "rough_centre_squares": (centres * centres).sum(axis=1).astype(np.float32),
            "radii": np.ascontiguousarray(radii),
            "firsts": np.ascontiguousarray(firsts, dtype=np.int64),
            "discrete": np.ascontiguousarray(discrete, dtype=np.uint8),
        }
        sparse = (columns == 0).mean(axis=1) > _MOSTLY
        if sparse.any():
            arrays |= {
                "sparse": sparse.astype(np.uint8),
                "sparse_squares": np.square(columns[sparse]).sum(axis=0),
                "centre_sparse_squares": np.square(centres[:, sparse]).sum(axis=1),
            }
        if matrix is not None:
            arrays["matrix"] = np.ascontiguousarray(matrix)
        self._arrays = arrays  # they must live as long as their addresses are in use
        self.depth = places.shape[1]
        self._struct = _Kernels(
            n_rows=len(places),
            width=len(discrete),
            depth=self.depth,
            n_regions=len(centres),
            bandwidth=bandwidth,
            largest=float((places * places).sum(axis=1).max()),
            **{name: address(array) for name, array in arrays.items()},
        )
        self.address = ctypes.addressof(self._struct)

    def judge(self, starts: Array, ends: Array, rows: Ids, log_floors: Array) -> StepVerdicts:
        """Tell whether segments stay above their floors; ``rows`` are at their two ends."""
        n = len(starts)
        verdicts = np.empty(n, dtype=np.int8)
        bounds = np.empty(n)
        places = np.empty((n, self.depth))
        radii = np.empty(n)
        arrays: tuple[npt.NDArray[np.generic], ...] = (starts, ends, rows, log_floors)
        arrays = (*map(np.ascontiguousarray, arrays), verdicts, bounds, places, radii)
        judge = self._library.judge_segments
        check_memory(judge(self.address, n, *map(address, arrays)))
        return StepVerdicts(verdicts, bounds, places, radii)

    def judge_states(self, points: Array, rows: Ids, log_floors: Array) -> StepVerdicts:
        """Tell whether states are above their floors; ``rows`` are there, twice each."""
        n = len(points)
        verdicts = np.empty(n, dtype=np.int8)
        bounds = np.empty(n)
        arrays: tuple[npt.NDArray[np.generic], ...] = (points, rows, log_floors)
        arrays = (*map(np.ascontiguousarray, arrays), verdicts, bounds)
        check_memory(self._library.judge_states(self.address, n, *map(address, arrays)))
        return StepVerdicts(verdicts, bounds, np.zeros((0, self.depth)), np.zeros(0))

    def lowest_log_sums(self, starts: Array, ends: Array, rows: Ids) -> Array:
        """Return the lowest log-sum of kernels along each segment."""
        lowest = np.empty(len(starts))
        arrays: tuple[npt.NDArray[np.generic], ...] = (starts, ends, rows)
        arrays = (*map(np.ascontiguousarray, arrays), lowest)
        work_out = self._library.lowest_log_sums
        check_memory(work_out(self.address, len(starts), *map(address, arrays)))
        return lowest
