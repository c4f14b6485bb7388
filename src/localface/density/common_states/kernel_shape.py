"""The linear map in which one round kernel fits all directions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from localface.data.space import Space
from localface.density.common_states.bandwidth import tune_bandwidths
from localface.density.common_states.copies import Copies, copy_distance, reach_of_copies
from localface.density.common_states.outliers import bring_in_outliers
from localface.density.common_states.ties import spread_ties
from localface.types import Array, Ids, Mask

_SMALLEST_VARIANCE = 0.01  # in normal scores: no direction is stretched more than tenfold
_STRETCH_OF_CONSTANT = _SMALLEST_VARIANCE**-0.5  # nobody is near who has another value
_STRENGTHS = (1.0, 0.5, 0.0)  # of the whitening: crowds apart stretch a covariance across the gap
_ONE_OF = 4  # rows is left to see whether copies make the kernels narrow
_FEWEST_LEFT = 100  # fewer no longer show the shape of a crowd
_TIMES_WIDER = 2.5  # than fewer rows would have them
CATEGORY_RIDGE = 5.0
"""Rows' worth of doubt about what a category does to a number."""


@dataclass(frozen=True, slots=True, eq=False)
class KernelShape:
    """A linear map of points, and the bandwidth of the Gaussian kernel after it.

    Numbers count by how far they are from what the categories let expect, in their own
    covariance; a different category counts as a fixed distance, chosen with the bandwidth.
    """

    matrix: Array
    bandwidth: float
    copies: Copies
    numbers: Mask
    """The columns of numbers that differ between rows: the others shape no kernel."""

    @classmethod
    def fit(cls, points: Array, space: Space, groups: Ids | None) -> KernelShape:
        """Fit the map by a shrunken covariance, all else by leave-one-out likelihood."""
        numbers = ~space.discrete & (points != points[0]).any(axis=0)
        numeric = np.flatnonzero(numbers)
        discrete = np.flatnonzero(space.discrete)
        constant = np.flatnonzero(~space.discrete & ~numbers)
        units = _units_of_categories(space)[discrete]  # two categories are one apart here
        codes = points[:, discrete] * units
        sizes = _category_counts(space)
        present = _shares_present(points, space)[numeric]
        smooth = spread_ties(points, space)
        best = cls(np.zeros((0, 0)), 1.0, Copies(groups), numbers)
        best_rank = (False, -np.inf)
        directions = _Directions.fit(points, numeric, discrete, present)
        for strength in _STRENGTHS if len(numeric) > 1 else _STRENGTHS[:1]:
            matrix = directions.whitening(strength)
            white = points @ matrix[:, numeric]
            tune = partial(tune_bandwidths, n_numbers=len(numeric), n_categories=sizes)
            copies = Copies(groups)
            if groups is None:
                copies = Copies(None, copy_distance(white, codes))
            even = smooth @ matrix[:, numeric]
            tuned = tune(even, codes, copies=copies)
            if not copies.any and _copies_narrow(tuned[0], even, codes, len(numeric), tune):
                copies = Copies(None, reach_of_copies(np.hstack([white, codes])))
                tuned = tune(even, codes, copies=copies)
            bandwidth, apart, likelihood = tuned
            matrix[discrete, discrete] = apart * units
            matrix[constant, constant] = _STRETCH_OF_CONSTANT
            volume = np.linalg.slogdet(matrix[np.ix_(numeric, numeric)])[1]
            rank = (copies.any, likelihood + volume)  # copies that are not seen look likely
            if not best.matrix.size or rank > best_rank:
                best = cls(matrix, bandwidth, copies, numbers)
                best_rank = rank
        return best

    def marginal_matrix(self, mine: Mask) -> Array:
        """Return the map under which kernels of some columns are what the joint ones leave of them.

        Whatever other columns could make up for is no distance: what is left is at right angles
        to all that they can do.
        """
        others = np.linalg.qr(self.matrix[~mine].T)[0]
        rest = self.matrix[mine] - self.matrix[mine] @ others @ others.T
        values, vectors = np.linalg.eigh(rest @ rest.T)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _copies_narrow(
    bandwidth: float,
    white: Array,
    codes: Array,
    n_numbers: int,
    tune: Callable[..., tuple[float, float, float]],
) -> bool:
    """Tell whether near-copies make the bandwidth narrow, though neighbours do not show them.

    Fewer rows make kernels wider, by a known power of their number; where a few of the rows
    make them much wider than that, it is copies that had made them narrow.
    """
    n = len(white) // _ONE_OF
    if not n_numbers or n < _FEWEST_LEFT:
        return False
    few = np.random.default_rng(0).permutation(len(white))[:n]
    expected = bandwidth * (len(white) / n) ** (1 / (n_numbers + 4))
    return bool(tune(white[few], codes[few], copies=Copies(None))[0] > _TIMES_WIDER * expected)


