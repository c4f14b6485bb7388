"""How far one person may move: constraints on a record, compiled into one box around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from localface.errors import ConstraintError, DataError, listed, near_miss
from localface.types import Array, Mask

if TYPE_CHECKING:
    from localface.data.schema import Feature

MOVES = ("freely", "up", "down", "never")
_PARTS = ("moves", "within", "bounds", "categories")


@dataclass(frozen=True, slots=True)
class Reach:
    """How far from their own value someone may go in one feature, and the interval that all else leaves them."""

    own: float
    by: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """Where a person may go, as codes in the user's units; the person themselves may stand outside.

    ``allowed`` holds the codes left to binary and categorical features that are
    restricted; their ``lower`` and ``upper`` stay open.
    """

    lower: Array
    upper: Array
    allowed: dict[int, frozenset[int]]
    up: Mask
    down: Mask
    reasons: dict[int, str]
    reaches: dict[int, Reach] = field(default_factory=dict)  # of features that may only move so far

    def widened(self, factor: float) -> Box:
        """The same box with every distance that limits a feature so many times as long."""
        lower, upper = self.lower.copy(), self.upper.copy()
        for j, reach in self.reaches.items():
            lower[j] = max(reach.lower, reach.own - factor * reach.by)
            upper[j] = min(reach.upper, reach.own + factor * reach.by)
        return replace(self, lower=lower, upper=upper)

    def nearest(self, features: Sequence[Feature], records: Array, own: Array) -> Array:
        """The records, feature by feature, as far as someone whose record is ``own`` may follow them.

        A value that is not allowed gives way to the nearest that is; a category, to their own.
        """
        moved = np.array(records, dtype=np.float64)
        for j, feature in enumerate(features):
            if feature.discrete:
                codes = self.allowed.get(j)
                if codes is not None:
                    spare = own[j] if own[j] in codes else min(codes)
                    moved[:, j] = np.where(np.isin(moved[:, j], list(codes)), moved[:, j], spare)
                continue
            low, high = self.lower[j], self.upper[j]
            if feature.whole:
                moved[:, j], low, high = np.rint(moved[:, j]), np.ceil(low), np.floor(high)
            moved[:, j] = np.clip(moved[:, j], low, high)
        return moved

    def holds(self, feature: int, code: float) -> bool:
        """Tell whether one feature may take a value."""
        if feature in self.allowed:
            return code in self.allowed[feature]
        return bool(self.lower[feature] <= code <= self.upper[feature])


@dataclass(frozen=True, slots=True)
class _Wish:
    """What one call asks of one feature, on top of what the schema declares."""

    moves: str = "freely"
    within: float | None = None
    bounds: tuple[object, object] | None = None
    only: frozenset[int] | None = None


_FREE = _Wish()


@dataclass(frozen=True, slots=True)
class _Limit:
    """One constraint: an interval, or the codes it leaves, and the phrase that says so."""

    phrase: str
    lower: float = -np.inf
    upper: float = np.inf
    codes: frozenset[int] | None = None
    reach: float | None = None  # a distance from the person's own value


def compile_box(
    features: Sequence[Feature], record: Array, where: Mapping[str, object] | None
) -> Box:
    """Compile what the schema declares, narrowed by ``where``, around one record."""
    wishes = _wishes(features, where)
    lower, upper = np.full(len(features), -np.inf), np.full(len(features), np.inf)
    allowed: dict[int, frozenset[int]] = {}
    reasons: dict[int, str] = {}
    reaches: dict[int, Reach] = {}
    ways = [_way(feature, wishes.get(feature.name, _FREE)) for feature in features]
    for j, feature in enumerate(features):
        wish = wishes.get(feature.name)
        if (
            wish is None
            and ways[j] == "freely"
            and feature.within is None
            and feature.bounds is None
        ):
            continue
        own = float(record[j])
        limits = _limits(feature, own, ways[j], wish or _FREE)
        if limits:
            phrases = (
                [limits[0].phrase]
                if ways[j] == "never"
                else dict.fromkeys(limit.phrase for limit in limits)
            )
            reasons[j] = f"{feature.name} {' and '.join(phrases)}"
        if limits and feature.discrete:
            codes = _common(feature, own, limits)
            if len(codes) < len(feature.categories or ()):
                allowed[j] = codes
        elif limits:
            lower[j], upper[j] = _interval(feature, own, limits)
            by = min((limit.reach for limit in limits if limit.reach is not None), default=0.0)
            if by > 0:
                rest = [limit for limit in limits if limit.reach is None] or [_Limit("")]
                reaches[j] = Reach(own, by, *_interval(feature, own, rest))
    up, down = np.array([way == "up" for way in ways]), np.array([way == "down" for way in ways])
    for array in (lower, upper, up, down):
        array.setflags(write=False)
    return Box(lower, upper, allowed, up, down, reasons, reaches)


def check_where(features: Sequence[Feature], where: Mapping[str, object] | None) -> None:
    """Refuse what is wrong with ``where`` whoever asks."""
    wishes = _wishes(features, where)
    for feature in features:
        _way(feature, wishes.get(feature.name, _FREE))


def number(value: object) -> float | None:
    """Return a finite number as a float, and anything else (truth values too) as nothing."""
    if type(value) is float:
        return value if isfinite(value) else None
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        return None
    return float(value) if np.isfinite(float(value)) else None


def ends(feature: Feature, bounds: tuple[object, object]) -> tuple[float, float]:
    """Turn (low, high) in the user's terms into codes; ``None`` is open."""
    low, high = (
        _end(feature, end, side) for end, side in zip(bounds, (-np.inf, np.inf), strict=True)
    )
    if low > high:
        text = f"{bounds[0]!r} to {bounds[1]!r}"
        raise ConstraintError(
            f"the bounds of {feature.name!r}, {text}, are the wrong way round: give (low, high)"
        )
    return low, high


