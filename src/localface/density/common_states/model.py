"""How common states are among comparable people: joint density, pairs, and what is own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from localface.data.space import Space
from localface.density.common_states.common_scale import CommonScale
from localface.density.common_states.comparable import ComparablePeople
from localface.density.common_states.copies import Copies
from localface.density.common_states.given_own import GivenOwn
from localface.density.common_states.on_ground import lowest_on_ground
from localface.density.common_states.pair_layout import lay_out_pairs, rule_of_pairs
from localface.density.common_states.pair_tables import NamedPair
from localface.density.common_states.pair_weights import WeightedPairs
from localface.density.common_states.segment_cells import cells_along
from localface.density.kde import KDE
from localface.density.protocol import (
    FLOOR_TOLERANCE,
    DensityScale,
    LogFloor,
    SegmentDensities,
    compare_with_floor,
)
from localface.geometry.compiled.ground import CompiledGround
from localface.geometry.compiled.pair_rule import PairRule
from localface.geometry.device.device import Device
from localface.geometry.device.shared import SharedPairs
from localface.geometry.point_set import PointSet
from localface.types import Array, Ids

_JOINT = 0  # the number of the question about the joint density; pairs are the others


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """What one of the three questions says of a state, on the scale that they have in common.

    ``pair`` is the pair of features behind it; None for the joint density.
    """

    name: str
    log_density: float
    pair: NamedPair | None


@dataclass(frozen=True, eq=False)
class CommonStates:
    """One log-density from three questions, each answered among comparable people.

    The joint density is that of ``kde``; what the rarest pair of features and the weighted
    pairs stand for is brought to its scale, and the lowest of the three counts. All are taken
    by how far they are off what is expected of people with the same own features. A step is
    taken by the person who is at its start.

    Fitted by ``fit_common_states``.
    """

    space: Space
    rows: PointSet
    kde: KDE
    pairs: WeightedPairs
    common: CommonScale
    given_own: GivenOwn | None
    copies: Copies
    scale: DensityScale
    known_log_densities: Array  # of the rows, NaN where not worked out
    comparable: ComparablePeople | None = None  # None where nothing is own
    device: Device | None = None  # what looks up pairs, in place of the processor
    certified: bool = True

    def __getstate__(self) -> dict[str, Any]:
        compiled = ("_pair_rule", "_ground")
        return {name: value for name, value in vars(self).items() if name not in compiled}

    @cached_property
    def _pair_rule(self) -> PairRule | SharedPairs | None:
        """The pairs laid out for compiled code or a device, where there is any."""
        if self.device is not None and len(self.pairs.considered):
            return self.device.rule_of(lay_out_pairs(self.pairs, self.common, self.space.discrete))
        return rule_of_pairs(self.pairs, self.common, self.space.discrete)

    @cached_property
    def _ground(self) -> CompiledGround | None:
        """Rows, kernels and pairs together, where all of them are compiled."""
        rule = self._pair_rule
        if type(self.kde) is not KDE or isinstance(rule, SharedPairs):
            return None
        return CompiledGround.or_none(
            self.kde.compiled, self.rows.index, rule, log_normaliser=self.kde.log_normaliser
        )

    @property
    def bandwidth(self) -> float:
        """The bandwidth of the kernels, in the space that they are round in."""
        return self.kde.bandwidth

    def row_log_densities(self, ids: Ids) -> Array:
        """Return the leave-one-out log-densities of rows."""
        found = self.known_log_densities[ids]
        unknown = np.isnan(found)
        if unknown.any():
            points = self.rows.points[ids[unknown]]
            found[unknown] = self.lowest_along(points, points, None).log_densities
        return np.asarray(found)

    def lowest_along(self, starts: Array, ends: Array, log_floor: LogFloor) -> SegmentDensities:
        """Bound the lowest log-density along each segment from below, certified.

        With a floor, what one question refuses is not asked the others. At states pairs come
        first, which are quicker; on steps the joint density, as what it refuses a step for
        rules out other steps too.
        """
        if self._ground is not None:
            own = None if self.given_own is None else self.given_own.at(starts)
            found = lowest_on_ground(self._ground, self.kde, (starts, ends, log_floor), own)
            if found is not None:
                return found
        mean, spread = self._expected(starts)
        rows = self.rows.rows_at_ends(starts, ends)
        if log_floor is None:
            joint = self.kde.lowest_along(starts, ends, None, rows).log_densities
            along = self._pairs_along(starts, ends, rows, mean, spread)
            lowest = np.minimum((joint - mean[:, _JOINT]) / spread[:, _JOINT], along)
            return compare_with_floor(lowest, None)
        floors = np.broadcast_to(log_floor, len(starts))
        still = (starts == ends).all(axis=1)
        if still.all():
            return self._judge_states(starts, rows, floors, mean, spread)
        if not still.any():
            return self._judge_steps(starts, ends, rows, floors, mean, spread)
        lowest = np.empty(len(starts))
        passes = np.empty(len(starts), dtype=bool)
        states = np.flatnonzero(still)
        steps = np.flatnonzero(~still)
        at = self._judge_states(
            starts[states], rows[states], floors[states], mean[states], spread[states]
        )
        on_the_way = self._judge_steps(
            starts[steps], ends[steps], rows[steps], floors[steps], mean[steps], spread[steps]
        )
        for some, judged in ((states, at), (steps, on_the_way)):
            lowest[some] = judged.log_densities
            passes[some] = judged.passes
        holes = tuple((int(steps[i]), hole) for i, hole in on_the_way.holes)
        return SegmentDensities(lowest, passes, holes)

    def _judge_steps(
        self, starts: Array, ends: Array, rows: Ids, floors: Array, mean: Array, spread: Array
    ) -> SegmentDensities:
        """Compare steps with floors, the joint density first."""
        joint_mean, joint_spread = mean[:, _JOINT], spread[:, _JOINT]
        found = self.kde.lowest_along(starts, ends, joint_mean + joint_spread * floors, rows)
        lowest = (found.log_densities - joint_mean) / joint_spread
        some = np.flatnonzero(found.passes)
        passes = found.passes.copy()
        if len(some):
            along = self._pairs_along(
                starts[some],
                ends[some],
                rows[some],
                mean[some],
                spread[some],
                log_floors=floors[some],
            )
            passes[some] = along >= floors[some] - FLOOR_TOLERANCE
            lowest[some] = np.minimum(np.maximum(lowest[some], floors[some]), along)
        return SegmentDensities(lowest, passes, found.holes)

    def _judge_states(
        self, points: Array, rows: Ids, floors: Array, mean: Array, spread: Array
    ) -> SegmentDensities:
        """Compare states with floors, pairs first."""
        lowest = self._pairs_along(points, points, rows, mean, spread, only_ends=True)
        passes = lowest >= floors - FLOOR_TOLERANCE
        some = np.flatnonzero(passes)
        if len(some):
            joint_mean, joint_spread = mean[some, _JOINT], spread[some, _JOINT]
            asked = joint_mean + joint_spread * floors[some]
            states = points[some]
            found = self.kde.lowest_along(states, states, asked, rows[some])
            joint = (found.log_densities - joint_mean) / joint_spread
            joint = np.where(found.passes, np.maximum(joint, floors[some]), joint)
            passes[some] = found.passes
            lowest[some] = np.minimum(joint, lowest[some])
        return SegmentDensities(lowest, passes)

    def mean_along(self, starts: Array, ends: Array, log_floor: LogFloor) -> SegmentDensities:
        """Return the logarithm of the mean joint density along each segment.

        Pairs count at its two ends.
        """
        mean, spread = self._expected(starts)
        joint = self.kde.mean_along(starts, ends, None).log_densities
        found = (joint - mean[:, _JOINT]) / spread[:, _JOINT]
        rows = self.rows.rows_at_ends(starts, ends)
        pairs = self._pairs_along(starts, ends, rows, mean, spread, only_ends=True)
        return compare_with_floor(np.minimum(found, pairs), log_floor)

    def questions_at(self, point: Array) -> tuple[AnsweredQuestion, ...]:
        """Answer each question at a point, and name the pair behind it.

        The lowest is what the state goes by. Of the weighted pairs the one is named that lowers
        the sum most.
        """
        points = point[None, :]
        mean, spread = self._expected(points)
        joint = self.kde.lowest_along(points, points, None).log_densities[0]
        found = [
            AnsweredQuestion("joint density", float((joint - mean[0, 0]) / spread[0, 0]), None)
        ]
        if not len(self.pairs.considered):
            return tuple(found)
        binned = self.pairs.tables.bins.of(points)
        without = self._bins_left_out(self.rows.rows_at_ends(points, points))
        values = (self.pairs.values(binned, without) - mean[:, 1:]) / spread[:, 1:]
        rarest, weighted = self.common.each(values)[0].tolist()
        for name, value in (("rarest pair", rarest), ("weighted pairs", weighted)):
            pair = self.pairs.name_lowest(binned, without, weighted=name == "weighted pairs")
            found.append(AnsweredQuestion(name, value, pair))
        return tuple(found)

    def n_comparable(self, point: Array) -> float | None:
        """Return how many people are alike in what cannot change; None where all can.

        It is an effective number: those who are less alike count for less.
        """
        return None if self.comparable is None else self.comparable.count(point)

    def _expected(self, points: Array) -> tuple[Array, Array]:
        """Return what is expected of people at points: means and spreads, (points, questions)."""
        if self.given_own is None:
            return np.zeros((len(points), 3)), np.ones((len(points), 3))
        return self.given_own.at(points)

    def _pairs_along(
        self,
        starts: Array,
        ends: Array,
        rows: Ids,
        mean: Array,
        spread: Array,
        *,
        log_floors: Array | None = None,
        only_ends: bool = False,
    ) -> Array:
        """Return the lowest that pairs stand for along each segment, on the common scale.

        With floors, what is refused need not be the lowest.
        """
        tables = self.pairs.tables
        if not len(self.pairs.considered):
            return np.full(len(starts), np.inf)
        if self._pair_rule is not None:
            return self._pair_rule.lowest_along(
                starts,
                ends,
                left_out=_ends_left_out(rows),
                mean=mean[:, 1:],
                spread=spread[:, 1:],
                log_floors=log_floors,
                only_ends=only_ends,
            )
        step = np.tile(np.arange(len(starts)), 2)
        if only_ends:
            binned = tables.bins.of(np.concatenate([starts, ends]))
        else:
            step, binned = cells_along(starts, ends, tables.bins, self.space.discrete)
        without = self._bins_left_out(rows)
        values = (self.pairs.values(binned, without[step]) - mean[step, 1:]) / spread[step, 1:]
        lowest = np.full(len(starts), np.inf)
        np.minimum.at(lowest, step, self.common.lowest(values))
        return lowest

    def _bins_left_out(self, rows: Ids) -> Ids:
        """Return the bins of the rows at both ends of segments, -1 where there is none."""
        own = rows.copy()
        own[own[:, 0] == own[:, 1], 1] = -1  # a row that is at both ends is left out once
        bins = self.pairs.tables.bins
        without = bins.of(self.rows.points[own.ravel()]).reshape(*own.shape, len(bins.columns))
        without[own < 0] = -1
        return np.asarray(without)


def _ends_left_out(rows: Ids) -> npt.NDArray[np.uint8]:
    """Say which ends of segments are rows: 1 the start, 2 the end; one that is both counts once."""
    is_row = rows >= 0
    apart = rows[:, 0] != rows[:, 1]
    return np.asarray(is_row[:, 0] + 2 * (is_row[:, 1] & apart), dtype=np.uint8)
