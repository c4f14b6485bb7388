"""Guessing what each column of a table holds."""

from __future__ import annotations

from decimal import Decimal

import narwhals as nw
import numpy as np
import numpy.typing as npt

from localface.errors import DataError, SchemaError, listed

Values = npt.NDArray[np.generic]
Frame = nw.DataFrame[object]  # type: ignore[type-var]  # any table that narwhals can hold

_FEW = 20  # distinct whole floats that still look like counts
_MANY = 50  # distinct texts beyond which a column may be an identifier
_DECIMALS = 3  # the finest decimal step that is taken for how closely something is measured
_KINDS = ("pandas", "polars", "pyarrow")
_PLAIN = (nw.Boolean, nw.String, nw.Categorical, nw.Enum, nw.Object)


def opened(data: object) -> Frame | Values:
    """Open a table: a pandas, polars or pyarrow one behind one face, a NumPy array as it is."""
    if isinstance(data, np.ndarray):
        if data.ndim != 2 or data.dtype.names:
            raise DataError(
                f"the array has {data.ndim} dimension(s): give rows and columns, as in array[None, :]"
            )
        return data
    columns = [str(name) for name in getattr(data, "columns", [])] if hasattr(data, "iloc") else []
    twice = {name for name in columns if columns.count(name) > 1}
    if twice:
        raise DataError(
            f"the table has more than one column {listed(sorted(twice))}: give each a name of its own"
        )
    try:
        frame: Frame = nw.from_native(data, eager_only=True)  # type: ignore[call-overload]
    except TypeError:
        lazy = hasattr(data, "collect")
        hint = (
            "collect() it first"
            if lazy
            else "give a pandas, polars or pyarrow table, or a 2-D array"
        )
        raise DataError(
            f"a {type(data).__name__} is not a table that can be read: {hint}"
        ) from None
    if frame.implementation.value not in _KINDS:
        raise DataError(
            f"a {frame.implementation.value} table cannot be read: turn it into pandas, polars or pyarrow"
        )
    names: list[object] = list(frame.columns)
    odd = [name for name in names if not isinstance(name, str)]
    if odd:
        raise DataError(
            f"the column names {listed(odd)} are not text: rename them, data.columns.astype(str) in pandas"
        )
    return frame


def names_of(table: Frame | Values) -> tuple[str, ...]:
    """Return the names of the columns; those of an array are x0, x1, ..."""
    if isinstance(table, np.ndarray):
        return tuple(f"x{j}" for j in range(table.shape[1]))
    return tuple(table.columns)


def guesses(data: object) -> list[dict[str, object]]:
    """Guess the declaration of every column; missing values are passed over."""
    table = opened(data)
    if len(table) == 0:
        raise DataError("the table has no rows: give at least one")
    if isinstance(table, np.ndarray):
        return [
            {"name": name, **_guess(name, table[:, j])} for j, name in enumerate(names_of(table))
        ]
    return [{"name": name, **_guess_column(table[name])} for name in table.columns]


def _guess_column(column: nw.Series[object]) -> dict[str, object]:  # type: ignore[type-var]
    dtype, native = column.dtype, column.to_native()
    if not (dtype.is_numeric() or isinstance(dtype, _PLAIN)):
        raise SchemaError(_unreadable(column.name, str(dtype)))
    declared = None
    if isinstance(dtype, nw.Enum):
        declared = list(dtype.categories)
    elif isinstance(dtype, nw.Categorical) and column.implementation.is_pandas():
        declared = sorted(native.dtype.categories.tolist())  # type: ignore[attr-defined]
    if declared is None or not declared:
        return _guess(column.name, column.to_numpy())
    if len(declared) == 2:
        return {"kind": "binary", "categories": declared}
    _refuse_identifier(column.name, len(declared), len(column))
    ordered = isinstance(dtype, nw.Enum) and column.implementation.is_pandas()
    return {"kind": "ordinal" if ordered else "categorical", "categories": declared}


def _guess(name: str, values: Values) -> dict[str, object]:
    """Guess from the values alone."""
    if values.dtype.kind in "mMVc":
        raise SchemaError(_unreadable(name, str(values.dtype)))
    if values.dtype.kind == "b":
        return {"kind": "binary", "categories": [False, True]}
    seen = values[~missing(values)]
    if len(seen) == 0:
        raise SchemaError(f"the column {name!r} holds no values: drop it")
    if seen.dtype.kind in "iuf":
        return _guess_numbers(np.unique(seen), counts=seen.dtype.kind != "f")
    distinct = _distinct(name, seen)
    if all(isinstance(one, bool) for one in distinct):
        return {"kind": "binary", "categories": [False, True]}
    if not isinstance(distinct[0], str):
        counts = all(isinstance(one, int) for one in distinct)
        return _guess_numbers(np.unique(np.array(distinct, dtype=np.float64)), counts=counts)
    if len(distinct) == 2:
        return {"kind": "binary", "categories": distinct}
    _refuse_identifier(name, len(distinct), len(values))
    return {"kind": "categorical", "categories": distinct}


def _guess_numbers(distinct: Values, *, counts: bool) -> dict[str, object]:
    """Guess from distinct finite numbers; ``counts`` says that they are stored as whole ones."""
    numbers = distinct.astype(np.float64)
    if len(numbers) == 2:
        return {
            "kind": "binary",
            "categories": [int(one) if one.is_integer() else one for one in numbers.tolist()],
        }
    if counts or (len(numbers) <= _FEW and np.array_equal(np.rint(numbers), numbers)):
        return {"kind": "integer"}
    step = _step(numbers)
    return {"kind": "numeric"} if step is None else {"kind": "numeric", "resolution": step}


def missing(values: Values) -> npt.NDArray[np.bool_]:
    """Tell which values are absent or not finite."""
    if values.dtype.kind == "f":
        return np.asarray(~np.isfinite(values.astype(np.float64)))
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    return np.fromiter((_is_missing(value) for value in values), dtype=bool, count=len(values))


def _is_missing(value: object) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and not np.isfinite(value)


def _distinct(name: str, seen: Values) -> list[str | bool | int | float]:
    """The distinct values of a column of objects in their natural order, as Python knows them."""
    every: set[str | bool | int | float] = set()
    for value in seen.tolist():
        plain = value.item() if isinstance(value, np.generic) else value
        if not isinstance(plain, str | bool | int | float | Decimal):
            raise SchemaError(_unreadable(name, type(plain).__name__))
        every.add(float(plain) if isinstance(plain, Decimal) else plain)
    texts = {isinstance(value, str) for value in every}
    if len(texts) > 1:
        raise SchemaError(f"the column {name!r} mixes text and numbers: make it one or the other")
    return sorted(every)


def _step(distinct: npt.NDArray[np.float64]) -> float | None:
    """The decimal step that all values share, where there is a clean one."""
    for decimals in range(_DECIMALS + 1):
        if np.array_equal(np.round(distinct, decimals), distinct):
            return float(f"1e-{decimals}")
    return None


def _refuse_identifier(name: str, n_categories: int, n_rows: int) -> None:
    if n_categories > _MANY and n_categories > n_rows / 2:
        raise SchemaError(
            f"the column {name!r} has {n_categories} different values in {n_rows} rows and looks like an identifier: "
            "drop it"
        )


def _unreadable(name: str, dtype: str) -> str:
    return (
        f"the column {name!r} holds {dtype} values, which have no place in a record: drop it, or turn it into numbers "
        "(days since a date, the length of a list) or text"
    )