def _end(feature: Feature, end: object, side: float) -> float:
    if end is None or (isinstance(end, float) and end == side):
        return side
    if feature.categories is not None:
        return _code(feature, end)
    found = number(end)
    if found is None:
        raise ConstraintError(
            f"a bound of {feature.name!r} is {end!r}: give a number, or None where it is open"
        )
    return found


def _code(feature: Feature, value: object) -> float:
    try:
        return feature.code(value)
    except DataError as error:
        raise ConstraintError(str(error)) from None


def _wishes(features: Sequence[Feature], where: Mapping[str, object] | None) -> dict[str, _Wish]:
    if where is None:
        return {}
    if not _is_mapping(where):
        raise ConstraintError(
            f"where= is {where!r}: give a dict from feature to constraint, as in {{'age': 5}}"
        )
    known = {feature.name: feature for feature in features}
    for name in where:
        if name not in known:
            raise ConstraintError(
                f"where= names {name!r}, which is no feature{near_miss(name, known)}: there are {listed(known)}"
            )
    return {name: _wish(known[name], asked) for name, asked in where.items()}


def _is_mapping(where: object) -> bool:
    return isinstance(where, Mapping)


def _wish(feature: Feature, asked: object) -> _Wish:
    """Read one constraint by its shape: a number, a word, a range, some categories, or several by name."""
    if isinstance(asked, Mapping):
        return _named(feature, asked)
    if isinstance(asked, str):
        return _Wish(moves=_word(feature, asked))
    if number(asked) is not None:
        return _Wish(within=_reach(feature, asked))
    some = isinstance(asked, tuple | list | AbstractSet | np.ndarray)
    if (
        some
        and feature.categories is not None
        and (feature.discrete or not isinstance(asked, tuple))
    ):
        return _Wish(only=_only(feature, asked))
    if some and isinstance(asked, tuple | list):
        return _Wish(bounds=_range(feature, asked))
    raise ConstraintError(
        f"where={{{feature.name!r}: {asked!r}}} cannot be read: give a number (how far it may move), a word "
        f"({listed(MOVES)}), a (low, high) pair, a list of categories, or a dict of several of these"
    )


def _named(feature: Feature, asked: Mapping[object, object]) -> _Wish:
    for key in asked:
        if key not in _PARTS:
            raise ConstraintError(
                f"the constraint on {feature.name!r} has {key!r}{near_miss(key, _PARTS)}: it may have {listed(_PARTS)}"
            )
    given = {key: value for key, value in asked.items() if value is not None}
    return _Wish(
        moves=_word(feature, given["moves"]) if "moves" in given else "freely",
        within=_reach(feature, given["within"]) if "within" in given else None,
        bounds=_range(feature, given["bounds"]) if "bounds" in given else None,
        only=_only(feature, given["categories"]) if "categories" in given else None,
    )


def _word(feature: Feature, word: object) -> str:
    if word not in MOVES:
        known = feature.categories is not None and word in feature.categories
        hint = (
            f"to allow that category only, write [{word!r}]"
            if known
            else f"use one of {listed(MOVES)}"
        )
        raise ConstraintError(
            f"{feature.name!r} cannot move {word!r}{near_miss(word, MOVES)}: {hint}"
        )
    if word in ("up", "down") and feature.kind == "categorical":
        raise ConstraintError(
            f"{feature.name!r} is categorical and has no {word}: list the categories it may take"
        )
    return str(word)


def _reach(feature: Feature, reach: object) -> float:
    found = number(reach)
    if found is None or found < 0:
        raise ConstraintError(
            f"{feature.name!r} cannot stay within {reach!r}: give a number that is not negative"
        )
    if feature.discrete:
        raise ConstraintError(
            f"{feature.name!r} is {feature.kind} and cannot stay within {reach!r}: say 'never' or list its categories"
        )
    return found


def _range(feature: Feature, bounds: object) -> tuple[object, object]:
    if feature.discrete:
        raise ConstraintError(
            f"{feature.name!r} is {feature.kind} and has no bounds: list the categories it may take"
        )
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise ConstraintError(
            f"the bounds of {feature.name!r} are {bounds!r}: give (low, high), with None where open"
        )
    pair = (bounds[0], bounds[1])
    ends(feature, pair)
    return pair


