"""What a record is: its features, what each of them holds, and how each may move."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from math import ceil, floor, log10
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from localface.data.box import MOVES, Box, compile_box, ends, number
from localface.data.infer import guesses
from localface.errors import ConstraintError, DataError, SchemaError, listed, near_miss
from localface.types import Array, Mask

Value = str | bool | int | float
Kind = Literal["numeric", "integer", "ordinal", "binary", "categorical"]
Moves = Literal["freely", "up", "down", "never"]
KINDS: tuple[str, ...] = get_args(Kind)
_SHOWN = 6  # categories named in a printed schema


@dataclass(frozen=True, slots=True)
class Feature:
    """One column of a record.

    Parameters
    ----------
    name : the column's name
    unit : what its numbers count, for people to read
    kind : ``numeric``, ``integer``, ``ordinal``, ``binary`` or ``categorical``
    moves : ``freely``, only ``up``, only ``down``, or ``never``
    within : how far a person may move from where they stand
    bounds : ``(low, high)`` for everyone, ``None`` where open
    resolution : the smallest change that a person could notice or measure
    scale : one ordinary difference between people; by default read off the data
    categories : what a binary, ordinal or categorical feature may be, lowest first
    reference : ``(low, high)`` that is thought ordinary or wanted, ``None`` where open; it is shown, and limits nothing

    >>> age = Feature("age", unit="year", kind="integer", moves="never")
    >>> age.value(63.0), age.format(63.0)
    (63, '63')
    """

    name: str
    _: KW_ONLY
    unit: str | None = None
    kind: Kind = "numeric"
    moves: Moves = "freely"
    within: float | None = None
    bounds: tuple[Value | None, Value | None] | None = None
    resolution: float | None = None
    scale: float | None = None
    categories: tuple[Value, ...] | None = None
    reference: tuple[Value | None, Value | None] | None = None

    def __post_init__(self) -> None:
        _check_words(self)
        object.__setattr__(self, "categories", _categories(self))
        if self.resolution is None and self.kind in ("integer", "ordinal"):
            object.__setattr__(self, "resolution", 1)
        _check_numbers(self)
        for key in ("bounds", "reference"):
            object.__setattr__(self, key, _ends(self, key))

    @property
    def discrete(self) -> bool:
        """Whether there is nothing between two of its values."""
        return self.kind in ("binary", "categorical")

    @property
    def whole(self) -> bool:
        """Whether its numbers are whole, be they counts or places in a list."""
        return self.kind != "numeric"

    def value(self, code: float) -> Value:
        """Return a code as the value that the user knows."""
        if self.categories is not None:
            return self.categories[round(code)]
        return round(code) if self.whole else float(code)

    def code(self, value: object) -> float:
        """Return a value as a code: itself where it is a number, else its place among the categories."""
        if self.categories is not None:
            return float(_place(self, self.categories, value))
        found = number(float(value) if isinstance(value, bool | np.bool_) else value)
        if found is None:
            raise DataError(f"{self.name!r} is {value!r}: a finite number is wanted")
        if self.whole and found != round(found):
            raise DataError(
                f"{self.name!r} is {self.kind} and cannot be {value!r}: give a whole number, "
                "or declare it kind='numeric'"
            )
        return found

    def format(self, code: float) -> str:
        """Write a code for people, without its unit.

        >>> Feature("temp", resolution=0.1).format(37.300000001)
        '37.3'
        """
        value = self.value(code)
        if not isinstance(value, float):
            return str(value)
        if self.resolution is not None and np.isfinite(value):
            decimals = max(0, ceil(-log10(self.resolution) - 1e-9))
            return _trimmed(f"{value:.{decimals}f}")
        large = value != 0 and np.isfinite(value) and 4 <= floor(log10(abs(value))) < 15
        return _trimmed(f"{value:.0f}" if large else f"{value:.4g}")


@dataclass(frozen=True, slots=True, repr=False)
class Schema:
    """The features of a record, in order."""

    features: tuple[Feature, ...]
    links: tuple[tuple[str, ...], ...]
    relations: tuple[tuple[str, str, str], ...]
    names: tuple[str, ...] = field(compare=False)

    def __init__(
        self,
        features: Iterable[Feature],
        *,
        links: Iterable[Iterable[str]] = (),
        relations: Iterable[Iterable[str]] = (),
    ) -> None:
        object.__setattr__(self, "features", tuple(features))
        object.__setattr__(self, "links", tuple(tuple(names) for names in links))
        object.__setattr__(self, "relations", tuple(_relation(tuple(words)) for words in relations))
        for feature in self.features:
            if not isinstance(feature, Feature):
                raise SchemaError(
                    f"a schema is made of features, and {feature!r} is none: write Feature({feature!r})"
                )
        object.__setattr__(self, "names", tuple(feature.name for feature in self.features))
        if not self.features:
            raise SchemaError("a schema needs at least one feature")
        twice = [name for name in dict.fromkeys(self.names) if self.names.count(name) > 1]
        if twice:
            raise SchemaError(
                f"the schema names {listed(twice)} more than once: each feature needs a name of its own"
            )
        for name in [name for names in self.links for name in names]:
            self.index(name)
        for first, _, second in self.relations:
            _check_order(self[first], self[second])

    @classmethod
    def infer(cls, frame: object) -> Schema:
        """Guess a schema from a table; print it to see the guesses, and mend them with ``with_``."""
        return cls.from_dict({"features": guesses(frame)})

    def __iter__(self) -> Iterator[Feature]:
        return iter(self.features)

    def __len__(self) -> int:
        return len(self.features)

    def __getitem__(self, name: str) -> Feature:
        return self.features[self.index(name)]

    def index(self, name: str) -> int:
        """Return the place of a feature."""
        if name not in self.names:
            near = near_miss(name, self.names)
            raise SchemaError(f"there is no feature {name!r}{near}: there are {listed(self.names)}")
        return self.names.index(name)

    def with_(self, name: str, **changes: object) -> Schema:
        """Return a schema in which one feature is declared differently.

        What only made sense for the old kind goes with it, unless it is given anew.
        """
        place = self.index(name)
        given = _known(changes, name)
        old = self.features[place]
        if given.get("kind", old.kind) != old.kind:
            given = {"resolution": None, **given}
            if given["kind"] in ("numeric", "integer"):
                given = {"categories": None, **given}
        new = replace(old, **given)  # type: ignore[arg-type]  # Feature checks what it is given
        features = (*self.features[:place], new, *self.features[place + 1 :])
        return Schema(features, links=self.links, relations=self.relations)

    def link(self, *names: str) -> Schema:
        """Return a schema in which these features only ever change together."""
        return Schema(self.features, links=(*self.links, names), relations=self.relations)

    def relate(self, first: str, relation: str, second: str) -> Schema:
        """Return a schema in which every state keeps a relation, such as ``relate("hr_min", "<=", "hr_max")``."""
        return Schema(
            self.features, links=self.links, relations=(*self.relations, (first, relation, second))
        )

    def broken(self, records: Array) -> Mask:
        """Tell which records break a relation that was declared."""
        broken = np.zeros(len(records), dtype=bool)
        for first, _, second in self.relations:
            broken |= records[:, self.index(first)] > records[:, self.index(second)]
        return broken

    def check_relations(self, records: Array, who: str) -> None:
        """Refuse records that break a relation, naming the first one that is broken."""
        for first, relation, second in self.relations:
            n = int((records[:, self.index(first)] > records[:, self.index(second)]).sum())
            if n:
                many = f"{n} row{'' if n == 1 else 's'} of {who} break{'s' if n == 1 else ''}"
                many = many if len(records) > 1 else f"{who} breaks"
                raise DataError(
                    f"the schema says {first!r} {relation} {second!r}, and {many} it: mend or drop them"
                )

    def box(self, record: Array, where: Mapping[str, object] | None = None) -> Box:
        """Compile what this person may change; ``where`` only narrows what the schema declares.

        ``where`` maps a feature to a number (how far it may move), a word (``"never"``), a
        ``(low, high)`` pair, a list of categories, or a dict of several of these.
        """
        return compile_box(self.features, record, where)

    def values(self, record: Array) -> dict[str, Value]:
        """Return a record as values that the user knows."""
        return {
            feature.name: feature.value(float(code))
            for feature, code in zip(self, record, strict=True)
        }

    def to_dict(self) -> dict[str, object]:
        """Return the schema as plain values that JSON can hold; defaults are left out."""
        plain: dict[str, object] = {"features": [_declared(feature) for feature in self]}
        for key in ("links", "relations"):
            if getattr(self, key):
                plain[key] = [list(words) for words in getattr(self, key)]
        return plain

    @classmethod
    def from_dict(cls, plain: object) -> Schema:
        """Build a schema from what ``to_dict`` returned."""
        rows = plain.get("features") if isinstance(plain, Mapping) else None
        if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
            raise SchemaError("a schema holds a list of [[features]], each with a name")
        lists = {
            key: plain.get(key, []) for key in ("links", "relations") if isinstance(plain, Mapping)
        }
        for key, words in lists.items():
            if not isinstance(words, list) or not all(isinstance(names, list) for names in words):
                raise SchemaError(f"{key} of a schema is a list of lists of names")
        return cls((_feature(row) for row in rows), **lists)

    def to_toml(self) -> str:
        """Write the schema as TOML, one block a feature."""
        declared = self.to_dict()
        blocks = [
            f"{key} = {_toml(declared[key], key)}"
            for key in ("links", "relations")
            if key in declared
        ]
        for feature in self:
            lines = [f"{key} = {_toml(value, key)}" for key, value in _declared(feature).items()]
            blocks.append("\n".join(["[[features]]", *lines]))
        return "\n\n".join(blocks) + "\n"

    @classmethod
    def from_toml(cls, text: str) -> Schema:
        """Read a schema from TOML."""
        try:
            return cls.from_dict(tomllib.loads(text))
        except tomllib.TOMLDecodeError as error:
            raise SchemaError(f"the schema is not valid TOML: {error}") from None

    def save(self, path: str | Path) -> None:
        """Write the schema to a TOML file."""
        Path(path).write_text(self.to_toml(), encoding="utf-8", newline="\n")

    @classmethod
    def load(cls, path: str | Path) -> Schema:
        """Read the schema from a TOML file."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except FileNotFoundError:
            raise SchemaError(
                f"there is no schema file {str(path)!r}: write one with Schema.save"
            ) from None
        except UnicodeDecodeError:
            raise SchemaError(
                f"{str(path)!r} is not a text file: a schema is TOML in UTF-8"
            ) from None
        return cls.from_toml(text)

    def __repr__(self) -> str:
        """Draw the schema as a table."""
        head = ("name", "kind", "unit", "moves", "range or categories", "note")
        rows = [head, *(_row(feature) for feature in self)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            for row in rows
        ]
        return "\n".join(
            [f"<Schema: {len(self)} features>", *(f"  {line}".rstrip() for line in lines)]
        )


