"""Densities: exact means, certified minima, leave-one-out floors, and the densities of users."""

from __future__ import annotations

import numpy as np
import pytest

from localface.crowd import Crowd
from localface.density.fit import best_bandwidth, fit_kde, fit_knn
from localface.density.protocol import Scale
from localface.density.sampled import Sampled, log_density
from localface.errors import DensityError

GRID = np.linspace(0, 1, 4001)[:, None]


def _cloud(width, n=400, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, width)) @ (np.eye(width) + 0.3 * rng.normal(size=(width, width)))


def _log_density(places, rows, h, n):
    squares = ((places[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2)
    return (
        np.log(np.exp(-squares / (2 * h * h)).sum(axis=1)) - np.log(n) - places.shape[1] / 2 * np.log(2 * np.pi * h * h)
    )


def _along(start, end, rows, h):
    others = rows[~((rows == start).all(axis=1) | (rows == end).all(axis=1))]
    return _log_density(start + GRID * (end - start), others, h, len(rows))


@pytest.mark.parametrize("width", [2, 3, 8, 22])
def test_the_certified_minimum_is_never_above_a_fine_grid_and_all_but_meets_it(width):
    rows = _cloud(width)
    kde = fit_kde(Crowd(rows), np.zeros(width, dtype=bool))
    ends = np.random.default_rng(1).normal(size=(15, width)) * 1.5
    starts = np.concatenate([rows[:8], ends[:7][::-1]])
    values = kde.lowest(starts, ends, None).values
    for start, end, value in zip(starts, ends, values, strict=True):
        sampled = _along(start, end, rows, kde.bandwidth).min()
        assert value <= sampled + 1e-9
        assert sampled - value < 1e-3


@pytest.mark.parametrize("width", [2, 8, 22])
def test_a_verdict_is_what_the_full_sum_says_however_few_rows_were_summed(width):
    rows = _cloud(width, n=1500)
    kde = fit_kde(Crowd(rows), np.zeros(width, dtype=bool))
    rng = np.random.default_rng(2)
    starts, ends = rows[rng.integers(0, 1500, 200)], rows[rng.integers(0, 1500, 200)]
    exact = kde.lowest(starts, ends, None).values
    for floor in np.quantile(exact, [0.1, 0.5, 0.9]):
        verdict = kde.lowest(starts, ends, floor)
        assert (verdict.passes == (exact >= floor - 1e-9)).all()
        assert (verdict.values[verdict.passes] <= exact[verdict.passes] + 1e-9).all()


def test_a_hole_holds_no_place_above_the_floor():
    rows = np.concatenate([_cloud(2, seed=1), _cloud(2, seed=2) + 7])
    kde = fit_kde(Crowd(rows), np.zeros(2, dtype=bool))
    floor = kde.scale.quantile(0.05)
    ground = kde.lowest(rows[:20], rows[-20:], floor)
    assert not ground.passes.any()
    assert len(ground.holes) == 20
    rng = np.random.default_rng(0)
    for _, hole in ground.holes:
        way = rng.normal(size=(200, 2))
        inside = hole.centre + way / np.linalg.norm(way, axis=1)[:, None] * hole.radius * rng.random((200, 1)) ** 0.5
        assert (_log_density(inside, rows, kde.bandwidth, len(rows)) < floor).all()


@pytest.mark.parametrize("width", [2, 3, 8, 22])
def test_the_mean_is_exact_and_the_same_in_both_directions(width):
    rows = _cloud(width)
    kde = fit_kde(Crowd(rows), np.zeros(width, dtype=bool))
    starts, ends = rows[:10], rows[10:20]
    there, back = kde.mean(starts, ends, None).values, kde.mean(ends, starts, None).values
    assert there == pytest.approx(back, abs=1e-9)
    for start, end, value in zip(starts, ends, there, strict=True):
        density = np.exp(_along(start, end, rows, kde.bandwidth))
        assert value == pytest.approx(np.log(np.trapezoid(density, dx=1 / 4000)), abs=1e-4)


def test_flips_are_judged_half_before_and_half_after():
    rows = np.array([[0.0, 0.0], [0.5, 0.0], [0.5, 1.0], [1.0, 1.0], [0.2, 0.0], [0.9, 1.0]])
    kde = fit_kde(Crowd(rows), np.array([False, True]), bandwidth=0.3)
    start, end = np.array([0.1, 0.0]), np.array([0.95, 1.0])
    t = GRID
    places = np.where([False, True], np.where(t < 0.5, start, end), start + t * (end - start))
    sampled = _log_density(places, rows, 0.3, len(rows))
    value = kde.lowest(start[None], end[None], None).values[0]
    assert value <= sampled.min() + 1e-9
    assert sampled.min() - value < 1e-3
    assert kde.mean(start[None], end[None], None).values[0] == pytest.approx(np.log(np.exp(sampled).mean()), abs=1e-3)


def test_where_a_person_stands_never_fails_against_itself():
    rows = _cloud(8)
    kde = fit_kde(Crowd(rows), np.zeros(8, dtype=bool))
    for row in rows[:50]:
        own = kde.lowest(row[None], row[None], None).values[0]
        assert kde.lowest(row[None], row[None], own).passes[0]


def test_the_kernels_of_a_steps_own_ends_do_not_vouch_for_it():
    lonely = np.array([[50.0, 50.0], [50.1, 50.0]])
    kde = fit_kde(Crowd(np.concatenate([_cloud(2), lonely])), np.zeros(2, dtype=bool))
    assert not kde.lowest(lonely[:1], lonely[1:], kde.scale.quantile(0.05)).passes[0]


def test_a_leave_one_out_floor_of_five_percent_refuses_about_five_percent_of_new_people():
    everyone = _cloud(22, n=6000, seed=3)
    known, new = everyone[:4000], everyone[4000:]
    kde = fit_kde(Crowd(known), np.zeros(22, dtype=bool))
    refused = 1 - kde.lowest(new, new, kde.scale.quantile(0.05)).passes.mean()
    assert 0.03 <= refused <= 0.09
    own = np.exp(_log_density(known[:300], known, kde.bandwidth, len(known)))
    in_sample = np.quantile(np.log(own), 0.05)
    assert 1 - kde.lowest(new[:200], new[:200], in_sample).passes.mean() > 0.5  # why it must be leave-one-out


def test_the_bandwidth_is_the_likeliest_leave_one_out():
    rows = _cloud(3, n=300)

    def likelihood(h):
        squares = ((rows[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2)
        np.fill_diagonal(squares, np.inf)
        return np.log(np.exp(-squares / (2 * h * h)).sum(axis=1)).mean() - 3 * np.log(h)

    best = best_bandwidth(Crowd(rows))
    assert likelihood(best) >= max(likelihood(best * 1.03), likelihood(best / 1.03))


def test_the_nearest_neighbour_density_finds_the_loneliest_place_on_a_step():
    rows = _cloud(3)
    knn = fit_knn(Crowd(rows), np.zeros(3, dtype=bool), k=4)
    for start, end in zip(rows[:10], rows[10:20], strict=True):
        others = rows[~((rows == start).all(axis=1) | (rows == end).all(axis=1))]
        places = start + GRID * (end - start)
        radii = np.sort(np.linalg.norm(places[:, None, :] - others, axis=2), axis=1)[:, 3]
        value = knn.lowest(start[None], end[None], None).values[0]
        assert knn.radius(value) == pytest.approx(radii.max(), abs=2e-3)
        for floor in (value - 0.01, value + 0.01):
            assert knn.lowest(start[None], end[None], floor).passes[0] == (value >= floor)


def test_shares_and_quantiles_undo_each_other():
    scale = Scale(np.sort(np.random.default_rng(0).normal(size=501)))
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
        Sampled(log_density(lie, lambda points: points), Crowd(_cloud(2)), np.zeros(2, dtype=bool), reach=1.0)