def _only(feature: Feature, labels: object) -> frozenset[int]:
    if feature.categories is None:
        raise ConstraintError(
            f"{feature.name!r} is {feature.kind} and has no categories: give (low, high) instead"
        )
    if isinstance(labels, str) or not isinstance(labels, tuple | list | AbstractSet | np.ndarray):
        raise ConstraintError(
            f"the categories of {feature.name!r} are {labels!r}: give a list of them"
        )
    codes = frozenset(int(_code(feature, label)) for label in labels)
    if not codes:
        raise ConstraintError(
            f"where= leaves {feature.name!r} no category: list one of {listed(feature.categories)}"
        )
    if not feature.discrete and max(codes) - min(codes) >= len(codes):
        raise ConstraintError(
            f"{feature.name!r} is ordinal: the categories it may take must be neighbours"
        )
    return codes


def _way(feature: Feature, wish: _Wish) -> str:
    """Which way a feature may move when both the schema and the call have a say."""
    if feature.moves == wish.moves:
        return wish.moves
    both = {feature.moves, wish.moves} - {"freely"}
    if both == {"up", "down"}:
        raise ConstraintError(
            f"{feature.name!r} only moves {feature.moves} by the schema, and only {wish.moves} by where=: "
            "say 'never' if it is to stay where it is"
        )
    return "never" if "never" in both else next(iter(both), "freely")


def _limits(feature: Feature, own: float, way: str, wish: _Wish) -> list[_Limit]:
    """Every constraint on one feature, one-way and fixed ones first."""
    if feature.discrete:
        return _choices(feature, int(own), way, wish)
    unit = f" {feature.unit}" if feature.unit else ""
    here = feature.format(own) + unit
    limits = []
    if way == "never":
        limits.append(_Limit("never moves", own, own))
    elif way != "freely":
        limits.append(
            _Limit(f"only moves {way}", *((own, np.inf) if way == "up" else (-np.inf, own)))
        )
    for reach in (feature.within, wish.within):
        if reach is not None:
            limits.append(
                _Limit(f"within {reach:g} of {here}", own - reach, own + reach, reach=reach)
            )
    for bounds in (feature.bounds, wish.bounds):
        if bounds is not None and bounds != (None, None):
            low, high = ends(feature, bounds)
            limits.append(_Limit(_between(feature, low, high) + unit, low, high))
    if wish.only is not None:
        low, high = min(wish.only), max(wish.only)
        limits.append(_Limit(_between(feature, low, high), low, high))
    return limits


def _between(feature: Feature, low: float, high: float) -> str:
    if np.isneginf(low):
        return f"at most {_shown(feature, high)}"
    if np.isposinf(high):
        return f"at least {_shown(feature, low)}"
    return f"between {_shown(feature, low)} and {_shown(feature, high)}"


def _shown(feature: Feature, end: float) -> str:
    return f"{end:g}" if feature.categories is None else feature.format(end)


def _choices(feature: Feature, own: int, way: str, wish: _Wish) -> list[_Limit]:
    limits = []
    if way == "never":
        limits.append(_Limit("never moves", codes=frozenset({own})))
    elif way != "freely":
        limits.append(_Limit(f"only moves {way}", codes=frozenset({own, 1 if way == "up" else 0})))
    if wish.only is not None and len(wish.only) < len(feature.categories or ()):
        labels = listed(feature.format(code) for code in sorted(wish.only))
        limits.append(
            _Limit(f"among {labels}" if len(wish.only) > 1 else f"only {labels}", codes=wish.only)
        )
    return limits


def _common(feature: Feature, own: float, limits: list[_Limit]) -> frozenset[int]:
    sets = [limit.codes for limit in limits if limit.codes is not None]
    codes = frozenset.intersection(*sets)
    if not codes:
        raise _nowhere(feature, own, limits[0].phrase, limits[-1].phrase)
    return codes


def _interval(feature: Feature, own: float, limits: list[_Limit]) -> tuple[float, float]:
    """Intersect intervals, whole numbers where the feature has no others."""
    low, high = (
        max(limits, key=lambda limit: limit.lower),
        min(limits, key=lambda limit: limit.upper),
    )
    lower, upper = low.lower, high.upper
    if feature.kind != "numeric":
        lower, upper = float(np.ceil(lower)), float(np.floor(upper))
    if lower > upper:
        if low.lower <= high.upper:
            raise _nowhere(feature, own, low.phrase, "a whole number")
        raise _nowhere(feature, own, low.phrase, high.phrase)
    return lower, upper


def _nowhere(feature: Feature, own: float, one: str, other: str) -> ConstraintError:
    unit = f" {feature.unit}" if feature.unit else ""
    return ConstraintError(
        f"nothing is allowed for {feature.name!r} (now {feature.format(own)}{unit}): "
        f"'{one}' and '{other}' leave no value; widen one of them"
    )
