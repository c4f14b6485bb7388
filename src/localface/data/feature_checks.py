"""Checks what a feature is declared as, and says what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, get_args

import numpy as np

from localface.data.codes import FeatureValue, finite_number, range_codes
from localface.data.declared import DeclaredFeature
from localface.errors import ConstraintError, SchemaError, did_you_mean, list_names

FeatureKind = Literal["numeric", "integer", "ordinal", "binary", "categorical"]
Moves = Literal["freely", "up", "down", "never", "grows"]
FEATURE_KINDS: tuple[str, ...] = get_args(FeatureKind)
MOVES: tuple[str, ...] = get_args(Moves)
OWN: tuple[str, ...] = ("never", "grows")
"""Moves of features that stay a person's own: no action changes them."""


def check_words(feature: DeclaredFeature) -> None:
    """Check the name, the unit, the kind and how it moves."""
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


def check_own(feature: DeclaredFeature) -> None:
    """Check what is said of a feature that stays a person's own."""
    name = feature.name
    if not isinstance(feature.protected, bool | np.bool_):
        raise SchemaError(
            f"protected of {name!r} is {feature.protected!r}: give True or False", feature=name
        )
    if feature.protected and not feature.own:
        raise SchemaError(
            f"{name!r} is protected and cannot move {feature.moves!r}: what is protected stays a "
            "person's own; leave moves out (or say 'grows'), or say protected=False",
            feature=name,
        )
    if feature.moves == "grows" and feature.discrete:
        raise SchemaError(
            f"{name!r} is {feature.kind} and cannot grow: say moves='never'", feature=name
        )


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def checked_number(feature: DeclaredFeature, key: str) -> float | None:
    """Check a setting that is a positive number."""
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


def checked_categories(feature: DeclaredFeature) -> tuple[FeatureValue, ...] | None:
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


def checked_columns(feature: DeclaredFeature) -> tuple[str, ...] | None:
    """Check the 0/1 columns that tell a category: one a category, or all but the first."""
    name = feature.name
    given = feature.columns
    if given is None:
        return None
    if feature.categories is None:
        raise SchemaError(
            f"{name!r} is {feature.kind} and can have no columns=: only categories are told by "
            "columns of 0 and 1",
            feature=name,
        )
    several = isinstance(given, tuple | list) and all(isinstance(one, str) for one in given)
    if not several or len(set(given)) < len(given):
        raise SchemaError(
            f"the columns of {name!r} are {given!r}: give a list of different names", feature=name
        )
    n = len(feature.categories)
    if len(given) not in (n, n - 1) or not given:
        raise SchemaError(
            f"{name!r} has {n} categories and {len(given)} columns: give one column a category, "
            "or all but the first",
            feature=name,
        )
    return tuple(given)


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


def checked_range(
    feature: DeclaredFeature, key: str
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
