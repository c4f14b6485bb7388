"""Tables in files, read as blocks of records that fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from localface.data.feature import Feature
from localface.data.read import read_records
from localface.data.schema import Schema
from localface.errors import DataError, did_you_mean, list_names, needs_extra
from localface.sources.store_writer import Blocks
from localface.types import Array

_BLOCK_ROWS = 1 << 16


def blocks_of_parquet(path: str | Path, schema: Schema) -> Blocks:
    """Return what reads a Parquet file, or a folder of them by name, block by block."""
    files = _table_files(Path(path), ".parquet")
    with needs_extra("frames", f"reading {str(path)!r}"):
        from pyarrow import parquet
    for file in files:
        _check_column_names(file, list(parquet.ParquetFile(file).schema_arrow.names), schema)

    def blocks() -> Iterator[Array]:
        for file in files:
            with parquet.ParquetFile(file) as opened:
                yield from _records_from_batches(
                    opened.iter_batches(_BLOCK_ROWS, columns=list(schema.columns)), schema
                )

    return blocks


def blocks_of_csv(path: str | Path, schema: Schema) -> Blocks:
    """Return what reads a CSV file, or a folder of them by name, block by block."""
    files = _table_files(Path(path), ".csv", ".csv.gz")
    with needs_extra("frames", f"reading {str(path)!r}"):
        from pyarrow import csv
    types = {feature.name: _csv_type(feature) for feature in schema if not feature.columns}
    options = csv.ConvertOptions(column_types=types, include_columns=list(schema.columns))
    for file in files:
        _check_column_names(file, csv.open_csv(file).schema.names, schema)

    def blocks() -> Iterator[Array]:
        for file in files:
            with csv.open_csv(file, convert_options=options) as opened:
                yield from _records_from_batches(opened, schema)

    return blocks


def _records_from_batches(batches: Any, schema: Schema) -> Iterator[Array]:
    import pyarrow

    for batch in batches:
        if len(batch):
            yield read_records(pyarrow.Table.from_batches([batch]), schema)


def _table_files(path: Path, *suffixes: str) -> list[Path]:
    """The files of a table, in the order of their names."""
    if path.is_file():
        return [path]
    files = sorted(file for file in path.rglob("*") if file.name.lower().endswith(suffixes))
    if not files:
        raise DataError(
            f"there is no {suffixes[0]} file at {str(path)!r}: "
            "give a file, or a folder that holds some"
        )
    return files


def _check_column_names(file: Path, have: list[str], schema: Schema) -> None:
    lacking = [name for name in schema.columns if name not in have]
    if lacking:
        each = ", ".join(f"{name!r}{did_you_mean(name, have)}" for name in lacking)
        raise DataError(
            f"{str(file)!r} lacks {each}: it has {list_names(have)}", feature=lacking[0]
        )


def _csv_type(feature: Feature) -> Any:
    """Return how a column of a CSV file is to be read."""
    import pyarrow

    labels = feature.categories or ()
    if any(isinstance(label, str) for label in labels):
        return pyarrow.string()
    if labels and all(isinstance(label, bool) for label in labels):
        return pyarrow.bool_()
    return pyarrow.timestamp("us") if feature.since is not None else pyarrow.float64()
