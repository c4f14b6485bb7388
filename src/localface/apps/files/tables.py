"""Reading tables out of files."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from localface.data.absence import is_missing_value
from localface.data.opening import require_existing_path, reraise_as
from localface.errors import DataError, install_command, list_names

TABLE_SUFFIXES = (".csv", ".csv.gz", ".parquet", ".json", ".json.gz")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?$")
EXAMPLE = '{"age": 63, "ward": "b", ...}'


def read_table(path: str | Path) -> Any:
    """Read a table from CSV, Parquet or JSON, as pandas where it is installed, else as polars."""
    path = require_existing_path(path)
    kind = next((suffix for suffix in TABLE_SUFFIXES if path.name.lower().endswith(suffix)), None)
    if kind is None:
        raise DataError(
            f"{str(path)!r} is no table that can be read: "
            f"give a file that ends in {list_names(TABLE_SUFFIXES)}"
        )
    library = _choose_table_library(kind, path)
    with reraise_as(f"{str(path)!r} cannot be read as {kind.strip('.')}", DataError):
        table = _read_by_kind(library, kind, path)
    return _without_index_column(table if kind == ".parquet" else _with_dates(table))


def _choose_table_library(kind: str, path: Path) -> Any:
    """The library to read tables with: pandas where it can read this kind, else polars."""
    has_pandas = find_spec("pandas") is not None
    if has_pandas and (kind != ".parquet" or find_spec("pyarrow") or find_spec("fastparquet")):
        import pandas

        return pandas
    if find_spec("polars"):
        import polars

        return polars
    lacking = "pyarrow" if has_pandas else "pandas or polars"
    raise ModuleNotFoundError(
        f"reading {str(path)!r} needs {lacking}, which is not installed; "
        f"run: {install_command('frames')}"
    )


def _read_by_kind(library: Any, kind: str, path: Path) -> Any:
    if kind == ".parquet":
        return library.read_parquet(path)
    if kind.startswith(".csv"):
        return library.read_csv(path, **_exact_csv_options(library))
    opener: Callable[..., Any] = gzip.open if kind.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        content = json.load(file)
    if not isinstance(content, list | dict) or not content:
        raise DataError(
            f"{str(path)!r} is no table: give a list of rows, [{EXAMPLE}], or an object of columns"
        )
    return library.DataFrame(content)


def _with_dates(table: Any) -> Any:
    """Read columns of text that are all dates as dates: these files have no other way to say so."""
    frame = nw.from_native(table, eager_only=True)
    for name in frame.columns:
        if not isinstance(frame[name].dtype, nw.String | nw.Object):
            continue
        present = [one for one in frame[name].to_list() if not is_missing_value(one)]
        if present and all(isinstance(one, str) and _DATE.match(one) for one in present):
            with suppress(Exception):  # dates in several forms stay text, and are told of later
                frame = frame.with_columns(nw.col(name).str.to_datetime())
    return frame.to_native()


def _exact_csv_options(library: Any) -> dict[str, Any]:
    """Read every digit of a CSV file, and every row before a column's type is settled."""
    if library.__name__ == "polars":
        return {"infer_schema_length": None}
    version = tuple(int(part) for part in library.__version__.split(".")[:2])
    if version >= (3, 1):  # from then on pandas always keeps every digit
        return {}
    return {"float_precision": "round_trip"}


def _without_index_column(table: Any) -> Any:
    """Leave out a first column that only counts the rows: pandas writes its index so."""
    frame = nw.from_native(table, eager_only=True)
    first = frame.columns[0] if frame.columns else None
    if first not in ("", "Unnamed: 0"):
        return table
    counts_rows = np.array_equal(frame[first].to_numpy(), np.arange(len(frame)))
    return frame.drop(first).to_native() if counts_rows else table