def _units_of_categories(space: Space) -> Array:
    """Return what a column of a category is multiplied by for two of them to be one apart."""
    units = space.scales[space.feature_of].copy()
    for one in space.absence_columns.columns:
        if space.schema.features[one.feature].kind != "categorical":
            units[one.column] = 1.0
    return units


def _category_counts(space: Space) -> list[int]:
    """Return how many categories each discrete part of a record has: being missing is one."""
    found = [len(one.categories or ()) for one in space.schema if one.discrete]
    gaps = [codes for codes in space.absences if codes]
    return [*found, *(1 + len(codes) for codes in gaps)]


def _shares_present(points: Array, space: Space) -> Array:
    """Return the share of rows in which the value of each column is not missing."""
    shares = np.ones(space.width)
    for one in space.absence_columns.columns:
        shares[one.first : one.first_absence] -= np.mean(points[:, one.column] > 0)
    return np.maximum(shares, 1 / len(points))


@dataclass(frozen=True, slots=True, eq=False)
class _Directions:
    """The directions in which what is left of numbers without categories is uncorrelated."""

    width: int  # of points
    numeric: Ids
    discrete: Ids
    variances: Array
    vectors: Array
    effects: Array  # of each category on each number

    @classmethod
    def fit(cls, points: Array, numeric: Ids, discrete: Ids, present: Array) -> _Directions:
        """Find them by a shrunken covariance.

        Where numbers are missing they say nothing of how far they spread: ``present`` is the
        share of rows that do.
        """
        effects = np.zeros((len(discrete), len(numeric)))
        if not len(numeric):
            return cls(points.shape[1], numeric, discrete, np.zeros(0), np.zeros((0, 0)), effects)
        residuals = bring_in_outliers(points[:, numeric])
        if len(discrete):
            effects = category_effects(points[:, discrete], residuals)
            residuals = residuals - points[:, discrete] @ effects
        variances, vectors = np.linalg.eigh(shrunken_covariance(residuals / np.sqrt(present)))
        return cls(points.shape[1], numeric, discrete, variances, vectors, effects)

    def whitening(self, strength: float) -> Array:
        """Map numbers to uncorrelated residuals; categories to nothing yet.

        At a strength of 1 they all get unit variance, at 0 each direction keeps its own.
        """
        matrix = np.zeros((self.width, self.width))
        white = self.vectors / np.maximum(self.variances, _SMALLEST_VARIANCE) ** (strength / 2)
        matrix[np.ix_(self.numeric, self.numeric)] = white
        matrix[np.ix_(self.discrete, self.numeric)] = -self.effects @ white
        return matrix


def shrunken_covariance(rows: Array) -> Array:
    """Return the covariance shrunken towards a multiple of the identity (Ledoit and Wolf, 2004)."""
    n, width = rows.shape
    rows = rows - rows.mean(axis=0)
    plain = rows.T @ rows / n
    target = np.trace(plain) / width * np.eye(width)
    squares = rows * rows
    noise = ((squares.T @ squares).sum() / n - (plain * plain).sum()) / n
    apart = ((plain - target) ** 2).sum()
    share = min(1.0, noise / apart) if apart > 0 else 0.0
    return np.asarray((1 - share) * plain + share * target)


def category_effects(discrete: Array, numbers: Array) -> Array:
    """Return what each category adds to each number, by ridge regression."""
    centred = discrete - discrete.mean(axis=0)
    inner = centred.T @ centred + CATEGORY_RIDGE * np.eye(discrete.shape[1])
    return np.asarray(np.linalg.solve(inner, centred.T @ (numbers - numbers.mean(axis=0))))
