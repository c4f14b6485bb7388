"""The user's tables behind one face: pandas, polars, pyarrow, NumPy arrays."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from localface.data.absence import are_never_missing, is_missing_value
from localface.data.codes import too_large_error
from localface.errors import DataError, list_names

ColumnValues = npt.NDArray[np.generic]
Frame = nw.DataFrame[object]  # type: ignore[type-var]  # any table that narwhals can hold

_LIBRARIES = ("pandas", "polars", "pyarrow")


def open_table(data: object) -> Frame | ColumnValues:
    """Open a table: a pandas, polars or pyarrow one by narwhals, a NumPy array as it is."""
    if isinstance(data, np.ndarray):
        if data.ndim != 2 or data.dtype.names:
            raise DataError(
                f"the array has {data.ndim} dimension(s): "
                "give rows and columns, as in array[None, :]"
            )
        return plain_array(data)
    _refuse_repeated_columns(data)
    try:
        frame: Frame = nw.from_native(data, eager_only=True)  # type: ignore[call-overload]
    except TypeError:
        hint = "give a pandas, polars or pyarrow table, or a 2-D array"
        if hasattr(data, "collect"):
            hint = "collect() it first"
        raise DataError(
            f"a {type(data).__name__} is not a table that can be read: {hint}"
        ) from None
    _check_frame(frame)
    return _with_usual_numbers(frame)


def plain_array(array: ColumnValues) -> ColumnValues:
    """Return an array of NumPy's own kind; what a masked one hides is missing."""
    if isinstance(array, np.ma.MaskedArray):
        hidden = np.ma.getmaskarray(array)
        if hidden.any():
            numbers = array.dtype.kind in "biuf"
            values: Any = np.asarray(array.data).astype(np.float64 if numbers else np.object_)
            values[hidden] = np.nan if numbers else None
            return np.asarray(values)
        array = array.data
    return np.asarray(array)


def _with_usual_numbers(frame: Frame) -> Frame:
    """Turn whole numbers of 128 bits, which NumPy does not have, into those of 64."""
    for name, dtype in frame.schema.items():
        if isinstance(dtype, nw.Int128 | nw.UInt128):
            try:
                frame = frame.with_columns(nw.col(name).cast(nw.Int64))
            except Exception:  # each library has errors of its own
                raise too_large_error(name) from None
    return frame


def _refuse_repeated_columns(data: object) -> None:
    columns: list[str] = []
    if hasattr(data, "iloc"):
        columns = [str(name) for name in getattr(data, "columns", [])]
    elif hasattr(data, "column_names"):  # a table of Arrow
        columns = list(data.column_names)
    twice = {name for name in columns if columns.count(name) > 1}
    if twice:
        raise DataError(
            f"the table has more than one column {list_names(sorted(twice))}: "
            "give each a name of its own",
            feature=min(twice),
        )


def _check_frame(frame: Frame) -> None:
    if frame.implementation.value not in _LIBRARIES:
        raise DataError(
            f"a {frame.implementation.value} table cannot be read: "
            "turn it into pandas, polars or pyarrow"
        )
    names: list[object] = list(frame.columns)
    odd = [name for name in names if not isinstance(name, str)]
    if odd:
        raise DataError(
            f"the column names {list_names(odd)} are not text: "
            "rename them, data.columns.astype(str) in pandas"
        )


def values_of_column(frame: Frame, name: str) -> ColumnValues:
    """Take one column out of a table; what the table's own library cannot turn is refused."""
    try:
        return frame[name].to_numpy()
    except (TypeError, ValueError, NotImplementedError) as error:
        raise DataError(
            f"the column {name!r} cannot be read ({error}): drop it, or make numbers or text of it",
            feature=name,
        ) from error


def column_names(data: object) -> tuple[str, ...]:
    """Return the names of a table's columns; those of an array are x0, x1, ..."""
    table = open_table(data)
    if isinstance(table, np.ndarray):
        return tuple(f"x{j}" for j in range(table.shape[1]))
    return tuple(table.columns)


def labels_of_rows(data: object) -> tuple[object, ...] | None:
    """Return the labels of a pandas table's rows; None for tables whose rows have none."""
    if not nw.dependencies.is_pandas_dataframe(data):
        return None
    return tuple(data.index.tolist())


def missing_mask(values: ColumnValues) -> npt.NDArray[np.bool_]:
    """Tell which values are missing."""
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind == "M":
        return np.asarray(np.isnat(values))
    if values.dtype.kind != "O" or are_never_missing(values):
        return np.zeros(len(values), dtype=bool)
    return np.fromiter((is_missing_value(value) for value in values), dtype=bool, count=len(values))


def infinite_mask(values: ColumnValues) -> npt.NDArray[np.bool_]:
    """Tell which values are infinite numbers."""
    if values.dtype.kind == "f":
        return np.asarray(np.isinf(values))
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    numbers = (isinstance(value, float | np.floating) and np.isinf(value) for value in values)
    return np.fromiter(numbers, dtype=bool, count=len(values))
