"""A first draft of a schema: what each column of a table seems to hold, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from localface.data.found_codes import find_codes
from localface.data.found_relations import suggest_relations
from localface.data.frames import ColumnValues, Frame, column_names, missing_mask, open_table
from localface.data.infer import guess_column
from localface.data.name_hints import hints_from_name, identifier_note, why_identifier
from localface.data.one_hot import OneHotGroup, find_one_hot_groups
from localface.data.protected_names import is_age_name, is_protected_name, protection_note
from localface.errors import DataError
from localface.types import Array, Mask

Guess = dict[str, object]
_STAND_INS = frozenset({"?", "", "na", "n/a", "nan", "null", "-", "."})


@dataclass(frozen=True, slots=True)
class Draft:
    """The declarations of features, as plain values, and the sentences that explain them."""

    features: tuple[Guess, ...]
    notes: tuple[str, ...]
    links: tuple[tuple[str, ...], ...] = ()


def draft_schema(data: object) -> Draft:
    """Guess the declaration of every column, and say what was guessed by what."""
    table = open_table(data)
    if len(table) == 0:
        raise DataError("the table has no rows: give at least one")
    columns = _values_by_column(table)
    hot = {name: ones for name, values in columns.items() if (ones := _ones(values)) is not None}
    named = not isinstance(table, np.ndarray)
    found = find_one_hot_groups(list(columns), hot if named else {})
    group_of = {name: group for group in found.groups for name in group.columns}
    features: list[Guess] = []
    notes: list[str] = []
    for name, values in columns.items():
        group = group_of.get(name)
        if group is None:
            guess, sentences = _draft_column(name, table, values)
        elif name == group.columns[0]:
            guess, sentences = _draft_group(group)
        else:
            continue
        features.append(guess)
        notes += sentences
    notes += [_apart_note(one) for one in found.apart]
    notes += suggest_relations(*_told_apart(features, columns))
    return Draft(tuple(features), tuple(notes), found.apart)


def _apart_note(names: tuple[str, ...]) -> str:
    return (
        f"{names[0]!r} and {len(names) - 1} more columns up to {names[-1]!r} tell one category and "
        "do not stand side by side: they are linked; put them side by side to have one feature"
    )


def _told_apart(
    features: list[Guess], columns: dict[str, ColumnValues]
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return columns of numbers, NaN where there is none, and columns of categories as codes."""
    numbers: dict[str, Array] = {}
    categories: dict[str, Array] = {}
    for guess in features:
        name = str(guess["name"])
        if guess["kind"] in ("numeric", "integer") and columns[name].dtype.kind in "iuf":
            values = columns[name].astype(np.float64)
            codes = guess.get("codes")
            values[np.isin(values, list(codes) if isinstance(codes, dict) else [])] = np.nan
            numbers[name] = values
        elif isinstance(told := guess.get("columns"), list):
            ones = np.stack([columns[column] for column in told]).astype(np.float64)
            categories[name] = ones.T @ np.arange(1.0, len(told) + 1)
        elif guess["kind"] in ("categorical", "ordinal"):
            categories[name] = _category_codes(columns[name])
    return numbers, categories


def _category_codes(values: ColumnValues) -> Array:
    """Number the different values of a column; -1 where one is missing."""
    codes = np.full(len(values), -1.0)
    present = ~missing_mask(values)
    seen = {value: i for i, value in enumerate(dict.fromkeys(values[present].tolist()))}
    codes[present] = [seen[value] for value in values[present].tolist()]
    return codes


def _values_by_column(table: Frame | ColumnValues) -> dict[str, ColumnValues]:
    if isinstance(table, np.ndarray):
        return {name: table[:, j] for j, name in enumerate(column_names(table))}
    return {name: table[name].to_numpy() for name in table.columns}


def _ones(values: ColumnValues) -> Mask | None:
    """Tell which values of a column of 0 and 1 are 1; None of any other column."""
    if values.dtype.kind == "b":
        return np.asarray(values, dtype=bool)
    if values.dtype.kind not in "iuf" or len(values) == 0:
        return None
    if not (values.min() >= 0 and values.max() <= 1):  # NaN is neither
        return None
    ones = np.asarray(values == 1)
    return ones if bool((ones | (values == 0)).all()) else None


