"""One feature of a record: what it holds, how it may move, how it is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, fields
from math import ceil, floor, isfinite, log10
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np

from localface.errors import ConstraintError, DataError, SchemaError, did_you_mean, list_names

FeatureValue = str | bool | int | float
FeatureKind = Literal["numeric", "integer", "ordinal", "binary", "categorical"]
Moves = Literal["freely", "up", "down", "never"]
FEATURE_KINDS: tuple[str, ...] = get_args(FeatureKind)
MOVES: tuple[str, ...] = get_args(Moves)


@dataclass(frozen=True, slots=True)
class Feature:
    """One column of a record.

    Parameters
    ----------
    name : the column's name
    unit : what its numbers count, for people to read
    kind : ``numeric``, ``integer``, ``ordinal``, ``binary`` or ``categorical``
    moves : ``freely``, only ``up``, only ``down``, or ``never``
    within : how far a person may move from their own value
    bounds : ``(low, high)`` for everyone, ``None`` where open
    resolution : the smallest change that a person could notice or measure
    scale : one ordinary difference between people; by default read off the data
    categories : what a binary, ordinal or categorical feature may be, lowest first
    reference : ``(low, high)`` that is thought ordinary or wanted, ``None`` where open; it is
        shown, and limits nothing

    >>> age = Feature("age", unit="year", kind="integer", moves="never")
    >>> age.value(63.0), age.format(63.0)
    (63, '63')
    """

    name: str
    _: KW_ONLY
    unit: str | None = None
    kind: FeatureKind = "numeric"
    moves: Moves = "freely"
    within: float | None = None
    bounds: tuple[FeatureValue | None, FeatureValue | None] | None = None
    resolution: float | None = None
    scale: float | None = None
    categories: tuple[FeatureValue, ...] | None = None
    reference: tuple[FeatureValue | None, FeatureValue | None] | None = None

    def __post_init__(self) -> None:
        _check_text_settings(self)
        object.__setattr__(self, "categories", _checked_categories(self))
        if self.resolution is None and self.kind in ("integer", "ordinal"):
            object.__setattr__(self, "resolution", 1)
        for key in ("within", "resolution", "scale"):
            object.__setattr__(self, key, _checked_positive_number(self, key))
        for key in ("bounds", "reference"):
            object.__setattr__(self, key, _checked_range(self, key))

    @property
    def discrete(self) -> bool:
        """Whether there is nothing between two of its values."""
        return self.kind in ("binary", "categorical")

    @property
    def whole(self) -> bool:
        """Whether its codes are whole numbers, be they counts or indices of categories."""
        return self.kind != "numeric"

    def value(self, code: float) -> FeatureValue:
        """Return a code as the value that the user knows."""
        if self.categories is not None:
            return self.categories[round(code)]
        return round(code) if self.whole else float(code)

    def code(self, value: object) -> float:
        """Return a value as a code: a number as it is, a category as its index."""
        if self.categories is not None:
            try:
                return float(self.categories.index(value))
            except ValueError:
                raise unseen_category_error(self, value) from None
        found = finite_number(float(value) if isinstance(value, bool | np.bool_) else value)
        if found is None:
            raise DataError(
                f"{self.name!r} is {value!r}: a finite number is wanted", feature=self.name
            )
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
        if not isinstance(value, float):
            return str(value)
        if self.resolution is not None and np.isfinite(value):
            decimals = max(0, ceil(-log10(self.resolution) - 1e-9))
            return _trim_zeros(f"{value:.{decimals}f}")
        large = value != 0 and np.isfinite(value) and 4 <= floor(log10(abs(value))) < 15
        return _trim_zeros(f"{value:.0f}" if large else f"{value:.4g}")

    def to_dict(self) -> dict[str, object]:
        """Return the feature as plain values that JSON can hold; defaults are left out."""
        plain: dict[str, object] = {"name": self.name, "kind": self.kind}
        for one in fields(Feature):
            value = getattr(self, one.name)
            default = one.default
            if one.name == "resolution" and self.kind in ("integer", "ordinal"):
                default = 1
            if one.name not in plain and value != default:
                plain[one.name] = list(value) if isinstance(value, tuple) else value
        return plain

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


def finite_number(value: object) -> float | None:
    """Return a finite number as a float; None for anything else, truth values among it."""
    if type(value) is float:
        return value if isfinite(value) else None
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        return None
    return float(value) if np.isfinite(float(value)) else None


def range_codes(feature: Feature, bounds: tuple[object, object]) -> tuple[float, float]:
    """Turn (low, high) in the user's terms into codes; ``None`` is open."""
    low = _range_end_code(feature, bounds[0], -np.inf)
    high = _range_end_code(feature, bounds[1], np.inf)
    if low > high:
        text = f"{bounds[0]!r} to {bounds[1]!r}"
        raise ConstraintError(
            f"the bounds of {feature.name!r}, {text}, are the wrong way round: give (low, high)",
            feature=feature.name,
        )
    return low, high


def category_code(feature: Feature, value: object) -> float:
    """Return the code of a category that a constraint names."""
    try:
        return feature.code(value)
    except DataError as error:
        raise ConstraintError(str(error), feature=error.feature) from None


def unseen_category_error(feature: Feature, value: object) -> DataError:
    """Say that a value is none of a feature's categories, and what they are."""
    known = feature.categories or ()
    return DataError(
        f"{feature.name!r} has the unseen category {value!r}{did_you_mean(value, known)}: "
        f"the schema knows {list_names(known)}",
        feature=feature.name,
    )


