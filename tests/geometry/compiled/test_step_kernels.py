"""Compiled kernel sums along steps, against NumPy's and against a line sampled densely."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from by_numpy import kde_by_numpy, needs_compiled
from localface.density.kde import KDE
from localface.geometry.point_set import PointSet

pytestmark = needs_compiled

Array = np.ndarray
TOLERANCE = 1e-9  # of floors
KINDS = (
    "plane", "wide", "one column", "one row", "two rows", "near twins", "far outlier",
    "tiny bandwidth", "huge bandwidth", "categories", "off the origin", "stretched",
    "many rows", "many rows off the origin", "many stretched rows", "grid", "codes", "many codes",
)  # fmt: skip


@dataclass(frozen=True)
class Ground:
    """Rows with kernels on them, and segments between rows and other points."""

    points: Array
    discrete: Array
    bandwidth: float
    matrix: Array | None
    starts: Array
    ends: Array

    @property
    def kde(self) -> KDE:
        unknown = np.full(len(self.points), np.nan)
        return KDE(
            PointSet(self.points),
            self.discrete,
            bandwidth=self.bandwidth,
            matrix=self.matrix,
            row_log_densities=unknown,
        )


def make_ground(kind: str, seed: int, n_segments: int = 24) -> Ground:
    chance = np.random.default_rng([KINDS.index(kind), seed])
    many = kind.startswith("many") or kind == "far outlier"
    n = {"one row": 1, "two rows": 2}.get(kind, 1500 if many else int(chance.integers(3, 300)))
    width = {"wide": 30, "one column": 1}.get(kind, int(chance.integers(2, 6)))
    points = chance.normal(size=(n, width))
    discrete = np.zeros(width, dtype=bool)
    bandwidth = float(chance.uniform(0.2, 0.8))
    matrix = None
    if kind == "categories":
        discrete[:] = chance.random(width) < 0.5
        discrete[0] = True
        points = np.where(discrete, np.sqrt(0.5) * (points > 0), points)
    if kind.endswith("codes"):
        points, discrete, matrix = one_hot(chance, n, width)
        width = points.shape[1]
    if kind == "near twins":
        points = np.concatenate([points, points + 1e-15])
    if kind == "far outlier":
        points[0] = 1e6
    if kind == "grid":
        points = np.round(2 * points)
    bandwidth *= {"tiny bandwidth": 1e-3, "huge bandwidth": 1e4}.get(kind, 1.0)
    if kind.endswith("off the origin"):
        points += 15.0
        bandwidth /= 4
    if "stretched" in kind:
        matrix = chance.normal(size=(width, width)) @ np.diag(10.0 ** chance.uniform(-1, 1, width))
    points = np.unique(points, axis=0)
    starts = points[chance.integers(0, len(points), n_segments)]
    ends = points[chance.integers(0, len(points), n_segments)]
    loose = chance.random(n_segments) < 0.5
    away = np.where(discrete, 0.0, chance.normal(size=(n_segments, width)))
    ends = np.where(loose[:, None], ends + bandwidth * away, ends)
    ends = np.where((chance.random(n_segments) < 0.15)[:, None], starts, ends)
    return Ground(points, discrete, bandwidth, matrix, starts, ends)


def one_hot(chance: np.random.Generator, n: int, width: int) -> tuple[Array, Array, Array]:
    """Numbers beside categories, most of which nobody at either end of a step has."""
    codes = chance.integers([0, 3, 15], [3, 15, 16], (n, 3))  # everybody has the last
    categories = np.zeros((n, 16))
    np.put_along_axis(categories, codes, np.sqrt(0.5), axis=1)
    points = np.column_stack([chance.normal(size=(n, width)), categories])
    discrete = np.arange(width + 16) >= width
    matrix = np.diag(chance.uniform(0.5, 1.5, width + 16))
    matrix[width:, :width] = chance.normal(0, 0.3, (16, width))  # what a category says of numbers
    return points, discrete, matrix


def log_sum_at(ground: Ground, points: Array, left_out: Array) -> Array:
    """The log-sum of kernels at points, written down as it is defined."""
    matrix = np.eye(points.shape[1]) if ground.matrix is None else ground.matrix
    away = (points[:, None, :] - ground.points[~left_out]) @ matrix
    logs = -(away**2).sum(axis=2) / (2 * ground.bandwidth**2)
    return log_of_sum(logs)


def log_of_sum(logs: Array) -> Array:
    top = np.maximum(logs.max(axis=1, initial=-np.inf), -1e300)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(logs - top[:, None]).sum(axis=1)) + top


def lowest_by_sampling(ground: Ground, start: Array, end: Array) -> float:
    """The lowest log-sum along a segment, looked for ever closer around the lowest sample."""
    left_out = (ground.points == start).all(axis=1) | (ground.points == end).all(axis=1)
    halves = [(0.0, np.nextafter(0.5, 0)), (0.5, 1.0)]

    def along(t: Array) -> Array:
        straight = start + t[:, None] * (end - start)
        flipped = np.where(t[:, None] < 0.5, start, end)
        return log_sum_at(ground, np.where(ground.discrete, flipped, straight), left_out)

    lowest = np.inf
    for low, high in halves:
        for _ in range(5):
            t = np.linspace(low, high, 61)
            sums = along(t)
            at = int(sums.argmin())
            lowest = min(lowest, float(sums[at]))
            low, high = t[max(at - 1, 0)], t[min(at + 1, len(t) - 1)]
    return lowest


def rows_of(kde: KDE, starts: Array, ends: Array) -> Array:
    return kde.rows_left_out(starts, ends, None)


def lowest_log_sums(kde: KDE, starts: Array, ends: Array) -> Array:
    return kde._lowest_log_sums(starts, ends, rows_of(kde, starts, ends))


def rounding_of(ground: Ground) -> float:
    """What distances lose where points are far from the origin beside the bandwidth."""
    matrix = np.eye(ground.points.shape[1]) if ground.matrix is None else ground.matrix
    size = float(((np.abs(ground.points) @ np.abs(matrix)) ** 2).sum(axis=1).max())
    return 1e-13 * size / ground.bandwidth**2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_lowest_sums_are_those_of_numpy_and_of_dense_samples(kind: str, seed: int) -> None:
    ground = make_ground(kind, seed, 10)
    kde = ground.kde

    found = lowest_log_sums(kde, ground.starts, ground.ends)

    by_numpy = lowest_log_sums(kde_by_numpy(kde), ground.starts, ground.ends)
    truth = np.array(
        [lowest_by_sampling(ground, *both) for both in zip(ground.starts, ground.ends, strict=True)]
    )
    loss = TOLERANCE + rounding_of(ground)
    finite = np.isfinite(by_numpy)
    np.testing.assert_array_equal(np.isneginf(found), np.isneginf(by_numpy))
    np.testing.assert_array_equal(np.isneginf(found), np.isneginf(truth))
    np.testing.assert_allclose(found[finite], by_numpy[finite], rtol=1e-9, atol=loss)
    truth = truth[finite]
    assert (found[finite] <= truth + loss + 1e-9 * np.abs(truth)).all()
    np.testing.assert_allclose(found[finite], truth, rtol=1e-6, atol=1e-6 + loss)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_verdicts_are_those_of_numpy_however_close_the_floor(kind: str, seed: int) -> None:
    ground = make_ground(kind, seed)
    kde = ground.kde
    lowest = lowest_log_sums(kde_by_numpy(kde), ground.starts, ground.ends)
    lowest = np.where(np.isfinite(lowest), lowest, -20.0)
    for by in (1e-12, 1e-9, 4e-9, 1e-6, 1e-3, 0.02, 0.3, 2.0, 40.0):
        for floors in (lowest - by, lowest + by):
            _check_verdicts(ground, kde, floors)


def _check_verdicts(ground: Ground, kde: KDE, floors: Array) -> None:
    found = kde.lowest_along(ground.starts, ground.ends, floors + kde.log_normaliser)
    by_numpy = kde._judge(
        ground.starts, ground.ends, rows_of(kde, ground.starts, ground.ends), floors
    )
    np.testing.assert_array_equal(found.passes, by_numpy.passes)
    compiled = kde.compiled
    assert compiled is not None
    rows = kde._point_set.rows_at_ends(ground.starts, ground.ends)
    judged = compiled.judge(ground.starts, ground.ends, rows, floors)
    decided = judged.verdicts >= 0
    np.testing.assert_array_equal(judged.verdicts[decided] == 1, by_numpy.passes[decided])
    passed = judged.verdicts == 1
    assert (judged.bounds[passed] >= floors[passed] - TOLERANCE).all()
    refused = judged.verdicts == 0
    assert (judged.bounds[refused] < floors[refused]).all()


@pytest.mark.parametrize("kind", ["plane", "many rows", "categories", "many stretched rows"])
@pytest.mark.parametrize("seed", range(2))
def test_most_is_decided_without_the_referee(kind: str, seed: int) -> None:
    ground = make_ground(kind, seed)
    kde = ground.kde
    compiled = kde.compiled
    assert compiled is not None
    rows = kde._point_set.rows_at_ends(ground.starts, ground.ends)
    lowest = compiled.lowest_log_sums(ground.starts, ground.ends, rows)
    lowest = np.where(np.isfinite(lowest), lowest, -20.0)

    for floors in (lowest - 1e-6, lowest + 1e-6):
        judged = compiled.judge(ground.starts, ground.ends, rows, floors)
        assert (judged.verdicts >= 0).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_nothing_inside_a_hole_is_above_the_floor(kind: str, seed: int) -> None:
    ground = make_ground(kind, seed)
    kde = ground.kde
    chance = np.random.default_rng(seed)
    lowest = lowest_log_sums(kde, ground.starts, ground.ends)
    floors = np.where(np.isfinite(lowest), lowest, -20.0) + 3.0

    found = kde.lowest_along(ground.starts, ground.ends, floors + kde.log_normaliser)

    matrix = np.eye(ground.points.shape[1]) if ground.matrix is None else ground.matrix
    places = ground.points @ matrix
    for i, hole in found.holes:
        inside = chance.normal(size=(200, len(hole.centre)))
        inside *= hole.radius * (1 - 1e-9) / np.linalg.norm(inside, axis=1)[:, None]
        away = (hole.centre + inside)[:, None, :] - places
        logs = -(away**2).sum(axis=2) / (2 * ground.bandwidth**2)
        assert (log_of_sum(logs) < floors[i]).all()


def test_what_is_no_number_never_passes() -> None:
    ground = make_ground("plane", 0)
    kde = ground.kde
    nowhere = np.full((1, ground.points.shape[1]), np.nan)
    here = ground.points[:1]
    compiled = kde.compiled
    assert compiled is not None
    no_rows = np.full((1, 2), -1)
    for starts, ends in ((nowhere, nowhere), (here, nowhere), (nowhere, here)):
        judged = compiled.judge(starts, ends, no_rows, np.array([-50.0]))
        assert judged.verdicts.tolist() == [-1]
        assert np.isnan(compiled.lowest_log_sums(starts, ends, no_rows)).all()
    leg = kde._kernels.exact_leg(nowhere[0], nowhere[0], no_rows[0])
    assert not leg.stays_above(-50.0)


def test_no_segments_are_no_trouble() -> None:
    ground = make_ground("plane", 0)
    nothing = np.zeros((0, ground.points.shape[1]))
    assert len(ground.kde.lowest_along(nothing, nothing, -1.0).passes) == 0
    assert len(lowest_log_sums(ground.kde, nothing, nothing)) == 0


def test_segments_may_lie_in_memory_as_they_like() -> None:
    ground = make_ground("many rows", 1)
    kde = ground.kde
    wanted = lowest_log_sums(kde, ground.starts, ground.ends)
    starts, ends = np.asfortranarray(ground.starts), np.repeat(ground.ends, 2, axis=0)[::2]
    np.testing.assert_array_equal(lowest_log_sums(kde, starts, ends), wanted)
    floors = np.broadcast_to(-3.0, len(starts))
    np.testing.assert_array_equal(
        kde.lowest_along(starts, ends, floors).passes,
        kde.lowest_along(ground.starts, ground.ends, -3.0).passes,
    )


def test_a_segment_is_judged_the_same_in_any_company() -> None:
    ground = make_ground("many rows", 2)
    kde = ground.kde
    floor = kde.log_normaliser + float(np.median(lowest_log_sums(kde, ground.starts, ground.ends)))
    together = kde.lowest_along(ground.starts, ground.ends, floor)
    for i in range(len(ground.starts)):
        alone = kde.lowest_along(ground.starts[i : i + 1], ground.ends[i : i + 1], floor)
        assert alone.log_densities[0] == together.log_densities[i]
        assert alone.passes[0] == together.passes[i]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_states_are_judged_as_by_numpy_however_close_the_floor(kind: str, seed: int) -> None:
    ground = make_ground(kind, seed)
    points = np.concatenate([ground.starts, ground.ends, (ground.starts + ground.ends) / 2])
    kde = ground.kde
    by_numpy = kde_by_numpy(kde)
    values = by_numpy.lowest_along(points, points, None).log_densities
    values = np.where(np.isfinite(values), values, -1e3)

    for off in (-40.0, -1.0, -1e-3, -1e-8, 0.0, 1e-12, 1e-8, 1e-3, 1.0, 40.0):
        found = kde.lowest_along(points, points, values + off)
        wanted = by_numpy.lowest_along(points, points, values + off)
        np.testing.assert_array_equal(found.passes, wanted.passes)
        low = ~found.passes
        assert (found.log_densities[low] <= (values + off)[low]).all()
