"""People over time: a table with a person, a time and features in every row."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from localface.analyses.observed_moves.comparable import HOUR, Comparable
from localface.data.frames import ColumnValues, Frame, column_names, missing_mask, open_table
from localface.errors import DataError, did_you_mean, list_names
from localface.types import Array, Ids, Mask

_USUAL_SPACINGS = 6  # between two rows of a person: the time for a move, where none is given


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class Trajectories:
    """What people went through: one row for each person and time.

    Rows may come in any order, and the same time more than once. Values of features may be
    missing, and features may be absent: what is not there is not counted.

    Parameters
    ----------
    table
        A pandas, polars or pyarrow table, or an array (its columns are x0, x1, ...).
    person, time
        The columns that say who and when; times are numbers, datetimes or lengths of time.
    outcome, good
        The column that says how people fared, and its good value. It is one value a person,
        missing where it is not known.
    comparable
        What counts as a comparable move in this table; ``within=`` alone is a shorter way to say
        how soon.
    unit, people, well
        Words: what times count (``"h"``), what people are called (``"patients"``), and what the
        good outcome is, after "went on to" (``"leave alive"``).
    """

    ids: ColumnValues
    person_of: Ids
    times: Array
    columns: Mapping[str, ColumnValues]
    fared: Array
    dated: bool
    comparable: Comparable
    unit: str
    people: str
    well: str

    def __init__(
        self,
        table: object,
        *,
        person: str,
        time: str,
        outcome: str | None = None,
        good: object = 1,
        within: Any = None,
        comparable: Comparable | None = None,
        unit: str | None = None,
        people: str = "people",
        well: str | None = None,
    ) -> None:
        rows = open_table(table)
        _check_columns(rows, {"person": person, "time": time, "outcome": outcome})
        names = [name for name in column_names(rows) if name not in (person, time, outcome)]
        ids, person_of = _ids_and_person_of_rows(_column_values(rows, person), person)
        times, dated = _times_as_numbers(_column_values(rows, time), time)
        order = np.lexsort((times, person_of))
        fared = np.full(len(ids), np.nan)
        if outcome is not None:
            fared = _outcome_by_person(
                _column_values(rows, outcome), person_of, len(ids), good=good, name=outcome
            )
        settled: dict[str, object] = {
            "ids": ids,
            "person_of": person_of[order],
            "times": times[order],
            "columns": {name: _column_values(rows, name)[order] for name in names},
            "fared": fared,
            "dated": dated,
            "comparable": _comparable_or_default(comparable, within),
            "unit": unit if unit is not None else "h" if dated else f"({time})",
            "people": people,
            "well": "" if outcome is None else well or f"have {outcome} {good}",
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)

    @property
    def n_people(self) -> int:
        """How many people there are."""
        return len(self.ids)

    @property
    def usual_time_limit(self) -> float:
        """How soon a move counts where nothing is said: six usual times between a person's rows.

        It is in the units of ``unit``, rounded up to three digits. Usual is the median over all
        successive times of the same person.
        """
        gaps = np.diff(self.times)[np.diff(self.person_of) == 0]
        gaps = gaps[gaps > 0]
        if not len(gaps):
            return 1.0  # nobody is seen twice, and no limit could change that
        limit = _USUAL_SPACINGS * float(np.median(gaps)) / (HOUR if self.dated else 1.0)
        digit = 10.0 ** (math.floor(math.log10(limit)) - 2)
        return float(f"{math.ceil(round(limit / digit, 6)) * digit:.3g}")

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        known = (
            ""
            if np.isnan(self.fared).all()
            else f", {np.isfinite(self.fared).sum():,} with an outcome"
        )
        return f"<Trajectories: {self.n_people:,} {self.people}, {len(self):,} rows{known}>"


def _comparable_or_default(given: Comparable | None, within: Any) -> Comparable:
    if given is None:
        return Comparable(within=within)
    if within is not None:
        raise DataError("within= and comparable= both came: give within to Comparable(within=...)")
    return given


def _check_columns(table: Frame | ColumnValues, named: Mapping[str, str | None]) -> None:
    """Refuse an empty table, and columns that are not there or serve twice."""
    if len(table) == 0:
        raise DataError(
            "the longitudinal table has no rows: give at least one for each person and time"
        )
    have = column_names(table)
    wanted = {what: name for what, name in named.items() if name is not None}
    for what, name in wanted.items():
        if name not in have:
            raise DataError(
                f"{what}={name!r}: the longitudinal table has no such column"
                f"{did_you_mean(name, have)}; it has {list_names(have)}"
            )
    if len(set(wanted.values())) < len(wanted):
        raise DataError(
            f"{', '.join(f'{what}={name!r}' for what, name in wanted.items())}: "
            "give each its own column"
        )


def _column_values(table: Frame | ColumnValues, name: str) -> ColumnValues:
    """One column as an array."""
    if isinstance(table, np.ndarray):
        return np.asarray(table[:, column_names(table).index(name)])
    return np.asarray(table[name].to_numpy())


def _ids_and_person_of_rows(values: ColumnValues, name: str) -> tuple[ColumnValues, Ids]:
    """Who there is, and who of them each row is about."""
    _refuse_missing_values(missing_mask(values), f"person={name!r}")
    try:
        ids, person_of = np.unique(values, return_inverse=True)
    except TypeError:
        raise DataError(
            f"person={name!r} mixes kinds of values: make them all text or all numbers"
        ) from None
    if len(ids) < 2:
        raise DataError(
            f"person={name!r} holds one person only: evidence comes from other people, "
            "give at least 2"
        )
    return ids, person_of.reshape(-1).astype(np.int64)


def _times_as_numbers(values: ColumnValues, name: str) -> tuple[Array, bool]:
    """Times as numbers, and whether they were dates, which are counted in microseconds."""
    gone = np.isnat(values) if values.dtype.kind in "mM" else missing_mask(values)
    _refuse_missing_values(gone, f"time={name!r}")
    if values.dtype.kind == "O" and all(isinstance(value, date) for value in values):
        values = values.astype("datetime64[us]")
    if values.dtype.kind in "mM":
        unit = "datetime64[us]" if values.dtype.kind == "M" else "timedelta64[us]"
        return values.astype(unit).astype(np.int64).astype(np.float64), True
    if values.dtype.kind not in "iuf":
        raise DataError(
            f"time={name!r} holds {type(values[0]).__name__} values such as {values[0]!r}: "
            "turn them into numbers, or into datetimes (pandas.to_datetime)"
        )
    return values.astype(np.float64), False


def _refuse_missing_values(gone: Mask, what: str) -> None:
    if gone.any():
        raise DataError(
            f"{what} is missing in {int(gone.sum())} of {len(gone)} rows: drop these rows"
        )


def _outcome_by_person(
    values: ColumnValues, person_of: Ids, n_people: int, *, good: object, name: str
) -> Array:
    """For each person 1 for the good outcome, 0 for another, NaN where it is not known."""
    known = ~missing_mask(values)
    distinct = list(dict.fromkeys(values[known].tolist()))
    if good not in distinct and (
        len(distinct) > 1 or any(isinstance(one, str) for one in distinct)
    ):
        raise DataError(
            f"good={good!r}{did_you_mean(good, distinct)}: the outcome {name!r} is never that, "
            f"but {list_names(distinct)}"
        )
    code_of = {value: float(i) for i, value in enumerate(distinct)}
    codes = np.array([code_of[value] for value in values[known].tolist()])
    lowest = np.full(n_people, np.inf)
    highest = np.full(n_people, -np.inf)
    np.minimum.at(lowest, person_of[known], codes)
    np.maximum.at(highest, person_of[known], codes)
    torn = int((lowest < highest).sum())
    if torn:
        raise DataError(
            f"the outcome {name!r} changes over time for {torn} of {n_people} people: "
            "give how each fared in the end"
        )
    fared: Array = (lowest == code_of.get(good, -1.0)).astype(np.float64)
    fared[np.isinf(lowest)] = np.nan
    return fared
