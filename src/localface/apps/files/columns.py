"""The columns of a table that a schema or a model knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from localface.data.frames import column_names, values_of_column
from localface.data.infer import is_identifier_in_text
from localface.data.people import number_people, take_groups_column
from localface.data.schema import Schema
from localface.errors import DataError, did_you_mean, list_names


@dataclass(frozen=True, slots=True, eq=False)
class ChosenColumns:
    """The part of a table that is used, its schema, and the columns that were left out.

    ``groups`` are the labels that say whose each row is, None where no column does;
    ``identifiers`` are those left out because most rows have a text of their own there.
    ``whole`` is the table with all its columns.
    """

    table: Any
    schema: Schema | None
    dropped: tuple[str, ...]
    groups: object = None
    identifiers: tuple[str, ...] = ()
    whole: Any = None


def choose_columns(
    table: Any,
    *,
    schema: Schema | None,
    model: Any = None,
    drop: Sequence[str] = (),
    groups: str | None = None,
) -> ChosenColumns:
    """Keep what the model knows by name, else what the schema declares, else all but identifiers.

    Columns come in the order of the model or schema. ``groups`` names the column that says whose
    row it is: no feature, unless the model or the schema knows it.
    """
    labels, others = take_groups_column(table, groups)
    have = list(column_names(table))
    for name in drop:
        if name not in have:
            near = did_you_mean(name, have)
            raise DataError(
                f"there is no column {name!r} to drop{near}: there are {list_names(have)}"
            )
    named = getattr(model, "feature_names_in_", None)
    whose = "the schema"
    identifiers: tuple[str, ...] = ()
    if named is not None:
        whose = "the model"
        known = [str(name) for name in named]
    elif schema is not None:
        known = list(schema.columns)
    else:
        identifiers = _find_identifiers(others, labels, dropped=drop)
        known = [name for name in column_names(others) if name not in identifiers]
    wanted = [name for name in known if name not in drop]
    _refuse_lacking_columns(wanted, have, f"the table lacks {{}}, which {whose} needs")
    width = getattr(model, "n_features_in_", None)
    if named is None and width is not None and width != len(wanted):
        raise DataError(
            f"the model takes {width} columns, it does not say which, and {len(wanted)} came: "
            f"{list_names(wanted)}; leave columns out with --drop, "
            "or with a --schema that lists only those of the model, in its order"
        )
    if schema is not None:
        _refuse_lacking_columns(
            wanted, list(schema.columns), f"the schema lacks {{}}, which {whose} needs"
        )
        schema = schema.of_columns(wanted)
    chosen = nw.from_native(table, eager_only=True).select(wanted).to_native()
    dropped = tuple(name for name in have if name not in wanted)
    return ChosenColumns(chosen, schema, dropped, labels, identifiers, table)


def _find_identifiers(table: Any, labels: object, *, dropped: Sequence[str]) -> tuple[str, ...]:
    """Name the columns of text of which most people have one of their own; ``labels`` say whose."""
    frame = nw.from_native(table, eager_only=True)
    people = number_people(labels, len(frame))
    n_people = len(frame) if people is None else len(np.unique(people))
    return tuple(
        name
        for name in frame.columns
        if name not in dropped
        and is_identifier_in_text(values_of_column(frame, name), n_people=n_people)
    )


def _refuse_lacking_columns(wanted: list[str], have: list[str], sentence: str) -> None:
    lacking = [name for name in wanted if name not in have]
    if lacking:
        spare = [name for name in have if name not in wanted]
        near = did_you_mean(lacking[0], spare)
        raise DataError(f"{sentence.format(list_names(lacking))}{near}: it has {list_names(have)}")
