"""Constraints on what a person may change, compiled into one box around their record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from localface.data.absence import code_numbers, is_absent, is_absent_code
from localface.data.box import Box, DistanceLimit
from localface.data.codes import range_codes
from localface.data.comparable import codes_alike
from localface.data.feature import Feature
from localface.data.feature_checks import OWN
from localface.data.transitions import codes_never_after, late_codes
from localface.data.where import UNCONSTRAINED, FeatureConstraint, read_where
from localface.errors import ConstraintError, list_names
from localface.types import Array


@dataclass(frozen=True, slots=True)
class _Limit:
    """One constraint: an interval, or the codes it leaves, and the phrase that says so."""

    phrase: str
    lower: float = -np.inf
    upper: float = np.inf
    codes: frozenset[int] | None = None
    distance: float | None = None  # a distance from the person's own value


@dataclass(frozen=True, slots=True)
class _FeatureBox:
    """What all constraints together leave of one feature."""

    lower: float = -np.inf
    upper: float = np.inf
    codes: frozenset[int] | None = None
    distance_limit: DistanceLimit | None = None
    grows_to: float | None = None
    reason: str | None = None


_FREE = _FeatureBox()


def compile_box(
    features: Sequence[Feature], record: Array, where: Mapping[str, object] | None
) -> Box:
    """Compile what the schema declares, narrowed by ``where``, around one record."""
    asked = read_where(features, where)
    each = [asked.get(feature.name, UNCONSTRAINED) for feature in features]
    directions = [_allowed_direction(*pair) for pair in zip(features, each, strict=True)]
    own_codes = record.tolist()
    parts = [
        _compile_feature(*of_one)
        for of_one in zip(features, own_codes, directions, each, strict=True)
    ]
    absent = {j: own for j, own in enumerate(own_codes) if is_absent_code(features[j], own)}
    present = np.array([j not in absent for j in range(len(features))])
    lower = np.array([part.lower for part in parts])
    upper = np.array([part.upper for part in parts])
    up = present & np.array([direction == "up" for direction in directions])
    down = present & np.array([direction == "down" for direction in directions])
    for array in (lower, upper, up, down):
        array.setflags(write=False)
    return Box(
        lower,
        upper,
        allowed={j: part.codes for j, part in enumerate(parts) if part.codes is not None},
        up=up,
        down=down,
        reasons={j: part.reason for j, part in enumerate(parts) if part.reason is not None},
        distance_limits={
            j: part.distance_limit
            for j, part in enumerate(parts)
            if part.distance_limit is not None
        },
        grows_to={j: part.grows_to for j, part in enumerate(parts) if part.grows_to is not None},
        absent=absent,
        no_values={j: frozenset(code_numbers(one)) for j, one in enumerate(features) if one.codes},
        only_from_own={
            j: (int(own_codes[j]), late_codes(one))
            for j, one in enumerate(features)
            if one.never_from and j not in absent
        },
    )


def _compile_feature(
    feature: Feature, own: float, direction: str, extra: FeatureConstraint
) -> _FeatureBox:
    """What is left of one feature; one that the person has no value of stays so."""
    if is_absent_code(feature, own):
        return _stays_absent(feature, own)
    return _without_codes(feature, own, _intersect_constraints(feature, own, direction, extra))


def compile_comparable_box(features: Sequence[Feature], record: Array) -> Box | None:
    """Compile what others may have and still be an example to the person with this record.

    None where the schema sets no such limit.
    """
    if all(feature.comparable is None for feature in features):
        return None
    lower = np.full(len(features), -np.inf)
    upper = np.full(len(features), np.inf)
    alike = {}
    for j, feature in enumerate(features):
        if is_absent(feature, record[j]):
            continue
        if isinstance(feature.comparable, tuple):
            alike[j] = codes_alike(feature, int(record[j]))
        elif feature.comparable is not None:
            lower[j] = record[j] - feature.comparable
            upper[j] = record[j] + feature.comparable
    one_way = np.zeros(len(features), dtype=bool)
    return Box(lower, upper, alike, one_way, one_way, {})


def check_where(features: Sequence[Feature], where: Mapping[str, object] | None) -> None:
    """Refuse what is wrong with ``where`` whoever asks."""
    asked = read_where(features, where)
    for feature in features:
        _allowed_direction(feature, asked.get(feature.name, UNCONSTRAINED))


def _allowed_direction(feature: Feature, extra: FeatureConstraint) -> str:
    """Return which way a feature may move when both the schema and the call have a say."""
    is_one_way = extra.moves in ("up", "down")
    if feature.moves in OWN and extra.lets_move and (is_one_way or feature.moves == "never"):
        raise _own_moves_error(feature)
    if feature.moves == "grows":  # time passes, whatever a call asks for
        return "grows"
    if feature.moves == extra.moves:
        return extra.moves
    both = {feature.moves, extra.moves} - {"freely"}
    if both == {"up", "down"}:
        raise ConstraintError(
            f"{feature.name!r} only moves {feature.moves} by the schema, "
            f"and only {extra.moves} by where=: say 'never' if it is to stay where it is",
            feature=feature.name,
        )
    return "never" if "never" in both else next(iter(both), "freely")


def _own_moves_error(feature: Feature) -> ConstraintError:
    """Say that a call cannot let move what no action changes."""
    how, instead = "never moves by the schema", "leave it out"
    if feature.moves == "grows":
        how = "grows by itself by the schema, no action changes it"
        instead = "leave it out, say how far waiting may take it (a number, or (low, high))"
    return ConstraintError(
        f"{feature.name!r} {how}, and where= says how it may: where= only "
        f"narrows what the schema allows, so {instead}, or let it move in the schema",
        feature=feature.name,
        option="where",
    )


def _stays_absent(feature: Feature, own: float) -> _FeatureBox:
    """What is left of a feature that has no value: nothing touches it."""
    return _FeatureBox(reason=f"{feature.display_name} is {feature.format(own)} and stays so")


def _without_codes(feature: Feature, own: float, part: _FeatureBox) -> _FeatureBox:
    """Leave out the categories that stand for no value: nobody moves into them."""
    if not feature.discrete or not feature.codes:
        return part
    given = part.codes
    if given is None:
        given = frozenset(range(len(feature.categories or ())))
    left = given - {int(code) for code in code_numbers(feature)}
    if not left:
        labels = list_names(feature.format(code) for code in sorted(given))
        raise _nothing_allowed_error(feature, own, f"only {labels}", "a value")
    return replace(part, codes=left)


def _intersect_constraints(
    feature: Feature, own: float, direction: str, extra: FeatureConstraint
) -> _FeatureBox:
    """Intersect all constraints on one feature."""
    if direction == "freely" and extra is UNCONSTRAINED and feature.unlimited:
        return _FREE
    limits = _all_limits(feature, own, direction, extra)
    if not limits:
        return _FREE
    phrases = [limits[0].phrase]
    if direction not in OWN:
        phrases = list(dict.fromkeys(limit.phrase for limit in _effective_limits(limits)))
    reason = f"{feature.display_name} {' and '.join(phrases)}"
    if feature.discrete:
        codes = _common_codes(feature, own, limits)
        every = len(codes) == len(feature.categories or ())
        return _FeatureBox(codes=None if every else codes, reason=reason)
    lower, upper = _common_interval(feature, own, limits)
    distance_limit = None if direction in OWN else _distance_limit(feature, own, limits)
    grows_to = _furthest_growth(feature, own, extra) if direction == "grows" else None
    return _FeatureBox(
        lower, upper, distance_limit=distance_limit, grows_to=grows_to, reason=reason
    )


def _furthest_growth(feature: Feature, own: float, extra: FeatureConstraint) -> float:
    """How high a feature may grow by itself; infinite where nothing limits it."""
    distances = [one for one in (feature.within, extra.within) if one is not None]
    ends = [own + min(distances, default=np.inf)]
    ends += [range_codes(feature, one)[1] for one in (feature.bounds, extra.bounds) if one]
    if feature.categories is not None:
        ends.append(len(feature.categories) - 1.0)
    return min(ends)


def _distance_limit(feature: Feature, own: float, limits: list[_Limit]) -> DistanceLimit | None:
    by = min((limit.distance for limit in limits if limit.distance is not None), default=0.0)
    if by <= 0:
        return None
    others = [limit for limit in limits if limit.distance is None] or [_Limit("")]
    return DistanceLimit(own, by, *_common_interval(feature, own, others))


def _all_limits(
    feature: Feature, own: float, direction: str, extra: FeatureConstraint
) -> list[_Limit]:
    """List every constraint on one feature, one-way and fixed ones first."""
    if feature.discrete:
        return _category_limits(feature, int(own), direction, extra)
    unit = f" {feature.unit}" if feature.unit else ""
    limits = _direction_limits(own, direction)
    for distance in (feature.within, extra.within):
        if distance is not None:
            phrase = f"within {distance:g} of {feature.format(own)}{unit}"
            limits.append(_Limit(phrase, own - distance, own + distance, distance=distance))
    ranges = [
        range_codes(feature, bounds)
        for bounds in (feature.bounds, extra.bounds)
        if bounds is not None and bounds != (None, None)
    ]
    if extra.only is not None:
        ranges.append((min(extra.only), max(extra.only)))
    for low, high in _merge_ranges(ranges):
        limits.append(_Limit(_range_in_words(feature, low, high) + unit, low, high))
    return limits


def _merge_ranges(ranges: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Make one range of several; those that leave nothing stay apart, to be told of."""
    if not ranges:
        return []
    low = max(one for one, _ in ranges)
    high = min(one for _, one in ranges)
    return [(low, high)] if low <= high else ranges


