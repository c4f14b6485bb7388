"""Guessing what each column of a table holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from math import log
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from localface.data.frames import ColumnValues, missing_mask
from localface.errors import SchemaError
from localface.types import Array

_FEW = 20  # distinct whole floats that still look like counts
_MANY = 50  # distinct texts beyond which a column may be an identifier
_DECIMALS = 3  # the finest decimal step that is taken for how closely something is measured
_LARGEST_COUNT = 2**53  # beyond it, not every whole number is a float
_FEWEST_MULTIPLES = 3  # different values from which a step that they share is looked for
_NO_CHANCE = 1000  # once in so many columns values would share a step by chance
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$"
    r"|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}$"
)
_READABLE = (nw.Boolean, nw.String, nw.Categorical, nw.Enum, nw.Object)


def guess_column(
    name: str,
    column: nw.Series[object] | ColumnValues,  # type: ignore[type-var]
    *,
    n_people: int,
    codes: Sequence[float] = (),
) -> dict[str, object]:
    """Guess the declaration of one column; missing values, and ``codes``, are passed over."""
    whole = not isinstance(column, np.ndarray) and column.dtype.is_integer()
    if whole or codes:  # whole numbers with gaps are stored as fractions
        values = column if isinstance(column, np.ndarray) else column.to_numpy()
        seen = values[~missing_mask(values)].astype(np.float64)
        distinct = np.unique(seen[~np.isin(seen, codes)])
        if len(distinct):
            counts = whole or values.dtype.kind in "iu"
            return {"name": name, **_guess_from_numbers(distinct, counts=counts)}
    if isinstance(column, np.ndarray):
        return {"name": name, **_guess_from_values(name, column, n_people)}
    return {"name": name, **_guess_from_column(column, n_people)}


def _guess_from_column(column: nw.Series[object], n_people: int) -> dict[str, object]:  # type: ignore[type-var]
    dtype = column.dtype
    if isinstance(dtype, nw.Datetime) and dtype.time_zone is not None:
        raise _zoned_dates_error(column.name, dtype)
    if _is_all_missing(column):  # nothing tells its type
        return _guess_from_values(column.name, np.full(len(column), np.nan), n_people)
    if not (dtype.is_numeric() or isinstance(dtype, (*_READABLE, nw.Datetime, nw.Date))):
        raise _unreadable_column_error(column.name, str(dtype))
    declared: list[Any] | None = None
    if isinstance(dtype, nw.Enum):
        declared = list(dtype.categories)
    elif isinstance(dtype, nw.Categorical) and column.implementation.is_pandas():
        declared = _declared_categories(column)
    if not declared:
        return _guess_from_values(column.name, column.to_numpy(), n_people)
    if len(declared) == 2:
        return {"kind": "binary", "categories": declared}
    _refuse_identifier(column.name, len(declared), n_people)
    ordered = isinstance(dtype, nw.Enum) and column.implementation.is_pandas()
    return {"kind": "ordinal" if ordered else "categorical", "categories": declared}


def _is_all_missing(column: nw.Series[object]) -> bool:  # type: ignore[type-var]
    try:
        return len(column) > 0 and column.null_count() == len(column)
    except (TypeError, ArithmeticError):  # raw bytes, numbers that signal: no telling
        raise _unreadable_column_error(column.name, str(column.dtype)) from None


def _declared_categories(column: nw.Series[object]) -> list[Any]:  # type: ignore[type-var]
    """Return the categories that a pandas column declares, in order; Arrow's are not declared."""
    declared = getattr(getattr(column.to_native(), "dtype", None), "categories", None)
    if declared is None:
        return []
    try:
        return sorted(declared.tolist())
    except TypeError:
        raise _mixed_column_error(column.name) from None


def _mixed_column_error(name: str) -> SchemaError:
    return SchemaError(
        f"the column {name!r} mixes text and numbers: make it one or the other", feature=name
    )


def _guess_from_values(name: str, values: ColumnValues, n_people: int) -> dict[str, object]:
    if values.dtype.kind == "M":
        return _guess_from_dates(values)
    if values.dtype.kind in "mVc":
        raise _unreadable_column_error(name, str(values.dtype))
    if values.dtype.kind == "b":
        return {"kind": "binary", "categories": [False, True]}
    seen = values[~missing_mask(values)]
    if len(seen) == 0:
        return {"kind": "numeric", "moves": "never"}
    if seen.dtype.kind in "iuf":
        return _guess_from_numbers(np.unique(seen), counts=seen.dtype.kind != "f")
    distinct = _distinct_objects(name, seen)
    if all(isinstance(one, bool) for one in distinct):
        return {"kind": "binary", "categories": [False, True]}
    if not isinstance(distinct[0], str):
        counts = all(isinstance(one, int) for one in distinct)
        numbers = np.array(distinct, dtype=np.float64)
        return _guess_from_numbers(np.unique(numbers), counts=counts)
    if len(distinct) == 2:
        return {"kind": "binary", "categories": distinct}
    _refuse_dates_in_text(name, distinct)
    _refuse_identifier(name, len(distinct), n_people)
    return {"kind": "categorical", "categories": distinct}