def _relation(words: tuple[str, ...]) -> tuple[str, str, str]:
    if len(words) != 3 or words[1] != "<=":
        raise SchemaError(
            f"{' '.join(map(str, words))!r} is no relation: write two features and '<=' between them"
        )
    return words[0], words[1], words[2]


def _check_order(first: Feature, second: Feature) -> None:
    for feature in (first, second):
        if feature.discrete:
            raise SchemaError(
                f"{feature.name!r} is {feature.kind} and cannot be compared with '<='"
            )


def _check_words(feature: Feature) -> None:
    name, kind, moves = feature.name, feature.kind, feature.moves
    if not _is_text(name) or not name:
        raise SchemaError(f"a feature's name is {name!r}: give the name of its column, as text")
    if feature.unit is not None and not _is_text(feature.unit):
        raise SchemaError(f"the unit of {name!r} is {feature.unit!r}: give it as text")
    if kind not in KINDS:
        raise SchemaError(
            f"{name!r} has the kind {kind!r}{near_miss(kind, KINDS)}: use one of {listed(KINDS)}"
        )
    if moves not in MOVES:
        raise SchemaError(
            f"{name!r} cannot move {moves!r}{near_miss(moves, MOVES)}: use one of {listed(MOVES)}"
        )
    if kind == "categorical" and moves in ("up", "down"):
        raise SchemaError(
            f"{name!r} is categorical and has no {moves}: declare it kind='ordinal' if it has an order"
        )


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _check_numbers(feature: Feature) -> None:
    for key in ("within", "resolution", "scale"):
        given = getattr(feature, key)
        if given is None:
            continue
        found = number(given)
        if found is None or found < 0 or (found == 0 and key != "within"):
            raise SchemaError(f"{key} of {feature.name!r} is {given!r}: give a positive number")
        if feature.discrete and key != "scale":
            raise SchemaError(
                f"{feature.name!r} is {feature.kind} and can have no {key}: leave it out"
            )
        object.__setattr__(
            feature, key, int(found) if isinstance(given, int | np.integer) else found
        )


