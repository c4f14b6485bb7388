"""The states that a person comes to by waiting: what grows by itself, further on."""

from __future__ import annotations

from math import ceil

import numpy as np

from localface.data.box import Box
from localface.data.feature import Feature
from localface.data.rounding import roundest_between
from localface.data.schema import Schema
from localface.types import Array

_N_STATES = 16  # states tried of each feature that grows


def grown_records(schema: Schema, record: Array, box: Box, highest: Array) -> Array:
    """Return records in which one feature has grown, as far as it may and as has been seen.

    Of each feature the soonest come first. ``highest`` are the largest values in the data.
    Records that break a relation of the schema are left out.
    """
    grown = []
    for j, furthest in box.grows_to.items():  # what is missing does not grow: it is not among them
        for value in _values_on_the_way(
            schema.features[j], float(record[j]), min(furthest, float(highest[j]))
        ):
            grown.append(record.copy())
            grown[-1][j] = value
    found = np.array(grown).reshape(-1, len(record))
    return found[~schema.breaks_relation(found)]


def _values_on_the_way(feature: Feature, own: float, end: float) -> list[float]:
    """Round values between one's own and the end, evenly spaced as far as that goes."""
    if end <= own:
        return []
    spacing = (end - own) / _N_STATES
    evenly = own + spacing * np.arange(1, _N_STATES + 1)
    values = [_rounded_up(feature, value, spacing / 2) for value in evenly.tolist()]
    return sorted({value if value <= end else end for value in values})


def _rounded_up(feature: Feature, value: float, by_at_most: float) -> float:
    """The next value that the feature's resolution has, or a round one without a resolution."""
    if feature.whole:
        return float(ceil(value - 1e-9))
    if feature.resolution is None:
        return roundest_between(value, value + by_at_most)
    return float(round(ceil(value / feature.resolution - 1e-9) * feature.resolution, 12))
