"""The cells that straight steps pass through: what pairs occur along a step, exactly."""

from __future__ import annotations

import numpy as np

from localface.density.common_states.bins import FeatureBins
from localface.density.common_states.normal_scores import NormalScores, ScoreSpace
from localface.types import Array, Ids

_SAME_PLACE = 1e-12  # parts of a step shorter than that are rounding


def cells_along(
    starts: Array, ends: Array, bins: FeatureBins, space: ScoreSpace
) -> tuple[Ids, Ids]:
    """Return the bins of every cell that steps between records pass, and the step of each.

    Steps are straight in normal scores, and discrete features change half way. Between two
    crossings of an edge all bins stay the same, so that one look half way between them is
    exact. A state on the very edge of a cell belongs to either side.
    """
    steps, places = _crossings(starts, ends, bins, space)
    order = np.lexsort((places, steps))
    steps = steps[order]
    places = places[order]
    inside = (steps[1:] == steps[:-1]) & (np.diff(places) > _SAME_PLACE)
    middles = (places[:-1] + np.diff(places) / 2)[inside]
    step = steps[:-1][inside]
    return step, _bins_at(starts, ends, step, middles, bins=bins, space=space)


def _crossings(
    starts: Array, ends: Array, bins: FeatureBins, space: ScoreSpace
) -> tuple[Ids, Array]:
    """Return where steps cross an edge of a bin, from 0 to 1, with both ends and the middle."""
    n = len(starts)
    steps = [np.repeat(np.arange(n), 3)]
    places = [np.tile([0.0, 0.5, 1.0], n)]
    for j, (edges, scores) in enumerate(zip(bins.edges, space.normal_scores, strict=True)):
        if edges is None or scores is None:
            continue
        step, place = _column_crossings(starts[:, j], ends[:, j], edges, scores)
        steps.append(step)
        places.append(place)
    return np.concatenate(steps), np.clip(np.concatenate(places), 0.0, 1.0)


def _column_crossings(
    start: Array, end: Array, edges: Array, scores: NormalScores
) -> tuple[Ids, Array]:
    """Return the crossings of one number's edges."""
    low = np.searchsorted(edges, np.minimum(start, end), "right")
    high = np.searchsorted(edges, np.maximum(start, end), "left")
    counts = np.maximum(high - low, 0)
    step = np.repeat(np.arange(len(start)), counts)
    number = np.arange(len(step)) - np.repeat(np.cumsum(counts) - counts, counts)
    crossed = scores.scores_of(edges)[low[step] + number]
    first = scores.scores_of(start)[step]
    last = scores.scores_of(end)[step]
    return step, (crossed - first) / (last - first)


def _bins_at(
    starts: Array, ends: Array, step: Ids, places: Array, *, bins: FeatureBins, space: ScoreSpace
) -> Ids:
    """Return the bins of all features at places on steps."""
    found = np.empty((len(step), len(bins.edges)), dtype=np.int64)
    for j, (edges, scores) in enumerate(zip(bins.edges, space.normal_scores, strict=True)):
        start = starts[step, j]
        end = ends[step, j]
        if edges is None or scores is None:
            found[:, j] = np.where(places < 0.5, start, end)
        else:
            first = scores.scores_of(start)
            last = scores.scores_of(end)
            there = first + (last - first) * places
            found[:, j] = np.searchsorted(scores.scores_of(edges), there, "right")
    return found
