"""A value of a person's record that may be mistaken."""

from __future__ import annotations

from dataclasses import dataclass

from localface.data.codes import FeatureValue


@dataclass(frozen=True, slots=True)
class Doubt:
    """One value that nobody in the data has: the feature, what is said, what may be meant.

    ``sentence`` is among the cautions of the answer. ``suggestion`` is the value that a shifted
    decimal point would explain, or None.
    """

    feature: str
    sentence: str
    suggestion: FeatureValue | None = None
