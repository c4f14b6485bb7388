"""Tables and persons out of files, and the part of a table that a schema or a model knows."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import narwhals as nw
import numpy as np

from localface.data.frames import column_names
from localface.data.opening import existing, reraised_as
from localface.data.schema import Schema
from localface.errors import DataError, listed, near_miss

TABLES = (".csv", ".csv.gz", ".parquet", ".json", ".json.gz")
_AS_IN = '{"age": 63, "ward": "b", ...}'


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """What of a table is used, the schema that goes with it, and the columns that were left out."""

    table: Any
    schema: Schema | None
    dropped: tuple[str, ...]


def read_table(path: str | Path) -> Any:
    """Read a table from CSV, Parquet or JSON, as pandas where it is installed, else as polars."""
    path = existing(path)
    kind = next((suffix for suffix in TABLES if path.name.lower().endswith(suffix)), None)
    if kind is None:
        raise DataError(
            f"{str(path)!r} is no table that can be read: give a file that ends in {listed(TABLES)}"
        )
    library = _library(kind, path)
    with reraised_as(f"{str(path)!r} cannot be read as {kind.strip('.')}", DataError):
        table = _opened(library, kind, path)
    return _without_index(table)


def read_person(path: str | Path) -> dict[str, Any]:
    """Read one person from a JSON object, feature by feature; ``-`` reads the standard input."""
    source = "the standard input" if str(path) == "-" else repr(str(path))
    with reraised_as(f"{source} cannot be read as JSON, such as {_AS_IN}", DataError):
        text = sys.stdin.read() if str(path) == "-" else existing(path).read_text(encoding="utf-8")
        person = json.loads(text)
    if isinstance(person, list) and len(person) == 1:
        (person,) = person
    if not isinstance(person, dict):
        raise DataError(
            f"{source} holds no person: write one JSON object, feature by feature, such as {_AS_IN}"
        )
    return person


def choose_columns(
    table: Any, *, schema: Schema | None, model: Any = None, drop: Sequence[str] = ()
) -> Columns:
    """Keep what the model knows by name, else what the schema declares, else everything; in that order, too."""
    have = list(column_names(table))
    for name in drop:
        if name not in have:
            raise DataError(
                f"there is no column {name!r} to drop{near_miss(name, have)}: there are {listed(have)}"
            )
    named = getattr(model, "feature_names_in_", None)
    whose, known = "the schema", have if schema is None else list(schema.names)
    if named is not None:
        whose, known = "the model", [str(name) for name in named]
    wanted = [name for name in known if name not in drop]
    _refuse_lacking(wanted, have, f"the table lacks {{}}, which {whose} needs")
    width = getattr(model, "n_features_in_", None)
    if named is None and width is not None and width != len(wanted):
        raise DataError(
            f"the model takes {width} columns, it does not say which, and {len(wanted)} came: {listed(wanted)}; "
            "leave columns out with --drop, or with a --schema that lists only those of the model, in its order"
        )
    if schema is not None:
        _refuse_lacking(wanted, list(schema.names), f"the schema lacks {{}}, which {whose} needs")
        schema = Schema([schema[name] for name in wanted])
    chosen = nw.from_native(table, eager_only=True).select(wanted).to_native()
    return Columns(chosen, schema, tuple(name for name in have if name not in wanted))


def one_row(table: Any, row: int) -> Any:
    """Take one row out of a table, counted from 0, as a table of its own."""
    frame = nw.from_native(table, eager_only=True)
    if not 0 <= row < len(frame):
        raise DataError(f"there is no row {row}: the table has {len(frame):,} rows, counted from 0")
    return frame[row : row + 1].to_native()


def _refuse_lacking(wanted: list[str], have: list[str], sentence: str) -> None:
    lacking = [name for name in wanted if name not in have]
    if lacking:
        spare = [name for name in have if name not in wanted]
        raise DataError(
            f"{sentence.format(listed(lacking))}{near_miss(lacking[0], spare)}: it has {listed(have)}"
        )


def _library(kind: str, path: Path) -> ModuleType:
    """The library to read tables with: pandas where it can read this kind, else polars."""
    pandas = find_spec("pandas") is not None
    if pandas and (kind != ".parquet" or find_spec("pyarrow") or find_spec("fastparquet")):
        return import_module("pandas")
    if find_spec("polars"):
        return import_module("polars")
    lacking = "pyarrow" if pandas else "pandas or polars"
    raise ModuleNotFoundError(
        f'reading {str(path)!r} needs {lacking}, which is not installed; run: pip install "localface[frames]"'
    )


def _opened(library: ModuleType, kind: str, path: Path) -> Any:
    if kind == ".parquet":
        return library.read_parquet(path)
    if kind.startswith(".csv"):
        return library.read_csv(path, **_to_the_last_digit(library))
    opener: Callable[..., Any] = gzip.open if kind.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        content = json.load(file)
    if not isinstance(content, list | dict) or not content:
        raise DataError(
            f"{str(path)!r} is no table: give a list of rows, [{_AS_IN}], or an object of columns"
        )
    return library.DataFrame(content)


def _to_the_last_digit(library: ModuleType) -> dict[str, Any]:
    """How to read a CSV file with every digit kept, and every row looked at before a column's type is settled."""
    if library.__name__ == "polars":
        return {"infer_schema_length": None}
    version = tuple(int(part) for part in library.__version__.split(".")[:2])
    return (
        {} if version >= (3, 1) else {"float_precision": "round_trip"}
    )  # from 3.1 on pandas always does


def _without_index(table: Any) -> Any:
    """Leave out a first column without a name that only counts the rows: pandas writes its index so."""
    frame = nw.from_native(table, eager_only=True)
    first = frame.columns[0] if frame.columns else None
    if first in ("", "Unnamed: 0") and np.array_equal(
        frame[first].to_numpy(), np.arange(len(frame))
    ):
        return frame.drop(first).to_native()
    return table
