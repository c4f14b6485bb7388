"""One person, opened once: their values by name, in whatever form they came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np

from localface.data.frames import plain_array
from localface.errors import DataError, list_names

_FLOAT = np.dtype(np.float64)
PersonForm = Literal["dict", "series", "array", "frame"]


@dataclass(frozen=True, slots=True, eq=False)
class OnePerson:
    """One person with their values at hand.

    ``values`` are by name, or by number for an array; None where the table has to be read
    column by column. ``kind`` and ``dtypes`` say how a frame is stored, the columns in order.
    """

    came_as: PersonForm
    native: Any
    values: Mapping[Any, Any] | None = None
    kind: str = ""
    dtypes: tuple[Any, ...] = ()


def open_person(person: Any) -> OnePerson:
    """Open a person: a mapping, a pandas Series, a 1-D array, or a table of one row."""
    if isinstance(person, OnePerson):
        return person
    if isinstance(person, Mapping):
        return OnePerson("dict", person, person)
    if nw.dependencies.is_pandas_series(person):
        values = person.to_numpy(dtype=object).tolist()
        return OnePerson("series", person, _values_by_name(person.index.tolist(), values))
    if isinstance(person, np.ndarray):
        person = plain_array(person)
    if isinstance(person, np.ndarray) and person.ndim == 1:
        return OnePerson("array", person, dict(enumerate(person)))
    if isinstance(person, str | list | tuple | int | float) or person is None:
        kind = type(person).__name__
        row = f" (of a table: data.iloc[{person}])" if kind == "int" else ""
        raise DataError(
            f"{'an' if kind == 'int' else 'a'} {kind} is no person: give a dict, a pandas Series, "
            f"a 1-D array or a table of one row{row}"
        )
    return _open_frame(person)


def _open_frame(frame: Any) -> OnePerson:
    """Open a table of one row; any other comes back without values."""
    if isinstance(frame, np.ndarray):
        one_row = frame.ndim == 2 and len(frame) == 1 and not frame.dtype.names
        return OnePerson("frame", frame, dict(enumerate(frame[0])) if one_row else None)
    if nw.dependencies.is_pandas_dataframe(frame) and len(frame) == 1:
        names = _names_of_columns(frame.columns)
        row = _row_of_floats(frame)
        if row is not None:
            return _frame_with_values(frame, "pandas", names, row, (_FLOAT,) * len(row))
        values = frame.iloc[0].tolist()
        return _frame_with_values(frame, "pandas", names, values, tuple(frame.dtypes.tolist()))
    if nw.dependencies.is_polars_dataframe(frame) and len(frame) == 1:
        return _frame_with_values(frame, "polars", frame.columns, frame.row(0), tuple(frame.dtypes))
    if nw.dependencies.is_pyarrow_table(frame) and len(frame) == 1:
        values = [column[0].as_py() for column in frame.itercolumns()]
        return _frame_with_values(
            frame, "pyarrow", frame.column_names, values, tuple(frame.schema.types)
        )
    return OnePerson("frame", frame)


class _LatestColumns:
    """The columns of the latest pandas frame, and their names: people come one by one, and alike.

    To turn columns into names takes pandas a tenth of a millisecond.
    """

    def __init__(self) -> None:
        self._known: tuple[Any, list[Any]] = (None, [])

    def names(self, columns: Any) -> list[Any]:
        """Return the names of columns, the same list while they are the same."""
        known, names = self._known
        if known is None or not columns.is_(known):
            names = columns.tolist()
            self._known = (columns, names)
        return names


_names_of_columns = _LatestColumns().names


def _row_of_floats(frame: Any) -> list[float] | None:
    """Return the one row of a pandas frame whose columns are all floats; None for any other.

    Only a frame that holds one kind of number hands out its own memory, twice the same.
    """
    values = frame.to_numpy()
    if values.dtype != _FLOAT:
        return None
    again = frame.to_numpy()
    if values.__array_interface__["data"] != again.__array_interface__["data"]:
        return None
    row: list[float] = values[0].tolist()
    return row


def _frame_with_values(
    frame: Any, kind: str, names: list[Any], values: Any, dtypes: tuple[Any, ...]
) -> OnePerson:
    found = dict(zip(names, values, strict=True))
    if len(found) < len(names) or not all(isinstance(name, str) for name in names):
        return OnePerson("frame", frame)  # whoever reads the table says what is wrong with it
    return OnePerson("frame", frame, found, kind, dtypes)


def _values_by_name(names: list[Any], values: list[Any]) -> dict[Any, Any]:
    found = dict(zip(names, values, strict=True))
    if len(found) < len(names):
        twice = sorted({str(name) for name in names if names.count(name) > 1})
        raise DataError(
            f"the person has more than one value of {list_names(twice)}: give one of each",
            feature=twice[0],
        )
    return found
