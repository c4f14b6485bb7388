"""One feature of a record: what it holds, how it may move, how it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, fields
from functools import cache
from typing import Any

import numpy as np

from localface.data.absence import (
    MISSING,
    CodeLabels,
    MissingRule,
    checked_codes,
    checked_missing,
    is_missing_value,
)
from localface.data.codes import (
    MOST_EXACT,
    FeatureValue,
    finite_number,
    no_number_error,
    too_large_error,
    unseen_category_error,
)
from localface.data.comparable import Comparable, checked_comparable
from localface.data.dates import checked_since, date_in_words, day_of_value
from localface.data.feature_checks import (
    OWN,
    FeatureKind,
    Moves,
    check_own,
    check_words,
    checked_categories,
    checked_columns,
    checked_number,
    checked_range,
)
from localface.data.labels import CategoryLabels, check_label, checked_category_labels
from localface.data.number_text import number_text
from localface.data.transitions import Transitions, checked_never_from
from localface.errors import DataError, SchemaError, did_you_mean, list_names


@dataclass(frozen=True, slots=True)
class Feature:
    """One column of a record.

    Parameters
    ----------
    name : the column's name
    unit : what its numbers count, for people to read
    kind : ``numeric``, ``integer``, ``ordinal``, ``binary`` or ``categorical``
    moves : ``freely``, only ``up``, only ``down``, ``never``, or ``grows``: it increases by
        itself while a person acts, as age does. What never moves or grows is a person's own:
        no action changes it. By default ``freely``, or ``never`` where it is protected
    protected : it stays a person's own, and is never named as something that could move
    comparable : how far others may differ in what is a person's own and still be an example to
        them: a number, or a list of categories that count as alike (or several such lists);
        by default there is no limit
    within : how far a person may move from their own value; of what grows, how far it may grow
        while they wait
    bounds : ``(low, high)`` for everyone, ``None`` where open
    resolution : the smallest change that a person could notice or measure
    scale : one ordinary difference between people; by default read off the data
    categories : what a binary, ordinal or categorical feature may be, lowest first
    reference : ``(low, high)`` that is thought ordinary or wanted, ``None`` where open; it is
        shown, and limits nothing
    missing : what happens where there is no value: ``keep`` (what is missing stays missing, and
        no action touches it), ``may be measured`` (the same, and an answer says what measuring it
        could show), or ``refuse``
    codes : numbers or categories that stand for no value but for a reason, as in
        ``{-9: "no record"}`` or ``{"?": "not known"}``; like what is missing, each stays as it is
    since : the date, as in ``"2020-01-31"``, from which a column of dates is counted in days
    label : what the feature is called in sentences, tables, plots and pages; its name by default
    category_labels : what categories are called there, as in ``{1: "male"}``
    never_from : categories that can never follow others, as in ``{"divorced": ["single"]}``: who
        is divorced never becomes single, nor does anybody who becomes divorced on the way
    columns : the 0/1 columns of the table that tell its category (one-hot), one a category; where
        there is one fewer, the first category is that of rows with none of them at 1

    >>> age = Feature("age", unit="year", kind="integer", moves="never")
    >>> age.value(63.0), age.format(63.0)
    (63, '63')
    """

    name: str
    _: KW_ONLY
    unit: str | None = None
    kind: FeatureKind = "numeric"
    moves: Moves = None  # type: ignore[assignment]  # __post_init__ settles it
    within: float | None = None
    bounds: tuple[FeatureValue | None, FeatureValue | None] | None = None
    resolution: float | None = None
    scale: float | None = None
    categories: tuple[FeatureValue, ...] | None = None
    reference: tuple[FeatureValue | None, FeatureValue | None] | None = None
    protected: bool = False
    comparable: Comparable | None = None
    missing: MissingRule = "keep"
    codes: CodeLabels | Mapping[Any, str] | None = None
    columns: tuple[str, ...] | None = None
    never_from: Transitions | Mapping[Any, Any] | None = None
    label: str | None = None
    since: str | None = None
    category_labels: CategoryLabels | Mapping[Any, str] | None = None

    def __post_init__(self) -> None:
        if self.moves is None:
            object.__setattr__(self, "moves", self._default_of("moves"))
        check_words(self)
        check_own(self)
        object.__setattr__(self, "categories", checked_categories(self))
        object.__setattr__(self, "columns", checked_columns(self))
        object.__setattr__(self, "never_from", checked_never_from(self))
        check_label(self)
        object.__setattr__(self, "since", checked_since(self))
        object.__setattr__(self, "category_labels", checked_category_labels(self))
        object.__setattr__(self, "missing", checked_missing(self))
        object.__setattr__(self, "codes", checked_codes(self))
        if self.resolution is None:
            object.__setattr__(self, "resolution", self._default_of("resolution"))
        for key in ("within", "resolution", "scale"):
            object.__setattr__(self, key, checked_number(self, key))
        for key in ("bounds", "reference"):
            object.__setattr__(self, key, checked_range(self, key))
        object.__setattr__(self, "comparable", checked_comparable(self))

    @property
    def display_name(self) -> str:
        """What it is called in what people read: its label, or its name."""
        return self.label or self.name

    @property
    def name_with_unit(self) -> str:
        """What it is called and counted in, for a heading.

        >>> Feature("weight", unit="kg").name_with_unit
        'weight (kg)'
        >>> Feature("tax (EUR)", unit="EUR").name_with_unit
        'tax (EUR)'
        """
        name = self.display_name
        says_unit = self.unit is None or name.endswith((f"({self.unit})", f"[{self.unit}]"))
        return name if says_unit else f"{name} ({self.unit})"

    @property
    def own(self) -> bool:
        """Whether it stays a person's own: no action changes it."""
        return self.moves in OWN

    @property
    def discrete(self) -> bool:
        """Whether there is nothing between two of its values."""
        return self.kind in ("binary", "categorical")

    @property
    def whole(self) -> bool:
        """Whether its codes are whole numbers, be they counts or indices of categories."""
        return self.kind != "numeric"

    @property
    def unlimited(self) -> bool:
        """Whether it says nothing of how far anybody may go."""
        return self.within is None and self.bounds is None and self.never_from is None

    def value(self, code: float) -> FeatureValue | None:
        """Return a code as the value that the user knows; None for what is missing."""
        if code != code:
            return None
        if self.categories is not None:
            return self.categories[round(code)]
        return round(code) if self.whole else float(code)

    def code(self, value: object) -> float:
        """Return a value as a code: a number as it is, a category as its index."""
        if is_missing_value(value):
            if self.missing != "refuse":
                return MISSING
            raise DataError(
                f"{self.name!r} is missing, and the schema says missing='refuse': "
                "give a value, or say missing='keep'",
                feature=self.name,
            )
        if self.categories is not None:
            try:
                return float(self.categories.index(value))
            except (ValueError, TypeError, ArithmeticError):  # some things equal nothing
                raise unseen_category_error(self, value) from None
        value = day_of_value(self, value)
        if isinstance(value, int) and abs(value) > MOST_EXACT:
            raise too_large_error(self.name)
        found = finite_number(float(value) if isinstance(value, bool | np.bool_) else value)
        if found is None:
            raise no_number_error(self, value)
        if self.whole and found != round(found):
            raise DataError(
                f"{self.name!r} is {self.kind} and cannot be {value!r}: give a whole number, "
                "or declare it kind='numeric'",
                feature=self.name,
            )
        return found

    def format(self, code: float) -> str:
        """Write a code for people, without its unit.

        >>> Feature("temp", resolution=0.1).format(37.300000001)
        '37.3'
        """
        value = self.value(code)
        if value is None:
            return "missing"
        if self.codes and value in self.codes:
            return self.codes[value]
        if self.category_labels and value in self.category_labels:
            return self.category_labels[value]
        if self.since is not None:
            return date_in_words(code, self.since, whole=self.whole)
        return number_text(value, self.resolution) if isinstance(value, float) else str(value)

    def to_dict(self) -> dict[str, object]:
        """Return the feature as plain values that JSON can hold; defaults are left out."""
        plain: dict[str, object] = {"name": self.name, "kind": self.kind}
        for name in _setting_defaults():
            value = getattr(self, name)
            if name not in plain and value != self._default_of(name):
                plain[name] = _plain_value(value)
        return plain

    def _default_of(self, setting: str) -> object:
        """What a setting is where nothing is said of it."""
        if setting == "moves":
            return "never" if self.protected else "freely"
        if setting == "resolution" and self.kind in ("integer", "ordinal"):
            return 1
        return _setting_defaults()[setting]

    @classmethod
    def from_dict(cls, plain: Mapping[str, object]) -> Feature:
        """Build a feature from what ``to_dict`` returned."""
        name = plain.get("name")
        given = checked_settings(plain, name)
        if name is None:
            raise SchemaError(f"a feature has no name: {dict(plain)!r}")
        categories = given.get("categories")
        if isinstance(categories, list):
            given["categories"] = tuple(categories)
        return cls(**given)  # type: ignore[arg-type]  # Feature checks what it is given


def checked_settings(given: Mapping[str, object], name: object) -> dict[str, object]:
    """Refuse settings that no feature has, and settings of several features at once."""
    if isinstance(name, list | tuple | set):
        raise SchemaError(f"one feature has settings, and {name!r} came: call with_ for each")
    known = [field.name for field in fields(Feature)]
    for key in given:
        if key not in known:
            raise SchemaError(
                f"feature {name!r} has no {key!r}{did_you_mean(key, known)}: "
                f"it may have {list_names(known, len(known))}",
                feature=name if isinstance(name, str) else None,
            )
    return dict(given)


@cache
def _setting_defaults() -> dict[str, object]:
    """What each setting is by itself; every answer that is written down asks for all of them."""
    return {one.name: one.default for one in fields(Feature)}


def _plain_value(value: object) -> object:
    """Return tuples as lists, also within a tuple; the keys of a mapping as texts."""
    if isinstance(value, Mapping):
        texts = {f"{key:g}" if type(key) is float else str(key): one for key, one in value.items()}
        return {key: _plain_value(one) for key, one in texts.items()}
    return [_plain_value(one) for one in value] if isinstance(value, tuple) else value
