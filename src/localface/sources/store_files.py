"""The files of a store: layout, mapping into memory, checks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from localface.errors import DataError

ABOUT = "about.json"
PARTS = "cells.npz"
FILE_DTYPES: dict[str, np.dtype[Any]] = {
    "near": np.dtype("<f4"),
    "records": np.dtype("<f8"),
    "rows": np.dtype("<i8"),
}
CELL_DTYPE: np.dtype[Any] = np.dtype("<u2")  # the cell of each row, noted between two passes
_MARK = "localface store"
_VERSION = 2


def map_file(folder: Path, name: str, shape: tuple[int, ...], mode: Any = "r") -> Any:
    """Map one file of a store into memory."""
    return np.memmap(folder / name, dtype=FILE_DTYPES.get(name, CELL_DTYPE), mode=mode, shape=shape)


def write_store_facts(folder: Path, facts: dict[str, Any]) -> None:
    """Write what a store holds; without this file a folder is none."""
    sizes = {name: (folder / name).stat().st_size for name in (*FILE_DTYPES, PARTS)}
    text = json.dumps({_MARK: _VERSION, **facts, "sizes": sizes}, indent=1)
    (folder / ABOUT).write_text(text, encoding="utf-8")


def read_store_facts(folder: Path) -> dict[str, Any]:
    """Read what a store holds, and check that it is all there."""
    about = _read_facts_file(folder)
    if about[_MARK] != _VERSION:
        raise DataError(
            f"{str(folder)!r} is a store of version {about[_MARK]!r}, and this is a localface "
            f"that reads version {_VERSION}: write it again"
        )
    for name, size in about["sizes"].items():
        found = (folder / name).stat().st_size if (folder / name).is_file() else 0
        if found != size:
            raise DataError(
                f"{str(folder / name)!r} has {found:,} bytes where {size:,} are wanted: "
                "the store is damaged, copy it or write it again"
            )
    _check_numbers(folder, about)
    return about


def _check_numbers(folder: Path, about: dict[str, Any]) -> None:
    """Refuse a store of which a number cannot be: with no cell to look into, nobody is found."""
    for name in ("n_rows", "n_distinct", "n_probe"):
        number = about.get(name)
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise DataError(
                f"{str(folder / ABOUT)!r} says {name} = {number!r} where a whole number of at "
                "least 1 is wanted: the store is damaged, copy it or write it again"
            )


def _read_facts_file(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise DataError(f"there is no folder {str(folder)!r}: write a store with write_store")
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        about = None
    if not isinstance(about, dict) or _MARK not in about:
        raise DataError(
            f"{str(folder)!r} is no store, or one that was not written to the end: "
            "write it again with write_store"
        )
    return about
