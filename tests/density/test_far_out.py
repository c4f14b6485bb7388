"""Values that are stated are right whatever the outliers: far clusters, extremes, subnormals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from by_numpy import kde_by_numpy
from localface.density.common_states.copies import Copies
from localface.density.common_states.joint_density import leave_one_out_log_sums
from localface.density.fit import fit_kde, fit_knn
from localface.density.kde import KDE
from localface.geometry.point_set import PointSet
from localface.geometry.settling import settle_squared_distances

Array = np.ndarray[Any, Any]
H = 0.5
N_FAR = 6


def log_sums(places: Array, rows: Array) -> Array:
    """The log-sums of all kernels at places, by differences; rows that are there do not count."""
    away = places[:, None, :] - rows[None, :, :]
    logs = (away * away).sum(axis=-1) / (-2 * H * H)
    logs[(away == 0).all(axis=-1)] = -np.inf
    top = logs.max(axis=1)
    return np.asarray(top + np.log(np.exp(logs - top[:, None]).sum(axis=1)))


def lowest_log_sum(start: Array, end: Array, rows: Array) -> float:
    """The lowest along a segment: a grid, made finer around its lowest place."""
    shares = np.linspace(0, 1, 401)
    lowest = np.inf
    for _ in range(10):
        found = log_sums(start + shares[:, None] * (end - start), rows)
        lowest = min(lowest, float(found.min()))
        here = int(found.argmin())
        low, high = shares[max(0, here - 1)], shares[min(len(shares) - 1, here + 1)]
        shares = np.linspace(low, high, 101)
    return lowest


def table(seed: int, far: float, width: int) -> Array:
    """A crowd, a few side by side far out, one alone the other way, and next to nothing."""
    chance = np.random.default_rng(seed)
    rows = chance.normal(size=(120, width))
    rows[:N_FAR] = far + 0.5 * chance.normal(size=(N_FAR, width))
    rows[N_FAR, 0] = -far
    rows[N_FAR + 1] = 0.0
    rows[N_FAR + 2, 0] = 5e-324
    rows[N_FAR + 3] = 1e-310
    return rows


def close(stated: Array, true: Array) -> bool:
    """Right to a millionth of a nat, or to the last digits where there are no more."""
    return bool((np.abs(stated - true) <= 1e-6 + 1e-14 * np.abs(true)).all())


seeds = st.integers(0, 2**32)
fars = st.sampled_from([1.0, 1e3, 1e6, 1e7, 1e8, 1e9])
widths = st.sampled_from([1, 2, 5])
STEPS = [
    (0, 1),
    (2, 3),
    (4, 5),
    (20, 21),
    (22, N_FAR + 1),
    (N_FAR + 2, N_FAR + 3),
    (0, 20),
    (6, 30),
]


def both_kinds(rows: Array) -> list[KDE]:
    kde = fit_kde(PointSet(rows), np.zeros(rows.shape[1], dtype=bool), bandwidth=H)
    return [kde, kde_by_numpy(kde)]


@settings(max_examples=40)
@given(seeds, fars, widths)
def test_the_lowest_density_along_a_step_is_what_it_is_said_to_be(
    seed: int, far: float, width: int
) -> None:
    rows = table(seed, far, width)
    starts, ends = (rows[list(one)] for one in zip(*STEPS, strict=True))
    true = np.array(
        [lowest_log_sum(rows[a], rows[b], np.delete(rows, [a, b], 0)) for a, b in STEPS]
    )
    for kde in both_kinds(rows):
        stated = kde.lowest_along(starts, ends, None).log_densities - kde.log_normaliser
        assert close(stated, true), (stated - true).tolist()


@settings(max_examples=40)
@given(seeds, fars, widths, st.sampled_from([-1e-3, -1e-9, 0.0, 1e-9, 1e-3]))
def test_a_floor_at_the_lowest_density_is_judged_without_a_warning(
    seed: int, far: float, width: int, above: float
) -> None:
    rows = table(seed, far, width)
    starts, ends = (rows[list(one)] for one in zip(*STEPS, strict=True))
    for kde in both_kinds(rows):
        lowest = kde.lowest_along(starts, ends, None).log_densities
        judged = kde.lowest_along(starts, ends, lowest + above)
        if abs(above) > 1e-6:
            sure = np.abs(lowest) < 1e8  # with digits enough to tell
            assert (judged.passes[sure] == (above < 0)).all()


@settings(max_examples=40)
@given(seeds, fars, widths)
def test_the_density_of_rows_and_states_is_what_it_is_said_to_be(
    seed: int, far: float, width: int
) -> None:
    rows = table(seed, far, width)
    states = np.concatenate([(rows[:20] + rows[1:21]) / 2, rows[:20] + 1e-3])
    at_states = log_sums(states, rows)
    at_rows = np.array([log_sums(rows[[i]], np.delete(rows, i, 0))[0] for i in range(20)])
    for kde in both_kinds(rows):
        lowest = kde.lowest_along(states, states, None).log_densities - kde.log_normaliser
        means = kde.mean_along(states, states, None).log_densities - kde.log_normaliser
        own = kde.row_log_densities(np.arange(20)) - kde.log_normaliser
        assert close(lowest, at_states)
        assert close(means, at_states)
        assert close(own, at_rows)


@given(seeds, fars)
def test_the_mean_density_between_people_far_out_is_theirs(seed: int, far: float) -> None:
    rows = table(seed, far, 3)
    shares = np.linspace(0, 1, 401)[:, None]
    for a, b in ((0, 1), (2, 3), (4, 5)):
        others = np.delete(rows, [a, b], 0)
        along = log_sums(rows[a] + shares * (rows[b] - rows[a]), others)
        weights = np.full(len(shares), 2.0)
        weights[1::2] = 4.0
        weights[[0, -1]] = 1.0  # Simpson's rule
        true = np.log((weights * np.exp(along - along.max())).sum() / weights.sum()) + along.max()
        for kde in both_kinds(rows):
            found = kde.mean_along(rows[[a]], rows[[b]], None).log_densities
            assert close(found - kde.log_normaliser, np.array([true]))


@given(seeds, fars)
def test_the_joint_density_of_rows_is_what_it_is_said_to_be(seed: int, far: float) -> None:
    rows = table(seed, far, 1)  # so few columns that every pair of rows is worked out once
    chosen = np.arange(20)
    found = leave_one_out_log_sums(rows, chosen, H, Copies(None), np.ones(1, dtype=bool))
    true = np.array([log_sums(rows[[i]], np.delete(rows, i, 0))[0] for i in chosen])
    assert close(found.plain, true)


@given(seeds, st.sampled_from([1e3, 1e6, 1e9]))
def test_how_near_the_third_person_is_far_out_is_told_by_differences(seed: int, far: float) -> None:
    rows = table(seed, far, 2)
    knn = fit_knn(PointSet(rows), np.zeros(2, dtype=bool), k=3)
    for i in range(N_FAR):
        apart = np.sort(np.sqrt(((rows - rows[i]) ** 2).sum(axis=1)))
        assert knn.row_log_densities(np.array([i]))[0] == pytest.approx(-2 * np.log(apart[3]))


def test_distances_that_are_right_are_not_worked_out_again() -> None:
    rows = np.array([[0.0, 0.0], [3.0, 4.0]])
    given_squares = np.array([[-1.0, -1.0], [-1.0, -1.0]])
    queries = np.array([[0.0, 0.0], [1e9, 0.0]])

    found = settle_squared_distances(given_squares, queries, rows, resolution=1e-6)

    assert found[0].tolist() == [-1.0, -1.0]
    assert found[1].tolist() == [1e18, (1e9 - 3.0) ** 2 + 16.0]
