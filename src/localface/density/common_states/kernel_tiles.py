"""Sums of kernels between all rows, each pair of rows once, in tiles that fit the cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from localface.density.common_states.copies import Copies
from localface.geometry.compiled.exponentials import exponentials
from localface.geometry.settling import is_rounded_away
from localface.types import Array, Ids, Mask

_LINES = 64  # of a tile
_ROWS = 2048  # in each line
_LARGEST_EXACT = 1e4  # half a square, in bandwidths, whose rounding is of no account
_MANY_CATEGORIES = 16  # columns from which comparing codes is quicker than multiplying columns


@dataclass(frozen=True, slots=True, eq=False)
class Category:
    """A categorical feature told by one number a row; two different ones cost the same."""

    codes: Ids
    cost: float


@dataclass(frozen=True, slots=True, eq=False)
class KernelTable:
    """Rows laid out so that a product of two of them is the logarithm of their kernel.

    ``left`` and ``right`` hold every row, with its own square and a one; what many columns tell
    of one category is in ``categories`` instead.
    """

    left: Array
    right: Array
    categories: tuple[Category, ...]
    exact: bool  # whether rounding makes no kernel larger than it may be, by more than a trace

    @classmethod
    def of(cls, rows: Array, bandwidth: float, one_hot: tuple[tuple[int, int], ...]) -> KernelTable:
        """Lay out rows; ``one_hot`` are the columns of categories, first and after the last."""
        categories = []
        as_numbers = np.ones(rows.shape[1], dtype=bool)
        for first, end in one_hot:
            found = _read_category(rows[:, first:end], bandwidth)
            if found is not None:
                categories.append(found)
                as_numbers[first:end] = False
        numbers = rows[:, as_numbers]
        scaled = (numbers - np.median(numbers, axis=0)) / bandwidth  # small ones are rounded less
        squares = -0.5 * (scaled * scaled).sum(axis=1)
        ones = np.ones(len(rows))
        return cls(
            np.column_stack([scaled, squares, ones]),
            np.ascontiguousarray(np.column_stack([scaled, ones, squares]).T),
            tuple(categories),
            exact=bool(-squares.min() < _LARGEST_EXACT),
        )

    def is_rounded_away(self, nats: float) -> Mask:
        """Tell which rows are so far out that the kernels of those near them are off by more."""
        return is_rounded_away(self.left[:, :-2], 2 * nats)

    def log_kernels(self, lines: slice, columns: slice) -> Array:
        """Return the logarithms of the kernels between some rows and others."""
        found = self.left[lines] @ self.right[:, columns]
        for one in self.categories:
            differ = one.codes[lines, None] != one.codes[columns]
            found -= differ * one.cost
        return found if self.exact else np.minimum(found, 0.0, out=found)


def kernel_sums_of_others(
    table: KernelTable, n_chosen: int, bandwidth: float, copies: Copies
) -> tuple[Array, Array]:
    """Return the sums of the kernels of others at the first rows, and those of other people.

    Sums that are too small to be exact are 0: nothing is near.
    """
    plain = np.zeros(n_chosen)
    fair = np.zeros(n_chosen) if copies.any else plain
    nearest = -0.5 * (copies.distance / bandwidth) ** 2
    for lines, columns in _tiles(n_chosen, table.right.shape[1]):
        kernels = table.log_kernels(lines, columns)
        same = _same_person(kernels, lines, columns, copies, nearest) if copies.any else None
        exponentials(kernels)
        own = np.arange(max(lines.start, columns.start), min(lines.stop, columns.stop))
        kernels[own - lines.start, own - columns.start] = 0.0
        _add(plain, kernels, lines, columns)
        if same is not None:
            kernels[same] = 0.0
            _add(fair, kernels, lines, columns)
    return plain, fair


def _read_category(columns: Array, bandwidth: float) -> Category | None:
    """Read the category that columns tell; None where they are few, or tell anything else."""
    if columns.shape[1] < _MANY_CATEGORIES:
        return None
    codes = columns.argmax(axis=1)
    size = columns[0, codes[0]]
    told = columns[np.arange(len(columns)), codes]
    if not (told == size).all() or np.count_nonzero(columns) != len(columns):
        return None
    return Category(codes.astype(np.int32), float((size / bandwidth) ** 2))


def _tiles(n_chosen: int, n_rows: int) -> Iterator[tuple[slice, slice]]:
    """Go through all pairs of a chosen row and another: pairs of chosen ones come up once."""
    for block in range(0, n_chosen, _ROWS):
        block_end = min(block + _ROWS, n_chosen)
        starts = [*range(block, n_chosen, _ROWS), *range(n_chosen, n_rows, _ROWS)]
        ends = [*starts[1:], n_rows]
        for first in range(block, block_end, _LINES):
            lines = slice(first, min(first + _LINES, block_end))
            yield lines, slice(first, block_end)
            yield from ((lines, slice(*ends_)) for ends_ in zip(starts[1:], ends[1:], strict=True))


def _add(sums: Array, kernels: Array, lines: slice, columns: slice) -> None:
    """Add what rows get from each other: lines, and the chosen rows among the columns after."""
    sums[lines] += kernels @ np.ones(kernels.shape[1])
    after = max(columns.start, lines.stop)
    if after < columns.stop <= len(sums):
        sums[after : columns.stop] += np.ones(len(kernels)) @ kernels[:, after - columns.start :]


def _same_person(
    log_kernels: Array, lines: slice, columns: slice, copies: Copies, nearest: float
) -> Mask:
    """Tell which pairs of rows are one person's."""
    same = log_kernels > nearest if copies.distance else np.zeros(log_kernels.shape, dtype=bool)
    if copies.groups is not None:
        same |= copies.groups[lines, None] == copies.groups[columns]
    return same
