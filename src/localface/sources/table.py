"""Rows in memory, searched exactly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from localface.geometry import Array, Bounds, Mask, norms
from localface.questions import Ids, Nearest, Neighbors

_SPARE = 16  # rows fetched beyond k, so that rounding in the BLAS product can misplace none


class Table:
    """Distinct rows in canonical order, scanned by one BLAS product a batch.

    An id is a place in that order, so answers depend neither on the order of the
    user's rows nor on how often a row is repeated.
    """

    def __init__(self, points: Array, records: Array, rows: Ids, *, n_rows: int) -> None:
        self._points = points
        self._records = records
        self._rows = rows
        self._n_rows = n_rows
        self._squares = (points * points).sum(axis=1)
        width = points.shape[1]
        self._rounding = 8.0 * (width + 4) * float(np.finfo(float).eps)

    @property
    def n_rows(self) -> int:
        """How many rows there are, duplicates counted."""
        return self._n_rows

    @property
    def width(self) -> int:
        """How many columns a point has."""
        return int(self._points.shape[1])

    def nearest(self, questions: Sequence[Nearest]) -> list[Neighbors]:
        """Answer each question; see ``Source``."""
        asked = np.stack([question.point for question in questions])
        products = asked @ self._points.T
        return [self._answer(q, p) for q, p in zip(questions, products, strict=True)]

    def records(self, ids: Ids) -> Array:
        """Return rows that were revealed, in the user's units."""
        return np.asarray(self._records[ids])

    def surveyed(self, bounds: Bounds) -> Ids:
        """Return the ids of all allowed rows, for the holder's own counting."""
        return np.flatnonzero(self._allowed(bounds)).astype(np.int64)

    def row_numbers(self, ids: Ids) -> Ids:
        """Return where in the user's table these rows stand."""
        return np.asarray(self._rows[ids])

    def _answer(self, question: Nearest, products: Array) -> Neighbors:
        square = float((question.point * question.point).sum())
        rough = self._squares + square - 2 * products
        allowed = self._allowed(question.bounds)
        allowed[question.exclude] = False
        rough[~allowed] = np.inf
        ids, distances = self._ranked(question, rough, min(question.k, int(allowed.sum())))
        return Neighbors(ids, self._points[ids], distances)

    def _allowed(self, bounds: Bounds) -> Mask:
        allowed = np.ones(len(self._points), dtype=bool)
        for column in np.flatnonzero(bounds.lower > -np.inf):
            allowed &= self._points[:, column] >= bounds.lower[column]
        for column in np.flatnonzero(bounds.upper < np.inf):
            allowed &= self._points[:, column] <= bounds.upper[column]
        return allowed

    def _ranked(self, question: Nearest, rough: Array, k: int) -> tuple[Ids, Array]:
        """Take k + spare rows by rough distance, re-rank them exactly, widen if rounding could matter."""
        spare = _SPARE
        while True:
            fetch = min(k + spare, len(rough))
            chosen = np.argpartition(rough, fetch - 1)[:fetch]
            exact = norms(self._points[chosen] - question.point)
            exact[rough[chosen] == np.inf] = np.inf
            order = np.lexsort((chosen, exact))[:k]
            if fetch == len(rough) or k == 0 or self._settled(question, rough[chosen], exact[order[-1]]):
                order = order[exact[order] <= question.radius]
                return chosen[order].astype(np.int64), exact[order]
            spare *= 4

    def _settled(self, question: Nearest, fetched: Array, furthest: float) -> bool:
        """Tell whether no row left behind can be as near as the furthest row taken."""
        edge = float(fetched.max())
        if not np.isfinite(edge):
            return True
        size = float(self._squares.max()) + float((question.point * question.point).sum())
        return bool(edge - self._rounding * size > furthest * furthest)
