"""Whose each row of a table is."""

from __future__ import annotations

import numpy as np

from localface.data.frames import ColumnValues, missing_mask, open_table
from localface.errors import DataError, did_you_mean, list_names
from localface.types import Ids


def take_groups_column(data: object, groups: object) -> tuple[object, object]:
    """Return the labels of the rows, and the table without the column that holds them.

    ``groups`` are labels, which come back as they are, or the name of a column of the table.
    """
    if not isinstance(groups, str):
        return groups, data
    table = open_table(data)
    if isinstance(table, np.ndarray):
        raise DataError(
            f"groups={groups!r} names a column, and the columns of an array have no names: "
            "give one label a row instead, and leave the column out of the array",
            option="groups",
        )
    have = list(table.columns)
    if groups not in have:
        near = did_you_mean(groups, have)
        raise DataError(
            f"there is no column {groups!r} for groups={near}: there are {list_names(have)}",
            option="groups",
        )
    return table[groups].to_numpy(), table.drop(groups).to_native()


def number_people(groups: object, n_rows: int) -> Ids | None:
    """Number the people that labels name, one label a row; None where there are no labels."""
    if groups is None:
        return None
    labels = np.asarray(groups)
    if labels.shape != (n_rows,):
        came = f"{len(labels):,} people" if labels.ndim else repr(groups)
        raise DataError(
            f"groups= names {came}, and the data has {n_rows:,} rows: give one name a row",
            option="groups",
        )
    _refuse_unnamed(labels)
    if labels.dtype == object:
        labels = labels.astype(str)
    numbers = np.unique(labels, return_inverse=True)[1].ravel()
    if numbers.max(initial=0) == 0:
        raise DataError(
            "groups= names one person only: at least 2 are needed to compare", option="groups"
        )
    return np.asarray(numbers, dtype=np.int64)


def _refuse_unnamed(labels: ColumnValues) -> None:
    n_unnamed = int(missing_mask(labels).sum())
    if n_unnamed:
        raise DataError(
            f"groups= names nobody in {n_unnamed:,} of {len(labels):,} rows: name the person of "
            "each, and give a row whose person is not known a name of its own",
            option="groups",
        )
