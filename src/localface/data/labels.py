"""What features and categories are called in what people read."""

from __future__ import annotations

from collections.abc import Mapping

from localface.data.codes import FeatureValue, HashableDict
from localface.data.declared import DeclaredFeature
from localface.errors import SchemaError, did_you_mean, list_names


class CategoryLabels(HashableDict[FeatureValue, str]):
    """What categories are called."""


def check_label(feature: DeclaredFeature) -> None:
    """Check that the label of a feature is text."""
    given: object = feature.label
    if given is not None and (not isinstance(given, str) or not given):
        raise SchemaError(
            f"the label of {feature.name!r} is {feature.label!r}: give it as text",
            feature=feature.name,
        )


def checked_category_labels(feature: DeclaredFeature) -> CategoryLabels | None:
    """Check what categories are called: a dict from category to text."""
    given = feature.category_labels
    if given is None:
        return None
    name = feature.name
    if feature.categories is None or not isinstance(given, Mapping):
        raise SchemaError(
            f"category_labels of {name!r} are {given!r}: give a feature with categories a dict "
            "from category to text",
            feature=name,
        )
    by_text = {str(one): one for one in feature.categories}  # keys in files are texts
    found = CategoryLabels()
    for category, label in given.items():
        if str(category) not in by_text or not isinstance(label, str):
            raise SchemaError(
                f"category_labels of {name!r} call {category!r} {label!r}"
                f"{did_you_mean(str(category), by_text)}: give a text for some of "
                f"{list_names(by_text)}",
                feature=name,
            )
        found[by_text[str(category)]] = label
    if len({found.get(one, str(one)) for one in feature.categories}) < len(feature.categories):
        raise SchemaError(
            f"category_labels of {name!r} call two categories the same: give each its own",
            feature=name,
        )
    return found or None
