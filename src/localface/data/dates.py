"""Dates as days since a first one."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import numpy.typing as npt

from localface.data.declared import DeclaredFeature
from localface.errors import DataError, SchemaError
from localface.types import Array

_DAY = np.timedelta64(1, "D")
_MICROSECONDS = 86_400_000_000  # of a day


def checked_since(feature: DeclaredFeature) -> str | None:
    """Check the date from which days are counted."""
    given: object = feature.since
    if given is None:
        return None
    if feature.kind not in ("numeric", "integer"):
        raise SchemaError(
            f"{feature.name!r} is {feature.kind} and can have no since=: dates are numbers",
            feature=feature.name,
        )
    try:
        return dt.date.fromisoformat(str(given)).isoformat()
    except ValueError:
        raise SchemaError(
            f"since of {feature.name!r} is {given!r}: give a date, as in '2020-01-31'",
            feature=feature.name,
        ) from None


def days_of_dates(values: npt.NDArray[np.generic], since: str) -> Array:
    """Return dates as days since another; NaN where one is missing."""
    apart = values.astype("datetime64[us]") - np.datetime64(since, "us")
    return np.asarray(apart / _DAY, dtype=np.float64)


def dates_of_days(days: Array, since: str) -> npt.NDArray[np.generic]:
    """Return days since a date as dates, to the microsecond; NaT where one is missing."""
    gone = np.isnan(days)
    counts = np.rint(np.where(gone, 0.0, days) * _MICROSECONDS).astype(np.int64)
    dates = np.datetime64(since, "us") + counts.astype("timedelta64[us]")
    dates[gone] = np.datetime64("NaT")
    return np.asarray(dates)


def day_of_value(feature: DeclaredFeature, value: object) -> object:
    """Return a date as days since the feature's first; anything else as it is."""
    if feature.since is None or not isinstance(value, str | dt.date | np.datetime64):
        return value
    given: Any = value
    try:
        found = np.datetime64(given, "us")
    except ValueError:
        raise DataError(
            f"{feature.name!r} is {value!r}: a date is wanted, as in '2020-01-31', or days since "
            f"{feature.since}",
            feature=feature.name,
        ) from None
    return float(days_of_dates(np.array([found]), feature.since)[0])


def date_in_words(days: float, since: str, *, whole: bool) -> str:
    """Write days since a date as a date, to the minute unless they are whole.

    >>> date_in_words(31.0, "2020-01-01", whole=True), date_in_words(0.5, "2020-01-01", whole=False)
    ('2020-02-01', '2020-01-01 12:00')
    """
    if not np.isfinite(days):
        return f"{days}"
    (date,) = dates_of_days(np.array([days]), since)
    text = np.datetime_as_string(date, unit="D" if whole else "m")
    return str(text).replace("T", " ")
