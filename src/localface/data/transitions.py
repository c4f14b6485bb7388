"""Categories that can never follow others."""

from __future__ import annotations

from collections.abc import Mapping

from localface.data.codes import FeatureValue, HashableDict
from localface.data.declared import DeclaredFeature
from localface.errors import SchemaError, did_you_mean, list_names


class Transitions(HashableDict[FeatureValue, tuple[FeatureValue, ...]]):
    """From a category to those that never follow it."""


def checked_never_from(feature: DeclaredFeature) -> Transitions | None:
    """Check which categories never follow others: a dict from one to a list of others."""
    given = feature.never_from
    if given is None:
        return None
    name = feature.name
    if feature.kind != "categorical":
        instead = "say moves='up' or 'down'" if feature.kind != "numeric" else "leave it out"
        raise SchemaError(
            f"{name!r} is {feature.kind} and can have no never_from=: {instead}", feature=name
        )
    if not isinstance(given, Mapping):
        raise SchemaError(
            f"never_from of {name!r} is {given!r}: give a dict from a category to a list of those "
            'that never follow it, as in {"divorced": ["single"]}',
            feature=name,
        )
    by_text = {str(one): one for one in feature.categories}  # keys in files are texts
    found = Transitions()
    for before, after in given.items():
        several = [after] if isinstance(after, str) else list(after)
        for category in (before, *several):
            if str(category) not in by_text:
                raise SchemaError(
                    f"never_from of {name!r} names {category!r}, which is no category"
                    f"{did_you_mean(str(category), by_text)}: there are {list_names(by_text)}",
                    feature=name,
                )
        found[by_text[str(before)]] = tuple(by_text[str(one)] for one in several)
    return found or None


def codes_never_after(feature: DeclaredFeature, own: int) -> frozenset[int]:
    """Return the codes that a person with this category never comes to."""
    if not feature.never_from:
        return frozenset()
    after = feature.never_from.get(feature.categories[own], ())
    return frozenset(feature.categories.index(one) for one in after) - {own}


def late_codes(feature: DeclaredFeature) -> frozenset[int]:
    """Return the codes that never follow some other."""
    several = (feature.never_from or {}).values()
    return frozenset(feature.categories.index(one) for after in several for one in after)
