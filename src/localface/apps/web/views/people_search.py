"""Searching the list of people as people write: labels, blanks, ranges, several conditions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from localface.answers.wording import format_number, join_words
from localface.apps.web.views.labels import Labels, value_text
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.errors import DataError, did_you_mean
from localface.types import Array, Ids, Mask

_SCORE = "score"
_SIGNS = {"≤": "<=", "≥": ">=", "=<": "<=", "=>": ">=", "==": "=", "≠": "!="}
_WORDS = {"<": "below", "<=": "at most", ">": "above", ">=": "at least", "=": "is", "!=": "is not"}
_NUMBER = r"[-+]?\d+(?:[.,]\d+)?"
_COMPARISON = re.compile(
    rf"(?P<name>[^<>=!≤≥≠;,&]+?)\s*(?P<how><=|>=|=<|=>|==|!=|≤|≥|≠|=|<|>)\s*"
    rf"(?P<value>{_NUMBER}|\"[^\"]*\"|[^\s;,&<>=]+)"
)
_RANGE = re.compile(
    rf"(?P<name>[^<>=!;,&\d]+?)\s+(?:between\s+|from\s+)?(?P<low>{_NUMBER})"
    rf"\s*(?:-|–|to|and|\.\.)\s*(?P<high>{_NUMBER})"
)
_JOINS = re.compile(r"[;,&]|\band\b")
_NOISE = {"person", "people", "with", "and", "number", "no"}


@dataclass(frozen=True, slots=True)
class Condition:
    """What is asked of one quantity: ``what`` in words, and the people for whom it holds."""

    words: str
    matches: Mask


@dataclass(frozen=True, slots=True, eq=False)
class PeopleSearch:
    """Reads what somebody typed against people's numbers, records and scores."""

    schema: Schema
    labels: Labels
    ids: Ids
    records: Array
    scores: Array

    def find(self, text: str) -> tuple[Mask, str]:
        """The people who meet every condition, and what was understood."""
        matches = np.ones(len(self.ids), dtype=bool)
        words = []
        for condition in self._conditions(text.lower().strip()):
            matches &= condition.matches
            words.append(condition.words)
        return matches, join_words(words) if words else ""

    def _conditions(self, text: str) -> Iterator[Condition]:
        """Read ranges, then comparisons, then what is left word by word."""
        for pattern, read in ((_RANGE, self._range), (_COMPARISON, self._comparison)):
            while found := pattern.search(text):
                name, start = self._named_at_the_end(found["name"], found.start())
                yield read(name, found.groupdict())
                text = f"{text[:start]} , {text[found.end() :]}"
        for word in _JOINS.sub(" ", text).split():
            if word not in _NOISE:
                yield self._word(word)

    def _named_at_the_end(self, text: str, start: int) -> tuple[str, int]:
        """The longest end of some words that names a quantity, and where it begins."""
        words = [found.start() for found in re.finditer(r"\S+", text)]
        for place in words:
            name = text[place:].strip()
            if self._columns_of(name):
                return name, start + place
        name = text.strip()
        near = did_you_mean(name, self._names)
        raise DataError(f"nothing here is called {name!r}{near}: write a feature, as in age > 70")

    @property
    def _names(self) -> Mapping[str, int]:
        """The features by their names and by what they are called, in small letters."""
        found = {self._called(one).lower(): column for column, one in enumerate(self.schema)}
        return found | {one.name.lower(): column for column, one in enumerate(self.schema)}

    def _called(self, feature: Feature) -> str:
        return self.labels.features.get(feature.name) or feature.display_name

    def _columns_of(self, name: str) -> Sequence[int]:
        """The columns that a name may mean: one by its name, else all that have its words."""
        if name in (_SCORE, "the score"):
            return (-1,)
        if name in self._names:
            return (self._names[name],)
        wanted = name.split()
        if not wanted:
            return ()
        columns = [
            column
            for column, feature in enumerate(self.schema)
            if all(word in self._called(feature).lower().split() for word in wanted)
        ]
        return tuple(columns)

    def _range(self, name: str, given: Mapping[str, str]) -> Condition:
        low, high = sorted(float(given[end].replace(",", ".")) for end in ("low", "high"))
        return self._any_of(
            name,
            lambda values, _: (values >= low) & (values <= high),
            f"between {format_number(low)} and {format_number(high)}",
        )

    def _comparison(self, name: str, given: Mapping[str, str]) -> Condition:
        how = _SIGNS.get(given["how"], given["how"])
        text = given["value"].strip('"')
        return self._any_of(
            name,
            lambda values, feature: self._compare(values, feature, how, text),
            f"{_WORDS[how]} {text}",
        )

    def _any_of(self, name: str, holds: Any, words: str) -> Condition:
        """Whether something holds of any quantity that a name may mean."""
        matches = np.zeros(len(self.ids), dtype=bool)
        called = []
        for column in self._columns_of(name):
            feature = None if column < 0 else self.schema.features[column]
            values = self.scores if column < 0 else self.records[:, column]
            with np.errstate(invalid="ignore"):  # nothing is known of what is missing
                matches |= holds(values, feature)
            called.append(_SCORE if feature is None else self._called(feature))
        return Condition(f"{' or '.join(called)} {words}", matches)

    def _compare(self, values: Array, feature: Feature | None, how: str, text: str) -> Mask:
        if text in ("missing", "unknown") and how in ("=", "!="):
            return np.asarray(np.isnan(values) == (how == "="), dtype=bool)
        value = self._compared_value(feature, text)
        resolution = 0.0 if feature is None or feature.categories else feature.resolution or 0.0
        near = np.abs(values - value) <= resolution / 2
        by_sign = {
            "=": near,
            "!=": ~near & ~np.isnan(values),
            "<": values < value,
            "<=": values <= value,
            ">": values > value,
            ">=": values >= value,
        }
        return np.asarray(by_sign[how])

    def _compared_value(self, feature: Feature | None, text: str) -> float:
        """Read what someone compares with: a category by its value or its label, or a number."""
        if feature is not None:
            codes = range(len(feature.categories or ()))
            known = {value_text(feature, code, self.labels).lower(): code for code in codes}
            known |= {str(feature.value(code)).lower(): code for code in codes}
            if text in known:
                return float(known[text])
        try:
            return float(text.replace(",", "."))
        except ValueError:
            name = _SCORE if feature is None else self._called(feature)
            raise DataError(
                f"{name!r} cannot be compared with {text!r}: write a value, as in age > 70"
            ) from None

    def _word(self, word: str) -> Condition:
        """A person's number, or a word of a category."""
        if word.lstrip("#").isdecimal():
            number = word.lstrip("#")
            return Condition(f"number {number}…", np.char.startswith(self.ids.astype(str), number))
        matches = np.zeros(len(self.ids), dtype=bool)
        called = []
        for column, code, label in self._categories_with(word):
            matches |= self.records[:, column] == code
            called.append(f"{self._called(self.schema.features[column])} {label}")
        if not called:
            near = did_you_mean(word, self._names)
            raise DataError(
                f"{word!r} is no number of a person and no word of a category{near}: "
                "write 17, age > 70, score 0.4 to 0.5, or a word such as tube"
            )
        return Condition(" or ".join(called), matches)

    def _categories_with(self, word: str) -> list[tuple[int, int, str]]:
        """The categories of which a word is one; where there is none, those that it is part of."""
        every = [
            (column, code, value_text(feature, code, self.labels))
            for column, feature in enumerate(self.schema)
            for code in range(len(feature.categories or ()))
        ]
        whole = [one for one in every if word in one[2].lower().split()]
        return whole or [one for one in every if word in one[2].lower()]
