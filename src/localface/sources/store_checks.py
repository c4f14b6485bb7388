"""Checksums of the rows of a store, block by block, looked at when a block is first read."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from localface.errors import DamagedFile
from localface.sources.partition import cut_into_slices
from localface.types import Ids

Sums = npt.NDArray[np.uint32]

ROWS_OF_BLOCK = 1 << 12  # rows that share a checksum


def block_sums(rows: Any) -> Sums:
    """Return the checksum of each block of rows."""
    blocks = cut_into_slices(len(rows), ROWS_OF_BLOCK)
    return np.array([_sum_of_rows(rows[block]) for block in blocks], dtype=np.uint32)


class BlockChecks:
    """The files of a store, each block of which is held against its checksum once.

    A memory of what was looked at is all that changes here; whoever looks first pays for it.
    """

    def __init__(self, folder: Path, files: Mapping[str, Any], sums: Mapping[str, Sums]) -> None:
        self._folder = folder
        self._files = dict(files)
        self._sums = dict(sums)
        self._pending = {name: np.ones(len(own), dtype=bool) for name, own in sums.items()}
        self._n_pending = {name: len(own) for name, own in sums.items()}

    def check_ids(self, name: str, ids: Ids | slice) -> None:
        """Check what is about to be read: some rows of one file."""
        if not self._n_pending[name]:
            return
        if isinstance(ids, slice):
            first, last, _ = ids.indices(len(self._files[name]))
            if last > first:
                self.check_ranges(name, np.array([first]), np.array([last]))
            return
        pending = self._pending[name]
        blocks = ids // ROWS_OF_BLOCK
        if pending[blocks].any():
            self._check_blocks(name, np.unique(blocks))

    def check_ranges(self, name: str, firsts: Ids, lasts: Ids) -> None:
        """Check what is about to be read: rows from ``firsts`` up to ``lasts``, none empty."""
        if not self._n_pending[name] or not len(firsts):
            return
        before = np.append(0, np.cumsum(self._pending[name]))
        begins = firsts // ROWS_OF_BLOCK
        ends = (lasts - 1) // ROWS_OF_BLOCK + 1
        for at in np.flatnonzero(before[ends] > before[begins]):
            self._check_blocks(name, np.arange(begins[at], ends[at]))

    def check_everything(self) -> None:
        """Check every block of every file, those that were checked before as well."""
        for name, sums in self._sums.items():
            self._pending[name][:] = True
            self._check_blocks(name, np.arange(len(sums)))

    def _check_blocks(self, name: str, blocks: Ids) -> None:
        pending = self._pending[name]
        for block in blocks[pending[blocks]].tolist():
            rows = slice(block * ROWS_OF_BLOCK, (block + 1) * ROWS_OF_BLOCK)
            if _sum_of_rows(self._files[name][rows]) != int(self._sums[name][block]):
                raise DamagedFile(
                    f"{str(self._folder / name)!r} is damaged: what it holds of rows "
                    f"{rows.start:,} to {min(rows.stop, len(self._files[name])) - 1:,} is not "
                    "what was written; copy the store again, or write it again"
                )
            pending[block] = False
        self._n_pending[name] = int(pending.sum())


def _sum_of_rows(rows: Any) -> int:
    together: Any = np.ascontiguousarray(rows)  # what NumPy's types do not call a buffer
    return zlib.crc32(together)
