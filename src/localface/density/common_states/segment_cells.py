"""The cells that straight steps pass through: what pairs occur along a step, exactly."""

from __future__ import annotations

import numpy as np

from localface.density.common_states.bins import FeatureBins
from localface.types import Array, Ids, Mask

_SAME_PLACE = 1e-12  # parts of a step shorter than that are rounding


def cells_along(starts: Array, ends: Array, bins: FeatureBins, discrete: Mask) -> tuple[Ids, Ids]:
    """Return the step of every cell that steps between points pass, and its bins.

    Discrete columns change half way. Between two crossings of an edge all bins stay the same,
    so that one look half way between them is exact. The cells of both ends come with them.
    """
    step, places = _middles_between_crossings(starts, ends, bins, discrete)
    t = places[:, None]
    straight = starts[step] + t * (ends[step] - starts[step])
    points = np.where(discrete, np.where(t < 0.5, starts[step], ends[step]), straight)
    every = np.arange(len(starts))
    return (
        np.concatenate([step, every, every]),
        bins.of(np.concatenate([points, starts, ends])),
    )


def _middles_between_crossings(
    starts: Array, ends: Array, bins: FeatureBins, discrete: Mask
) -> tuple[Ids, Array]:
    """Return places on steps, from 0 to 1, one within each cell that is passed between the ends."""
    first = starts[:, bins.columns]
    last = ends[:, bins.columns]
    low = np.minimum(first, last)[..., None]
    high = np.maximum(first, last)[..., None]
    crossed = (bins.edges > low) & (bins.edges < high) & ~discrete[bins.columns][:, None]
    step, feature, edge = np.nonzero(crossed)
    begin = first[step, feature]
    places = (bins.edges[feature, edge] - begin) / (last[step, feature] - begin)
    flips = np.flatnonzero((discrete & (starts != ends)).any(axis=1))
    crossing = np.unique(np.concatenate([step, flips]))
    steps = np.concatenate([step, flips, crossing, crossing])
    places = np.concatenate(
        [places, np.full(len(flips), 0.5), np.zeros(len(crossing)), np.ones(len(crossing))]
    )
    order = np.lexsort((places, steps))
    steps = steps[order]
    places = places[order]
    inside = (steps[1:] == steps[:-1]) & (np.diff(places) > _SAME_PLACE)
    return steps[:-1][inside], (places[:-1] + np.diff(places) / 2)[inside]