def checked_settings(given: Mapping[str, object], name: object) -> dict[str, object]:
    """Refuse settings that no feature has."""
    known = [field.name for field in fields(Feature)]
    for key in given:
        if key not in known:
            raise SchemaError(
                f"feature {name!r} has no {key!r}{did_you_mean(key, known)}: "
                f"it may have {list_names(known, len(known))}",
                feature=name if isinstance(name, str) else None,
            )
    return dict(given)


def _check_text_settings(feature: Feature) -> None:
    name = feature.name
    kind = feature.kind
    moves = feature.moves
    if not _is_text(name) or not name:
        raise SchemaError(f"a feature's name is {name!r}: give the name of its column, as text")
    if feature.unit is not None and not _is_text(feature.unit):
        raise SchemaError(
            f"the unit of {name!r} is {feature.unit!r}: give it as text", feature=name
        )
    if kind not in FEATURE_KINDS:
        raise SchemaError(
            f"{name!r} has the kind {kind!r}{did_you_mean(kind, FEATURE_KINDS)}: "
            f"use one of {list_names(FEATURE_KINDS)}",
            feature=name,
        )
    if moves not in MOVES:
        raise SchemaError(
            f"{name!r} cannot move {moves!r}{did_you_mean(moves, MOVES)}: "
            f"use one of {list_names(MOVES)}",
            feature=name,
        )
    if kind == "categorical" and moves in ("up", "down"):
        raise SchemaError(
            f"{name!r} is categorical and has no {moves}: "
            "declare it kind='ordinal' if it has an order",
            feature=name,
        )


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _checked_positive_number(feature: Feature, key: str) -> float | None:
    given = getattr(feature, key)
    if given is None:
        return None
    found = finite_number(given)
    if found is None or found < 0 or (found == 0 and key != "within"):
        raise SchemaError(
            f"{key} of {feature.name!r} is {given!r}: give a positive number", feature=feature.name
        )
    if feature.discrete and key != "scale":
        raise SchemaError(
            f"{feature.name!r} is {feature.kind} and can have no {key}: leave it out",
            feature=feature.name,
        )
    return int(found) if isinstance(given, int | np.integer) else found


def _checked_categories(feature: Feature) -> tuple[FeatureValue, ...] | None:
    """Check the categories, and give a binary feature 0 and 1 where it has none."""
    name = feature.name
    given = feature.categories
    if given is None:
        if feature.kind == "categorical":
            raise SchemaError(
                f"{name!r} is categorical: list its categories, or let Schema.infer read them",
                feature=name,
            )
        return (0, 1) if feature.kind == "binary" else None
    if feature.kind in ("numeric", "integer"):
        raise SchemaError(
            f"{name!r} is {feature.kind} and can have no categories: declare it kind='ordinal'",
            feature=name,
        )
    labels = _checked_labels(name, given)
    if len(set(labels)) < len(labels):
        raise SchemaError(
            f"{name!r} lists a category more than once: {list_names(labels)}", feature=name
        )
    if not labels or (feature.kind == "binary" and len(labels) != 2):
        wanted = "exactly two" if feature.kind == "binary" else "at least one"
        raise SchemaError(
            f"{name!r} is {feature.kind} and needs {wanted} categories: it has {len(labels)}",
            feature=name,
        )
    return labels


def _checked_labels(name: str, given: object) -> tuple[FeatureValue, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise SchemaError(
            f"the categories of {name!r} are {given!r}: give a list of them", feature=name
        )
    labels = tuple(_python_value(label) for label in given)
    for label in labels:
        if not isinstance(label, str | bool) and finite_number(label) is None:
            raise SchemaError(
                f"{name!r} has the category {label!r}: give text, numbers, True or False",
                feature=name,
            )
    return labels


def _python_value(value: Any) -> Any:
    """Return a NumPy scalar as the Python value that it stands for."""
    return value.item() if isinstance(value, np.generic) else value


def _checked_range(
    feature: Feature, key: str
) -> tuple[FeatureValue | None, FeatureValue | None] | None:
    """Check bounds or a reference, and leave its open ends open."""
    given = getattr(feature, key)
    if given is None:
        return None
    be, them = ("are", "them") if key == "bounds" else ("is", "it")
    if feature.discrete:
        raise SchemaError(
            f"{feature.name!r} is {feature.kind} and can have no {key}: leave {them} out",
            feature=feature.name,
        )
    if not (isinstance(given, tuple | list) and len(given) == 2):
        raise SchemaError(
            f"the {key} of {feature.name!r} {be} {given!r}: give (low, high), with None where open",
            feature=feature.name,
        )
    low, high = (_python_value(end) for end in given)
    try:
        low_code, high_code = range_codes(feature, (low, high))
    except ConstraintError as error:
        message = str(error)
        if key == "reference":
            message = f"the reference of {feature.name!r} is {given!r}: give (low, high)"
        raise SchemaError(message, feature=feature.name) from None
    checked = (low if np.isfinite(low_code) else None, high if np.isfinite(high_code) else None)
    return None if checked == (None, None) else checked


def _range_end_code(feature: Feature, end: object, open_end: float) -> float:
    if end is None or (isinstance(end, float) and end == open_end):
        return open_end
    if feature.categories is not None:
        return category_code(feature, end)
    found = finite_number(end)
    if found is None:
        raise ConstraintError(
            f"a bound of {feature.name!r} is {end!r}: give a number, or None where it is open",
            feature=feature.name,
        )
    return found


def _trim_zeros(text: str) -> str:
    if "." in text and "e" not in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
