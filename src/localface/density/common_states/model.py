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
from localface.density.common_states.on_ground import judge_on_ground, measure_on_ground
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
    put_together,
)
from localface.geometry.compiled.ground import CompiledGround, Expected
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


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """Segments that are asked about, and the rows that do not count (-1: none).

    ``mean`` and ``spread`` are what each question expects of the people at their starts.
    """

    starts: Array
    ends: Array
    askers: Array | None
    rows: Ids
    left_out: npt.NDArray[np.uint8]
    mean: Array
    spread: Array

    def some(self, numbers: Ids) -> Segments:
        """Return some of them."""
        return Segments(
            self.starts[numbers],
            self.ends[numbers],
            None if self.askers is None else self.askers[numbers],
            self.rows[numbers],
            self.left_out[numbers],
            self.mean[numbers],
            self.spread[numbers],
        )

    def joint_at(self, floors: Array) -> Array:
        """Return the joint log-densities that are as high as floors on the common scale."""
        return np.asarray(self.mean[:, _JOINT] + self.spread[:, _JOINT] * floors)

    def on_common_scale(self, joint: Array) -> Array:
        """Return joint log-densities by how far they are off what is expected."""
        return np.asarray((joint - self.mean[:, _JOINT]) / self.spread[:, _JOINT])


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

    def lowest_along(
        self, starts: Array, ends: Array, log_floor: LogFloor, *, askers: Array | None = None
    ) -> SegmentDensities:
        """Bound the lowest log-density along each segment from below, certified.

        With a floor, what one question refuses is not asked the others. At states pairs come
        first, which are quicker; on steps the joint density, as what it refuses a step for
        rules out other steps too.
        """
        if log_floor is None:
            return self._measure(starts, ends, askers)
        floors = np.full(len(starts), log_floor, dtype=np.float64)
        found = self._judge_alike(starts, ends, floors, askers)
        if found is not None:
            return found
        still = (starts == ends).all(axis=1)
        parts = [np.flatnonzero(still), np.flatnonzero(~still)]
        judged = [
            self.lowest_along(starts[some], ends[some], floors[some], askers=_some_of(askers, some))
            for some in parts
        ]
        return put_together(len(starts), parts, judged)

    def _measure(self, starts: Array, ends: Array, askers: Array | None) -> SegmentDensities:
        """Work out the lowest log-density along segments in full."""
        if self._ground is not None:
            asked_on_ground = (starts, ends, askers)
            return measure_on_ground(self._ground, self.kde, asked_on_ground, self._own_at(starts))
        asked = self._segments(starts, ends, askers)
        joint = self.kde.lowest_along(starts, ends, None, asked.rows).log_densities
        lowest = np.minimum(asked.on_common_scale(joint), self._pairs_along(asked))
        return compare_with_floor(lowest, None)

    def _judge_alike(
        self, starts: Array, ends: Array, floors: Array, askers: Array | None
    ) -> SegmentDensities | None:
        """Compare segments with floors; None where there are both steps and states among them.

        What compiled sums leave too close to call is asked again by itself.
        """
        if self._ground is None:
            return self._judge_part_by_part(starts, ends, floors, askers)
        own = self._own_at(starts)
        judged = judge_on_ground(self._ground, self.kde, (starts, ends, floors), own, askers)
        if judged is None:
            return None
        found, is_open = judged
        if not is_open.any():
            return found
        parts = [np.flatnonzero(~is_open), np.flatnonzero(is_open)]
        again = self._judge_part_by_part(
            starts[is_open], ends[is_open], floors[is_open], _some_of(askers, parts[1])
        )
        assert again is not None
        return put_together(len(starts), parts, [found.some(parts[0]), again])

    def _judge_part_by_part(
        self, starts: Array, ends: Array, floors: Array, askers: Array | None
    ) -> SegmentDensities | None:
        """Compare segments with floors, one question after the other; None as above."""
        still = (starts == ends).all(axis=1)
        if still.all():
            return self._judge_states(self._segments(starts, ends, askers), floors)
        if not still.any():
            return self._judge_steps(self._segments(starts, ends, askers), floors)
        return None

    def _own_at(self, points: Array) -> Expected:
        """Return what is expected of people at points, where something is own."""
        return None if self.given_own is None else self.given_own.at(points)

    def _judge_steps(self, steps: Segments, floors: Array) -> SegmentDensities:
        """Compare steps with floors, the joint density first."""
        asked = steps.joint_at(floors)
        found = self.kde.lowest_along(steps.starts, steps.ends, asked, steps.rows)
        lowest = steps.on_common_scale(found.log_densities)
        some = np.flatnonzero(found.passes)
        passes = found.passes.copy()
        if len(some):
            along = self._pairs_along(steps.some(some), log_floors=floors[some])
            passes[some] = along >= floors[some] - FLOOR_TOLERANCE
            lowest[some] = np.minimum(np.maximum(lowest[some], floors[some]), along)
        return SegmentDensities(lowest, passes, found.holes)

    def _judge_states(self, states: Segments, floors: Array) -> SegmentDensities:
        """Compare states with floors, pairs first."""
        lowest = self._pairs_along(states, only_ends=True)
        passes = lowest >= floors - FLOOR_TOLERANCE
        some = np.flatnonzero(passes)
        if len(some):
            left = states.some(some)
            asked = left.joint_at(floors[some])
            found = self.kde.lowest_along(left.starts, left.starts, asked, left.rows)
            joint = left.on_common_scale(found.log_densities)
            joint = np.where(found.passes, np.maximum(joint, floors[some]), joint)
            passes[some] = found.passes
            lowest[some] = np.minimum(joint, lowest[some])
        return SegmentDensities(lowest, passes)

    def mean_along(
        self, starts: Array, ends: Array, log_floor: LogFloor, *, askers: Array | None = None
    ) -> SegmentDensities:
        """Return the logarithm of the mean joint density along each segment.

        Pairs count at its two ends.
        """
        asked = self._segments(starts, ends, askers)
        joint = self.kde.mean_along(starts, ends, None, askers=askers).log_densities
        pairs = self._pairs_along(asked, only_ends=True)
        return compare_with_floor(np.minimum(asked.on_common_scale(joint), pairs), log_floor)

    def questions_at(
        self, point: Array, *, asker: Array | None = None
    ) -> tuple[AnsweredQuestion, ...]:
        """Answer each question at a point, and name the pair behind it.

        The lowest is what the state goes by. Of the weighted pairs the one is named that lowers
        the sum most.
        """
        points = point[None, :]
        askers = None if asker is None else asker[None, :]
        mean, spread = self._expected(points)
        joint = self.kde.lowest_along(points, points, None, askers=askers).log_densities[0]
        found = [
            AnsweredQuestion("joint density", float((joint - mean[0, 0]) / spread[0, 0]), None)
        ]
        if not len(self.pairs.considered):
            return tuple(found)
        binned = self.pairs.tables.bins.of(points)
        without = self._bins_left_out(self.kde.rows_left_out(points, points, askers))
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

    def _segments(self, starts: Array, ends: Array, askers: Array | None) -> Segments:
        """Put together what is asked about with what is expected there."""
        rows, left_out = self.rows.rows_left_out(starts, ends, askers)
        return Segments(starts, ends, askers, rows, left_out, *self._expected(starts))

    def _pairs_along(
        self, asked: Segments, *, log_floors: Array | None = None, only_ends: bool = False
    ) -> Array:
        """Return the lowest that pairs stand for along each segment, on the common scale.

        With floors, what is refused need not be the lowest.
        """
        starts, ends = asked.starts, asked.ends
        mean, spread = asked.mean[:, 1:], asked.spread[:, 1:]
        tables = self.pairs.tables
        if not len(self.pairs.considered):
            return np.full(len(starts), np.inf)
        if self._pair_rule is not None and (asked.askers is None or self._pair_rule.takes_askers):
            return self._pair_rule.lowest_along(
                starts,
                ends,
                askers=asked.askers,
                left_out=asked.left_out,
                mean=mean,
                spread=spread,
                log_floors=log_floors,
                only_ends=only_ends,
            )
        step = np.tile(np.arange(len(starts)), 2)
        if only_ends:
            binned = tables.bins.of(np.concatenate([starts, ends]))
        else:
            step, binned = cells_along(starts, ends, tables.bins, self.space.discrete)
        without = self._bins_left_out(asked.rows)
        values = (self.pairs.values(binned, without[step]) - mean[step]) / spread[step]
        lowest = np.full(len(starts), np.inf)
        np.minimum.at(lowest, step, self.common.lowest(values))
        return lowest

    def _bins_left_out(self, rows: Ids) -> Ids:
        """Return the bins of the rows that do not count along segments, -1 where there is none."""
        own = rows.copy()
        own[own[:, 0] == own[:, 1], 1] = -1  # a row that is at both ends is left out once
        bins = self.pairs.tables.bins
        without = bins.of(self.rows.points[own.ravel()]).reshape(*own.shape, len(bins.columns))
        without[own < 0] = -1
        return np.asarray(without)


def _some_of(askers: Array | None, numbers: Ids) -> Array | None:
    return None if askers is None else askers[numbers]
