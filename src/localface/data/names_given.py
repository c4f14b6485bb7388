"""Refusing tables and people by the names of their columns: lacking, misspelt, too many."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from localface.data.hot_columns import columns_to_read
from localface.data.schema import Schema
from localface.errors import DataError, did_you_mean, list_names


def check_column_count(width: int, schema: Schema) -> None:
    """Refuse an array with another number of columns than the schema has features."""
    if width != len(schema.columns):
        raise DataError(
            f"the array has {width} columns and the schema {len(schema.columns)} features "
            f"({list_names(schema.columns)}): give one column a feature, in that order"
        )


def check_table_names(have: Iterable[object], schema: Schema) -> None:
    """Refuse a table that lacks a column, with the column that may be meant."""
    names, lacking = _names_and_lacking(have, schema)
    if lacking:
        spare = [name for name in names if name not in {*schema.names, *schema.columns}]
        each = ", ".join(f"{name!r}{did_you_mean(name, spare)}" for name in lacking)
        raise DataError(f"the table lacks {each}: it has {list_names(names)}", feature=lacking[0])


def check_person_names(have: Iterable[object], schema: Schema, what: str) -> None:
    """Refuse one person, or what else ``what`` says, who lacks a feature.

    Where a name of theirs is likely a slip of one that they lack, the slip is what is told.
    """
    names, lacking = _names_and_lacking(have, schema)
    if not lacking:
        return
    whose = what or f"the {schema.each_row.one}"
    unknown = "" if what else "; give None for what is not known"
    known = {*schema.names, *schema.columns}
    more = "" if len(lacking) == 1 else f", and lacks {list_names(lacking)}"
    for name in names:
        near = "" if name in known else did_you_mean(name, lacking)
        if near:
            raise DataError(
                f"{whose} has {name!r}, which is no feature{near}{more}: "
                f"it has {list_names(names)}{unknown}",
                feature=lacking[0],
            )
    raise DataError(
        f"{whose} lacks {list_names(lacking)}: it has {list_names(names)}{unknown}",
        feature=lacking[0],
    )


def refuse_unknown_keys(
    have: Iterable[Any], schema: Schema, what: str, extra: Collection[str]
) -> None:
    """Refuse what is neither a feature nor another column of the data: it may be a slip."""
    known = {*schema.names, *schema.columns, *extra}
    strange = next((str(name) for name in have if name not in known), None)
    if strange is not None:
        raise DataError(
            f"{what} has {strange!r}, which is no feature{did_you_mean(strange, schema.names)}: "
            f"leave it out; there are {list_names(schema.names)}",
            feature=strange,
        )


def _names_and_lacking(have: Iterable[object], schema: Schema) -> tuple[list[str], list[str]]:
    names = [str(name) for name in have]
    wanted = columns_to_read(names, schema)
    there = set(names)
    return names, [name for name in wanted if name not in there]
