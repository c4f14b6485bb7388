"""The rows that reach a target score: counted, measured, projected onto one person."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable

import numpy as np

from localface.engine.score_cache import BLOCK_ROWS, ScoreCache
from localface.geometry.bounds import Bounds
from localface.geometry.compiled.composing import compose_states
from localface.geometry.point_set import PointSet, are_first_of_equals
from localface.geometry.projection import Projection
from localface.search.questions import Census, ComposeStates, TargetCounts, Widening
from localface.sources.holder import RowHolder, list_all_rows
from localface.sources.nearest_states import different_states
from localface.sources.protocol import Nearest
from localface.sources.table_states import TableStates
from localface.types import NO_ROWS, Array, Ids, Mask

MAX_TARGET_SCORES = 16  # target scores for which it is remembered who reaches them
_MAX_TARGET_SETS = 2  # target scores for which the points of those who reach them are kept


class TargetRows:
    """Knows for the latest target scores which rows reach them; that takes every row's score."""

    def __init__(
        self,
        holder: RowHolder,
        scores: ScoreCache,
        rounded: Callable[[Array, float], Array],
    ) -> None:
        self._holder = holder
        self._scores = scores
        self._rounded = rounded
        self._masks: OrderedDict[float, Mask] = OrderedDict()  # by target score, the latest last
        self._n_everyone = 0  # all rows, once it is known who reaches a target
        self._first_blocks: OrderedDict[float, TableStates] = OrderedDict()  # likewise

    def knows_who_reaches(self, min_score: float) -> bool:
        """Whether no row need be scored any more to tell who reaches a target score."""
        return min_score in self._masks

    def all_row_ids(self) -> Ids:
        """Return the ids of all rows."""
        return list_all_rows(self._holder)

    def is_target(self, min_score: float) -> Mask:
        """Tell, by id, which rows reach a target score."""
        if min_score not in self._masks:
            everyone = self.all_row_ids()
            self._n_everyone = len(everyone)
            mask = np.zeros(1 + int(everyone.max()), dtype=bool)
            mask[everyone] = (
                self._rounded(self._scores.scores_of_rows(everyone), min_score) >= min_score
            )
            self._masks[min_score] = mask
            if len(self._masks) > MAX_TARGET_SCORES:
                self._masks.popitem(last=False)
        self._masks.move_to_end(min_score)
        return self._masks[min_score]

    def count_targets(self, question: Census, min_score: float) -> TargetCounts:
        """Count targets; what each column rules out only where no target is allowed."""
        bounds = question.bounds
        targets_mask = self.is_target(min_score)
        anywhere = int(targets_mask.sum())
        if not bounds.limits_anything:
            nothing = np.zeros(len(bounds.lower), dtype=np.int64)
            return TargetCounts(self._n_everyone, anywhere, anywhere, nothing)
        allowed = self._holder.list_rows(bounds)
        targets = int(targets_mask[allowed].sum())
        excluded = np.zeros(len(bounds.lower), dtype=np.int64)
        if question.why and not targets:
            for column in np.flatnonzero((bounds.lower > -np.inf) | (bounds.upper < np.inf)):
                alone = self._holder.list_rows(bounds.with_only_column(int(column)))
                excluded[column] = anywhere - int(targets_mask[alone].sum())
        return TargetCounts(len(allowed), targets, anywhere, excluded)

    def least_widening_factor(self, question: Widening, min_score: float) -> float:
        """Return the least factor on the distance limits under which some target is allowed."""
        targets_mask = self.is_target(min_score)
        allowed = self._holder.list_rows(question.bounds)
        targets = allowed[targets_mask[allowed]]
        least = np.inf
        for first in range(0, len(targets), BLOCK_ROWS):
            records = self._holder.records(targets[first : first + BLOCK_ROWS])
            apart = np.nan_to_num(np.abs(records - question.record))  # what is missing stays so
            least = min(least, float((apart / question.distance_limits).max(axis=1).min()))
        return least

    def different_states(self, question: Census) -> Array:
        """Return all different states that a person may take over from rows."""
        assert question.projection is not None
        everyone = self.all_row_ids()
        firsts = range(0, len(everyone), BLOCK_ROWS)
        blocks = (self._holder.points(everyone[first : first + BLOCK_ROWS]) for first in firsts)
        different = states_open_to(question.projection, question.bounds, blocks, len(everyone))
        if question.keeps_relations is not None:
            different = different[question.keeps_relations(different)]
        return different

    def nearest_projections(self, question: ComposeStates, min_score: float) -> tuple[Ids, Array]:
        """Return the nearest different states that targets can be projected to, with their rows.

        They are as many as the question looks at, all but that at which the person is. Of a table
        that is not searched exactly, an even sample of the targets is looked at.
        """
        width = len(question.point)
        anywhere = Bounds.unlimited(width)
        everything = Projection(anywhere, question.point, np.arange(width))
        projection = question.projection or everything
        asked = Nearest(question.point, question.last, anywhere, NO_ROWS, projection=projection)
        targets = self._rows_to_take_over_from(min_score)
        ids = NO_ROWS
        states = np.zeros((0, width))
        distances = np.zeros(0)
        for first in range(0, len(targets), BLOCK_ROWS):
            block = targets[first : first + BLOCK_ROWS]
            (found,) = self._states_of_targets(block, min_score, first=first).nearest([asked])
            ids = np.concatenate([ids, block[found.ids]])
            states = np.concatenate([states, found.points])
            distances = np.concatenate([distances, found.distances])
            nearest = different_states(ids, states, distances)[: question.last]
            ids, states, distances = ids[nearest], states[nearest], distances[nearest]
        return ids, states

    def _rows_to_take_over_from(self, min_score: float) -> Ids:
        """Return the rows that reach a target score, evenly thinned out where they are very many.

        Rows in cells lie in an order of their own, near ones together: every so-manieth of them
        stands for those around it.
        """
        targets = np.flatnonzero(self.is_target(min_score)).astype(np.int64)
        if self._holder.exact:
            return targets
        return targets[:: max(1, -(-len(targets) // BLOCK_ROWS))]

    def _states_of_targets(self, block: Ids, min_score: float, *, first: int) -> TableStates:
        """Some who reach a target score, as states; the first of them are kept for the next one."""
        if first:
            return TableStates(PointSet(self._holder.points(block)))
        if min_score not in self._first_blocks:
            self._first_blocks[min_score] = TableStates(PointSet(self._holder.points(block)))
            if len(self._first_blocks) > _MAX_TARGET_SETS:
                self._first_blocks.popitem(last=False)
        self._first_blocks.move_to_end(min_score)
        return self._first_blocks[min_score]


def states_open_to(
    projection: Projection, bounds: Bounds, blocks: Iterable[Array], n_rows: int
) -> Array:
    """Return the different states within bounds that are taken over from rows at some points.

    Rows come in blocks, ``n_rows`` in all.
    """
    compiled = compose_states(blocks, n_rows, projection, bounds)
    if compiled is not None:
        return compiled
    found = [np.zeros((0, len(projection.kept)))]
    for points in blocks:
        states = projection.states_of(points[projection.admits(points)])
        states = states[bounds.contain(states)]
        found.append(states[are_first_of_equals(states)])
    different = np.concatenate(found)
    return np.asarray(different[are_first_of_equals(different)])
