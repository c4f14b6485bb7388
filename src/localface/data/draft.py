"""A first draft of a schema: what each column of a table seems to hold, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from localface.data.draft_groups import apart_note, draft_group, missing_column_note
from localface.data.feature_checks import OWN
from localface.data.found_accumulators import find_accumulators
from localface.data.found_codes import find_codes, same_code_note
from localface.data.found_functions import FoundFunction, find_body_masses, find_functions
from localface.data.found_relations import suggest_relations
from localface.data.found_transitions import never_again, never_again_note
from localface.data.frames import (
    ColumnValues,
    Frame,
    column_names,
    missing_mask,
    open_table,
    values_of_column,
)
from localface.data.infer import guess_column
from localface.data.name_hints import hints_from_name, identifier_note, why_identifier
from localface.data.one_hot import FoundGroups, find_one_hot_groups, read_hot_column
from localface.data.own_names import guess_own
from localface.data.people import number_people, take_groups_column
from localface.data.protected_names import GROWN, KEPT, guess_protection, protection_notes
from localface.data.stand_ins import (
    possible_stand_in_note,
    possible_stand_ins,
    stand_in_note,
    stand_ins,
)
from localface.errors import DataError
from localface.types import Array, Ids

Guess = dict[str, object]


@dataclass(frozen=True, slots=True)
class Draft:
    """The declarations of features, as plain values, and the sentences that explain them."""

    features: tuple[Guess, ...]
    notes: tuple[str, ...]
    links: tuple[tuple[str, ...], ...] = ()


def draft_schema(data: object, groups: object = None) -> Draft:
    """Guess the declaration of every column, and say what was guessed by what.

    ``groups`` says whose each row is: what is seen counts once a person.
    """
    labels, others = take_groups_column(data, groups)
    table = open_table(others)
    if len(table) == 0:
        raise DataError("the table has no rows: give at least one")
    people = number_people(labels, len(table))
    columns = _values_by_column(table)
    weight = 1.0 if people is None else len(np.unique(people)) / len(people)
    found = _find_groups(table, columns, weight)
    group_of = {name: group for group in found.groups for name in group.columns}
    features: list[Guess] = []
    notes: list[str] = []
    for name, values in columns.items():
        group = group_of.get(name)
        if group is None:
            guess, sentences = _draft_column(name, table, values, people)
        elif name == group.columns[0]:
            guess, sentences = draft_group(group, columns, found.groups)
        else:
            continue
        features.append(guess)
        notes += sentences
    notes += [apart_note(one) for one in found.apart]
    for one in found.apart:
        notes += _keep_missing_column(one, features)
    numbers, categories = _told_apart(features, columns)
    functions = find_functions(numbers)
    notes = _settle_functions(features, notes, functions)
    notes += _settle_accumulators(features, numbers)
    masses = list(find_body_masses(numbers))
    notes += _settle_body_masses(features, masses)
    notes += suggest_relations(numbers, categories, weight=weight)
    links = [
        (one.of, one.name) for one in (*functions, *masses) if _may_move_together(features, one)
    ]
    return Draft(tuple(features), tuple(notes), (*found.apart, *links))


def _find_groups(
    table: Frame | ColumnValues, columns: dict[str, ColumnValues], weight: float
) -> FoundGroups:
    """Find columns of 0 and 1 that tell one category; those of an array have no names."""
    if isinstance(table, np.ndarray):
        return FoundGroups((), ())
    read = {name: read_hot_column(values) for name, values in columns.items()}
    hot = {name: one for name, one in read.items() if one is not None}
    return find_one_hot_groups(list(columns), hot, weight=weight)


def _keep_missing_column(names: tuple[str, ...], features: list[Guess]) -> Iterator[str]:
    """Keep the column for what is missing of a group that stands apart, and say so."""
    for guess in features:
        if guess["name"] in names and (note := missing_column_note(str(guess["name"]), names)):
            guess["moves"] = "never"
            yield note


def _settle_functions(
    features: list[Guess], notes: list[str], functions: list[FoundFunction]
) -> list[str]:
    """Keep what is a function of what is kept, and say of others that they are linked.

    Neither of the two then grows: they would have to grow together.
    """
    by_name = {str(one["name"]): one for one in features}
    for found in functions:
        base, guess = by_name[found.of], by_name[found.name]
        if not _is_kept(base):
            notes.append(found.suggestion if _is_kept(guess) else found.note)
            continue
        notes = [note for note in notes if not (_is_about(note, found.name) and KEPT in note)]
        guess.update({"moves": "never"}, **({"protected": True} if base.get("protected") else {}))
        kept = "it is kept as it is, as that is"
        if base.get("moves") == "grows":
            base["moves"] = "never"
            notes = [
                note.replace(GROWN, "") if _is_about(note, found.of) else note for note in notes
            ]
            kept = "both are kept as they are, and neither grows without the other"
        notes.append(f"{found.name!r} is {found.how}: {kept}")
    return notes


def _settle_body_masses(features: list[Guess], masses: list[FoundFunction]) -> Iterator[str]:
    """Keep a body mass index with the weight that it follows from, or say that they are linked."""
    by_name = {str(one["name"]): one for one in features}
    for found in masses:
        weight, index = by_name[found.of], by_name[found.name]
        if _is_kept(index):
            continue
        if _is_kept(weight):
            index["moves"] = "never"
            yield f"{found.name!r} is {found.how}: it is kept as it is, as {found.of!r} is"
        else:
            yield found.note


def _may_move_together(features: list[Guess], found: FoundFunction) -> bool:
    """Whether neither of two features that belong together is kept."""
    pair = (found.of, found.name)
    return not any(_is_kept(one) for one in features if one["name"] in pair)


def _is_kept(guess: Guess) -> bool:
    return guess.get("moves") in OWN or bool(guess.get("protected"))


def _settle_accumulators(features: list[Guess], numbers: dict[str, Array]) -> Iterator[str]:
    """Let what adds up over time move up, where the rows show it; ask where only a name does.

    What is kept, or moves one way already, stays so.
    """
    free = {
        str(one["name"]): one
        for one in features
        if one.get("moves", "freely") == "freely" and not one.get("protected")
    }
    for found in find_accumulators(numbers):
        guess = free.get(found.name)
        if guess is None:
            continue
        if found.rate is not None:
            guess["moves"] = "up"
        yield found.note


def _is_about(note: str, name: str) -> bool:
    return note.startswith(f"{name!r} ")


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
            categories[name] = _told_codes([columns[column] for column in told])
        elif guess["kind"] in ("categorical", "ordinal"):
            categories[name] = _category_codes(columns[name])
    return numbers, categories


def _told_codes(columns: list[ColumnValues]) -> Array:
    """Number the category that columns of 0 and 1 tell; -1 where it is missing."""
    read = [one for values in columns if (one := read_hot_column(values)) is not None]
    codes = np.zeros(len(columns[0]))
    for number, column in enumerate(read, start=1):
        codes[column.ones] = number
        codes[column.gone] = -1
    return codes


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
    return {name: values_of_column(table, name) for name in table.columns}


def _draft_column(
    name: str, table: Frame | ColumnValues, values: ColumnValues, people: Ids | None
) -> tuple[Guess, list[str]]:
    """Declare one column as a feature."""
    column = values if isinstance(table, np.ndarray) else table[name]
    numbers = _numbers(values)
    codes = find_codes(name, numbers, _people_with_values(values, people))
    n_people = len(values) if people is None else len(np.unique(people))
    guess = guess_column(name, column, n_people=n_people, codes=codes.taken)
    if codes.taken:
        guess = guess | {"codes": codes.labels}
    notes = list(codes.notes)
    same = _note_on_sameness(name, values)
    if same:
        return guess | {"moves": "never"} | guess_protection(guess), [*notes, same]
    stood_in, sentences = _guess_stand_ins(name, guess, values)
    notes += sentences
    guess = guess | stood_in | guess_protection(guess)
    if "since" in guess:
        notes.append(f"{name!r} holds dates: they are counted in days since {guess['since']}")
    if why := why_identifier(name, guess.get("categories")):
        return guess | {"moves": "never"}, [*notes, identifier_note(name, why)]
    if barred := never_again(guess):
        guess = guess | {"never_from": barred}
        notes.append(never_again_note(name, barred))
    hints = hints_from_name(guess, codes.without_taken(numbers))
    guess = guess | hints.settings
    notes += [*protection_notes(guess), *hints.notes]
    own = None if guess.get("moves") or guess.get("protected") else guess_own(guess)
    if own is not None:
        guess = guess if own.moves is None else guess | {"moves": own.moves}
        notes.append(own.note)
    return guess, notes


def _people_with_values(values: ColumnValues, people: Ids | None) -> Ids | None:
    """The person of each number of a column."""
    if people is None or values.dtype.kind not in "iuf":
        return None
    return people[~missing_mask(values)]


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
        if code := same_code_note(name, first):
            return code
        return (
            f"{name!r} is the same in every row ({first}): it is kept as it is; if it may move, "
            "say how, and give it a scale"
        )
    return ""


def _guess_stand_ins(name: str, guess: Guess, values: ColumnValues) -> tuple[Guess, list[str]]:
    """Take categories such as '?' for codes, and point out those that may be."""
    categories = guess.get("categories")
    if not isinstance(categories, list):
        return {}, []
    taken = stand_ins(categories)
    if guess["kind"] == "ordinal" or len(taken) == len(categories):
        taken = []
    maybe = possible_stand_ins(categories) if guess["kind"] != "ordinal" else []
    notes = [possible_stand_in_note(name, one, int((values == one).sum())) for one in maybe]
    if not taken:
        return {}, notes
    n_rows = int(sum((values == one).sum() for one in taken))
    codes = dict.fromkeys(map(str, taken), "missing")
    return {"codes": codes}, [stand_in_note(name, taken, n_rows), *notes]


def _sample_first(seen: ColumnValues) -> Iterator[object]:
    """The first few values: most columns differ there already."""
    yield from seen[:8]
