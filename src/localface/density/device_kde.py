"""A Gaussian kernel density whose sums over all rows are worked out on a GPU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.density.kde import KDE
from localface.density.protocol import FLOOR_TOLERANCE, Hole, LogFloor, SegmentDensities
from localface.density.segment_bounds import Legs, LegSamples
from localface.geometry.device.scan import BALLS, KernelSamples, NearQuestions, RowScan
from localface.geometry.point_set import PointSet
from localface.types import Array, Ids, Mask

_FAINT = -500.0  # log-sums below which plain sums run out of numbers: the processor's part
_SHALLOW = 0.5  # nats: what is refused by less lies next to dense regions, and is no hole
_SMALLEST_HOLE = 0.25  # in bandwidths
_HALVINGS = 10
_REFUSED = 0
_PASSED = 1
_UNDECIDED = 2


@dataclass(frozen=True, slots=True, eq=False)
class DeviceProfile:
    """The kernels of all rows along legs, to be summed by a scan; see ``KernelProfile``."""

    scan: RowScan
    legs: Legs
    own: Ids
    h: float

    @property
    def lengths(self) -> Array:
        """Of the legs."""
        return self.legs.lengths

    def log_sums_at(self, leg: Ids, offsets: Array) -> tuple[Array, Array]:
        """Return the log-sum of kernels at offsets along legs, with its slope."""
        samples = KernelSamples(leg, offsets, self.legs.starts, self.legs.directions, self.own)
        totals, tilted = self.scan.kernel_sums(samples, self.h)
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = np.where(totals > 0, tilted / totals, 0.0) / self.h**2
            return np.log(totals), slopes - offsets / self.h**2


class DeviceKDE(KDE):
    """A density as ``KDE``, whose rows lie on a device: ``scan`` has them where kernels are round.

    It decides as ``KDE`` does, on sums over all rows. What is too close to call is left to the
    processor, and so is the mean along segments.
    """

    def __init__(
        self,
        point_set: PointSet,
        discrete: Mask,
        *,
        bandwidth: float,
        matrix: Array | None = None,
        row_log_densities: Array,
        places: Array | None = None,
        scan: RowScan,
    ) -> None:
        super().__init__(
            point_set,
            discrete,
            bandwidth=bandwidth,
            matrix=matrix,
            row_log_densities=row_log_densities,
            places=places,
        )
        self._scan = scan

    def lowest_along(
        self,
        starts: Array,
        ends: Array,
        log_floor: LogFloor,
        rows: Ids | None = None,
        *,
        askers: Array | None = None,
    ) -> SegmentDensities:
        """Bound the lowest log-density along each segment from below; see ``KDE``."""
        if rows is None:
            rows = self.rows_left_out(starts, ends, askers)
        if log_floor is None:
            return super().lowest_along(starts, ends, None, rows)
        floors = np.broadcast_to(log_floor, len(starts)) - self.log_normaliser
        return self._judge_on_device(starts, ends, rows, floors)

    def _lowest_log_sums(self, starts: Array, ends: Array, rows: Ids) -> Array:
        """Return the lowest log-sum of kernels along each segment."""
        if len(starts) == 0:
            return np.zeros(0)
        legs, own = self._legs_of(starts, ends, rows)
        samples = LegSamples(DeviceProfile(self._scan, legs, own, self.bandwidth))
        found = np.minimum.reduceat(samples.refine_to_minima(), legs.first_legs)
        faint = np.flatnonzero(~(found > _FAINT))
        if len(faint):
            found[faint] = super()._lowest_log_sums(starts[faint], ends[faint], rows[faint])
        return np.asarray(found)

    def _legs_of(self, starts: Array, ends: Array, rows: Ids) -> tuple[Legs, Ids]:
        """Split segments into legs where kernels are round, with the rows at their ends."""
        legs = Legs.of(starts, ends, self._kernels.discrete)
        if self._kernels.matrix is not None:
            places = self._kernels.places_of(np.concatenate([legs.starts, legs.ends]))
            legs = legs.between(places[: len(legs)], places[len(legs) :])
        return legs, rows[legs.segment]

    def _judge_on_device(
        self, starts: Array, ends: Array, rows: Ids, floors: Array
    ) -> SegmentDensities:
        """Compare segments with floors on log-sums; what is too close to call is worked out."""
        if len(starts) == 0:
            return self._judge(starts, ends, rows, floors)
        legs, own = self._legs_of(starts, ends, rows)
        leg_floors = floors[legs.segment]
        rounding = self._kernels.rounding_error(legs.starts, legs.ends)
        samples = LegSamples(DeviceProfile(self._scan, legs, own, self.bandwidth))
        samples.refine_until_decided(leg_floors, rounding)
        passed = samples.proven_minimum >= leg_floors - FLOOR_TOLERANCE / 2 + rounding
        refused = samples.lowest_sample < leg_floors - 2 * FLOOR_TOLERANCE - 2 * rounding
        bounds = np.where(passed, samples.proven_minimum, samples.lowest_sample)
        verdicts = np.where(passed, _PASSED, np.where(refused, _REFUSED, _UNDECIDED))
        verdicts[leg_floors < _FAINT] = _UNDECIDED
        for leg in np.flatnonzero(verdicts == _UNDECIDED).tolist():
            exact = self._kernels.exact_leg(legs.starts[leg], legs.ends[leg], own[leg])
            verdicts[leg] = _PASSED if exact.stays_above(float(leg_floors[leg])) else _REFUSED
        worst = np.lexsort((bounds, verdicts, legs.segment))[legs.first_legs]
        passes = verdicts[worst] == _PASSED
        log_sums = bounds[worst]
        log_sums[passes] = np.maximum(log_sums, floors - FLOOR_TOLERANCE)[passes]
        moves = (starts != ends).any(axis=1)
        deep = np.flatnonzero(~passes & moves & (log_sums < floors - _SHALLOW))
        places = legs.points_at(samples.lowest_offsets())[worst[deep]]
        holes = self._holes_around(deep, places, floors[deep])
        return SegmentDensities(log_sums + self.log_normaliser, passes, holes)

    def _holes_around(
        self, segments: Ids, places: Array, floors: Array
    ) -> tuple[tuple[int, Hole], ...]:
        """Find the widest balls around places in which all kernels together stay below floors."""
        if len(segments) == 0:
            return ()
        small = np.full(len(places), _SMALLEST_HOLE * self.bandwidth)
        large = self._nearest_distances(places)
        below = floors - 2 * FLOOR_TOLERANCE - 1e-9
        hollow = (small < large) & (self._log_ball_sums(places, small) < below)
        some = np.flatnonzero(hollow)
        for _ in range(_HALVINGS if len(some) else 0):
            middle = (small[some] + large[some]) / 2
            fits = self._log_ball_sums(places[some], middle) < below[some]
            small[some] = np.where(fits, middle, small[some])
            large[some] = np.where(fits, large[some], middle)
        matrix = self._kernels.matrix
        return tuple(
            (int(segments[i]), Hole(places[i], float(small[i]), matrix)) for i in some.tolist()
        )

    def _log_ball_sums(self, places: Array, radii: Array) -> Array:
        """Return the log-sum of kernels at places, were all rows nearer by a radius."""
        samples = KernelSamples.at_points(places, offsets=radii, mode=BALLS)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self._scan.kernel_sums(samples, self.bandwidth)[0]))

    def _nearest_distances(self, places: Array) -> Array:
        """Return how far the nearest row is from each place."""
        n = len(places)
        rows, counts = self._scan.near_rows(NearQuestions.for_points(places, np.ones(n, np.int64)))
        place = np.repeat(np.arange(n), counts)
        away = self._kernels.point_set.points[rows] - places[place]
        found = np.full(n, np.inf)
        np.minimum.at(found, place, np.sqrt((away * away).sum(axis=1)))
        return found
