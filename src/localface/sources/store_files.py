"""The files of a store: layout, mapping into memory, checks."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from localface.data.whole_files import (
    checksum_of_bytes,
    has_right_checksum,
    settle_folder,
    with_checksum,
    write_whole,
)
from localface.errors import DamagedFile, DataError

if TYPE_CHECKING:
    from localface.sources.store_facts import StoreFacts

ABOUT = "about.json"
PARTS = "cells.npz"
FILE_DTYPES: dict[str, np.dtype[Any]] = {
    "near": np.dtype("<f4"),
    "records": np.dtype("<f8"),
    "rows": np.dtype("<i8"),
}
CELL_DTYPE: np.dtype[Any] = np.dtype("<u2")  # the cell of each row, noted between two passes


def store_shapes(n_distinct: int, width: int, n_features: int) -> dict[str, tuple[int, ...]]:
    """Return the shape of what each file of rows holds."""
    return {
        "near": (n_distinct, width + 1),
        "records": (n_distinct, n_features),
        "rows": (n_distinct,),
    }


def map_file(folder: Path, name: str, shape: tuple[int, ...], mode: Any = "r") -> Any:
    """Map one file of a store into memory; a new one has its room on the disk from the start.

    Without the room, the system would end the process on a full disk, and say nothing.
    """
    dtype = FILE_DTYPES.get(name, CELL_DTYPE)
    if mode == "w+":
        with (folder / name).open("wb") as file:
            size = int(np.prod(shape)) * dtype.itemsize
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                file.truncate(size)
        mode = "r+"
    return np.memmap(folder / name, dtype=dtype, mode=mode, shape=shape)


def write_parts(folder: Path, arrays: Mapping[str, Any]) -> None:
    """Write the small arrays of a store."""
    file = io.BytesIO()
    np.savez(file, **arrays)
    write_whole(folder / PARTS, file.getvalue())


def write_store_facts(folder: Path, facts: dict[str, Any]) -> None:
    """Write what a store holds; without this file a folder is none."""
    from localface.sources.store_facts import STORE_MARK, STORE_VERSION

    for name in FILE_DTYPES:
        with (folder / name).open("rb+") as file:
            os.fsync(file.fileno())
    sizes = {name: (folder / name).stat().st_size for name in (*FILE_DTYPES, PARTS)}
    parts = checksum_of_bytes((folder / PARTS).read_bytes())
    every = {STORE_MARK: STORE_VERSION, **facts, "sizes": sizes, "parts_checksum": parts}
    write_whole(folder / ABOUT, json.dumps(with_checksum(every), indent=1))
    settle_folder(folder)


def read_store_facts(folder: Path) -> StoreFacts:
    """Read what a store holds, and check that it is all there."""
    from localface.sources.store_facts import STORE_MARK, STORE_VERSION, facts_from_plain

    about = _read_facts_file(folder, STORE_MARK)
    if about[STORE_MARK] != STORE_VERSION:
        raise DataError(
            f"{str(folder)!r} is a store of version {about[STORE_MARK]!r:.40}, and this is a "
            f"localface that reads version {STORE_VERSION}: write it again"
        )
    if not has_right_checksum(about):
        raise damaged_store_error(folder / ABOUT, "it was changed since it was written")
    try:
        facts = facts_from_plain(about)
    except ValueError as error:
        raise damaged_store_error(folder / ABOUT, str(error)) from None
    if set(facts.sizes) != {*FILE_DTYPES, PARTS}:
        raise damaged_store_error(folder / ABOUT, "it lists other files than a store has")
    _check_sizes(folder, facts.sizes)
    return facts


def read_parts(folder: Path, facts: StoreFacts) -> dict[str, Any]:
    """Read the small arrays of a store."""
    try:
        data = (folder / PARTS).read_bytes()
        if checksum_of_bytes(data) != facts.parts_checksum:
            raise damaged_store_error(folder / PARTS, "it was changed since it was written")
        with np.load(io.BytesIO(data), allow_pickle=False) as parts:
            return dict(parts)
    except DamagedFile:
        raise
    except Exception as error:  # a zip file can be wrong in many ways
        raise damaged_store_error(folder / PARTS, type(error).__name__) from error


def damaged_store_error(path: Path, reason: str) -> DamagedFile:
    """Say which file of a store is damaged, and what to do."""
    return DamagedFile(
        f"{str(path)!r} is damaged ({reason}): copy the store again, or write it again"
    )


def _check_sizes(folder: Path, sizes: Mapping[str, int]) -> None:
    for name, size in sizes.items():
        found = (folder / name).stat().st_size if (folder / name).is_file() else 0
        if found != size:
            raise DamagedFile(
                f"{str(folder / name)!r} has {found:,} bytes where {size:,} are wanted: "
                "the store is damaged, copy it or write it again"
            )


def _read_facts_file(folder: Path, mark: str) -> dict[str, Any]:
    if not folder.is_dir():
        raise DataError(f"there is no folder {str(folder)!r}: write a store with write_store")
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    except PermissionError:
        raise DataError(
            f"{str(folder / ABOUT)!r} may not be read: have the permission given"
        ) from None
    except (OSError, ValueError, RecursionError):
        about = None
    if not isinstance(about, dict) or mark not in about:
        raise DataError(
            f"{str(folder)!r} is no store, or one that was not written to the end: "
            "write it again with write_store"
        )
    return about
