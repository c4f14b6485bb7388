"""A table in memory, searched exactly, all of its rows at once on a GPU."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from localface.geometry.device.scan import NearQuestions, RowScan
from localface.geometry.point_set import PointSet
from localface.geometry.segments import norms
from localface.sources.nearest_states import merge_states, no_states, projection_of
from localface.sources.protocol import Nearest, Neighbors
from localface.sources.table import TableSource
from localface.sources.table_states import TableStates
from localface.types import Array, Ids, Mask

_SPARE = 16  # rows asked for beyond k where several may come to the same state
_MOST_GROUPS = 64  # of columns that are taken over together, as scan.cu has bits for
_SURELY = 1 - 1e-9  # share of a distance that is beyond doubt


class DeviceTable(TableSource):
    """A table whose near rows are found by a ``RowScan``; what is near is decided here.

    The scan returns rows among which the nearest are for certain. Which they are, and in what
    order, is worked out from the points as ``TableSource`` does it.
    """

    def __init__(
        self, point_set: PointSet, records: Array, rows: Ids, *, n_rows: int, scan: RowScan
    ) -> None:
        super().__init__(point_set, records, rows, n_rows=n_rows)
        self._scan = scan
        self._states = _DeviceStates(point_set, scan)

    def _nearest_rows(self, questions: Sequence[Nearest]) -> list[Neighbors]:
        """Answer questions for rows, all of them in one scan."""
        asked = ask_for_rows(questions)
        rows, counts = self._scan.near_rows(asked)
        question = np.repeat(np.arange(len(questions)), counts)
        points = self._point_set.points[rows]
        distances = norms(points - asked.points[question])
        kept = distances <= asked.radii[question]
        kept &= ~_are_excluded(questions, rows, counts)
        order = np.flatnonzero(kept)
        order = order[np.lexsort((rows[order], distances[order], question[order]))]
        found = question[order]
        firsts = np.searchsorted(found, np.arange(len(questions))).tolist()
        ends = np.searchsorted(found, np.arange(len(questions)), side="right").tolist()
        answers = []
        for one, first, end in zip(questions, firsts, ends, strict=True):
            mine = order[first : min(end, first + one.k)]
            answers.append(Neighbors(rows[mine], points[mine], distances[mine]))
        return answers


class _DeviceStates(TableStates):
    """The rows of a table as states of whoever asks, by a ``RowScan``."""

    def __init__(self, point_set: PointSet, scan: RowScan) -> None:
        super().__init__(point_set)
        self._scan = scan

    def nearest(self, questions: Sequence[Nearest]) -> list[Neighbors]:
        """Answer each question; more rows are asked for where too many come to the same states."""
        simple = [len(projection_of(one).taken_together) <= _MOST_GROUPS for one in questions]
        found = [no_states(one) for one in questions]
        for i in np.flatnonzero(~np.array(simple)).tolist():
            found[i] = super().nearest([questions[i]])[0]
        pending = np.flatnonzero(simple)
        wanted = np.array([one.k + _SPARE + len(one.exclude) for one in questions])
        while len(pending):
            some = [questions[i] for i in pending.tolist()]
            asked = self._ask_for_states(some, wanted[pending])
            rows, counts = self._scan.near_rows(asked)
            left = []
            for i, near in zip(
                pending.tolist(), np.split(rows, np.cumsum(counts)[:-1]), strict=True
            ):
                found[i], done = self._take_states(questions[i], near, int(wanted[i]))
                if not done:
                    left.append(i)
            pending = np.array(left, dtype=np.int64)
            wanted[pending] *= 4
        return found

    def _take_states(self, question: Nearest, near: Ids, wanted: int) -> tuple[Neighbors, bool]:
        """Return the nearest states of some rows, and whether no other row can come nearer."""
        near = np.sort(near)
        projection = projection_of(question)
        points = self._point_set.points[near]
        distances = norms(projection.states_of(points) - question.point)
        others = ~np.isin(near, question.exclude)
        found = merge_states(question, no_states(question), near[others], points[others])
        if len(near) < wanted:
            return found, True
        covered = float(np.partition(distances, wanted - 1)[wanted - 1]) * _SURELY
        furthest = float(found.distances.max(initial=0.0))
        full = len(found.distances) >= question.k and furthest < covered
        return found, full or question.k == 0 or covered > question.radius

    def _ask_for_states(self, questions: Sequence[Nearest], wanted: Ids) -> NearQuestions:
        """Lay out questions for states."""
        asked = ask_for_rows(questions)
        limits = [self._allowed(one) for one in questions]
        projections = [projection_of(one) for one in questions]
        group = np.full(asked.points.shape, -1, dtype=np.int32)
        decides = np.zeros(asked.points.shape, dtype=np.int32)
        for i, projection in enumerate(projections):
            for number, columns in enumerate(projection.taken_together):
                group[i, columns] = number
                decides[i, projection.deciding(columns)] = 1
        return NearQuestions(
            counts=wanted,
            radii=asked.radii,
            points=asked.points,
            allowed_lower=np.stack([lower for lower, _ in limits]),
            allowed_upper=np.stack([upper for _, upper in limits]),
            cuts=np.ones(len(questions), dtype=bool),
            lower=np.stack([one.bounds.lower for one in projections]),
            upper=np.stack([one.bounds.upper for one in projections]),
            kept=np.stack([one.kept for one in projections]),
            group=group,
            decides=decides,
        )


def ask_for_rows(questions: Sequence[Nearest]) -> NearQuestions:
    """Lay out questions for rows; what is excluded is asked for in addition."""
    points = np.stack([one.point for one in questions])
    nothing = np.zeros(points.shape, dtype=np.int32)
    lower = np.stack([one.bounds.lower for one in questions])
    upper = np.stack([one.bounds.upper for one in questions])
    return NearQuestions(
        counts=np.array([one.k + len(one.exclude) for one in questions], dtype=np.int64),
        radii=np.array([one.radius for one in questions], dtype=np.float64),
        points=points,
        allowed_lower=lower,
        allowed_upper=upper,
        cuts=np.zeros(len(questions), dtype=bool),
        lower=lower,
        upper=upper,
        kept=points,
        group=nothing - 1,
        decides=nothing,
    )


def _are_excluded(questions: Sequence[Nearest], rows: Ids, counts: Ids) -> Mask:
    """Tell which rows the question that they were found for leaves out."""
    found = np.zeros(len(rows), dtype=bool)
    ends = np.cumsum(counts).tolist()
    for one, first, end in zip(questions, [0, *ends], ends, strict=False):
        if len(one.exclude):
            found[first:end] = np.isin(rows[first:end], one.exclude)
    return found
