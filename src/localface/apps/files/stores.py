"""Stores: folders that hold the rows of tables too large for memory."""

from __future__ import annotations

from pathlib import Path

from localface.data.schema import Schema
from localface.errors import DataError
from localface.sources.blocks import blocks_of_csv, blocks_of_parquet
from localface.sources.store import Store, write_store
from localface.sources.store_files import ABOUT


def is_store(path: str | Path) -> bool:
    """Tell whether a path is a folder that ``localface store`` wrote."""
    return (Path(path) / ABOUT).is_file()


def open_store(path: str | Path) -> Store:
    """Open a store."""
    return Store.open(path)


def write_store_of_files(rows: str | Path, out: str | Path, schema: Schema) -> Store:
    """Write a Parquet or CSV file, or a folder of them, into a store; shows how far it is."""
    from tqdm.auto import tqdm

    path = Path(rows)
    names = [path.name] if path.is_file() else []
    if path.is_dir():
        names = [one.name for one in path.iterdir()]
    if not names:
        raise DataError(f"{str(rows)!r} is neither a file nor a folder with files in it")
    read = blocks_of_parquet if any(name.endswith(".parquet") for name in names) else blocks_of_csv
    with tqdm(unit=" rows", unit_scale=True, disable=None) as bar:

        def show_progress(what: str, done: int, total: int) -> None:
            bar.set_description(what, refresh=False)
            bar.total = total or None
            bar.n = done
            bar.refresh()

        return write_store(out, read(path, schema), schema, progress=show_progress)
