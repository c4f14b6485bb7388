"""Numbers by their normal scores: rank among the rows, as a quantile of the normal distribution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.types import Array, Ids

_MOST_KNOTS = 512  # half of them as many rows apart, the others as many scores, and beside gaps
_IN_THE_TAILS = 0.1  # share of rows on each side whose ranks say how far out, not how far apart
_QUARTER = 0.25
_EVER_RISING = 1e-6  # of what ranks alone say
_STEEPEST = 1e300
_PLACES = 128  # on each side of the median, where it is told how steep the scores are
_BESIDE = 0.25  # share of rows on each side of a gap that tell the scale there
_TIMES_BEYOND = 10.0  # as many rows as are beyond the gap, at most
_FEWEST_IN_CROWD = 0.05  # share of rows on both sides of a gap between two crowds
_FEWEST_BESIDE = 3  # distinct values that they have at least
_SMALLEST_GAP = 0.3  # in scores: what is narrower is chance
_TIMES_AS_WIDE = 3.0  # as by rank: the same
_HUGE_GAP = 3.0  # in scores: wider gaps count by their logarithm


@dataclass(frozen=True, slots=True, eq=False)
class NormalScores:
    """The knots of a strictly increasing map from a number to its normal score.

    ``values`` are values of a column, at least two. ``scores`` begin with the normal quantiles of
    their mid-ranks, so that one unit is about one standard deviation however skewed the column
    is, and are bent: a line for the middle half of the rows, and further out a difference
    counts less, never more. By rank alone two crowds apart would stand side by side, and the
    edge of a flat crowd would be drawn out to a tail. Between and beyond the knots the map is
    linear.
    """

    values: Array
    scores: Array

    @classmethod
    def fit(cls, column: Array) -> NormalScores:
        """Read the map off a column; a constant one gets a line through its value."""
        from scipy.special import ndtri  # takes longer to import than all of localface

        values, counts = np.unique(column, return_counts=True)
        if len(values) == 1:
            step = max(1.0, abs(float(values[0])))
            return cls(np.array([values[0], values[0] + step]), np.array([0.0, 1.0]))
        ranks = (np.cumsum(counts) - counts / 2) / len(column)
        by_rank = np.asarray(ndtri(ranks))
        bent = _bend(values, by_rank, ranks, counts)
        scores = _keep_gaps(values, bent, ranks)
        knots = _choose_knots(ranks, scores)
        return cls(values[knots], scores[knots])


def _bend(values: Array, scores: Array, ranks: Array, counts: Ids) -> Array:
    """Bend scores: a line for the middle half of the rows, and ever flatter outwards.

    On each side they become the lowest curve of that kind that is nowhere nearer to the middle;
    the rows in the tails have no part in how steep it is. The spread stays as it was.
    """
    low, high = _middle_half(ranks)
    steepest = _STEEPEST
    lower = -scores[low::-1]
    upper = scores[high:].copy()
    if low < high:
        with np.errstate(over="ignore"):
            slope = (scores[high] - scores[low]) / (values[high] - values[low])
        steepest = min(float(slope), _STEEPEST)
    else:  # most have one value: how many is no distance to the next
        edges = _edges_of_ties(ranks, counts, low)
        lower[0], upper[0] = -edges[0], edges[1]
    below = _flatten_outwards(-values[low::-1], lower, 1 - ranks[low::-1], steepest)
    above = _flatten_outwards(values[high:], upper, ranks[high:], steepest)
    middle = steepest * (values[low : high + 1] - values[low])
    bent = np.concatenate([-below[:0:-1], middle, middle[-1] + above[1:]])
    bent *= _spread(scores, counts) / _spread(bent, counts)
    apart = _EVER_RISING * (scores - scores[low])  # however near two values are
    return np.asarray(bent + apart)


def _middle_half(ranks: Array) -> tuple[int, int]:
    """Return the first and the last value among the middle half of the rows.

    Where it has one value only, or none, both are the one next to the median.
    """
    low = int(np.searchsorted(ranks, _QUARTER))
    high = int(np.searchsorted(ranks, 1 - _QUARTER, "right")) - 1
    if low >= high:
        low = high = int(np.abs(ranks - 0.5).argmin())
    return low, high


def _edges_of_ties(ranks: Array, counts: Ids, at: int) -> tuple[float, float]:
    """Return the scores of the first and of the last row that has a value."""
    from scipy.special import ndtri

    n = counts.sum()
    half = counts[at] / (2 * n)
    outermost = 0.5 / n
    edges = np.clip([ranks[at] - half, ranks[at] + half], outermost, 1 - outermost)
    low, high = ndtri(edges)
    return float(low), float(high)


def _flatten_outwards(values: Array, scores: Array, ranks: Array, steepest: float) -> Array:
    """Return how far scores are from their first, as a concave function of the values."""
    last = max(int(np.searchsorted(ranks, 1 - _IN_THE_TAILS)) - 1, 0)
    inner = np.minimum(_concave_slopes(values[: last + 1], scores[: last + 1]), steepest)
    outer = _concave_slopes(values[last:], scores[last:])
    slopes = np.concatenate([inner, np.minimum(outer, inner[-1] if len(inner) else steepest)])
    return np.concatenate([[0.0], np.cumsum(slopes * np.diff(values))])


def _concave_slopes(values: Array, scores: Array) -> Array:
    """Return how steep the least concave curve above the scores is after each value but the last.

    Of many values a choice, evenly spread, stands for all.
    """
    places = np.unique(np.linspace(0, len(values) - 1, _PLACES).round().astype(np.int64))
    chosen = places[_upper_corners(values[places], scores[places])]
    with np.errstate(over="ignore"):
        slopes = np.diff(scores[chosen]) / np.diff(values[chosen])
    return np.asarray(np.repeat(np.minimum(slopes, _STEEPEST), np.diff(chosen)))


def _upper_corners(x: Array, y: Array) -> list[int]:
    """Return the places that are above every line through two others, one on each side.

    From one corner the next is where the line to it is steepest.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        slopes = (y[None, :] - y[:, None]) / (x[None, :] - x[:, None])
    slopes[np.tri(len(x), dtype=bool)] = -np.inf
    following = (len(x) - 1 - slopes[:, ::-1].argmax(axis=1)).tolist()  # the last of those on it
    corners = [0]
    while corners[-1] < len(x) - 1:
        corners.append(following[corners[-1]])
    return corners


