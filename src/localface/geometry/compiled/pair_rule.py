"""What pairs of features say of the cells along steps, compiled."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from localface.geometry.compiled.library import address, check_memory
from localface.types import Array, Ids, Mask

_ADDRESSES = (
    "columns", "edges", "one_hot", "absences", "discrete", "first", "second", "starts",
    "n_second", "log_ratios", "weights",
)  # fmt: skip


class _Pairs(ctypes.Structure):
    """As in pairs.c."""

    _fields_ = (
        *(
            (name, ctypes.c_int64)
            for name in (
                "width", "n_features", "n_edges", "n_one_hot", "n_absences", "n_pairs", "n_cells",
            )
        ),
        *((name, ctypes.c_void_p) for name in _ADDRESSES),
        ("n_values", ctypes.c_int64 * 2),
        ("values", ctypes.c_void_p * 2),
        ("heights", ctypes.c_void_p * 2),
    )  # fmt: skip


class PairLayout:
    """Tables of pairs end to end, as pairs.c wants them.

    Parameters
    ----------
    columns, edges, one_hot, absences : as ``FeatureBins`` has them
    discrete : the columns of points that flip half way
    features : the two features of each pair that counts: (2, pairs)
    tables : where the table of each pair begins, and how many bins its second feature has
    log_ratios : of all cells, with all rows, without one, without two: (3, cells)
    weights : of the pairs
    scale : for the rarest pair and for the weighted sum, values and what they stand for
    """

    def __init__(
        self,
        *,
        columns: Ids,
        edges: Array,
        one_hot: Sequence[tuple[int, int, int]],
        absences: Sequence[tuple[int, int, int]],
        discrete: Mask,
        features: tuple[Ids, Ids],
        tables: tuple[Ids, Ids],
        log_ratios: Array,
        weights: Array,
        scale: Sequence[tuple[Array, Array]],
    ) -> None:
        numbers = [columns, *features, *tables]
        columns, first, second, starts, n_second = (_whole(one) for one in numbers)
        self.arrays: dict[str, npt.NDArray[np.generic]] = {
            "columns": columns,
            "edges": np.ascontiguousarray(edges),
            "one_hot": _whole(one_hot),
            "absences": _whole(absences),
            "discrete": np.ascontiguousarray(discrete, dtype=np.uint8),
            "first": first,
            "second": second,
            "starts": starts,
            "n_second": n_second,
            "log_ratios": np.ascontiguousarray(log_ratios),
            "weights": np.ascontiguousarray(weights),
        }
        self.lines = [[np.ascontiguousarray(one) for one in line] for line in scale]

    def fill(self, addresses: Mapping[str, int], lines: Sequence[Sequence[int]]) -> _Pairs:
        """Fill the structure, given where the arrays and the lines of the scale lie."""
        arrays = self.arrays
        return _Pairs(
            width=len(arrays["discrete"]),
            n_features=len(arrays["columns"]),
            n_edges=arrays["edges"].shape[1],
            n_one_hot=len(arrays["one_hot"]),
            n_absences=len(arrays["absences"]),
            n_pairs=len(arrays["first"]),
            n_cells=arrays["log_ratios"].shape[1],
            n_values=tuple(len(values) for values, _ in self.lines),
            values=tuple(values for values, _ in lines),
            heights=tuple(heights for _, heights in lines),
            **addresses,
        )


ASKER_LEFT_OUT = 4
"""Added to what is said to be left out where the row of the asker is."""


class PairRule:
    """Tables of pairs for compiled code: what they stand for along steps."""

    takes_askers = True  # whether rows of askers can be left out

    def __init__(self, library: ctypes.CDLL, layout: PairLayout) -> None:
        self._library = library
        self._layout = layout  # its arrays must live as long as their addresses are in use
        self._struct = layout.fill(
            {name: address(array) for name, array in layout.arrays.items()},
            [[address(one) for one in line] for line in layout.lines],
        )
        self.address = ctypes.addressof(self._struct)

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
        askers: Array | None = None,
    ) -> Array:
        """Return the lowest that pairs stand for along each segment.

        ``left_out`` says which rows do not count, added up: 1 the start, 2 the end, 4 that of the
        asker, who stands at ``askers``. With floors, what is refused is followed no further.
        """
        starts, ends, mean, spread = (
            np.ascontiguousarray(one) for one in (starts, ends, mean, spread)
        )
        left_out = np.ascontiguousarray(left_out)
        floors = None if log_floors is None else np.ascontiguousarray(log_floors)
        askers = None if askers is None else np.ascontiguousarray(askers)
        lowest = np.empty(len(starts))
        check_memory(
            self._library.lowest_pairs(
                self.address, len(starts), address(starts), address(ends),
                None if askers is None else address(askers), address(left_out), address(mean),
                address(spread), None if floors is None else address(floors), int(only_ends),
                address(lowest),
            )
        )  # fmt: skip
        return lowest


def _whole(numbers: Ids | Sequence[tuple[int, ...]]) -> Ids:
    return np.ascontiguousarray(numbers, dtype=np.int64)
