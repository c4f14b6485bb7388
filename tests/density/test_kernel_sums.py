"""Verdicts against an exact sum over all rows, in every batch."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from localface.density import kernel_sums, row_kernels
from localface.density.fit import fit_kde
from localface.density.kde import KDE
from localface.geometry.point_set import PointSet


def _cloud(width, n=400, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, width)) @ (np.eye(width) + 0.3 * rng.normal(size=(width, width)))


# Verdicts against an exact sum: all rows, point by point, with the minimum found by a grid and
# golden sections.
def _exact_sum(places, rows, h, n, left_out):
    """The log-density at one place a line, without the rows that are left out of that line."""
    squares = cdist(places, rows, "sqeuclidean")
    logs = np.where(left_out, -np.inf, squares / (-2 * h * h))
    top = logs.max(axis=1)
    top = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        total = top + np.log(np.exp(logs - top[:, None]).sum(axis=1))
    return total - np.log(n) - rows.shape[1] / 2 * np.log(2 * np.pi * h * h)


def _exact_minimum(start, end, rows, kde, discrete, *, grid=241):
    """The lowest density on a step: each straight half of it by itself, where something flips."""
    h, n = kde.bandwidth, len(rows)
    left_out = ((rows == start).all(axis=1) | (rows == end).all(axis=1))[None, :]
    flips = discrete & (start != end)
    half = (start + end) / 2
    pieces = (
        [(start, np.where(flips, start, half)), (np.where(flips, end, half), end)]
        if flips.any()
        else [(start, end)]
    )
    lowest = np.inf
    for a, b in pieces:

        def at(t, a=a, b=b):
            t = np.atleast_1d(t)
            return _exact_sum(a + t[:, None] * (b - a), rows, h, n, left_out)

        t = np.linspace(0, 1, grid)
        logs = at(t)
        lowest = min(lowest, logs.min())
        for i in {int(logs.argmin()), *np.flatnonzero(logs < logs.min() + 0.01).tolist()[:2]}:
            lowest = min(lowest, _golden(at, t[max(0, i - 1)], t[min(grid - 1, i + 1)]))
    return float(lowest)


def _golden(at, low, high):
    """The minimum of a function with one valley between two places."""
    ratio, best = (np.sqrt(5) - 1) / 2, np.inf
    for _ in range(45):
        c, d = high - ratio * (high - low), low + ratio * (high - low)
        at_c, at_d = at(np.array([c, d]))
        best = min(best, at_c, at_d)
        low, high = (low, d) if at_c < at_d else (c, high)
    return best


def _people(width, n=150, seed=0):
    """Rows of which the last columns are 0 or 1 (none where there are only two columns)."""
    rows = _cloud(width, n, seed)
    discrete = np.arange(width) >= (width if width == 2 else width - 2)
    rows[:, discrete] = rows[:, discrete] > 0
    return np.unique(rows, axis=0), discrete


def _steps(rows, discrete, n, seed):
    """Between rows, from elsewhere, flips alone, of no length, tiny ones, and from far off."""
    rng = np.random.default_rng(seed)
    other = rng.normal(size=(n, rows.shape[1])) * 1.2
    other[:, discrete] = other[:, discrete] > 0
    starts, ends = (
        rows[rng.integers(0, len(rows), n)].copy(),
        rows[rng.integers(0, len(rows), n)].copy(),
    )
    kind = np.arange(n) % 8
    starts[kind == 1] = other[kind == 1]
    starts[kind == 2], ends[kind == 2] = other[kind == 2], np.roll(other, 1, axis=0)[kind == 2]
    ends[kind == 3] = starts[kind == 3]  # no step at all, where a row stands
    starts[kind == 4] = ends[kind == 4] = other[kind == 4]  # no step at all, elsewhere
    ends[kind == 5] = np.where(
        discrete, 1 - starts[kind == 5], starts[kind == 5]
    )  # only flips: legs of no length
    ends[kind == 6] = starts[kind == 6] + np.where(discrete, 0.0, 1e-6)
    starts[kind == 7] += np.where(discrete, 0.0, 60 * rng.normal(size=(kind == 7).sum())[:, None])
    return starts, ends


@pytest.mark.parametrize(("width", "n"), [(2, 480), (5, 480), (22, 240)])
def test_verdicts_right_beside_the_exact_minimum_are_those_of_the_exact_sum(width, n):
    rows, discrete = _people(width)
    kde = fit_kde(PointSet(rows), discrete)
    starts, ends = _steps(rows, discrete, n, seed=width)
    exact = np.array(
        [_exact_minimum(a, b, rows, kde, discrete) for a, b in zip(starts, ends, strict=True)]
    )
    assert (exact < -700).any()
    values = kde.lowest_along(starts, ends, None).log_densities
    slight = 1e-9 + 1e-13 * np.abs(
        exact
    )  # sums below -10,000 are not known to ten digits after the point
    assert (values <= exact + slight).all()
    assert (exact - values < 1e-6 + slight).all()
    for off, passes in (
        (-1e-8, True),
        (-1e-10, True),
        (0.0, True),
        (1e-10, True),
        (1e-8, False),
        (0.3, False),
    ):
        sure = np.abs(exact) < 1e3 if abs(off) <= 1e-8 else np.isfinite(exact)
        ground = kde.lowest_along(
            starts[sure], ends[sure], exact[sure] + off
        )  # a floor for each step
        wrong = np.flatnonzero(ground.passes != passes)
        assert len(wrong) == 0, (off, sure.nonzero()[0][wrong], exact[sure][wrong])
        assert (ground.log_densities[ground.passes] <= exact[sure][ground.passes] + 1e-9).all()


@pytest.mark.parametrize("width", [2, 5, 22])
@pytest.mark.parametrize("near", [1, 10**9])
def test_however_many_near_rows_are_summed_first_the_verdict_is_the_same(width, near, monkeypatch):
    rows, discrete = _people(width, n=500, seed=4)
    kde = fit_kde(PointSet(rows), discrete)
    starts, ends = _steps(rows, discrete, 400, seed=1)
    values = kde.lowest_along(starts, ends, None).log_densities
    fine = np.isfinite(values)
    floors = values[fine] + np.tile([0.0, 1e-8, -1e-8, 0.1, -0.1], len(values))[: fine.sum()]
    usual = kde.lowest_along(starts[fine], ends[fine], floors)
    monkeypatch.setattr(row_kernels, "_NEAR_ROWS", near)
    monkeypatch.setattr(kernel_sums, "_FEW_ROWS", 0)  # near rows first, few as they are
    other = kde.lowest_along(starts[fine], ends[fine], floors)
    assert (usual.passes == other.passes).all()
    assert 0.2 < usual.passes.mean() < 0.9


@pytest.mark.parametrize("width", [2, 22])
def test_alone_and_in_any_batch_verdicts_are_the_same_and_values_too(width):
    rows, discrete = _people(width, n=500, seed=5)
    kde = fit_kde(PointSet(rows), discrete)
    starts, ends = _steps(rows, discrete, 120, seed=2)
    together, means = (
        kde.lowest_along(starts, ends, None).log_densities,
        kde.mean_along(starts, ends, None).log_densities,
    )
    close = 1e-9 * np.maximum(1.0, np.abs(together) / 1e3)
    floors = together + np.tile([0.0, 5e-10, 6e-10, 1e-9, -1e-9, 0.2], 20)
    verdicts = kde.lowest_along(starts, ends, floors).passes
    rng = np.random.default_rng(3)
    for size in (1, 7, 120):
        for some in np.array_split(rng.permutation(120), 120 // size):
            apart = np.abs(
                kde.lowest_along(starts[some], ends[some], None).log_densities - together[some]
            )
            assert (apart <= close[some]).all()
            assert (
                kde.lowest_along(starts[some], ends[some], floors[some]).passes == verdicts[some]
            ).all()
            assert kde.mean_along(starts[some], ends[some], None).log_densities == pytest.approx(
                means[some], abs=1e-9, rel=1e-12
            )


def test_someone_ten_thousand_ordinary_differences_away_is_judged_and_not_lost_to_underflow():
    rows, discrete = _people(5)
    kde = fit_kde(PointSet(rows), discrete)
    starts = rows[:20] + np.where(discrete, 0.0, 1e4)
    for start, end in zip(starts, rows[20:40], strict=True):
        exact = _exact_minimum(start, end, rows, kde, discrete)
        value = kde.lowest_along(start[None], end[None], None).log_densities[0]
        assert exact < -1e7
        assert value == pytest.approx(exact, rel=1e-12)
        hair = 1e-9 * abs(exact)
        floors = np.array([exact - hair, exact + hair])
        passes = kde.lowest_along(np.stack([start, start]), np.stack([end, end]), floors).passes
        assert passes.tolist() == [True, False]
        assert not kde.lowest_along(start[None], end[None], kde.scale.quantile(0.05)).passes[0]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_with_hardly_anyone_the_sums_are_still_exact(n):
    rows = np.array([[0.0, 0.0], [1.0, 0.5], [0.25, 2.0]])[:n]
    none = np.zeros(2, dtype=bool)
    kde = KDE(PointSet(rows), none, bandwidth=0.7, row_log_densities=np.zeros(n))
    ends = np.array([[0.5, 0.5], [1.0, 0.5], [0.0, 0.0], [3.0, 3.0]])
    starts = np.repeat(rows[:1], 4, axis=0)
    exact = np.array(
        [_exact_minimum(a, b, rows, kde, none) for a, b in zip(starts, ends, strict=True)]
    )
    values = kde.lowest_along(starts, ends, None).log_densities
    assert values == pytest.approx(exact, abs=1e-9)  # minus infinity where everyone is left out
    assert np.isneginf(values).any() == (n < 3)
    assert (
        kde.lowest_along(starts, ends, np.where(np.isfinite(exact), exact, -50.0)).passes.tolist()
        == np.isfinite(exact).tolist()
    )


def test_where_everyone_is_left_out_nothing_vouches_and_no_floor_is_reached():
    rows, none = np.array([[0.0, 0.0], [1.0, 1.0]]), np.zeros(2, dtype=bool)
    kde = KDE(PointSet(rows), none, bandwidth=1.0, row_log_densities=np.zeros(2))
    ground = kde.lowest_along(rows[:1], rows[1:], -1e6)
    assert not ground.passes[0]
    assert np.isneginf(ground.log_densities[0])
    assert np.isneginf(kde.lowest_along(rows[:1], rows[1:], None).log_densities[0])
    assert np.isneginf(kde.mean_along(rows[:1], rows[1:], None).log_densities[0])
    assert kde.lowest_along(rows[:1], rows[1:], -np.inf).passes[0]  # what asks for nothing gets it


def test_a_flip_halves_a_step_and_one_leg_that_fails_fails_the_step():
    rng = np.random.default_rng(0)
    crowded = np.column_stack([rng.normal(size=(300, 1)), np.zeros(300)])
    rows = np.concatenate([crowded, [[0.1, 1.0], [0.2, 1.0]]])
    discrete = np.array([False, True])
    kde = fit_kde(PointSet(rows), discrete, bandwidth=0.2)
    start, end = np.array([[0.05, 0.0]]), np.array([[0.15, 1.0]])
    first = _exact_minimum(start[0], np.array([0.1, 0.0]), rows, kde, np.zeros(2, dtype=bool))
    both = _exact_minimum(start[0], end[0], rows, kde, discrete)
    assert first > both + 1
    floors = np.array([both - 1e-8, both + 1e-8, first - 1e-8])
    passes = kde.lowest_along(np.repeat(start, 3, axis=0), np.repeat(end, 3, axis=0), floors).passes
    assert passes.tolist() == [True, False, False]


def test_on_a_grid_of_people_where_the_ground_is_flat_verdicts_are_right():
    rows = np.stack(np.meshgrid(np.arange(16.0), np.arange(16.0)), axis=-1).reshape(-1, 2)
    none = np.zeros(2, dtype=bool)
    kde = fit_kde(PointSet(rows), none, bandwidth=1.0)
    starts, ends = np.array([[6.3, 7.2], [7.0, 7.0]]), np.array([[7.9, 8.1], [8.0, 7.0]])
    exact = np.array(
        [_exact_minimum(a, b, rows, kde, none) for a, b in zip(starts, ends, strict=True)]
    )
    assert kde.lowest_along(starts, ends, None).log_densities == pytest.approx(exact, abs=1e-9)
    for off, passes in ((0.0, True), (1e-10, True), (1e-8, False)):
        assert (kde.lowest_along(starts, ends, exact + off).passes == passes).all()


def test_mapping_points_adds_up_all_columns_to_the_last_bit():
    chance = np.random.default_rng(0)
    matrix = chance.normal(size=(6, 6))
    matrix[:, 4:] = 0.0
    matrix[4:, 4:] = np.diag([0.7, -1.3])  # as categories are mapped
    points = chance.normal(size=(50, 6))

    found = row_kernels.map_points(points, matrix)

    assert found.tolist() == (points[:, None, :] * matrix.T).sum(axis=-1).tolist()
    assert row_kernels.map_points(points[:1], matrix).tolist() == found[:1].tolist()
