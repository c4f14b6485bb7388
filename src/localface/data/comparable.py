"""How far others may differ in what is a person's own and still be an example to them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from localface.data.codes import FeatureValue, finite_number
from localface.data.declared import DeclaredFeature
from localface.errors import DataError, SchemaError

Comparable = float | tuple[FeatureValue, ...] | tuple[tuple[FeatureValue, ...], ...]
"""A distance, some categories that count as alike, or several lists of them."""


def checked_comparable(feature: DeclaredFeature) -> Comparable | None:
    """Check how far others may differ; lists become tuples."""
    given: object = feature.comparable
    if given is None:
        return None
    if not feature.own:
        raise SchemaError(
            f"{feature.name!r} moves {feature.moves!r} and can have no comparable=: it is for what "
            "stays a person's own (moves='never' or 'grows')",
            feature=feature.name,
        )
    return _checked_lists(feature, given) if feature.discrete else _checked_distance(feature, given)


def codes_alike(feature: DeclaredFeature, own: int) -> frozenset[int]:
    """The categories that count as alike with one's own."""
    lists = feature.comparable
    assert isinstance(lists, tuple)
    codes = {own}
    for group in [one if isinstance(one, tuple) else lists for one in lists]:
        members = {int(feature.code(label)) for label in group}
        codes |= members if own in members else set()
    return frozenset(codes)


def _checked_distance(feature: DeclaredFeature, given: object) -> float:
    found = finite_number(given)
    if found is None or found < 0:
        raise SchemaError(
            f"comparable of {feature.name!r} is {given!r}: give a number that is not negative, "
            "how far others may differ",
            feature=feature.name,
        )
    return int(found) if isinstance(given, int | np.integer) else found


def _checked_lists(feature: DeclaredFeature, given: object) -> Comparable:
    if not isinstance(given, list | tuple):
        raise SchemaError(
            f"comparable of {feature.name!r} is {given!r}: it is {feature.kind}, so list the "
            "categories that count as alike, or [] if none do",
            feature=feature.name,
        )
    if any(isinstance(one, list | tuple) for one in given):
        return tuple(
            _checked_labels(feature, one if isinstance(one, list | tuple) else [one])
            for one in given
        )
    return _checked_labels(feature, given)


def _checked_labels(
    feature: DeclaredFeature, labels: Sequence[FeatureValue]
) -> tuple[FeatureValue, ...]:
    try:
        return tuple(feature.value(feature.code(label)) for label in labels)
    except DataError as error:
        raise SchemaError(f"comparable: {error}", feature=feature.name) from None
