"""Words for what is shown, in place of the names in the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from typing import Any

from localface.answers.target import Target
from localface.answers.wording import to_one_line
from localface.data.feature import Feature


@dataclass(frozen=True, slots=True)
class Labels:
    """Words for what is shown, in place of the names in the data.

    Parameters
    ----------
    categories : for a feature, by name, the words for its categories in their order
    features : for a feature, by name, a phrase of what it is
    target : what somebody is who has reached the target
    groups : for a feature, by name, what it is entered together with
    """

    categories: Mapping[str, Sequence[str]] = field(default_factory=dict)
    features: Mapping[str, str] = field(default_factory=dict)
    target: str = ""
    groups: Mapping[str, str] = field(default_factory=dict)


NO_LABELS = Labels()


def target_text(target: Target, labels: Labels = NO_LABELS) -> str:
    """What is to be reached, in words."""
    return replace(target, label=labels.target or target.label).sentence


def value_text(feature: Feature, code: float, labels: Labels = NO_LABELS) -> str:
    """A value without its unit, by its label where there is one."""
    if feature.categories is None or isnan(code):
        return feature.format(code)
    categories = labels.categories.get(feature.name)
    return to_one_line(categories[round(code)] if categories else feature.format(code))


def feature_view(feature: Feature, labels: Labels = NO_LABELS) -> dict[str, Any]:
    """What a feature is, for showing its values."""
    categories = labels.categories.get(feature.name)
    if categories is None and feature.category_labels:
        categories = [feature.format(code) for code in range(len(feature.categories or ()))]
    return {
        "name": feature.name,
        "unit": feature.unit,
        "kind": feature.kind,
        "categories": None if feature.categories is None else list(feature.categories),
        "labels": None if categories is None else list(categories),
        "text": labels.features.get(feature.name, feature.label or ""),
        "reference": None if feature.reference is None else list(feature.reference),
        "reference_text": _reference_range_text(feature),
    }


def _reference_range_text(feature: Feature) -> str | None:
    """The range that is thought ordinary, in words."""
    if feature.reference is None:
        return None
    low, high = (
        None if end is None else feature.format(feature.code(end)) for end in feature.reference
    )
    if low is None:
        text = f"at most {high}"
    elif high is None:
        text = f"at least {low}"
    else:
        text = f"{low} to {high}"
    return f"{text} {feature.unit}" if feature.unit else text
