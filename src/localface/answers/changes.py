"""Which features differ between two states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from localface.answers.certificate import Certificate
from localface.data.absence import is_absent, same_codes
from localface.data.feature import Feature
from localface.data.row_words import RowWords
from localface.data.schema import Schema
from localface.types import Array

_MEASURED = "no step gives it a value, only a measurement does"
_SAME = 1e-9  # by how much of the resolution rounding may make a change look too small


@dataclass(frozen=True, slots=True)
class FeatureChange:
    """One feature that is no longer what it was; ``size`` is in standard deviations."""

    feature: Feature
    before: object
    after: object
    size: float
    texts: tuple[str, str]
    """How the values before and after are written."""

    @property
    def gap(self) -> str:
        """Why no step makes this change, where a value would have to come or go; else nothing."""
        codes = (self.feature.code(value) for value in (self.before, self.after))
        return gap_sentence(self.feature, *codes)

    @property
    def name(self) -> str:
        """The feature's name."""
        return self.feature.name

    @property
    def label(self) -> str:
        """What people read in place of the name."""
        return self.feature.display_name

    @property
    def values_text(self) -> str:
        """The value before and the value after, without the feature's name."""
        unit = f" {self.feature.unit}" if self.feature.unit else ""
        return f"{self.texts[0]} -> {self.texts[1]}{unit}"

    def __str__(self) -> str:
        return f"{self.label} {self.values_text}"


def changes_between(
    schema: Schema, scales: Sequence[float], before: Array, after: Array
) -> tuple[FeatureChange, ...]:
    """List the features that differ by at least their resolution, the largest change first."""
    found = []
    for feature, scale, old, new in zip(
        schema, scales, before.tolist(), after.tolist(), strict=True
    ):
        if not _codes_differ(feature, old, new):
            continue
        gap = is_absent(feature, np.array([old, new])).any()
        size = 1.0 if gap else (1.0 if feature.discrete else abs(new - old)) / scale
        texts = (feature.format(old), feature.format(new))
        found.append(FeatureChange(feature, feature.value(old), feature.value(new), size, texts))
    return tuple(sorted(found, key=lambda change: -change.size))


def gap_sentence(feature: Feature, before: float, after: float) -> str:
    """Say why no step leads from one code to another that is a value, or is none; else nothing.

    >>> lactate = Feature("lact", label="lactate", codes={-9: "not taken"})
    >>> gap_sentence(lactate, -9.0, 2.1)
    'lactate is not taken: no step gives it a value, only a measurement does'
    >>> gap_sentence(lactate, 2.1, float("nan"))
    'lactate has a value, and no step takes that away'
    >>> gap_sentence(lactate, 2.1, 2.4)
    ''
    """
    gone, goes = is_absent(feature, np.array([before, after])).tolist()
    if not (gone or goes) or same_codes(before, after):
        return ""
    name = feature.display_name
    if not gone:
        return f"{name} has a value, and no step takes that away"
    is_now = f"{name} is {feature.format(before)}"
    return f"{is_now}, and stays so" if goes else f"{is_now}: {_MEASURED}"


def straight_step_sentence(
    step: Certificate, changes: Sequence[FeatureChange], rows: RowWords
) -> str:
    """Say what is known of a straight step; of one over a gap there is nothing else to say."""
    gaps = [change.gap for change in changes if change.gap]
    return "; ".join(gaps) if gaps else step.sentence_about(rows)


def _codes_differ(feature: Feature, old: float, new: float) -> bool:
    """Tell whether two codes of a feature differ by at least its resolution."""
    if same_codes(old, new):
        return False
    if feature.discrete or is_absent(feature, np.array([old, new])).any():
        return True
    return not abs(new - old) < (feature.resolution or 0.0) * (1 - _SAME)
