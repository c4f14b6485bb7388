"""A table in memory, searched exactly for states that a person may take over from its rows."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import CDLL
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from localface.geometry.bounds import Bounds
from localface.geometry.compiled.library import load_library
from localface.geometry.compiled.states import SparseColumns, StateScan
from localface.geometry.point_set import PointSet
from localface.geometry.projection import Projection
from localface.sources.nearest_states import gather_nearest_states, no_states, projection_of
from localface.sources.protocol import Nearest, Neighbors
from localface.types import Array, Ids, Mask

_MOSTLY = 0.5  # of rows that are zero in a column that counts as sparse: one category of several
_KEPT = 4  # sets of sparse columns whose squares are kept: people may change much the same
_MANY = 1024  # rows of which it pays to leave out equal ones before anything else


@dataclass(frozen=True, slots=True, eq=False)
class _ColumnRoles:
    """What a projection does to the columns of a table.

    ``straight`` columns are taken over as they are, ``clipped`` ones up to their limits. In
    ``groups`` some rows keep what the person has. The rest is ``constant``: the same in every
    state, as ``constants`` say.
    """

    straight: Mask
    constant: Mask
    constants: Array
    clipped: Ids
    groups: tuple[Ids, ...]

    @property
    def varying(self) -> Ids:
        """The columns in which states can differ."""
        return np.flatnonzero(~self.constant)


class TableStates:
    """The rows of a table as states of whoever asks.

    One BLAS product a batch covers what is taken over as it is. Columns that limits cut short
    are gone through one by one, so that no row is rounded by more than its own state is: a
    state may be near though the row is far.
    """

    def __init__(self, point_set: PointSet) -> None:
        self._point_set = point_set
        self._sparse: dict[
            tuple[bytes, ...], SparseColumns
        ] = {}  # by which are taken over as they are

    def nearest(self, questions: Sequence[Nearest]) -> list[Neighbors]:
        """Answer each question, all of which have a projection; see ``Source``."""
        library = load_library()
        if library is not None:
            return [self._compiled_answer(library, question) for question in questions]
        roles = [self._roles_of_columns(projection_of(question)) for question in questions]
        rough = self._straight_distances(questions, roles)
        return [self._answer_question(*each) for each in zip(questions, roles, rough, strict=True)]

    def _answer_question(self, question: Nearest, roles: _ColumnRoles, rough: Array) -> Neighbors:
        """Complete the rough distances of one question, and take the nearest states by them."""
        self._add_clipped_columns(question, roles, rough)
        for columns in roles.groups:
            self._add_group(question, columns, rough)
        self._leave_out_rows(question, rough)
        return self._gather(question, rough)

    def _compiled_answer(self, library: CDLL, question: Nearest) -> Neighbors:
        """Answer one question by compiled code, the same as without."""
        if question.k == 0:
            return no_states(question)
        projection = projection_of(question)
        cuts = self.find_cuts(projection.bounds)
        scan = StateScan(
            library,
            self._point_set.points,
            self._point_set.columns,
            projection=projection,
            point=question.point,
            allowed=self._allowed(question),
            cuts=cuts,
            sparse=self.find_sparse_columns(projection, cuts),
        )
        rough = scan.squared_distances()
        rough[question.exclude] = np.inf
        found = scan.nearest(rough, question.k, question.radius, question.bounds)
        return Neighbors(found.rows, found.points, found.distances, moved=found.moved)

    def find_cuts(self, bounds: Bounds) -> Mask:
        """The columns in which some row is beyond the limits."""
        low, high = self._point_set.extremes
        return np.asarray((bounds.lower > low) | (bounds.upper < high))

    def find_sparse_columns(self, projection: Projection, cuts: Mask) -> SparseColumns | None:
        """The sparse columns that are taken over as they are or not at all, and their squares."""
        groups = projection.taken_together
        whole = self._are_sparse & ~cuts
        for columns in groups:
            whole[columns] = False
            deciding = projection.deciding(columns)
            whole[deciding] = self._are_sparse[deciding]
        if not whole.any():
            return None
        key = (whole.tobytes(), *(columns.tobytes() for columns in groups))
        found = self._sparse.get(key)
        if found is None:
            if len(self._sparse) >= _KEPT:
                self._sparse.clear()
            found = self._sparse[key] = self._add_up_sparse(whole, groups)
        return found

    def _add_up_sparse(self, whole: Mask, groups: Sequence[Ids]) -> SparseColumns:
        """Add up the squares of sparse columns, those in no group and then each group's."""
        parts = [np.isin(np.arange(len(whole)), columns) for columns in groups]
        alone = ~np.any(parts, axis=0) if parts else np.ones(len(whole), dtype=bool)
        squares = [
            np.square(self._point_set.columns[whole & part]).sum(axis=0) for part in (alone, *parts)
        ]
        return SparseColumns(np.stack(squares), whole.astype(np.int64))

    @cached_property
    def _are_sparse(self) -> Mask:
        """The columns that are zero for most rows."""
        return np.asarray((self._point_set.columns == 0).mean(axis=1) > _MOSTLY)

    def _allowed(self, question: Nearest) -> tuple[Array, Array]:
        """Return the limits beyond which rows are left out for sure.

        What is out of bounds in a column that goes as far as its limits is so before it is
        cut short.
        """
        projection = projection_of(question)
        lower, upper = question.bounds.lower, question.bounds.upper
        alone = np.ones(len(lower), dtype=bool)
        for columns in projection.taken_together:
            alone[columns] = False
        lower = np.where(alone & (lower > projection.bounds.lower), lower, -np.inf)
        upper = np.where(alone & (upper < projection.bounds.upper), upper, np.inf)
        comparable = projection.comparable
        if comparable is None:
            return lower, upper
        return np.maximum(lower, comparable.lower), np.minimum(upper, comparable.upper)

    def _gather(self, question: Nearest, rough: Array) -> Neighbors:
        """Take the nearest states by the distances of all rows."""
        square = float((question.point * question.point).sum())

        def rows_at(near: Ids) -> tuple[Ids, Array]:
            if len(near) > _MANY:
                varying = self._roles_of_columns(projection_of(question)).varying
                near = self._first_of_equals(near, varying)
            return near, self._point_set.points[near]

        def rough_reach(distance: float) -> float:
            most = square + (np.sqrt(square) + distance) ** 2
            return distance * distance + float(self._point_set.rounding_error(most))

        return gather_nearest_states(
            question,
            no_states(question),
            rough,
            rows_at=rows_at,
            rough_reach=rough_reach,
        )

    def _roles_of_columns(self, projection: Projection) -> _ColumnRoles:
        """Tell what a projection does to each column; limits that no row goes beyond do nothing."""
        low, high = self._point_set.extremes
        bounds = projection.bounds
        cuts = self.find_cuts(bounds)
        constants = np.clip(low, bounds.lower, bounds.upper)
        constant = constants == np.clip(high, bounds.lower, bounds.upper)
        together = np.zeros(len(low), dtype=bool)
        groups = []
        for columns in projection.taken_together:
            kept = projection.kept[columns]
            least = np.maximum(bounds.lower, low)[columns]
            most = np.minimum(bounds.upper, high)[columns]
            constant[columns] = False
            if not cuts[columns].any():
                continue
            decides = np.isin(columns, projection.deciding(columns))
            if (least > most)[decides].any() or ((least == kept) & (most == kept)).all():
                constant[columns] = True
                constants[columns] = kept
            else:
                together[columns] = True
                groups.append(columns)
        rest = ~(constant | together)
        return _ColumnRoles(
            straight=rest & ~cuts,
            constant=constant,
            constants=constants,
            clipped=np.flatnonzero(rest & cuts),
            groups=tuple(groups),
        )

    def _straight_distances(
        self, questions: Sequence[Nearest], roles: Sequence[_ColumnRoles]
    ) -> Array:
        """Return squared distances over the columns that are taken over as they are or constant."""
        points = np.stack([question.point for question in questions])
        straight = np.stack([one.straight for one in roles])
        constant = np.stack([one.constant for one in roles])
        away = points - np.stack([one.constants for one in roles])
        points = np.where(straight, points, 0.0)
        rough: Array = self._point_set.products_with_rows(points)
        rough *= -2
        rough += self._squares_over(straight)
        offsets = (points * points).sum(axis=1) + np.where(constant, away * away, 0.0).sum(axis=1)
        rough += offsets[:, None]
        return rough

    def _squares_over(self, chosen: Mask) -> Array:
        """Return the squared length of every row over the columns that each question chooses."""
        if chosen.all():
            return np.asarray(self._point_set.squares)
        if (chosen == chosen[0]).all():
            chosen = chosen[0]
        return np.asarray(chosen.astype(np.float64) @ self._squared_columns)

    def _add_clipped_columns(self, question: Nearest, roles: _ColumnRoles, rough: Array) -> None:
        """Add the squared distances over columns that limits cut short."""
        bounds = projection_of(question).bounds
        away = np.empty(len(rough))
        for column in roles.clipped:
            np.maximum(self._point_set.columns[column], bounds.lower[column], out=away)
            np.minimum(away, bounds.upper[column], out=away)
            away -= question.point[column]
            away *= away
            rough += away

    def _add_group(self, question: Nearest, columns: Ids, rough: Array) -> None:
        """Add the squared distances over columns that are taken over together or not at all."""
        projection = projection_of(question)
        bounds = projection.bounds
        point = question.point[columns]
        away = projection.kept[columns] - point
        kept = (away * away).sum()
        values = self._point_set.columns[columns]
        lower, upper = bounds.lower[columns, None], bounds.upper[columns, None]
        outside = (values < lower) | (values > upper)
        decides = np.isin(columns, projection.deciding(columns))
        if outside[~decides].any():
            away = np.clip(values, lower, upper) - point[:, None]
            squared = (away * away).sum(axis=0)
        else:
            squared = self._squared_columns[columns].sum(axis=0) - 2 * (point @ values)
            squared += (point * point).sum()
        rough += np.where(outside[decides].any(axis=0), kept, squared)

    def _first_of_equals(self, rows: Ids, columns: Ids) -> Ids:
        """Leave out rows that equal one with a smaller id in all of some columns, if not quite all.

        Where few features are free, thousands of rows come to a handful of states.
        """
        values = self._point_set.columns[np.ix_(columns, rows)]
        marks = np.sqrt(np.arange(2.0, 2 + len(columns))) @ values
        order = np.argsort(marks, kind="stable")
        maybe = np.flatnonzero(np.diff(marks[order]) == 0)
        same = (values[:, order[maybe]] == values[:, order[maybe + 1]]).all(axis=0)
        first = np.ones(len(rows), dtype=bool)
        first[order[maybe[same] + 1]] = False
        return rows[first]

    def _leave_out_rows(self, question: Nearest, rough: Array) -> None:
        """Make rows infinitely far that are excluded, or out of bounds for sure."""
        rough[question.exclude] = np.inf
        lower, upper = self._allowed(question)
        for column in np.flatnonzero(lower > -np.inf):
            rough[self._point_set.columns[column] < lower[column]] = np.inf
        for column in np.flatnonzero(upper < np.inf):
            rough[self._point_set.columns[column] > upper[column]] = np.inf

    @cached_property
    def _squared_columns(self) -> Array:
        """Squares of all values: sums over some columns are rounded by no other columns."""
        return np.asarray(self._point_set.columns * self._point_set.columns)
