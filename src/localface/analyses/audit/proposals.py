"""Reads people with the counterfactuals that are proposed to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from localface.analyses.audit.broken_groups import broken_groups
from localface.answers.wording import format_number
from localface.data.box import Box
from localface.data.constraints import check_where
from localface.data.frames import ColumnValues, Frame, missing_mask, open_table
from localface.data.hot_columns import columns_to_read
from localface.data.one_person import open_person
from localface.data.read import read_people, read_record, read_records
from localface.data.schema import Schema
from localface.engine.engine import Engine
from localface.errors import ConstraintError, DataError
from localface.types import Array

# A value this near to the person's own, relatively, went through another format unchanged.
_COPIED = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """A person, their constraints, and what is proposed to them, if anything.

    ``odd`` says what is odd about the proposal, ``no_state`` why it is no state at all.
    """

    record: Array
    box: Box
    goal: Array | None
    odd: tuple[str, ...] = ()
    no_state: str = ""


def read_people_and_proposals(
    engine: Engine, given: tuple[Any, Any], where: Mapping[str, Any] | None
) -> list[Pair]:
    """Read people and proposals side by side."""
    schema = engine.schema
    check_where(schema.features, where)
    people_ = read_people(given[0], schema)
    proposals = _read_proposals(given[1], _schema_with_fractions_allowed(schema))
    if len(people_) != len(proposals):
        raise DataError(
            f"{len(people_)} factuals and {len(proposals)} counterfactuals came: "
            "give one a person, in the same order, "
            "and None or a row of NaN where nothing is proposed"
        )
    pairs = []
    for i, (record, goal) in enumerate(zip(people_, proposals, strict=True)):
        try:
            box = schema.box(record, where)
        except ConstraintError as error:
            raise ConstraintError(
                f"person {i}: {error}", feature=error.feature, person=i, option=error.option
            ) from None
        if goal is None or isinstance(goal, str):
            pairs.append(Pair(record, box, None, no_state=goal or ""))
            continue
        pairs.append(_pair_without_rounding_differences(engine, Pair(record, box, goal)))
    return pairs


def _pair_without_rounding_differences(engine: Engine, pair: Pair) -> Pair:
    """Take values that differ by rounding only as the person's own; note odd fractions."""
    assert pair.goal is not None
    sizes = np.maximum(np.abs(pair.record), engine.space.scales)
    goal = np.where(np.abs(pair.goal - pair.record) <= _COPIED * sizes, pair.record, pair.goal)
    odd = []
    for j, feature in enumerate(engine.schema):
        whole = float(np.rint(goal[j])) + 0.0
        if feature.whole and abs(goal[j] - whole) > _COPIED * sizes[j]:
            odd.append(
                f"{feature.display_name} is whole, and {format_number(float(goal[j]))} is proposed "
                f"(taken as {whole:.0f})"
            )
        goal[j] = whole if feature.whole else goal[j]
    return replace(pair, goal=goal, odd=tuple(odd))


def _schema_with_fractions_allowed(schema: Schema) -> Schema:
    """The features alone, integers read as numbers: proposals may hold fractions."""
    features = [f if f.kind != "integer" else replace(f, kind="numeric") for f in schema]
    return Schema(features)


def _read_proposals(proposals: Any, schema: Schema) -> list[Array | str | None]:
    """Read a table or a list of proposals; one in which everything is missing is none.

    Of one that is no state because columns of 0 and 1 tell no category, it is said why.
    """
    if isinstance(proposals, list | tuple):
        return [_read_one_proposal(i, one, schema) for i, one in enumerate(proposals)]
    table = open_table(proposals)
    empty = _mask_of_empty_rows(table, schema)
    found: list[Array | str | None] = [None] * len(table)
    for number, why in broken_groups(schema, _columns_of_groups(table, schema)).items():
        found[number] = None if empty[number] else why
    readable = ~empty & np.array([one is None for one in found])
    proposed = np.flatnonzero(readable)
    if len(proposed):
        kept = (
            table[proposed]
            if isinstance(table, np.ndarray)
            else table.filter(readable.tolist()).to_native()
        )
        try:
            records = read_records(kept, schema)
        except DataError as error:
            raise DataError(f"the counterfactuals: {error}", feature=error.feature) from None
        for number, record in zip(proposed.tolist(), records, strict=True):
            found[number] = record
    return found


def _columns_of_groups(table: Frame | ColumnValues, schema: Schema) -> dict[str, ColumnValues]:
    """The columns of 0 and 1 that tell categories, and any that is told by itself instead."""
    names = [name for one in schema if one.columns for name in (one.name, *one.columns)]
    if not isinstance(table, np.ndarray):
        return {name: table[name].to_numpy() for name in names if name in table.columns}
    if table.shape[1] != len(schema.columns):
        return {}
    return {name: table[:, j] for j, name in enumerate(schema.columns) if name in names}


def _read_one_proposal(number: int, proposal: Any, schema: Schema) -> Array | str | None:
    values = proposal
    if nw.dependencies.is_pandas_series(proposal):
        values = proposal.to_numpy(dtype=object)
    elif isinstance(proposal, Mapping):
        names = columns_to_read(list(proposal), schema)
        values = np.array([proposal.get(name, 0) for name in names], dtype=object)
    if proposal is None or (
        isinstance(values, np.ndarray) and values.ndim == 1 and missing_mask(values).all()
    ):
        return None
    if (
        not (isinstance(values, np.ndarray) and values.ndim == 1)
        and _mask_of_empty_rows(open_table(values), schema).all()
    ):
        return None
    opened = open_person(proposal)
    if opened.values is not None and not isinstance(opened.native, np.ndarray):
        values = {name: np.array([one], dtype=object) for name, one in opened.values.items()}
        broken = broken_groups(schema, values)
        if broken:
            return broken[0]
    try:
        return read_record(opened, schema, "the counterfactual")
    except DataError as error:
        raise DataError(
            f"counterfactual {number}: {error}", feature=error.feature, person=number
        ) from None


def _mask_of_empty_rows(table: Frame | ColumnValues, schema: Schema) -> Any:
    """Tell which rows have nothing in any feature."""
    if isinstance(table, np.ndarray):
        columns = [table[:, j] for j in range(table.shape[1])]
    else:
        columns = [table[name].to_numpy() for name in schema.columns if name in table.columns]
    masks = [missing_mask(column) for column in columns]
    return np.logical_and.reduce(masks) if masks else np.zeros(len(table), dtype=bool)
