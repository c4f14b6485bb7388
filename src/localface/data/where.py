"""Reading ``where=``: what one call asks of each feature, beyond the schema."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from localface.data.codes import category_code, finite_number, range_codes
from localface.data.feature import Feature
from localface.errors import ConstraintError, did_you_mean, list_names

WHERE_MOVES = ("freely", "up", "down", "never")
"""How a feature may move by ``where=``; that it grows is for the schema to say."""

_SHARE = re.compile(r"([-+\N{MINUS SIGN}]?)\s*(\d+(?:\.\d+)?)\s*%")  # 15 % less, as people write it
_PARTS = ("moves", "within", "bounds", "categories")


@dataclass(frozen=True, slots=True)
class FeatureConstraint:
    """What one call asks of one feature, on top of what the schema declares."""

    moves: str = "freely"
    within: float | None = None
    bounds: tuple[object, object] | None = None
    only: frozenset[int] | None = None  # the codes it may take

    @property
    def lets_move(self) -> bool:
        """Whether the call speaks of a change: a direction, or a distance."""
        return self.moves in ("up", "down") or bool(self.within)


UNCONSTRAINED = FeatureConstraint()


def read_where(
    features: Sequence[Feature], where: Mapping[str, object] | None
) -> dict[str, FeatureConstraint]:
    """Read ``where=``, feature by feature."""
    if where is None:
        return {}
    if not _is_mapping(where):
        raise ConstraintError(
            f"where= is {where!r}: give a dict from feature to constraint, as in {{'age': 5}}",
            option="where",
        )
    known = {feature.name: feature for feature in features}
    told = {column: one.name for one in features for column in one.columns or ()}
    for name in where:
        if name not in known:
            near = f" (it tells {told[name]!r})" if name in told else did_you_mean(name, known)
            raise ConstraintError(
                f"where= names {name!r}, which is no feature{near}: there are {list_names(known)}",
                feature=name,
                option="where",
            )
    return {name: _read_constraint(known[name], asked) for name, asked in where.items()}


def _is_mapping(where: object) -> bool:
    return isinstance(where, Mapping)


def _read_constraint(feature: Feature, asked: object) -> FeatureConstraint:
    """Read one constraint by its shape.

    A number, a word, a range, some categories, or several of these by name.
    """
    if isinstance(asked, Mapping):
        return _read_named_parts(feature, asked)
    if isinstance(asked, str):
        return FeatureConstraint(moves=_read_direction(feature, asked))
    if finite_number(asked) is not None:
        return FeatureConstraint(within=_read_distance(feature, asked))
    is_tuple = isinstance(asked, tuple)
    several = is_tuple or isinstance(asked, list | AbstractSet | np.ndarray)
    if several and feature.categories is not None and (feature.discrete or not is_tuple):
        return FeatureConstraint(only=_read_category_codes(feature, asked))
    if isinstance(asked, tuple | list):
        return FeatureConstraint(bounds=_read_range(feature, asked))
    raise _constraint_error(
        feature,
        f"where={{{feature.name!r}: {asked!r}}} cannot be read: give a number (how far it may "
        f"move), a word ({list_names(WHERE_MOVES)}), a (low, high) pair, a list of categories, or "
        "a dict of several of these",
    )


def _read_named_parts(feature: Feature, asked: Mapping[object, object]) -> FeatureConstraint:
    for key in asked:
        if key not in _PARTS:
            raise _constraint_error(
                feature,
                f"the constraint on {feature.name!r} has {key!r}{did_you_mean(key, _PARTS)}: "
                f"it may have {list_names(_PARTS)}",
            )
    given = {key: value for key, value in asked.items() if value is not None}
    return FeatureConstraint(
        moves=_read_direction(feature, given["moves"]) if "moves" in given else "freely",
        within=_read_distance(feature, given["within"]) if "within" in given else None,
        bounds=_read_range(feature, given["bounds"]) if "bounds" in given else None,
        only=_read_category_codes(feature, given["categories"]) if "categories" in given else None,
    )


def _read_direction(feature: Feature, word: object) -> str:
    if word not in WHERE_MOVES:
        hint = f"use one of {list_names(WHERE_MOVES)}"
        if feature.kind in ("numeric", "integer"):
            hint += ", a number (how far it may move) or (low, high), with None for an open end"
            hint += _share_in_words(word)
        if feature.categories is not None and word in feature.categories:
            hint = f"to allow that category only, write [{word!r}]"
        raise _constraint_error(
            feature,
            f"{feature.name!r} cannot move {word!r}{did_you_mean(word, WHERE_MOVES)}: {hint}",
        )
    if word in ("up", "down") and feature.kind == "categorical":
        raise _constraint_error(
            feature,
            f"{feature.name!r} is categorical and has no {word}: list the categories it may take",
        )
    return str(word)


def _share_in_words(word: object) -> str:
    """Say what a percentage would have to be: the range that it makes of the person's value."""
    found = _SHARE.fullmatch(str(word).strip())
    if found is None:
        return ""
    by = float(found[2])
    if found[1] in ("-", "\N{MINUS SIGN}"):
        which, low, high = "less", 1000 - 10 * by, 1000.0
    elif found[1] == "+":
        which, low, high = "more", 1000.0, 1000 + 10 * by
    else:
        which, low, high = "less or more", 1000 - 10 * by, 1000 + 10 * by
    return (
        f"; a percentage is worked out first: where the value is 1000 now, up to {by:g} % {which} "
        f"is from {low:g} to {high:g}"
    )


def _read_distance(feature: Feature, distance: object) -> float:
    found = finite_number(distance)
    if found is None or found < 0:
        raise _constraint_error(
            feature,
            f"{feature.name!r} cannot stay within {distance!r}: give a number that is not negative",
        )
    if feature.discrete:
        raise _constraint_error(
            feature,
            f"{feature.name!r} is {feature.kind} and cannot stay within {distance!r}: "
            "say 'never' or list its categories",
        )
    return found


def _read_range(feature: Feature, bounds: object) -> tuple[object, object]:
    if feature.discrete:
        raise _constraint_error(
            feature,
            f"{feature.name!r} is {feature.kind} and has no bounds: "
            "list the categories it may take",
        )
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise _constraint_error(
            feature,
            f"the bounds of {feature.name!r} are {bounds!r}: "
            "give (low, high), with None where open",
        )
    pair = (bounds[0], bounds[1])
    range_codes(feature, pair)
    return pair


def _read_category_codes(feature: Feature, labels: object) -> frozenset[int]:
    if feature.categories is None:
        raise _constraint_error(
            feature,
            f"{feature.name!r} is {feature.kind} and has no categories: give (low, high) instead",
        )
    if isinstance(labels, str) or not isinstance(labels, tuple | list | AbstractSet | np.ndarray):
        raise _constraint_error(
            feature, f"the categories of {feature.name!r} are {labels!r}: give a list of them"
        )
    codes = frozenset(int(category_code(feature, label)) for label in labels)
    if not codes:
        raise _constraint_error(
            feature,
            f"where= leaves {feature.name!r} no category: "
            f"list one of {list_names(feature.categories)}",
        )
    if not feature.discrete and max(codes) - min(codes) >= len(codes):
        raise _constraint_error(
            feature, f"{feature.name!r} is ordinal: the categories it may take must be neighbours"
        )
    return codes


def _constraint_error(feature: Feature, message: str) -> ConstraintError:
    return ConstraintError(message, feature=feature.name, option="where")
