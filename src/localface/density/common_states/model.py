"""How common states are among comparable people: the whole model, fitted on records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from localface.data.schema import Schema
from localface.density.common_states.comparable import ComparablePeople
from localface.density.common_states.copies import group_codes
from localface.density.common_states.expectation import Expectation
from localface.density.common_states.joint_density import (
    kernel_log_sums,
    leave_one_out_log_sums,
)
from localface.density.common_states.kernel_shape import KernelShape
from localface.density.common_states.normal_scores import ScoreSpace
from localface.density.common_states.own_density import OwnDensity
from localface.density.common_states.pair_tables import NamedPair, PairTables
from localface.density.common_states.pair_weights import WeightedPairs
from localface.density.common_states.segment_cells import cells_along
from localface.density.common_states.shares import ShareScale
from localface.errors import DataError
from localface.types import Array, Ids, Mask


@dataclass(frozen=True, slots=True, eq=False)
class GivenOwn:
    """What it takes to judge a state given what its person cannot change."""

    columns: Mask  # of points, that never change
    density: OwnDensity
    expectation: Expectation
    people: ComparablePeople


@dataclass(frozen=True, slots=True, eq=False)
class CommonStates:
    """How common states are, as a share of comparable people.

    Fitted by ``fit``. ``row_values`` are the leave-one-out values of the rows in the three
    questions: joint log-density, log-ratio of the rarest pair, weighted sum of log-ratios.
    """

    records: Array
    space: ScoreSpace
    shape: KernelShape
    rows: Array  # points of the records, mapped by the shape
    pairs: WeightedPairs
    row_values: Array
    everybody: ShareScale
    given_own: GivenOwn | None

    @classmethod
    def fit(
        cls,
        records: Array,
        n_categories: Sequence[int],
        *,
        own: Sequence[int] = (),
        groups: object = None,
    ) -> CommonStates:
        """Fit the model on records.

        Parameters
        ----------
        records : codes, a line a row: numbers as they are, categories by their index
        n_categories : how many categories each feature has, 0 for a number
        own : the features that never change: states are compared with people alike in them
        groups : the person of each row, where people have several; None looks for near-copies
        """
        if len(records) < 2:
            raise DataError(f"{len(records)} row: at least 2 are needed to say what is common")
        never = np.array(sorted(own), dtype=np.int64)
        space = ScoreSpace.fit(records, n_categories)
        points = space.points(records)
        shape = KernelShape.fit(points, space, group_codes(groups))
        rows = points @ shape.matrix
        halves = shape.copies.halves(len(records))
        tables = PairTables.fit(records, n_categories, shape.copies.row_weights(rows))
        binned = tables.bins.of(records)
        pairs = WeightedPairs.fit(tables, binned, halves, never)
        joint = leave_one_out_log_sums(rows, shape.bandwidth, shape.copies, space.numeric)
        values = np.column_stack([joint, pairs.row_values(binned, halves)])
        given_own = None
        if len(never):
            given_own, values = _given_own(space, shape, never, records, values)
        everybody = ShareScale.fit(values, np.ones(len(rows)), float(len(rows)))
        return cls(records, space, shape, rows, pairs, values, everybody, given_own)

    def values(self, records: Array) -> Array:
        """Return what new states reach in the three questions, given what is own."""
        points = self.space.points(records)
        joint = kernel_log_sums(points @ self.shape.matrix, self.rows, self.shape.bandwidth)
        binned = self.pairs.tables.bins.of(records)
        values = np.column_stack([joint, self.pairs.values(binned)])
        given = self.given_own
        if given is None:
            return values
        values[:, 0] -= given.density.log_sums(points[:, given.columns])
        return given.expectation.standardised(records, values)

    def scale(self, record: Array) -> ShareScale:
        """Return the scale among people who are comparable with this record."""
        if self.given_own is None:
            return self.everybody
        found = self.given_own.people.with_record(record)
        return ShareScale.fit(self.row_values[found.rows], found.weights, found.n_effective)

    def shares(self, records: Array) -> Array:
        """Return how common new states are: the share of comparable people who are less so."""
        values = self.values(records)
        found = np.empty(len(records))
        for some, scale in self._scales(records):
            found[some] = scale.shares(values[some])
        return found

    def row_shares(self, rows: Ids) -> Array:
        """Return the same for rows that the model was fitted on, each without itself."""
        found = np.empty(len(rows))
        for some, scale in self._scales(self.records[rows]):
            found[some] = scale.row_shares(self.row_values[rows[some]])
        return found

    def thresholds(self, record: Array, share: float) -> Array:
        """Return what each state of this person must reach in the three questions.

        The first is a log-sum of kernels, the others log-ratios: nothing about the person is
        left to be taken off.
        """
        found = self.scale(record).thresholds(share)
        given = self.given_own
        if given is None:
            return found
        mean, spread = given.expectation.at(record[None, :])
        found = mean[0] + spread[0] * found
        own_point = self.space.points(record[None, :])[:, given.columns]
        found[0] += given.density.log_sums(own_point)[0]
        return np.asarray(found)

    def rarest_pair(self, record: Array) -> NamedPair | None:
        """Name the pair of features that goes together least; None where no pair is known."""
        tables = self.pairs.tables
        return tables.rarest(tables.bins.of(record[None, :])[0], self.pairs.considered)

    def pair_values_along(self, starts: Array, ends: Array) -> Array:
        """Return the lowest pair values along straight steps, exactly: (steps, 2)."""
        step, binned = cells_along(starts, ends, self.pairs.tables.bins, self.space)
        found = np.full((len(starts), 2), np.inf)
        np.minimum.at(found, step, self.pairs.values(binned))
        return found

    def _scales(self, records: Array) -> list[tuple[Ids, ShareScale]]:
        """Return a scale for all records that are the same in what is own."""
        if self.given_own is None:
            return [(np.arange(len(records)), self.everybody)]
        own = records[:, self.given_own.people.own]
        _, first, alike = np.unique(own, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(alike.ravel(), kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(alike.ravel()))[:-1])
        return [(some, self.scale(records[one])) for some, one in zip(parts, first, strict=True)]


def _given_own(
    space: ScoreSpace, shape: KernelShape, own: Ids, records: Array, values: Array
) -> tuple[GivenOwn, Array]:
    """Fit what it takes to judge given what is own, and judge the rows so."""
    columns = np.isin(space.feature_of, own)
    points = space.points(records)[:, columns]
    density = OwnDensity.fit(points, shape.marginal_matrix(columns), shape.bandwidth)
    values = values.copy()
    values[:, 0] -= density.row_log_sums(points)
    expectation = Expectation.fit(space, own, records, values)
    given = GivenOwn(columns, density, expectation, ComparablePeople.fit(space, own, records))
    return given, expectation.standardised(records, values)


def category_counts(schema: Schema) -> tuple[int, ...]:
    """Return how many categories each feature has, 0 for what is ordered."""
    return tuple(len(one.categories or ()) if one.discrete else 0 for one in schema)
