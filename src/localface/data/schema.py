"""A schema: the features of a record, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from localface.data.absence import is_absent
from localface.data.box import Box
from localface.data.codes import FeatureValue
from localface.data.constraints import compile_box
from localface.data.draft import draft_schema
from localface.data.feature import Feature, checked_settings
from localface.data.feature_checks import Moves
from localface.data.relations import (
    FunctionRule,
    LinearRule,
    Pair,
    Rule,
    broken_relation_error,
    check_is_number,
    checked_pair,
    make_relation,
    rules_from_plain,
)
from localface.data.row_words import RowWords, read_row_words
from localface.data.schema_checks import (
    check_feature_names,
    check_features,
    note_on_order,
    settled_kind,
    settled_protection,
)
from localface.data.schema_file import read_schema_text, read_toml, write_toml
from localface.data.schema_table import schema_lines
from localface.data.whole_files import write_whole
from localface.errors import SchemaError, did_you_mean, list_names
from localface.types import Array, Mask

_PARTS = ("features", "links", "relations", "rules", "notes", "each_row")


@dataclass(frozen=True, slots=True, repr=False)
class Schema:
    """The features of a record, in order.

    ``links`` lists features that only ever change together, ``relations`` pairs of features
    that keep an order, as in ``("hr_min", "<=", "hr_max")``, ``rules`` relations of other kinds
    (see ``relate``). ``notes`` are sentences on what was guessed, for people to check.
    ``columns`` are those of the table: one a feature, or several that tell a category.
    ``each_row`` is what one row is called where it is no person: ``"house"``, or ``("mouse",
    "mice")`` where the plural is not made in a usual way; answers then speak of houses.
    """

    features: tuple[Feature, ...]
    links: tuple[tuple[str, ...], ...]
    relations: tuple[Pair, ...]
    rules: tuple[Rule, ...]
    names: tuple[str, ...] = field(compare=False)
    columns: tuple[str, ...] = field(compare=False)
    notes: tuple[str, ...] = field(compare=False)
    each_row: RowWords = field(compare=False)

    def __init__(
        self,
        features: Iterable[Feature],
        *,
        links: Iterable[Iterable[str]] = (),
        relations: Iterable[Iterable[str]] = (),
        rules: Iterable[Rule] = (),
        notes: Iterable[str] = (),
        each_row: object = None,
    ) -> None:
        object.__setattr__(self, "each_row", read_row_words(each_row))
        object.__setattr__(self, "notes", tuple(notes))
        object.__setattr__(self, "features", tuple(features))
        object.__setattr__(self, "links", tuple(tuple(names) for names in links))
        checked = tuple(checked_pair(tuple(words)) for words in relations)
        object.__setattr__(self, "relations", checked)
        object.__setattr__(self, "rules", tuple(rules))
        check_features(self.features)
        object.__setattr__(self, "names", tuple(feature.name for feature in self.features))
        check_feature_names(self.names)
        each = (feature.columns or (feature.name,) for feature in self.features)
        object.__setattr__(self, "columns", tuple(name for names in each for name in names))
        check_feature_names(self.columns)
        for name in [name for names in self.links for name in names]:
            self.index(name)
        pairs = [name for first, _, second in self.relations for name in (first, second)]
        for name in [*pairs, *(name for rule in self.rules for name in rule.names)]:
            check_is_number(self[name])

    @classmethod
    def infer(cls, frame: object, *, groups: object = None, each_row: object = None) -> Schema:
        """Guess a schema from a table; print it to see the guesses, correct them with ``with_``.

        What looks protected by its name (age, sex, race), or like a past or a family, is kept;
        columns of 0 and 1 that tell one category are one feature; -9, '?' and the like are codes.
        ``notes`` say so, and what to write where a guess is wrong. ``groups`` says whose each
        row is, as in ``LocalFACE``: such a column is no feature, and evidence counts people.
        ``each_row`` says what one row is called, where it is no person.
        """
        draft = draft_schema(frame, groups)
        features = (Feature.from_dict(one) for one in draft.features)
        return cls(features, links=draft.links, notes=draft.notes, each_row=each_row)

    def __iter__(self) -> Iterator[Feature]:
        return iter(self.features)

    def __len__(self) -> int:
        return len(self.features)

    def __getitem__(self, name: str) -> Feature:
        return self.features[self.index(name)]

    def index(self, name: str) -> int:
        """Return the position of a feature."""
        if name not in self.names:
            near = did_you_mean(name, self.names)
            raise SchemaError(
                f"there is no feature {name!r}{near}: there are {list_names(self.names)}",
                feature=name,
            )
        return self.names.index(name)

    def with_(self, name: str, **changes: object) -> Schema:
        """Return a schema in which one feature is declared differently.

        What only made sense for the old kind goes with it, unless it is given anew, and so does
        the protection of what is said to move.
        """
        given = checked_settings(changes, name)
        index = self.index(name)
        old = self.features[index]
        given = settled_kind(old, given)
        given = settled_protection(old, given)
        new = replace(old, **given)  # type: ignore[arg-type]  # Feature checks what it is given
        features = (*self.features[:index], new, *self.features[index + 1 :])
        notes = [note for note in self.notes if not note.startswith(f"{name!r} ")]
        return self._replaced(features=features, notes=[*notes, *note_on_order(old, new, given)])

    def split(self, name: str) -> Schema:
        """Return a schema in which the 0/1 columns of one feature are features of their own."""
        index = self.index(name)
        old = self.features[index]
        columns = old.columns
        if columns is None:
            raise SchemaError(f"{name!r} has one column and cannot be split", feature=name)
        told = zip(columns, (old.categories or ())[-len(columns) :], strict=True)
        kept: dict[str, Moves] = {
            one: "never" for one, category in told if category in (old.codes or ())
        }
        new = (
            Feature(one, kind="binary", moves=kept.get(one, old.moves), protected=old.protected)
            for one in columns
        )
        features = (*self.features[:index], *new, *self.features[index + 1 :])
        return self._with_features(features, without=name)

    def of_columns(self, columns: Iterable[str]) -> Schema:
        """Return a schema of the features that these columns of a table tell, in their order."""
        told = {column: one for one in self for column in one.columns or (one.name,)}
        wanted = [told[column] for column in columns]
        return self._with_features(tuple(dict.fromkeys(wanted)))

    def _with_features(self, features: tuple[Feature, ...], without: str = "") -> Schema:
        """Return a schema of other features, with the links, relations and notes that still fit."""
        names = {feature.name for feature in features}
        links = [one for one in self.links if names.issuperset(one)]
        relations = [one for one in self.relations if names.issuperset((one[0], one[2]))]
        rules = [one for one in self.rules if names.issuperset(one.names)]
        notes = [note for note in self.notes if not note.startswith(f"{without!r} ")]
        return self._replaced(
            features=features, links=links, relations=relations, rules=rules, notes=notes
        )

    def link(self, *names: str) -> Schema:
        """Return a schema in which these features only ever change together."""
        return self._replaced(links=(*self.links, names))

    def relate(
        self, first: object, relation: str = "", second: object = None, *, name: str | None = None
    ) -> Schema:
        """Return a schema with one more relation that every state keeps.

        ``relate("hr_min", "<=", "hr_max")`` keeps two features in order, ``relate("total", "=",
        {"a": 1, "b": 1})`` compares one with a weighted sum (``=`` also links them), and
        ``relate(function, name="...")`` takes a function of a record that must be true.
        """
        made = make_relation(first, relation, second, name)
        if isinstance(made, tuple):
            return self._replaced(relations=(*self.relations, made))
        return self._replaced(rules=(*self.rules, made))

    def with_relations(self, pairs: Iterable[Pair]) -> Schema:
        """Return a schema in which these pairs of features, and no others, keep an order."""
        return self._replaced(relations=pairs)

    def broken_pairs(self, record: Array) -> list[Pair]:
        """Return the pairs of features whose order a record does not keep."""
        return [
            pair
            for pair in self.relations
            if self._are_out_of_order(record[None, :], pair[0], pair[2])[0]
        ]

    def _replaced(self, **parts: Any) -> Schema:
        """Return the same schema with other features, links, relations, rules, notes or words."""
        own = {key: getattr(self, key) for key in _PARTS}
        return Schema(**{**own, **parts})

    def with_each_row(self, each_row: object) -> Schema:
        """Return the same schema with another word for what one row is, such as ``"house"``."""
        return self._replaced(each_row=each_row)

    @property
    def linked(self) -> tuple[tuple[str, ...], ...]:
        """The features that only ever change together: those linked, those in an equation."""
        equations = (one for one in self.rules if isinstance(one, LinearRule))
        return (*self.links, *(one.names for one in equations if one.relation == "="))

    @property
    def relation_texts(self) -> tuple[str, ...]:
        """All relations as people write them."""
        return (*(" ".join(words) for words in self.relations), *(one.text for one in self.rules))

    def breaks_relation(self, records: Array) -> Mask:
        """Tell which records break a relation that was declared."""
        broken = np.zeros(len(records), dtype=bool)
        for first, _, second in self.relations:
            broken |= self._are_out_of_order(records, first, second)
        for rule in self.rules:
            broken |= rule.breaks(self.features, records)
        return broken

    def _are_out_of_order(self, records: Array, first: str, second: str) -> Mask:
        """Tell in which records one feature exceeds another; what is missing exceeds nothing."""
        low, high = records[:, self.index(first)], records[:, self.index(second)]
        both = ~(is_absent(self[first], low) | is_absent(self[second], high))
        return both & (low > high)

    def check_relations(self, records: Array, who: str) -> None:
        """Refuse records that break a relation, naming the first one that is broken."""
        for first, relation, second in self.relations:
            n = int(self._are_out_of_order(records, first, second).sum())
            if n:
                text = f"{first!r} {relation} {second!r}"
                raise broken_relation_error(text, n, len(records), who, first)
        for rule in self.rules:
            n = int(rule.breaks(self.features, records).sum())
            if n:
                feature = next(iter(rule.names), "")
                raise broken_relation_error(repr(rule.text), n, len(records), who, feature)

    def box(self, record: Array, where: Mapping[str, object] | None = None) -> Box:
        """Compile what this person may change; ``where`` only narrows what the schema declares.

        ``where`` maps a feature to a number (how far it may move), a word (``"never"``), a
        ``(low, high)`` pair, a list of categories, or a dict of several of these.
        """
        return compile_box(self.features, record, where)

    def values(self, record: Array) -> dict[str, FeatureValue | None]:
        """Return a record as values that the user knows."""
        return {
            feature.name: feature.value(float(code))
            for feature, code in zip(self, record, strict=True)
        }

    def to_dict(self) -> dict[str, object]:
        """Return the schema as plain values that JSON can hold; defaults are left out.

        So are rules that are functions: no file holds them.
        """
        plain: dict[str, object] = {"features": [feature.to_dict() for feature in self]}
        for key in ("links", "relations"):
            if getattr(self, key):
                plain[key] = [list(words) for words in getattr(self, key)]
        if not self.each_row.are_people:
            plain["each_row"] = [self.each_row.one, self.each_row.many]
        linear = [one.to_plain() for one in self.rules if isinstance(one, LinearRule)]
        return plain | ({"rules": linear} if linear else {})

    @classmethod
    def from_dict(cls, plain: object) -> Schema:
        """Build a schema from what ``to_dict`` returned."""
        features = plain.get("features") if isinstance(plain, Mapping) else None
        if not isinstance(features, list) or not all(isinstance(one, Mapping) for one in features):
            raise SchemaError("a schema holds a list of [[features]], each with a name")
        lists = {
            key: plain.get(key, []) for key in ("links", "relations") if isinstance(plain, Mapping)
        }
        for key, words in lists.items():
            if not isinstance(words, list) or not all(isinstance(names, list) for names in words):
                raise SchemaError(f"{key} of a schema is a list of lists of names")
        rules = rules_from_plain(plain.get("rules", []) if isinstance(plain, Mapping) else [])
        each_row = plain.get("each_row") if isinstance(plain, Mapping) else None
        built = (Feature.from_dict(one) for one in features)
        return cls(built, **lists, rules=rules, each_row=each_row)

    def to_toml(self) -> str:
        """Write the schema as TOML, one block a feature; notes are comments at the top.

        A rule that is a function cannot be written: a comment says so.
        """
        functions = [one.name for one in self.rules if isinstance(one, FunctionRule)]
        lost = [
            f"the rule {name!r} is a function, which no file holds: add it again with "
            f"schema.relate(function, name={name!r})"
            for name in functions
        ]
        return write_toml(self.to_dict(), [*self.notes, *lost])

    @classmethod
    def from_toml(cls, text: str) -> Schema:
        """Read a schema from TOML."""
        return cls.from_dict(read_toml(text))

    def save(self, path: str | Path) -> None:
        """Write the schema to a TOML file."""
        write_whole(Path(path), self.to_toml())

    @classmethod
    def load(cls, path: str | Path) -> Schema:
        """Read the schema from a TOML file."""
        return cls.from_toml(read_schema_text(path))

    def __repr__(self) -> str:
        """Draw the schema as a table."""
        return "\n".join([*schema_lines(self.features), *self.notes])