def _effective_limits(limits: list[_Limit]) -> list[_Limit]:
    """Leave out the limits that another one implies: nobody needs to be told of them."""
    if any(limit.codes is not None for limit in limits):
        return limits
    kept: list[_Limit] = []
    for limit in sorted(limits, key=lambda one: one.upper - one.lower):
        if not any(limit.lower <= one.lower and one.upper <= limit.upper for one in kept):
            kept.append(limit)
    return [limit for limit in limits if limit in kept]


def _direction_limits(own: float, direction: str) -> list[_Limit]:
    if direction == "never":
        return [_Limit("never moves", own, own)]
    if direction == "grows":
        return [_Limit("grows by itself", own, own)]
    if direction == "up":
        return [_Limit("only moves up", own, np.inf)]
    return [_Limit("only moves down", -np.inf, own)] if direction == "down" else []


def _range_in_words(feature: Feature, low: float, high: float) -> str:
    if np.isneginf(low):
        return f"at most {_end_in_words(feature, high)}"
    if np.isposinf(high):
        return f"at least {_end_in_words(feature, low)}"
    return f"between {_end_in_words(feature, low)} and {_end_in_words(feature, high)}"


def _end_in_words(feature: Feature, end: float) -> str:
    plain = feature.categories is None and feature.since is None
    return f"{end:g}" if plain else feature.format(end)


