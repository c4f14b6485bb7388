"""Densities: exact means, certified minima, leave-one-out floors, and the densities of users."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from localface.density import kernel_sums
from localface.density.fit import best_bandwidth, fit_kde, fit_knn
from localface.density.kde import KDE
from localface.density.protocol import DensityScale
from localface.density.sampled import SampledDensity, checked_log_density
from localface.errors import DensityError
from localface.geometry.point_set import PointSet

GRID = np.linspace(0, 1, 4001)[:, None]


def _cloud(width, n=400, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, width)) @ (np.eye(width) + 0.3 * rng.normal(size=(width, width)))


def _log_density(places, rows, h, n):
    squares = ((places[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2)
    return (
        np.log(np.exp(-squares / (2 * h * h)).sum(axis=1))
        - np.log(n)
        - places.shape[1] / 2 * np.log(2 * np.pi * h * h)
    )


def _along(start, end, rows, h):
    others = rows[~((rows == start).all(axis=1) | (rows == end).all(axis=1))]
    return _log_density(start + GRID * (end - start), others, h, len(rows))


@pytest.mark.parametrize("width", [2, 3, 8, 22])
def test_the_certified_minimum_is_never_above_a_fine_grid_and_all_but_meets_it(width):
    rows = _cloud(width)
    kde = fit_kde(PointSet(rows), np.zeros(width, dtype=bool))
    ends = np.random.default_rng(1).normal(size=(15, width)) * 1.5
    starts = np.concatenate([rows[:8], ends[:7][::-1]])
    values = kde.lowest_along(starts, ends, None).log_densities
    for start, end, value in zip(starts, ends, values, strict=True):
        sampled = _along(start, end, rows, kde.bandwidth).min()
        assert value <= sampled + 1e-9
        assert sampled - value < 1e-3


@pytest.mark.parametrize("width", [2, 8, 22])
def test_a_verdict_is_what_the_full_sum_says_however_few_rows_were_summed(width):
    rows = _cloud(width, n=1500)
    kde = fit_kde(PointSet(rows), np.zeros(width, dtype=bool))
    rng = np.random.default_rng(2)
    starts, ends = rows[rng.integers(0, 1500, 200)], rows[rng.integers(0, 1500, 200)]
    exact = kde.lowest_along(starts, ends, None).log_densities
    for floor in np.quantile(exact, [0.1, 0.5, 0.9]):
        verdict = kde.lowest_along(starts, ends, floor)
        assert (verdict.passes == (exact >= floor - 1e-9)).all()
        assert (verdict.log_densities[verdict.passes] <= exact[verdict.passes] + 1e-9).all()


def test_a_hole_holds_no_place_above_the_floor():
    rows = np.concatenate([_cloud(2, seed=1), _cloud(2, seed=2) + 7])
    kde = fit_kde(PointSet(rows), np.zeros(2, dtype=bool))
    floor = kde.scale.quantile(0.05)
    ground = kde.lowest_along(rows[:20], rows[-20:], floor)
    assert not ground.passes.any()
    assert len(ground.holes) == 20
    rng = np.random.default_rng(0)
    for _, hole in ground.holes:
        way = rng.normal(size=(200, 2))
        inside = (
            hole.centre
            + way / np.linalg.norm(way, axis=1)[:, None] * hole.radius * rng.random((200, 1)) ** 0.5
        )
        assert (_log_density(inside, rows, kde.bandwidth, len(rows)) < floor).all()


@pytest.mark.parametrize("width", [2, 3, 8, 22])
def test_the_mean_is_exact_and_the_same_in_both_directions(width):
    rows = _cloud(width)
    kde = fit_kde(PointSet(rows), np.zeros(width, dtype=bool))
    starts, ends = rows[:10], rows[10:20]
    there, back = (
        kde.mean_along(starts, ends, None).log_densities,
        kde.mean_along(ends, starts, None).log_densities,
    )
    assert there == pytest.approx(back, abs=1e-9)
    for start, end, value in zip(starts, ends, there, strict=True):
        density = np.exp(_along(start, end, rows, kde.bandwidth))
        assert value == pytest.approx(np.log(np.trapezoid(density, dx=1 / 4000)), abs=1e-4)


def test_flips_are_judged_half_before_and_half_after():
    rows = np.array([[0.0, 0.0], [0.5, 0.0], [0.5, 1.0], [1.0, 1.0], [0.2, 0.0], [0.9, 1.0]])
    kde = fit_kde(PointSet(rows), np.array([False, True]), bandwidth=0.3)
    start, end = np.array([0.1, 0.0]), np.array([0.95, 1.0])
    t = GRID
    places = np.where([False, True], np.where(t < 0.5, start, end), start + t * (end - start))
    sampled = _log_density(places, rows, 0.3, len(rows))
    value = kde.lowest_along(start[None], end[None], None).log_densities[0]
    assert value <= sampled.min() + 1e-9
    assert sampled.min() - value < 1e-3
    assert kde.mean_along(start[None], end[None], None).log_densities[0] == pytest.approx(
        np.log(np.exp(sampled).mean()), abs=1e-3
    )


def test_where_a_person_stands_never_fails_against_itself():
    rows = _cloud(8)
    kde = fit_kde(PointSet(rows), np.zeros(8, dtype=bool))
    for row in rows[:50]:
        own = kde.lowest_along(row[None], row[None], None).log_densities[0]
        assert kde.lowest_along(row[None], row[None], own).passes[0]


def test_the_kernels_of_a_steps_own_ends_do_not_vouch_for_it():
    lonely = np.array([[50.0, 50.0], [50.1, 50.0]])
    kde = fit_kde(PointSet(np.concatenate([_cloud(2), lonely])), np.zeros(2, dtype=bool))
    assert not kde.lowest_along(lonely[:1], lonely[1:], kde.scale.quantile(0.05)).passes[0]


def test_a_leave_one_out_floor_of_five_percent_refuses_about_five_percent_of_new_people():
    everyone = _cloud(22, n=6000, seed=3)
    known, new = everyone[:4000], everyone[4000:]
    kde = fit_kde(PointSet(known), np.zeros(22, dtype=bool))
    refused = 1 - kde.lowest_along(new, new, kde.scale.quantile(0.05)).passes.mean()
    assert 0.03 <= refused <= 0.09
    own = np.exp(_log_density(known[:300], known, kde.bandwidth, len(known)))
    in_sample = np.quantile(np.log(own), 0.05)
    assert (
        1 - kde.lowest_along(new[:200], new[:200], in_sample).passes.mean() > 0.5
    )  # why it must be leave-one-out


def test_the_bandwidth_is_the_likeliest_leave_one_out():
    rows = _cloud(3, n=300)

    def likelihood(h):
        squares = ((rows[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2)
        np.fill_diagonal(squares, np.inf)
        return np.log(np.exp(-squares / (2 * h * h)).sum(axis=1)).mean() - 3 * np.log(h)

    best = best_bandwidth(PointSet(rows))
    assert likelihood(best) >= max(likelihood(best * 1.03), likelihood(best / 1.03))


def test_the_nearest_neighbour_density_finds_the_loneliest_place_on_a_step():
    rows = _cloud(3)
    knn = fit_knn(PointSet(rows), np.zeros(3, dtype=bool), k=4)
    for start, end in zip(rows[:10], rows[10:20], strict=True):
        others = rows[~((rows == start).all(axis=1) | (rows == end).all(axis=1))]
        places = start + GRID * (end - start)
        radii = np.sort(np.linalg.norm(places[:, None, :] - others, axis=2), axis=1)[:, 3]
        value = knn.lowest_along(start[None], end[None], None).log_densities[0]
        assert knn.radius(value) == pytest.approx(radii.max(), abs=2e-3)
        for floor in (value - 0.01, value + 0.01):
            assert knn.lowest_along(start[None], end[None], floor).passes[0] == (value >= floor)


def test_shares_and_quantiles_undo_each_other():
    scale = DensityScale(np.sort(np.random.default_rng(0).normal(size=501)))
    for share in (0.0, 0.05, 0.333, 1.0):
        assert float(scale.share(scale.quantile(share))) == pytest.approx(share)


@pytest.mark.parametrize(
    ("lie", "message"),
    [
        (lambda places: -np.ones(len(places)), "negative"),
        (lambda places: np.full(len(places), np.nan), "NaN"),
        (lambda places: np.ones((len(places), 2)), "shape"),
        (lambda places: np.ones(len(places)), "same at every row"),
        (lambda places: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_a_density_that_lies_is_told_what_it_said(lie, message):
    with pytest.raises(DensityError, match=message):
        SampledDensity(
            checked_log_density(lie, lambda points: points),
            PointSet(_cloud(2)),
            np.zeros(2, dtype=bool),
            near_radius=1.0,
        )


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
    monkeypatch.setattr(kernel_sums, "_NEAR_ROWS", near)
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
    kde = KDE(PointSet(rows), none, bandwidth=0.7, row_log_densities=np.zeros(n), near_radius=1.0)
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
    kde = KDE(PointSet(rows), none, bandwidth=1.0, row_log_densities=np.zeros(2), near_radius=1.0)
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
