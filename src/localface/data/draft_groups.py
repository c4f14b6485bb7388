"""Declares a group of columns of 0 and 1 as one feature, and says why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from localface.data.frames import ColumnValues
from localface.data.one_hot import REST, OneHotGroup, read_hot_column
from localface.data.own_names import guess_own
from localface.data.protected_names import guess_protection, protection_notes
from localface.data.stand_ins import stand_in_note, stand_ins

Guess = dict[str, object]


def draft_group(
    group: OneHotGroup, columns: Mapping[str, ColumnValues], others: Sequence[OneHotGroup]
) -> tuple[Guess, list[str]]:
    """Declare columns of 0 and 1 as one feature; ``others`` are all groups of the table."""
    guess: Guess = {
        "name": group.name,
        "kind": "binary" if len(group.categories) == 2 else "categorical",
        "categories": list(group.categories),
        "columns": list(group.columns),
    }
    how = "at most one" if group.has_rest else "exactly one"
    told = (
        f"{group.name!r} is encoded by the {len(group.columns)} columns {group.columns[0]!r} to "
        f"{group.columns[-1]!r}: {how} of them is 1 in every row, so that they are one feature; "
        f"to take them apart, schema.split({group.name!r})"
    )
    taken, sentences = _guess_missing(group, columns, others)
    if taken:
        guess["codes"] = dict.fromkeys(map(str, taken), "missing")
    guess |= guess_protection(guess)
    notes = [told, *sentences, *protection_notes(guess)]
    own = None if guess.get("protected") else guess_own(guess)
    if own is not None and own.moves == "never":
        guess["moves"] = own.moves
        notes.append(own.note)
    return guess, notes


def _guess_missing(
    group: OneHotGroup, columns: Mapping[str, ColumnValues], others: Sequence[OneHotGroup]
) -> tuple[list[object], list[str]]:
    """Tell which categories of a group stand for a missing value, and say so."""
    values = group.categories[1:] if group.has_rest else group.categories
    taken = stand_ins(values)
    if len(taken) == len(group.categories):
        taken = []
    notes = []
    if taken:
        hot = dict(zip(values, group.columns, strict=True))
        rows = sum(_n_ones(columns[hot[str(one)]]) for one in taken)
        notes.append(stand_in_note(group.name, taken, rows))
    if taken or not group.has_rest:  # where a column says what is missing, the rest is a value
        return taken, notes
    n_rest = _n_rest(group, columns)
    whole = [one for one in others if not one.has_rest and one.categories != one.columns]
    if whole:
        return [REST], [_rest_is_missing_note(group.name, n_rest, whole[0].name)]
    return [], [_rest_note(group.name, n_rest)]


def _rest_is_missing_note(name: str, n_rows: int, other: str) -> str:
    return (
        f"{name!r} has none of its columns at 1 in {n_rows:,} rows, though {other!r} has a column "
        "for every category: taken for a missing value, which no answer leads into or out of; "
        f"if that is wrong, schema.with_({name!r}, codes=None)"
    )


def _rest_note(name: str, n_rows: int) -> str:
    return (
        f"{name!r} has none of its columns at 1 in {n_rows:,} rows: taken for one more category, "
        f"{REST!r}, as where the first column was dropped; if these rows have no value, "
        f"schema.with_({name!r}, codes={{{REST!r}: 'missing'}})"
    )


def apart_note(names: tuple[str, ...]) -> str:
    """Say that columns of one category stand apart, and what that means."""
    return (
        f"{names[0]!r} and {len(names) - 1} more columns up to {names[-1]!r} encode one category "
        "and are not next to each other: they are linked; put them side by side to have one feature"
    )


def missing_column_note(name: str, names: tuple[str, ...]) -> str:
    """Say that a column of columns that stand apart is for a missing value; else nothing."""
    others = [one for one in names if one != name]
    if not stand_ins(_ends(name)):
        return ""
    return (
        f"{name!r} tells that the category of {others[0]!r} is missing: it is kept as it is; if "
        f"that is wrong, schema.with_({name!r}, moves='freely')"
    )


def _ends(name: str) -> list[str]:
    """The ends of a name that follow a separator."""
    return [name[i + 1 :] for i, one in enumerate(name) if one in "_=.:-/ "]


def _n_ones(values: ColumnValues) -> int:
    column = read_hot_column(values)
    return 0 if column is None else int(column.ones.sum())


def _n_rest(group: OneHotGroup, columns: Mapping[str, ColumnValues]) -> int:
    """How many rows with values have none of the columns at 1."""
    read = [one for name in group.columns if (one := read_hot_column(columns[name])) is not None]
    some = np.logical_or.reduce([one.ones | one.gone for one in read])
    return int((~some).sum())
