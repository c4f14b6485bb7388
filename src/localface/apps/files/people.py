"""Finding one person: in a JSON file, or in a row of a table."""

from __future__ import annotations

import json
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import narwhals as nw

from localface.apps.files.tables import EXAMPLE, TABLE_SUFFIXES, read_table
from localface.data.opening import require_existing_path, reraise_as
from localface.errors import DataError, did_you_mean, list_names

_HOW = "with --row: its number, counted from 0, or a column and what it holds there (COLUMN=VALUE)"
_MOST_COMPARED = 20_000  # different values among which a near miss is looked for


def read_person(path: str | Path, row: str | None = None) -> Any:
    """Read one person: a JSON object, feature by feature, or a row of a table.

    ``-`` reads the standard input. ``row`` says which row, as ``find_row`` takes it; a table of
    one row needs none.
    """
    name = str(path).lower()
    is_table = name.endswith(TABLE_SUFFIXES) and not name.endswith(".json")
    if not is_table and row is None:
        return _read_json_person(path)
    if str(path) == "-":
        raise DataError("the standard input is one person, who has no row: leave out --row")
    table = read_table(path)
    if row is not None:
        return take_row(table, find_row(table, row))
    n_rows = len(nw.from_native(table, eager_only=True))
    if n_rows != 1:
        raise DataError(f"{str(path)!r} has {n_rows:,} rows: say which one {_HOW}")
    return table


def take_row(table: Any, row: int) -> Any:
    """Take one row out of a table, counted from 0, as a table of its own."""
    frame = nw.from_native(table, eager_only=True)
    if not 0 <= row < len(frame):
        raise DataError(f"there is no row {row}: the table has {len(frame):,} rows, counted from 0")
    return frame[row : row + 1].to_native()


def find_row(table: Any, row: str) -> int:
    """Find the row that is meant: by its number, or as in ``client=C17`` by what a column holds."""
    if row.removeprefix("-").isdecimal():
        return int(row)
    frame = nw.from_native(table, eager_only=True)
    cuts = [i for i, character in enumerate(row) if character == "="]
    if not cuts:
        raise _no_row_error(frame, row)
    cut = next((i for i in cuts if row[:i] in frame.columns), cuts[0])
    column, text = row[:cut], row[cut + 1 :]
    if column not in frame.columns:
        raise DataError(
            f"--row {row}: there is no column {column!r}{did_you_mean(column, frame.columns)}: "
            f"there are {list_names(frame.columns)}"
        )
    values = frame[column].to_list()
    found = [number for number, value in enumerate(values) if _is_written(value, text)]
    if len(found) == 1:
        return found[0]
    if found:
        rows = list_names(found, most=3)
        raise DataError(f"--row {row}: {len(found):,} rows have it ({rows}): name one of them")
    seen = islice(dict.fromkeys(map(str, values)), _MOST_COMPARED)
    raise DataError(f"--row {row}: no row has it{did_you_mean(text, seen)}")


def _no_row_error(frame: Any, row: str) -> DataError:
    """Say how a row is named; where a column holds what was typed, which one does."""
    holding = (
        name
        for name in frame.columns
        if any(_is_written(value, row) for value in frame[name].to_list())
    )
    name = next(holding, None)
    near = "" if name is None else f" (did you mean --row {name}={row}?)"
    return DataError(f"--row {row} names no row{near}: say which one {_HOW}")


def _is_written(value: object, text: str) -> bool:
    """Whether a value is what somebody typed: 17.0 is 17."""
    if str(value) == text:
        return True
    if isinstance(value, bool | str):
        return False
    try:
        return bool(value == float(text))
    except (ValueError, TypeError):
        return False


def _read_json_person(path: str | Path) -> dict[str, Any]:
    source = "the standard input" if str(path) == "-" else repr(str(path))
    with reraise_as(f"{source} cannot be read as JSON, such as {EXAMPLE}", DataError):
        text = (
            sys.stdin.read() if str(path) == "-" else require_existing_path(path).read_text("utf-8")
        )
        person = json.loads(text)
    if isinstance(person, list) and len(person) == 1:
        (person,) = person
    if isinstance(person, list) and _are_people(person):
        raise DataError(f"{source} holds {len(person):,} people: say which one {_HOW}")
    if not isinstance(person, dict):
        raise DataError(
            f"{source} holds no person: write one JSON object, feature by feature, "
            f"such as {EXAMPLE}"
        )
    return person


def _are_people(listed: list[object]) -> bool:
    return bool(listed) and all(isinstance(one, dict) and one for one in listed)
