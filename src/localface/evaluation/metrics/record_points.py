"""Records as points, by the judge's own code."""

from __future__ import annotations

import numpy as np

from localface.data.space import Space
from localface.types import Array

_OUTER_PART = 20  # beyond the data, the line of the outer twentieth of the knots goes on


def points_of_records(records: Array, space: Space) -> Array:
    """Turn records into points: the knots, centres and scales of a space, and none of its code.

    A number becomes its normal score, interpolated between the knots of its feature and straight
    beyond them, or (value - centre) / scale where the schema gives a scale. A category has a
    column of its own, so that two of them are 1 / scale apart.
    """
    columns = []
    for j, feature in enumerate(space.schema):
        values = np.asarray(records[:, j], dtype=np.float64)
        scores = space.normal_scores[j] if space.normal_scores else None
        if feature.kind == "categorical":
            for code in range(len(feature.categories or ())):
                columns.append((values == code) * np.sqrt(0.5) / space.scales[j])
        elif scores is None:
            columns.append((values - space.centres[j]) / space.scales[j])
        else:
            columns.append(interpolate(values, scores.values, scores.scores))
    return np.column_stack(columns)


def interpolate(values: Array, knots: Array, heights: Array) -> Array:
    """Interpolate linearly between knots; beyond them, the slope of the outer twentieth goes on."""
    k = max(1, len(knots) // _OUTER_PART)
    first = (heights[k] - heights[0]) / (knots[k] - knots[0])
    last = (heights[-1] - heights[-1 - k]) / (knots[-1] - knots[-1 - k])
    below = first * np.minimum(values - knots[0], 0.0)
    above = last * np.maximum(values - knots[-1], 0.0)
    return np.asarray(np.interp(values, knots, heights) + below + above)