def _category_limits(
    feature: Feature, own: int, direction: str, extra: FeatureConstraint
) -> list[_Limit]:
    limits = []
    if direction == "never":
        limits.append(_Limit("never moves", codes=frozenset({own})))
    elif direction != "freely":
        end = 1 if direction == "up" else 0
        limits.append(_Limit(f"only moves {direction}", codes=frozenset({own, end})))
    barred = codes_never_after(feature, own)
    if barred and direction != "never":
        every = frozenset(range(len(feature.categories or ())))
        labels = list_names(feature.format(code) for code in sorted(barred))
        phrase = f"never becomes {labels} from {feature.format(own)}"
        limits.append(_Limit(phrase, codes=every - barred))
    if extra.only is not None and len(extra.only) < len(feature.categories or ()):
        labels = list_names(feature.format(code) for code in sorted(extra.only))
        phrase = f"among {labels}" if len(extra.only) > 1 else f"only {labels}"
        limits.append(_Limit(phrase, codes=extra.only))
    return limits


def _common_codes(feature: Feature, own: float, limits: list[_Limit]) -> frozenset[int]:
    sets = [limit.codes for limit in limits if limit.codes is not None]
    codes = frozenset.intersection(*sets)
    if not codes:
        raise _nothing_allowed_error(feature, own, limits[0].phrase, limits[-1].phrase)
    return codes


def _common_interval(feature: Feature, own: float, limits: list[_Limit]) -> tuple[float, float]:
    """Intersect intervals; their ends are whole numbers where the feature has no others."""
    low = max(limits, key=lambda limit: limit.lower)
    high = min(limits, key=lambda limit: limit.upper)
    lower = low.lower
    upper = high.upper
    if feature.kind != "numeric":
        lower = float(np.ceil(lower))
        upper = float(np.floor(upper))
    if lower > upper:
        if low.lower <= high.upper:
            raise _nothing_allowed_error(feature, own, low.phrase, "a whole number")
        raise _nothing_allowed_error(feature, own, low.phrase, high.phrase)
    return lower, upper


def _nothing_allowed_error(feature: Feature, own: float, one: str, other: str) -> ConstraintError:
    unit = f" {feature.unit}" if feature.unit else ""
    return ConstraintError(
        f"nothing is allowed for {feature.name!r} (now {feature.format(own)}{unit}): "
        f"'{one}' and '{other}' leave no value; widen one of them",
        feature=feature.name,
    )