def _spread(scores: Array, counts: Ids) -> float:
    mean = np.average(scores, weights=counts)
    return float(np.sqrt(np.average((scores - mean) ** 2, weights=counts)))


def _keep_gaps(values: Array, scores: Array, ranks: Array) -> Array:
    """Widen what lies between two values where nobody is, if it is a gap beside its surroundings.

    By rank alone, two crowds far apart would stand side by side, and half way to a value a
    thousand times as large as any other would be an ordinary place to be. So a gap is at least
    as wide as the scale next to it makes it, or about the logarithm of that if it is huge.
    """
    gaps = np.diff(scores)
    natural = np.diff(values) * _slopes_beside_gaps(values, scores, ranks)
    with np.errstate(divide="ignore", invalid="ignore"):
        huge = _HUGE_GAP * (1 + np.log(natural / _HUGE_GAP))
    natural = np.where(natural > _HUGE_GAP, huge, natural)
    wide = (natural > _SMALLEST_GAP) & (natural > _TIMES_AS_WIDE * gaps)
    widened = np.concatenate([[0.0], np.cumsum(np.where(wide, natural, gaps))])
    return np.asarray(widened - np.interp(0.5, ranks, widened))


def _slopes_beside_gaps(values: Array, scores: Array, ranks: Array) -> Array:
    """Return how steep the scores are beside each gap, on its flatter side; NaN without sides.

    A side is a quarter of the rows, less in the tails, and some distinct values at least.
    Between two crowds it is the further half of it that tells, as the edges of a crowd are thin.
    """
    at = np.arange(len(values))
    beyond = np.minimum(ranks, 1 - ranks)
    between = beyond > _FEWEST_IN_CROWD
    reach = np.minimum(_BESIDE, _TIMES_BEYOND * beyond)
    sides = []
    for sign in (-1, 1):
        far = np.searchsorted(ranks, ranks + sign * reach)
        near = np.where(between, np.searchsorted(ranks, ranks + sign * reach / 2), at)
        far = np.where(sign * (far - near) < _FEWEST_BESIDE, near + sign * _FEWEST_BESIDE, far)
        far = np.clip(far, 0, len(values) - 1)
        near = np.clip(near, 0, len(values) - 1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            slopes = (scores[far] - scores[near]) / (values[far] - values[near])
        sides.append(np.where(np.abs(far - near) < _FEWEST_BESIDE, np.nan, slopes))
    below, above = sides
    return np.asarray(np.fmin(below[:-1], above[1:]))


def _choose_knots(ranks: Array, scores: Array) -> Ids:
    """Choose which distinct values the map goes through: all of them, or as many as serve."""
    if len(scores) <= _MOST_KNOTS:
        return np.arange(len(scores))
    part = _MOST_KNOTS // 4
    by_rank = np.searchsorted(ranks, np.linspace(ranks[0], ranks[-1], 2 * part))
    by_score = np.searchsorted(scores, np.linspace(scores[0], scores[-1], part))
    widest = _widest(np.diff(scores), part // 2)
    return np.unique(np.concatenate([by_rank, by_score, widest, widest + 1]))


def _widest(gaps: Array, count: int) -> Ids:
    """Return where the widest gaps are; of those as wide as each other the first."""
    least = -np.partition(-gaps, count - 1)[count - 1]
    wide = np.flatnonzero(gaps >= least)
    return np.asarray(wide[np.argsort(-gaps[wide], kind="stable")[:count]])
