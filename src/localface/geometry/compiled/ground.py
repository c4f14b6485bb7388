"""Whether segments keep to common ground, kernels and pairs in one call, compiled."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from localface.geometry.compiled.library import address, check_memory, load_library
from localface.geometry.compiled.pair_rule import PairRule
from localface.geometry.compiled.row_index import RowIndex
from localface.geometry.compiled.step_kernels import StepKernels
from localface.types import Array

_MIXED = 2  # what is returned where there are steps and states among segments
Expected = tuple[Array, Array] | None
"""Means and spreads of what is expected at the starts: (segments, 3); None where nothing is own."""


class _Ground(ctypes.Structure):
    """As in ground.c."""

    _fields_ = (
        ("kernels", ctypes.c_void_p),
        ("index", ctypes.c_void_p),
        ("pairs", ctypes.c_void_p),
        ("normaliser", ctypes.c_double),
    )


@dataclass(frozen=True, slots=True, eq=False)
class GroundVerdicts:
    """Which segments pass: 1, 0, or -1 for those too close to call.

    ``lowest`` and ``radii`` have a number a segment, ``places`` a place.
    """

    verdicts: npt.NDArray[np.int8]
    lowest: Array
    places: Array
    radii: Array


class CompiledGround:
    """Kernels on rows, the rows by their points, and pairs, for questions about all of them.

    ``log_normaliser`` turns a log-sum of kernels into a log-density.
    """

    def __init__(
        self,
        library: ctypes.CDLL,
        kernels: StepKernels,
        index: RowIndex,
        pairs: PairRule | None,
        *,
        log_normaliser: float,
    ) -> None:
        self._judge = library.judge_on_ground
        self._measure = library.lowest_on_ground
        self._kept = (kernels, index, pairs)  # as long as their addresses are in use
        self._depth = kernels.depth
        self._struct = _Ground(
            kernels.address,
            index.address,
            None if pairs is None else pairs.address,
            log_normaliser,
        )
        self._address = ctypes.addressof(self._struct)

    @classmethod
    def or_none(
        cls,
        kernels: StepKernels | None,
        index: RowIndex | None,
        pairs: PairRule | None,
        *,
        log_normaliser: float,
    ) -> CompiledGround | None:
        """Put parts together where they are compiled."""
        library = load_library()
        if library is None or kernels is None or index is None:
            return None
        return cls(library, kernels, index, pairs, log_normaliser=log_normaliser)

    def judge(
        self,
        starts: Array,
        ends: Array,
        floors: Array,
        expected: Expected,
        askers: Array | None = None,
    ) -> GroundVerdicts | None:
        """Compare segments with floors; None where there are steps and states among them.

        The rows of ``askers``, who stand at these points, do not count.
        """
        n = len(starts)
        starts, ends, floors = map(_numbers, (starts, ends, floors))
        means, spreads = _addresses(expected)
        askers = None if askers is None else _numbers(askers)
        verdicts = np.empty(n, dtype=np.int8)
        numbers = np.empty((2 + self._depth, n))
        first = address(numbers)
        failed = self._judge(
            self._address, n, address(starts), address(ends), _address_or_none(askers),
            address(floors), means, spreads, address(verdicts), first, first + 16 * n,
            first + 8 * n,
        )  # fmt: skip
        if failed == _MIXED:
            return None
        check_memory(failed)
        places = numbers[2:].reshape(n, self._depth)
        return GroundVerdicts(verdicts, numbers[0], places, numbers[1])

    def measure(
        self, starts: Array, ends: Array, expected: Expected, askers: Array | None = None
    ) -> tuple[Array, Array]:
        """Return the lowest log-sums of kernels along segments, and the lowest of pairs."""
        n = len(starts)
        starts, ends = map(_numbers, (starts, ends))
        askers = None if askers is None else _numbers(askers)
        means, spreads = _addresses(expected)
        found = np.empty((2, n))
        first = address(found)
        check_memory(
            self._measure(
                self._address, n, address(starts), address(ends), _address_or_none(askers),
                means, spreads, first, first + 8 * n,
            )
        )  # fmt: skip
        return found[0], found[1]


def _addresses(expected: Expected) -> tuple[int | None, int | None]:
    """Where means and spreads are; whoever made them keeps them meanwhile."""
    if expected is None:
        return None, None
    return address(expected[0]), address(expected[1])


def _address_or_none(values: Array | None) -> int | None:
    return None if values is None else address(values)


def _numbers(values: Array) -> Array:
    return np.ascontiguousarray(values, dtype=np.float64)
