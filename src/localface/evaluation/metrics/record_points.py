"""Records as points, by the judge's own code."""

from __future__ import annotations

import numpy as np

from localface.data.space import Space
from localface.types import Array, Mask

_OUTER_PART = 20  # beyond the data, the line of the outer twentieth of the knots goes on


def points_of_records(records: Array, space: Space) -> Array:
    """Turn records into points: the knots, centres and scales of a space, and none of its code.

    A number becomes its normal score, interpolated between the knots of its feature and straight
    beyond them, or (value - centre) / scale where the schema gives a scale. A category has a
    column of its own, so that two of them are 1 / scale apart, and so has every reason why there
    is no value: the value's columns then are the same for all who lack it.
    """
    columns = []
    for j in range(len(space.schema)):
        values = np.asarray(records[:, j], dtype=np.float64)
        reasons = space.absences[j] if space.absences else ()
        lacks = [np.isnan(values) if np.isnan(code) else values == code for code in reasons]
        columns += _value_columns(values, np.any(lacks, axis=0) if lacks else None, space, j)
        height = 1.0
        if space.schema.features[j].kind == "categorical":
            height = np.sqrt(0.5) / space.scales[j]
        columns += [gone * height for gone in lacks]
    return np.column_stack(columns)


def _value_columns(values: Array, lacking: Mask | None, space: Space, j: int) -> list[Array]:
    """The columns of the value of one feature; half way between the two where it is binary."""
    feature = space.schema.features[j]
    if feature.kind == "categorical":
        height = np.sqrt(0.5) / space.scales[j]
        found = [(values == code) * height for code in range(len(feature.categories or ()))]
    elif space.normal_scores and (scores := space.normal_scores[j]) is not None:
        found = [interpolate(values, scores.values, scores.scores)]
    else:
        found = [(values - space.centres[j]) / space.scales[j]]
    if lacking is None:
        return found
    filler = 0.5 / space.scales[j] if feature.kind == "binary" else 0.0
    return [np.where(lacking, filler, column) for column in found]


def interpolate(values: Array, knots: Array, heights: Array) -> Array:
    """Interpolate linearly between knots; beyond them, the slope of the outer twentieth goes on."""
    k = max(1, len(knots) // _OUTER_PART)
    first = (heights[k] - heights[0]) / (knots[k] - knots[0])
    last = (heights[-1] - heights[-1 - k]) / (knots[-1] - knots[-1 - k])
    below = first * np.minimum(values - knots[0], 0.0)
    above = last * np.maximum(values - knots[-1], 0.0)
    return np.asarray(np.interp(values, knots, heights) + below + above)