def _draft_group(group: OneHotGroup) -> tuple[Guess, list[str]]:
    """Declare columns of 0 and 1 as one feature."""
    guess: Guess = {
        "name": group.name,
        "kind": "binary" if len(group.categories) == 2 else "categorical",
        "categories": list(group.categories),
        "columns": list(group.columns),
    }
    how = "at most one" if group.has_rest else "exactly one"
    note = (
        f"{group.name!r} is told by the {len(group.columns)} columns {group.columns[0]!r} to "
        f"{group.columns[-1]!r}: {how} of them is 1 in every row, so that they are one feature; "
        f"to take them apart, schema.split({group.name!r})"
    )
    protection = _guess_protection(guess)
    return guess | protection, [note, *_protection_notes(guess | protection)]


def _draft_column(
    name: str, table: Frame | ColumnValues, values: ColumnValues
) -> tuple[Guess, list[str]]:
    """Declare one column as a feature."""
    column = values if isinstance(table, np.ndarray) else table[name]
    numbers = _numbers(values)
    codes = find_codes(name, numbers)
    guess = guess_column(name, codes.without_taken(values) if codes.taken else column)
    if codes.taken:
        guess = guess | {"codes": codes.labels}
    notes = list(codes.notes)
    same = _note_on_sameness(name, values)
    if same:
        return guess | {"moves": "never"} | _guess_protection(guess), [*notes, same]
    notes += _stand_in_notes(name, guess, values)
    guess = guess | _guess_protection(guess)
    if "since" in guess:
        notes.append(f"{name!r} holds dates: they are counted in days since {guess['since']}")
    if why := why_identifier(name, guess.get("categories")):
        return guess | {"moves": "never"}, [*notes, identifier_note(name, why)]
    hints = hints_from_name(guess, codes.without_taken(numbers))
    return guess | hints.settings, [*notes, *_protection_notes(guess), *hints.notes]


def _numbers(values: ColumnValues) -> Array:
    """The numbers of a column, missing ones left out; none where it holds anything else."""
    if values.dtype.kind not in "iuf":
        return np.zeros(0)
    return np.asarray(values[~missing_mask(values)], dtype=np.float64)


def _note_on_sameness(name: str, values: ColumnValues) -> str:
    """Say that a column holds no value, or the same in every row; nothing where it varies."""
    seen = values[~missing_mask(values)]
    if len(seen) == 0:
        return f"{name!r} holds no value in any row: it is kept as it is, and tells nothing"
    first = seen[0]
    if len(seen) > 1 and all(one == first for one in _sample_first(seen)) and (seen == first).all():
        return (
            f"{name!r} is the same in every row ({first}): it is kept as it is; if it may move, "
            "say how, and give it a scale"
        )
    return ""


def _stand_in_notes(name: str, guess: Guess, values: ColumnValues) -> list[str]:
    """Point out categories such as '?' that may stand for a missing value."""
    categories = guess.get("categories")
    several = categories if isinstance(categories, list) else []
    found = [one for one in several if str(one).strip().lower() in _STAND_INS]
    return [
        f"{name!r} has the category {one!r} ({int((values == one).sum()):,} rows), which may stand "
        f"for a missing value: if so, read the table with na_values={one!r}"
        for one in found
    ]


def _sample_first(seen: ColumnValues) -> Iterator[object]:
    """The first few values: most columns differ there already."""
    yield from seen[:8]


def _guess_protection(guess: Guess) -> Guess:
    """Guess by its name whether a feature is protected, and whether it grows by itself."""
    name = str(guess["name"])
    if not is_protected_name(name):
        return {}
    grows = is_age_name(name) and guess["kind"] in ("numeric", "integer")
    return {"moves": "grows", "protected": True} if grows else {"protected": True}


def _protection_notes(guess: Guess) -> list[str]:
    if not guess.get("protected"):
        return []
    return [protection_note(str(guess["name"]), grows=guess.get("moves") == "grows")]