def _guess_from_dates(values: ColumnValues) -> dict[str, object]:
    """Guess from dates: days since the first, whole ones where no time of day is given."""
    seen = values[~missing_mask(values)]
    if not len(seen):
        return {"kind": "numeric", "moves": "never"}
    since = str(seen.min().astype("datetime64[D]"))
    whole = bool((seen == seen.astype("datetime64[D]")).all())
    return {"kind": "integer" if whole else "numeric", "since": since}


def _guess_from_numbers(distinct: ColumnValues, *, counts: bool) -> dict[str, object]:
    """Guess from distinct finite numbers; ``counts`` says that they are stored as whole ones."""
    numbers = distinct.astype(np.float64)
    if len(numbers) == 2:
        labels = [int(one) if one.is_integer() else one for one in numbers.tolist()]
        return {"kind": "binary", "categories": labels}
    if counts or (len(numbers) <= _FEW and np.array_equal(np.rint(numbers), numbers)):
        step = _shared_step(numbers, 1.0)
        return {"kind": "integer"} if step == 1 else {"kind": "integer", "resolution": step}
    decimal = _decimal_step(numbers)
    if decimal is None:
        return {"kind": "numeric"}
    return {"kind": "numeric", "resolution": _shared_step(numbers, decimal)}


def _distinct_objects(name: str, seen: ColumnValues) -> list[str | bool | int | float]:
    """Return the distinct values of a column of objects in their natural order, as Python's."""
    every: set[str | bool | int | float] = set()
    for value in seen.tolist():
        plain = value.item() if isinstance(value, np.generic) else value
        if isinstance(plain, Decimal) and plain.is_snan():  # not every pandas calls it missing
            raise _unreadable_column_error(name, "signalling NaN")
        if not isinstance(plain, str | bool | int | float | Decimal):
            raise _unreadable_column_error(name, type(plain).__name__)
        every.add(float(plain) if isinstance(plain, Decimal) else plain)
    texts = {isinstance(value, str) for value in every}
    if len(texts) > 1:
        raise _mixed_column_error(name)
    return sorted(every)


def _decimal_step(distinct: npt.NDArray[np.float64]) -> float | None:
    """Return the decimal step that all values share, where there is a clean one."""
    for decimals in range(_DECIMALS + 1):
        if np.array_equal(np.round(distinct, decimals), distinct):
            return float(f"1e-{decimals}")
    return None


def _shared_step(distinct: Array, finest: float) -> float:
    """Return the step that all values are multiples of, where that is no chance.

    Amounts in hundreds have no value between two of them, and credits that come in fives none
    of 14; ``finest`` is a step that all share.
    """
    counts = np.rint(np.abs(distinct) / finest)
    counts = counts[counts > 0]
    if not len(counts) or counts.max() > _LARGEST_COUNT:
        return finest
    step = int(np.gcd.reduce(counts.astype(np.int64)))
    if len(counts) < _FEWEST_MULTIPLES or len(counts) * log(step) < log(_NO_CHANCE):
        return finest
    return float(Decimal(str(finest)) * step)


def _refuse_identifier(name: str, n_categories: int, n_rows: int) -> None:
    if _tells_whose_row(n_categories, n_rows):
        raise SchemaError(
            f"the column {name!r} has {n_categories} different values in {n_rows} rows "
            "and looks like an identifier: drop it (if it says whose row it is, give it as "
            "groups=)",
            feature=name,
        )


def _tells_whose_row(n_categories: int, n_rows: int) -> bool:
    """Whether so many texts are too many for categories: most rows have one of their own."""
    return n_categories > _MANY and n_categories > n_rows / 2


def is_identifier_in_text(values: ColumnValues, *, n_people: int) -> bool:
    """Whether a column is text of which most people have their own: what a guess refuses.

    >>> is_identifier_in_text(np.array([f"H{i:03}" for i in range(60)], object), n_people=60)
    True
    """
    if values.dtype.kind != "O":
        return False
    seen = set(values[~missing_mask(values)].tolist())
    if not _tells_whose_row(len(seen), n_people):
        return False
    return all(isinstance(one, str) for one in seen) and not _are_dates(list(seen))


def _refuse_dates_in_text(name: str, distinct: Sequence[object]) -> None:
    """Refuse text that is all dates: categories they are not."""
    if _are_dates(distinct):
        column = f"data[{name!r}]"
        raise SchemaError(
            f"the column {name!r} holds dates as text, such as {distinct[0]!r}: drop it, or read "
            f"it as dates, with {column} = pd.to_datetime({column}) (dayfirst=True where the day "
            "comes first)",
            feature=name,
        )


def _are_dates(distinct: Sequence[object]) -> bool:
    return len(distinct) > _FEW and all(_DATE.match(str(one)) for one in distinct)


def _zoned_dates_error(name: str, dtype: object) -> SchemaError:
    """Say how dates with a time zone become numbers."""
    column = f"data[{name!r}]"
    return SchemaError(
        f"the column {name!r} holds {dtype} values, with a time zone: drop it, or turn it into "
        f"days since the first with dates = {column}; {column} = (dates - dates.min()).dt.days",
        feature=name,
    )


def _unreadable_column_error(name: str, dtype: str) -> SchemaError:
    return SchemaError(
        f"the column {name!r} holds {dtype} values, which cannot be part of a record: drop it, or "
        "turn it into numbers (days since a date, the length of a list) or text",
        feature=name,
    )
