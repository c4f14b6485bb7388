"""A table in memory, searched exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from localface.geometry.bounds import Bounds
from localface.geometry.compiled.near import nearest_allowed
from localface.geometry.point_set import PointSet
from localface.geometry.segments import norms
from localface.sources.nearest_states import answer_rows_and_states
from localface.sources.protocol import Nearest, Neighbors
from localface.sources.table_states import TableStates
from localface.types import Array, Ids

_SPARE = 16  # rows looked at beyond k, so that rounding in the BLAS product can misplace none
_PROBES = 512  # rows from which the distance of the nearest k is guessed


class TableSource:
    """Distinct rows in canonical order, scanned by one BLAS product a batch.

    An id is a position in that order, so answers depend neither on the order of the
    user's rows nor on how often a row is repeated.
    """

    exact = True
    recall = 1.0

    def __init__(self, point_set: PointSet, records: Array, rows: Ids, *, n_rows: int) -> None:
        self._point_set = point_set
        self._records = records
        self._rows = rows
        self._n_rows = n_rows
        self._states = TableStates(point_set)
        n_probes = min(len(point_set), _PROBES)
        probes = np.linspace(0, len(point_set) - 1, n_probes).astype(np.int64)
        self._probes = np.unique(probes)

    @property
    def n_rows(self) -> int:
        """How many rows there are, duplicates counted."""
        return self._n_rows

    @property
    def width(self) -> int:
        """How many columns a point has."""
        return self._point_set.width

    def nearest(self, questions: Sequence[Nearest]) -> list[Neighbors]:
        """Answer each question; see ``Source``."""
        return answer_rows_and_states(questions, self._nearest_rows, self._states.nearest)

    def records(self, ids: Ids) -> Array:
        """Return rows that were revealed, in the user's units."""
        return np.asarray(self._records[ids])

    def list_rows(self, bounds: Bounds) -> Ids:
        """Return the ids of all rows within the bounds; see ``RowHolder``."""
        allowed = np.ones(len(self._point_set), dtype=bool)
        for column in np.flatnonzero(bounds.lower > -np.inf):
            allowed &= self._point_set.columns[column] >= bounds.lower[column]
        for column in np.flatnonzero(bounds.upper < np.inf):
            allowed &= self._point_set.columns[column] <= bounds.upper[column]
        return np.flatnonzero(allowed).astype(np.int64)

    def points(self, ids: Ids) -> Array:
        """Return rows as points; see ``RowHolder``."""
        return np.asarray(self._point_set.points[ids])

    @property
    def extremes(self) -> tuple[Array, Array]:
        """The lowest and the highest point of each column; see ``RowHolder``."""
        return self._point_set.extremes

    def row_numbers(self, ids: Ids) -> Ids:
        """Return the positions of these rows in the user's table."""
        return np.asarray(self._rows[ids])

    def _nearest_rows(self, questions: Sequence[Nearest]) -> list[Neighbors]:
        """Answer questions for rows."""
        squared = self._point_set.squared_distances(
            np.stack([question.point for question in questions])
        )
        return [
            self._answer_question(question, rough)
            for question, rough in zip(questions, squared, strict=True)
        ]

    def _answer_question(self, question: Nearest, rough: Array) -> Neighbors:
        """Take rows by rough distance, more and more, until the k nearest allowed are certain."""
        if len(question.exclude):
            rough[question.exclude] = np.inf
        wanted = question.k + _SPARE
        outer = np.inf
        if question.radius < np.inf:
            outer = question.radius * question.radius + self._rough_distance_error(
                question, question.radius
            )
        probed = rough[self._probes]
        while True:
            rank = math.ceil(1.2 * wanted / len(rough) * len(probed)) + 2
            edge = float(np.partition(probed, rank)[rank]) if rank < len(probed) else np.inf
            edge = min(edge, outer)
            ids, distances = self._nearest_allowed(question, rough, edge)
            if edge >= outer or self._is_complete(question, distances, edge):
                return Neighbors(ids, self._point_set.points[ids], distances)
            wanted *= 4

    def _nearest_allowed(self, question: Nearest, rough: Array, edge: float) -> tuple[Ids, Array]:
        """Return the k nearest allowed of the rows within an edge by exact distance, ties by id."""
        bounds = question.bounds
        asked = (question.point, question.k, question.radius)
        limits = (bounds.lower, bounds.upper)
        found = nearest_allowed(self._point_set.points, rough, asked, limits, edge)
        if found is not None:
            return found
        near = np.flatnonzero(rough <= edge if edge < np.inf else rough < np.inf)
        points = self._point_set.points[near]
        allowed = question.bounds.contain(points)
        near = near[allowed]
        points = points[allowed]
        distances = norms(points - question.point)
        order = np.lexsort((near, distances))[: question.k]
        order = order[distances[order] <= question.radius]
        return near[order], distances[order]

    def _is_complete(self, question: Nearest, distances: Array, edge: float) -> bool:
        """Tell whether no row left behind can be as near as the furthest row taken."""
        if len(distances) < question.k:
            return False
        furthest = float(distances[-1]) if len(distances) else 0.0
        return edge - self._rough_distance_error(question, furthest) > furthest * furthest

    def _rough_distance_error(self, question: Nearest, reach: float) -> float:
        """Return the error of the rough distance of a row that is no further than ``reach``."""
        square = float((question.point * question.point).sum())
        return float(self._point_set.rounding_error(square + (math.sqrt(square) + reach) ** 2))
