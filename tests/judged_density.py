"""How common a state is, worked out again: plain NumPy, none of the code under test.

What was fitted comes as plain numbers: where a column bends, a matrix, bin edges, counts, weights,
coefficients. What they say about a state or a step is written down here a second time, as
straightforwardly as can be.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

OUTER_PART = 20  # beyond its knots a column goes on as in the outer twentieth of them
BENDS = (-1.5, -0.75, 0.0, 0.75, 1.5)
MOST_SPREAD = 1.5
FURTHEST = 10.0  # from the middle: in widths of a column, in units of an own number


@dataclass(frozen=True)
class PlainSpace:
    """The columns of points: (knots, scores) of a number, a factor of a category.

    Whatever is no value has a column after those of the value, one for each reason, and there
    the value itself is what is half way.
    """

    categories: list[int]  # of each feature that has a column a category, 0 of the others
    knots: list[tuple[Array, Array] | None]
    factors: list[float]
    discrete: Array
    gaps: list[tuple[float, ...]]  # of each feature, the codes that are no values
    half_way: list[float]

    @classmethod
    def of(cls, space: Any) -> PlainSpace:
        knots: list[tuple[Array, Array] | None] = []
        categories = []
        factors = []
        for j, feature in enumerate(space.schema):
            one_hot = feature.kind == "categorical"
            categories.append(len(feature.categories) if one_hot else 0)
            scores = space.normal_scores[j] if space.normal_scores else None
            centre = 0.0 if feature.discrete else float(space.centres[j])
            scale = float(space.scales[j])
            line = (np.array([centre, centre + scale]), np.array([0.0, 1.0]))
            knots.append(line if scores is None else (scores.values, scores.scores))
            factors.append(1 / np.sqrt(2) / scale)
        gaps = [tuple(codes) for codes in space.absences] or [()] * len(categories)
        discrete: list[bool] = []
        for feature, n, codes in zip(space.schema, categories, gaps, strict=True):
            discrete += [feature.discrete] * max(1, n) + [True] * len(codes)
        half_way = [
            0.5 / float(space.scales[j]) if feature.kind == "binary" else 0.0
            for j, feature in enumerate(space.schema)
        ]
        return cls(categories, knots, factors, np.array(discrete), gaps, half_way)

    def points(self, codes: Array) -> Array:
        """Turn codes of features into points."""
        columns = []
        for j, n in enumerate(self.categories):
            gone = [is_code(codes[:, j], code) for code in self.gaps[j]]
            absent = np.logical_or.reduce([np.zeros(len(codes), dtype=bool), *gone])
            if n:
                columns += [(codes[:, j] == c) * self.factors[j] for c in range(n)]
            else:
                numbers = np.array([height(x, *self.knots[j]) for x in codes[:, j]])
                columns.append(np.where(absent, self.half_way[j], numbers))
            columns += [mask * (self.factors[j] if n else 1.0) for mask in gone]
        return np.column_stack(columns)

    @property
    def first_columns(self) -> Array:
        """The first column of each feature."""
        widths = [max(1, n) + len(gaps) for n, gaps in zip(self.categories, self.gaps, strict=True)]
        return np.cumsum([0, *widths])[:-1]


def is_code(values: Array, code: float) -> Array:
    """Which values are one code, be it that they are missing."""
    return np.isnan(values) if np.isnan(code) else values == code


def height(x: float, knots: Array, heights: Array) -> float:
    """The piecewise linear function through the knots, at one value."""
    k = max(1, len(knots) // OUTER_PART)
    if x < knots[0]:
        rise = (heights[k] - heights[0]) / (knots[k] - knots[0])
        return float(heights[0] + (x - knots[0]) * rise)
    if x > knots[-1]:
        rise = (heights[-1] - heights[-1 - k]) / (knots[-1] - knots[-1 - k])
        return float(heights[-1] + (x - knots[-1]) * rise)
    return float(np.interp(x, knots, heights))


@dataclass(frozen=True)
class PlainKernels:
    """Round kernels on rows, after a linear map: only sums over all rows."""

    rows: Array  # mapped
    matrix: Array
    h: float

    @classmethod
    def of(cls, kde: Any, rows: Array) -> PlainKernels:
        matrix = kde._kernels.matrix
        matrix = np.eye(rows.shape[1]) if matrix is None else matrix
        return cls(rows @ matrix, matrix, kde.bandwidth)

    def log_densities(self, points: Array, left_out: Array) -> Array:
        places = points @ self.matrix
        squares = squared_distances(places, self.rows[~left_out])
        return log_of_sum(squares / (-2 * self.h**2)) + self.constant

    @property
    def constant(self) -> float:
        n, width = self.rows.shape
        return float(-np.log(n) - width / 2 * np.log(2 * np.pi * self.h**2))

    def crossings(self, start: Array, end: Array) -> Array:
        """Where something changes all of a sudden along a step: nowhere."""
        return np.zeros(0)

    def joint_values(self, points: Array, start: Array, left_out: Array) -> Array:
        return self.log_densities(points, left_out)

    def lowest_pair_value(self, points: Array, start: Array, left_out: Array) -> float:
        return np.inf

    def mean(self, places: Array, start: Array, end: Array, left_out: Array) -> float:
        return log_mean(self.log_densities(places, left_out))

    def row_values(self) -> Array:
        """What each row has from the others."""
        squares = squared_distances(self.rows, self.rows)
        np.fill_diagonal(squares, np.inf)
        return log_of_sum(squares / (-2 * self.h**2)) + self.constant


@dataclass(frozen=True)
class PlainPair:
    """The table of two features: rows counted, rows expected, and what it weighs."""

    first: int
    second: int
    counts: Array
    expected: Array
    weights: tuple[float, float]  # as either half of the rows has it

    def log_ratios(self, cells: Array, n_left_out: Array) -> Array:
        counted = np.maximum(self.counts[cells[:, 0], cells[:, 1]] - n_left_out, 0.0)
        return np.log((counted + 1) / (self.expected[cells[:, 0], cells[:, 1]] + 1))


@dataclass(frozen=True)
class PlainOwn:
    """What is expected of people given the columns they cannot change."""

    columns: Array
    precision: Array  # of the kernels that the joint ones leave of these columns
    h: float
    rows: Array  # these columns of all rows
    discrete: Array
    centre: Array
    means: Array
    slopes: Array
    spread_slopes: Array

    def at(self, point: Array, left_out: int | None = None) -> tuple[Array, Array]:
        """Means and spreads of the three values, for someone at a point."""
        own = point[self.columns]
        numbers = np.clip(own[~self.discrete], -FURTHEST, FURTHEST)
        bends = [max(x - bend, 0.0) for x in numbers for bend in BENDS]
        basis = np.concatenate([own[self.discrete], numbers, bends]) - self.centre
        away = self.rows - own
        squares = np.einsum("ij,jk,ik->i", away, self.precision, away)
        kernels = np.exp(-squares / (2 * self.h**2))
        total = kernels.sum()
        if left_out is not None:
            total = total - 1 if total > 2 else total / 2
        mean = self.means + basis @ self.slopes
        mean[0] += np.log(total)
        logs = np.clip(basis @ self.spread_slopes, -MOST_SPREAD, MOST_SPREAD)
        return mean, np.exp(logs)


@dataclass(frozen=True)
class PlainCommonStates:
    """Kernels, pairs and what is expected, and the one value that they come to."""

    kernels: PlainKernels
    points: Array
    discrete: Array
    numeric: Array
    first_columns: Array
    n_categories: list[int]
    n_gaps: list[int]
    edges: list[Array]
    pairs: list[PlainPair]
    own: PlainOwn | None
    scales: list[tuple[Array, Array]]  # pair values, and the joint values they stand for
    groups: Array | None
    copy_distance: float

    @classmethod
    def of(cls, density: Any, space: PlainSpace, rows: Array) -> PlainCommonStates:
        tables = density.pairs.tables
        pairs = []
        for number in density.pairs.considered.tolist():
            table = tables.tables[number]
            first, second = density.pairs.weights[:, number].tolist()
            pairs.append(
                PlainPair(table.first, table.second, table.counts, table.expected, (first, second))
            )
        return cls(
            kernels=PlainKernels.of(density.kde, rows),
            points=rows,
            discrete=space.discrete,
            numeric=~space.discrete,
            first_columns=space.first_columns,
            n_categories=space.categories,
            n_gaps=[len(codes) for codes in space.gaps],
            edges=[line[~np.isnan(line)] for line in tables.bins.edges],
            pairs=pairs,
            own=None if density.given_own is None else own_of(density, rows),
            scales=list(zip(density.common.values, density.common.heights, strict=True)),
            groups=density.copies.groups,
            copy_distance=density.copies.distance,
        )

    def bins(self, points: Array) -> Array:
        """The bin of each feature: (points, features)."""
        found = []
        for j, first in enumerate(self.first_columns):
            n = self.n_categories[j]
            if n:
                bins = points[:, first : first + n].argmax(axis=1)
                last = n
            else:
                bins = np.searchsorted(self.edges[j], points[:, first], "right")
                last = len(self.edges[j]) + 1
            for gap in range(self.n_gaps[j]):
                bins = np.where(points[:, first + max(1, n) + gap] > 0, last + gap, bins)
            found.append(bins)
        return np.column_stack(found)

    def pair_values(self, cells: Array, left_out: Array) -> Array:
        """The rarest pair and the weighted pairs of states in some bins, without some rows."""
        rarest = np.full(len(cells), np.inf)
        total = np.zeros(len(cells))
        theirs = self.bins(self.points[left_out])
        for pair in self.pairs:
            both = cells[:, [pair.first, pair.second]]
            left = theirs[:, [pair.first, pair.second]]
            without = (both[:, None] == left).all(axis=2).sum(axis=1)
            ratios = pair.log_ratios(both, without)
            rarest = np.minimum(rarest, ratios)
            total += ratios * np.mean(pair.weights)
        return np.column_stack([rarest, total])

    def row_pair_values(self) -> Array:
        """The same for rows, each without itself and by what the other half taught."""
        people = np.arange(len(self.points)) if self.groups is None else self.groups
        other_half = 1 - people % 2
        cells = self.bins(self.points)
        rarest = np.full(len(cells), np.inf)
        total = np.zeros(len(cells))
        for pair in self.pairs:
            ratios = pair.log_ratios(cells[:, [pair.first, pair.second]], np.ones(len(cells)))
            rarest = np.minimum(rarest, ratios)
            total += ratios * np.array(pair.weights)[other_half]
        return np.column_stack([rarest, total])

    def on_common_scale(self, pair_values: Array) -> float:
        """The joint value that the lower of both stands for."""
        if not self.pairs:
            return np.inf
        found = []
        for value, (values, heights) in zip(pair_values, self.scales, strict=True):
            below = min(value - values[0], 0.0)
            found.append(np.interp(value, values, heights) + below)
        return float(min(found))

    def expected(self, point: Array) -> tuple[Array, Array]:
        return (np.zeros(3), np.ones(3)) if self.own is None else self.own.at(point)

    def joint_values(self, points: Array, start: Array, left_out: Array) -> Array:
        """The joint density of states of the person at ``start``, as far as it is unexpected."""
        mean, spread = self.expected(start)
        return (self.kernels.log_densities(points, left_out) - mean[0]) / spread[0]

    def lowest_pair_value(self, points: Array, start: Array, left_out: Array) -> float:
        """The lowest that the pairs of states stand for."""
        mean, spread = self.expected(start)
        cells = np.unique(self.bins(points), axis=0)
        found = (self.pair_values(cells, left_out) - mean[1:]) / spread[1:]
        return min(self.on_common_scale(one) for one in found)

    def crossings(self, start: Array, end: Array) -> Array:
        """Where a step crosses bin edges, or changes a category."""
        found = {0.5}
        for j, first in enumerate(self.first_columns):
            moved = end[first] - start[first]
            if not self.discrete[first] and moved:
                parts = (self.edges[j] - start[first]) / moved
                found |= set(parts[(parts > 0) & (parts < 1)].tolist())
        return np.array(sorted(found))

    def mean(self, places: Array, start: Array, end: Array, left_out: Array) -> float:
        """The mean joint density along a step; pairs at its ends."""
        mean, spread = self.expected(start)
        found = (log_mean(self.kernels.log_densities(places, left_out)) - mean[0]) / spread[0]
        for pairs in self.pair_values(self.bins(np.stack([start, end])), left_out):
            found = min(found, self.on_common_scale((pairs - mean[1:]) / spread[1:]))
        return float(found)

    def row_values(self) -> Array:
        """What each row would have if it were new: without itself, by what others taught."""
        found = []
        joint = self._fair_joint()
        pair_values = self.row_pair_values()
        for i, point in enumerate(self.points):
            pairs = pair_values[i]
            mean, spread = (
                (np.zeros(3), np.ones(3)) if self.own is None else self.own.at(point, left_out=i)
            )
            on_scale = self.on_common_scale((pairs - mean[1:]) / spread[1:])
            found.append(min((joint[i] - mean[0]) / spread[0], on_scale))
        return np.array(found)

    def _fair_joint(self) -> Array:
        """Joint log-densities of the rows without the same person and their part in the map."""
        rows = self.kernels.rows
        n = len(rows)
        low, middle, high = np.percentile(rows, [25, 50, 75], axis=0)
        reach = FURTHEST * np.maximum(high - low, 1)
        tame = np.minimum(np.maximum(rows, middle - reach), middle + reach)
        tame = np.where(self.numeric, tame - tame.mean(axis=0), 0.0)
        few = n < 100 * self.numeric.sum()
        found = np.empty(n)
        for i, row in enumerate(rows):
            away = rows - row
            squares = (away**2).sum(axis=1)
            if few:
                mine = tame[i]
                part = min(mine @ mine / n, 0.5)
                precision = np.eye(len(row)) + np.outer(mine, mine) / (n * (1 - part))
                squares = np.einsum("ij,jk,ik->i", away, precision, away)
            same = np.arange(n) == i if self.groups is None else self.groups == self.groups[i]
            same |= squares < self.copy_distance**2
            logs = -squares[~same] / (2 * self.kernels.h**2)
            found[i] = log_of_sum(logs[None, :])[0] if len(logs) else -np.inf
        alone = np.isneginf(found)
        found[alone] = found[~alone].min() if not alone.all() else 0.0
        return found + self.kernels.constant


def own_of(density: Any, rows: Array) -> PlainOwn:
    """Take over coefficients; what the joint kernels leave of own columns is worked out here."""
    given = density.given_own
    matrix = density.kde._kernels.matrix
    covariance = np.linalg.inv(matrix @ matrix.T)
    precision = np.linalg.inv(covariance[np.ix_(given.columns, given.columns)])
    expectation = given.expectation
    return PlainOwn(
        columns=given.columns,
        precision=precision,
        h=density.bandwidth,
        rows=rows[:, given.columns],
        discrete=expectation.discrete,
        centre=expectation.centre,
        means=expectation.mean,
        slopes=expectation.slopes,
        spread_slopes=expectation.spread_slopes,
    )


def squared_distances(places: Array, rows: Array) -> Array:
    """By a product where that is exact enough, else by differences."""
    largest = max((places**2).sum(axis=1).max(initial=0), (rows**2).sum(axis=1).max(initial=0))
    if largest < 1e5:
        squares = (places**2).sum(axis=1)[:, None] + (rows**2).sum(axis=1) - 2 * places @ rows.T
        return np.maximum(squares, 0.0)
    return np.array([((rows - place) ** 2).sum(axis=1) for place in places])


def log_of_sum(logs: Array) -> Array:
    top = np.maximum(logs.max(axis=1, initial=-np.inf), -1e300)
    with np.errstate(divide="ignore"):
        return np.asarray(top + np.log(np.exp(logs - top[:, None]).sum(axis=1)))


def log_mean(logs: Array) -> float:
    return float(log_of_sum(logs[None, :])[0] - np.log(len(logs)))
