"""Columns of points that say that a feature has no value, and why."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.data.absence import absent_values, same_codes
from localface.data.schema import Schema
from localface.errors import DataError
from localface.types import Array, Ids, Mask


@dataclass(frozen=True, slots=True, eq=False)
class AbsenceColumn:
    """The column for one reason why one feature has no value: ``code`` in records.

    It is 0 where the reason does not apply, else ``height``. The columns of the value itself,
    ``first`` to ``column``, then hold ``filler``, so that they are no difference between two
    people who both lack it.
    """

    feature: int
    code: float
    column: int
    height: float
    first_absence: int
    first: int
    filler: float


@dataclass(frozen=True, slots=True, eq=False)
class AbsenceColumns:
    """All columns of points that say that features have no value."""

    schema: Schema
    columns: tuple[AbsenceColumn, ...]

    @property
    def numbers(self) -> Ids:
        """The numbers of these columns."""
        return np.array([one.column for one in self.columns], dtype=np.int64)

    def fill_points(self, points: Array, records: Array) -> None:
        """Say in points which features of records have no value, and why."""
        for one in self.columns:
            gone = same_codes(records[:, one.feature], one.code)
            points[gone, one.first : one.first_absence] = one.filler
            points[gone, one.column] = one.height

    def fill_records(self, records: Array, points: Array) -> None:
        """Put the codes of what is absent into records of points."""
        for one in self.columns:
            records[points[:, one.column] > one.height / 2, one.feature] = one.code

    def refuse_unknown(self, record: Array, who: str) -> None:
        """Refuse a record that lacks what everybody in the data has: nobody is like that."""
        known = {(one.feature, str(one.code)) for one in self.columns}
        gone = np.flatnonzero(absent_values(self.schema, record)).tolist()
        lacking = [j for j in gone if (j, str(record[j])) not in known]
        if not lacking:
            return
        features = [self.schema.features[j] for j in lacking]
        codes = record[lacking].tolist()
        each = [f"{f.name} ({f.format(code)})" for f, code in zip(features, codes, strict=True)]
        others = any(one.feature == lacking[0] for one in self.columns)
        rows = self.schema.each_row
        none = f"{rows.everybody} in the data has one"
        if others:
            none = f"{rows.nobody} in the data lacks one so"
        raise DataError(
            f"{who} has no value of {', '.join(each)}, and {none}: give the "
            f"value, or data in which some {rows.many} lack it too",
            feature=features[0].name,
        )

    def mask(self, width: int) -> Mask:
        """Tell which columns of points these are."""
        return np.isin(np.arange(width), self.numbers)


def lay_out_absences(
    schema: Schema, absences: tuple[tuple[float, ...], ...], scales: Array, widths: list[int]
) -> AbsenceColumns:
    """Give every absence a column, after those of the feature's value.

    ``widths`` tell how many columns the value of each feature has.
    """
    found = []
    first = 0
    for j, feature in enumerate(schema):
        codes = absences[j] if absences else ()
        category = feature.kind == "categorical"
        for i, code in enumerate(codes):
            found.append(
                AbsenceColumn(
                    j,
                    code,
                    column=first + widths[j] + i,
                    height=float(np.sqrt(0.5) / scales[j]) if category else 1.0,
                    first_absence=first + widths[j],
                    first=first,
                    filler=float(0.5 / scales[j]) if feature.kind == "binary" else 0.0,
                )
            )
        first += widths[j] + len(codes)
    return AbsenceColumns(schema, tuple(found))
