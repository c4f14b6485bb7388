"""The kernel density: certified minima, exact means, holes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.spatial.distance import cdist

from by_numpy import kde_by_numpy
from localface.density.fit import fit_kde
from localface.geometry.point_set import PointSet

GRID = np.linspace(0, 1, 4001)[:, None]


def _cloud(width, n=400, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, width)) @ (np.eye(width) + 0.3 * rng.normal(size=(width, width)))


def _log_density(places, rows, h, n):
    squares = cdist(places, rows, "sqeuclidean")
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


@pytest.mark.parametrize("make", [lambda kde: kde, kde_by_numpy], ids=["as it is", "by numpy"])
@pytest.mark.parametrize("width", [2, 8, 22])
def test_what_is_refused_is_told_no_lower_than_it_is(width, make):
    rows = _cloud(width, n=1500)
    kde = make(fit_kde(PointSet(rows), np.zeros(width, dtype=bool)))
    rng = np.random.default_rng(3)
    starts = rng.normal(size=(200, width))
    steps = np.concatenate([starts[:100], starts[100:] + 0.3])
    exact = kde.lowest_along(starts, steps, None).log_densities
    for above in (1e-4, 0.1, 3.0, 200.0):
        found = kde.lowest_along(starts, steps, exact + above)
        refused = ~found.passes
        assert refused.all()
        assert (found.log_densities >= exact - 1e-9).all()
        assert (found.log_densities <= exact + above + 1e-9).all()


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


def test_only_what_is_refused_by_far_runs_into_a_hole():
    """What is refused by little lies next to dense regions."""
    rows = np.concatenate([_cloud(2, n=200, seed=1), _cloud(2, n=200, seed=2) + 4])
    kde = fit_kde(PointSet(rows), np.zeros(2, dtype=bool))
    rng = np.random.default_rng(5)
    starts, ends = rows[rng.integers(0, 400, (2, 150))]
    exact = kde.lowest_along(starts, ends, None).log_densities
    for floor in np.quantile(exact, [0.2, 0.6]):
        found = kde.lowest_along(starts, ends, floor)
        with_hole = {number for number, _ in found.holes}
        assert with_hole
        assert with_hole <= set(np.flatnonzero(exact < floor - 0.5).tolist())
        assert not found.passes[list(with_hole)].any()


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
        assert value == pytest.approx(np.log(trapezoid(density, dx=1 / 4000)), abs=1e-4)


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


@pytest.mark.parametrize("away", [0.0, 1e6], ids=["near", "far out"])
def test_a_step_of_flips_alone_has_the_mean_of_its_ends_and_the_lower_of_them(away):
    """Where nothing is gone through, half of it is spent at either end."""
    rows = _cloud(2) * [1.0, 0.0] + np.tile([[0.0, 0.0], [0.0, 1.0]], (200, 1)) + [away, 0.0]
    kde = fit_kde(PointSet(rows), np.array([False, True]), bandwidth=0.4)
    starts, ends = np.array([[0.1, 0.0], [1.5, 1.0]]), np.array([[0.1, 1.0], [1.5, 0.0]])
    starts[:, 0] += away
    ends[:, 0] += away
    at_ends = np.stack([_log_density(one, rows, 0.4, 400) for one in (starts, ends)])

    means = kde.mean_along(starts, ends, None).log_densities
    lowest = kde.lowest_along(starts, ends, None).log_densities

    assert means == pytest.approx(np.log(np.exp(at_ends).mean(axis=0)), abs=1e-6)
    assert lowest == pytest.approx(at_ends.min(axis=0), abs=1e-6)


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