def _categories(feature: Feature) -> tuple[Value, ...] | None:
    """Check the categories, and give a binary feature 0 and 1 where it has none."""
    name, given = feature.name, feature.categories
    if given is None:
        if feature.kind == "categorical":
            raise SchemaError(
                f"{name!r} is categorical: list its categories, or let Schema.infer read them"
            )
        return (0, 1) if feature.kind == "binary" else None
    if feature.kind in ("numeric", "integer"):
        raise SchemaError(
            f"{name!r} is {feature.kind} and can have no categories: declare it kind='ordinal'"
        )
    labels = _labels(name, given)
    if len(set(labels)) < len(labels):
        raise SchemaError(f"{name!r} lists a category more than once: {listed(labels)}")
    if not labels or (feature.kind == "binary" and len(labels) != 2):
        wanted = "exactly two" if feature.kind == "binary" else "at least one"
        raise SchemaError(
            f"{name!r} is {feature.kind} and needs {wanted} categories: it has {len(labels)}"
        )
    return labels


def _labels(name: str, given: object) -> tuple[Value, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise SchemaError(f"the categories of {name!r} are {given!r}: give a list of them")
    labels = tuple(_python(label) for label in given)
    for label in labels:
        if not isinstance(label, str | bool) and number(label) is None:
            raise SchemaError(
                f"{name!r} has the category {label!r}: give text, numbers, True or False"
            )
    return labels


def _python(value: Any) -> Any:
    """Return a NumPy scalar as the Python value that it stands for."""
    return value.item() if isinstance(value, np.generic) else value


def _ends(feature: Feature, key: str) -> tuple[Value | None, Value | None] | None:
    """Check a range, and leave its open ends open."""
    given = getattr(feature, key)
    if given is None:
        return None
    what, be, them = ("bounds", "are", "them") if key == "bounds" else ("reference", "is", "it")
    if feature.discrete:
        raise SchemaError(
            f"{feature.name!r} is {feature.kind} and can have no {what}: leave {them} out"
        )
    if not _is_pair(given):
        raise SchemaError(
            f"the {what} of {feature.name!r} {be} {given!r}: give (low, high), with None where open"
        )
    low, high = (_python(end) for end in given)
    try:
        codes = ends(feature, (low, high))
    except ConstraintError as error:
        told = (
            str(error)
            if key == "bounds"
            else f"the reference of {feature.name!r} is {given!r}: give (low, high)"
        )
        raise SchemaError(told) from None
    shut = (low if np.isfinite(codes[0]) else None, high if np.isfinite(codes[1]) else None)
    return None if shut == (None, None) else shut


def _is_pair(value: object) -> bool:
    return isinstance(value, tuple | list) and len(value) == 2


def _place(feature: Feature, categories: tuple[Value, ...], value: object) -> int:
    try:
        return categories.index(value)
    except ValueError:
        raise unseen(feature, value) from None


def unseen(feature: Feature, value: object) -> DataError:
    """Say that a value is none of a feature's categories, and what they are."""
    known = feature.categories or ()
    return DataError(
        f"{feature.name!r} has the unseen category {value!r}{near_miss(value, known)}: the schema knows {listed(known)}"
    )


def _trimmed(text: str) -> str:
    if "." in text and "e" not in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _declared(feature: Feature) -> dict[str, object]:
    """Return what of a feature is not the default, as plain values."""
    plain: dict[str, object] = {"name": feature.name, "kind": feature.kind}
    for one in fields(Feature):
        value = getattr(feature, one.name)
        usual = (
            1
            if one.name == "resolution" and feature.kind in ("integer", "ordinal")
            else one.default
        )
        if one.name not in plain and value != usual:
            plain[one.name] = list(value) if isinstance(value, tuple) else value
    return plain


def _known(given: Mapping[str, object], name: object) -> dict[str, object]:
    known = [field.name for field in fields(Feature)]
    for key in given:
        if key not in known:
            raise SchemaError(
                f"feature {name!r} has no {key!r}{near_miss(key, known)}: it may have {listed(known, len(known))}"
            )
    return dict(given)


def _feature(row: Mapping[str, object]) -> Feature:
    name = row.get("name")
    given = _known(row, name)
    if name is None:
        raise SchemaError(f"a feature has no name: {dict(row)!r}")
    categories = given.get("categories")
    if isinstance(categories, list):
        given["categories"] = tuple(categories)
    return Feature(**given)  # type: ignore[arg-type]  # Feature checks what it is given


def _toml(value: object, key: str) -> str:
    if isinstance(value, list):
        open_ = ("-inf", "inf")  # TOML has no null: an open end is an infinite one
        items = [
            open_[i] if one is None and key in ("bounds", "reference") else _toml(one, key)
            for i, one in enumerate(value)
        ]
        return f"[{', '.join(items)}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{"".join(_escaped(character) for character in value)}"'
    return repr(value)


def _escaped(character: str) -> str:
    if character in '\\"':
        return "\\" + character
    return f"\\u{ord(character):04x}" if ord(character) < 32 or ord(character) == 127 else character


def _row(feature: Feature) -> tuple[str, ...]:
    """One line of the table that a schema prints as."""
    spread = "any"
    if feature.categories is not None:
        more = len(feature.categories) - _SHOWN
        spread = ", ".join(map(str, feature.categories[:_SHOWN])) + (
            f" and {more} more" if more > 0 else ""
        )
    if feature.bounds is not None:
        low, high = feature.bounds
        ends_ = (
            f"from {low}"
            if high is None
            else f"up to {high}"
            if low is None
            else f"{low} to {high}"
        )
        spread = ends_ if spread == "any" else f"{spread} ({ends_})"
    notes = [
        f"{key} {getattr(feature, key):g}"
        for key in ("within", "scale")
        if getattr(feature, key) is not None
    ]
    if feature.resolution is not None and not (feature.resolution == 1 and feature.whole):
        notes.append(f"resolution {feature.resolution:g}")
    return feature.name, feature.kind, feature.unit or "", feature.moves, spread, ", ".join(notes)
