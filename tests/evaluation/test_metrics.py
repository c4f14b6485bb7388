"""Metrics against brute force, hand-worked cases and scikit-learn, and what they say of nothing."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from scipy.stats import gaussian_kde, multivariate_normal
from scipy.stats import t as student
from sklearn.datasets import make_moons
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors

import localface.evaluation.metrics as metrics
from localface import Feature, LocalFACE, Schema, Search
from localface.data.space import Space
from localface.errors import DataError
from localface.evaluation.metrics import (
    HeldOutDensity,
    Judge,
    OutlierFactor,
    ReferenceRows,
    TraversalRule,
    Violations,
)
from localface.evaluation.metrics.step_grid import points_along, straight_parts
from worlds import moons

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, Any]
PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"
RNG = np.random.default_rng(0)
CLOUD = RNG.normal(size=(300, 4)) * [1, 2, 0.5, 1]
PLACES = RNG.normal(size=(25, 4)) * 2
REACHES = CLOUD[:, 0] > 0

MIXED = Schema(
    [
        Feature("age", kind="integer", moves="up", scale=10),
        Feature("low", bounds=(0, 10), scale=2),
        Feature("high", bounds=(0, 10), scale=4),
        Feature("job", kind="categorical", categories=("none", "part", "full")),
        Feature("smokes", kind="binary"),
        Feature("grade", kind="ordinal", categories=("D", "C", "B", "A"), scale=1),
    ]
).relate("low", "<=", "high")
FREE = Space(MIXED, np.zeros(6), np.array([10.0, 2.0, 4.0, 1.0, 1.0, 1.0]))
PERSON = np.array([40.0, 2.0, 6.0, 0.0, 1.0, 1.0])


def plain(n_features: int, scales: Any = 1.0) -> Space:
    schema = Schema(Feature(f"x{j}", scale=1) for j in range(n_features))
    return Space(schema, np.zeros(n_features), np.ones(n_features) * scales)


def apart(first: Array, second: Array) -> Array:
    return np.sqrt(((first[:, None] - second[None]) ** 2).sum(axis=2))


def judged(**options: Any) -> Judge:
    """A line of people; whoever is beyond 5 is there."""
    rows = np.linspace(0, 10, 101)[:, None]
    given = {"min_score": 5.0, "heldout": rows + 0.05, "bandwidth": 0.3, "eps": 0.55, **options}
    return Judge.of(plain(1), rows, lambda records: records[:, 0], **given)


def box_of(space: Space, record: Array) -> Any:
    return space.schema.box(record)


# the package


def test_all_is_the_truth_and_every_name_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert len(set(metrics.__all__)) == len(metrics.__all__)
    assert all(hasattr(metrics, name) for name in metrics.__all__)
    assert [name for name in metrics.__all__ if f"`{name}" not in page] == []


def test_every_measure_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    names = metrics.measure(judged(), None, box_of(plain(1), np.zeros(1))).to_dict()
    assert [
        name for name in names if f"`{name}`" not in page and not name.startswith("violations_")
    ] == []


# the end


def test_nearest_rows_are_those_of_scikit_learn() -> None:
    distances, numbers = ReferenceRows(CLOUD).nearest(PLACES, 7)
    wanted = NearestNeighbors(n_neighbors=7).fit(CLOUD).kneighbors(PLACES)
    np.testing.assert_allclose(distances, wanted[0], rtol=1e-12)
    assert (numbers == wanted[1]).all()
    np.testing.assert_allclose(
        metrics.knn_distance(PLACES, ReferenceRows(CLOUD), k=7), wanted[0].mean(axis=1)
    )


def test_the_outlier_factor_is_that_of_scikit_learn() -> None:
    theirs = LocalOutlierFactor(n_neighbors=20, novelty=True).fit(CLOUD)
    np.testing.assert_allclose(
        OutlierFactor.of(ReferenceRows(CLOUD))(PLACES), -theirs.score_samples(PLACES), rtol=1e-9
    )


def test_the_outlier_factor_of_rows_is_that_of_scikit_learn_without_themselves() -> None:
    theirs = LocalOutlierFactor(n_neighbors=15).fit(CLOUD)
    factor = OutlierFactor.of(ReferenceRows(CLOUD), k=15)
    np.testing.assert_allclose(factor(CLOUD[:40]), -theirs.negative_outlier_factor_[:40], rtol=1e-9)


def test_ynn_counts_the_nearest_who_reach() -> None:
    order = np.argsort(apart(PLACES, CLOUD), axis=1)[:, :9]
    np.testing.assert_allclose(
        metrics.ynn(PLACES, ReferenceRows(CLOUD), REACHES, k=9), REACHES[order].mean(axis=1)
    )


def test_whoever_ends_as_a_row_is_not_their_own_neighbour() -> None:
    rows = ReferenceRows(np.array([[0.0], [1.0], [3.0]]))
    assert metrics.knn_distance(np.array([[0.0]]), rows, k=1).tolist() == [1.0]
    assert metrics.ynn(np.array([[0.0]]), rows, np.array([True, False, False]), k=1).tolist() == [
        0.0
    ]


def test_ties_are_shared_whatever_the_order() -> None:
    points = np.array([[-1.0], [1.0], [1.0], [5.0]])
    reaches_target = np.array([True, False, False, True])
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2]):
        found = metrics.ynn(
            np.array([[0.0]]), ReferenceRows(points[order]), reaches_target[order], k=1
        )
        assert found[0] == pytest.approx(1 / 3)
        assert metrics.ynn(
            np.array([[0.0]]), ReferenceRows(points[order]), reaches_target[order], k=9
        )[0] == pytest.approx(1 / 2)


def test_one_row_leaves_little_to_compare_with() -> None:
    alone = ReferenceRows(np.array([[1.0, 2.0]]))
    here = alone.points
    there = np.array([[1.0, 5.0]])
    assert np.isnan(metrics.knn_distance(here, alone)).all()
    assert np.isnan(metrics.ynn(here, alone, np.array([True]))).all()
    assert metrics.knn_distance(there, alone).tolist() == [3.0]
    assert metrics.ynn(there, alone, np.array([True])).tolist() == [1.0]
    assert np.isnan(OutlierFactor.of(alone)(there)).all()
    assert metrics.typical_eps(alone) == 0.0


def test_duplicates_count_as_people_but_make_nobody_an_outlier() -> None:
    rows = ReferenceRows(np.repeat(CLOUD[:30], 40, axis=0))
    assert np.isfinite(OutlierFactor.of(rows)(CLOUD[:40])).all()
    np.testing.assert_allclose(
        metrics.knn_distance(PLACES, rows, k=40), apart(PLACES, CLOUD[:30]).min(axis=1)
    )


@pytest.mark.parametrize("points", [np.zeros((0, 2)), np.zeros(3), np.array([[np.nan]])])
def test_rows_that_are_no_table_are_refused(points: Array) -> None:
    with pytest.raises(DataError, match="give a table of finite points"):
        ReferenceRows(points)
    with pytest.raises(DataError, match="at least one neighbour"):
        metrics.knn_distance(PLACES, ReferenceRows(CLOUD), k=0)


def test_no_score_is_not_valid() -> None:
    records = np.array([[1.0], [np.nan], [3.0]])
    assert metrics.valid(records, lambda r: r[:, 0], min_score=2.0).tolist() == [False, False, True]
    assert metrics.valid(records[:0], lambda r: r[:, 0], min_score=2.0).tolist() == []


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10_000), factor=st.floats(0.1, 10))
def test_the_end_does_not_depend_on_row_order_and_follows_the_scale(
    seed: int, factor: float
) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(60, 3))
    places = rng.normal(size=(5, 3))
    reaches_target = rng.random(60) < 0.5
    order = rng.permutation(60)
    one = ReferenceRows(rows)
    other = ReferenceRows(rows[order])
    larger = ReferenceRows(rows * factor)
    np.testing.assert_allclose(
        metrics.ynn(places, one, reaches_target), metrics.ynn(places, other, reaches_target[order])
    )
    np.testing.assert_allclose(
        metrics.ynn(places, one, reaches_target),
        metrics.ynn(places * factor, larger, reaches_target),
    )
    np.testing.assert_allclose(OutlierFactor.of(one)(places), OutlierFactor.of(other)(places))
    np.testing.assert_allclose(
        OutlierFactor.of(one)(places), OutlierFactor.of(larger)(places * factor), rtol=1e-6
    )
    np.testing.assert_allclose(
        metrics.knn_distance(places * factor, larger), factor * metrics.knn_distance(places, one)
    )


# what changes


def test_changes_worked_by_hand() -> None:
    end = np.array([[45.0, 2.0, 8.0, 2.0, 0.0, 3.0]])
    start = PERSON[None, :]
    assert metrics.changed_features(start, end, FREE).tolist() == [
        [True, False, True, True, True, True]
    ]
    assert metrics.l0(start, end, FREE).tolist() == [5.0]
    effort = metrics.effort_by_feature(start, end, FREE)
    np.testing.assert_allclose(effort, [[0.5, 0, 0.5, 1, 1, 2]])
    np.testing.assert_allclose(metrics.l1(start, end, FREE), [0.5 + 0 + 0.5 + 1 + 1 + 2])
    np.testing.assert_allclose(metrics.l2(start, end, FREE), [math.sqrt(0.25 + 0.25 + 1 + 1 + 4)])


def test_l2_is_the_distance_between_points() -> None:
    end = np.array([[45.0, 2.0, 8.0, 2.0, 0.0, 3.0]])
    wanted = np.linalg.norm(FREE.points(end) - FREE.points(PERSON[None, :]))
    assert metrics.l2(PERSON[None, :], end, FREE)[0] == pytest.approx(float(wanted))


def test_effort_is_in_standard_deviations_wherever_the_rows_are() -> None:
    income = np.exp(np.random.default_rng(0).normal(10, 1, size=(2001, 1)))
    space = Space.fit(Schema([Feature("income")]), income)
    low, middle, high, top = np.quantile(income, [0.1587, 0.5, 0.8413, 0.9772])[:, None, None]
    assert space.points(income).std() == pytest.approx(1, abs=0.02)
    for start, end in ((low, middle), (middle, high), (high, top)):
        assert 0.5 < metrics.l1(start, end, space)[0] < 1.6  # in money, these are 0.3 to 2.2
        assert metrics.l2(start, end, space)[0] == metrics.l1(start, end, space)[0]
    assert top - high > 3 * (middle - low)  # of money


def test_rounding_is_no_change() -> None:
    start = np.array([[0.1 + 0.2, 1.0]])
    assert metrics.l0(start, np.array([[0.3, 1.0 + 1e-6]]), plain(2)).tolist() == [1.0]


def test_scales_worked_by_hand() -> None:
    schema = Schema([Feature("a"), Feature("b"), Feature("same"), Feature("c", kind="binary")])
    records = np.array(
        [[0.0, 0, 7.1, 0], [1, 0, 7.1, 1], [2, 0, 7.1, 1], [3, 0, 7.1, 1], [10, 5, 7.1, 1]]
    )
    mad = metrics.mad_scales(records, schema)
    spread = metrics.range_scales(records, schema)
    assert mad.tolist() == [1.0, records[:, 1].std(), 0.0, 1.0]
    assert spread.tolist() == [10.0, 5.0, 0.0, 1.0]
    moved = records[:1] + np.array([2.0, 0, 9, 1])
    in_mads = metrics.scaled_differences(records[:1], moved, schema, mad)
    in_ranges = metrics.scaled_differences(records[:1], moved, schema, spread)
    assert in_mads.tolist() == [[2.0, 0, 1, 1]]
    assert in_ranges.tolist() == [[0.2, 0, 1, 1]]


@settings(deadline=None, max_examples=25)
@given(factors=st.lists(st.floats(0.01, 100), min_size=3, max_size=3), shift=st.floats(-5, 5))
def test_scaled_changes_do_not_depend_on_units(factors: list[float], shift: float) -> None:
    rows = np.random.default_rng(1).normal(size=(40, 3))
    schema = Schema(Feature(name) for name in "abc")
    other = rows * factors + shift
    for scaled in (metrics.mad_scales, metrics.range_scales):
        first = metrics.scaled_differences(rows[:5], rows[5:10], schema, scaled(rows, schema))
        second = metrics.scaled_differences(other[:5], other[5:10], schema, scaled(other, schema))
        np.testing.assert_allclose(first, second, rtol=1e-6)


def test_redundancy_is_the_share_that_could_be_put_back() -> None:
    def enough(records: Array) -> Array:
        return np.asarray((records[:, 0] + records[:, 1] >= 2) & (records[:, 2] < 9), dtype=float)

    start = np.zeros(4)
    end = np.array([2.0, 1.0, 5.0, 0.0])
    assert metrics.redundancy(start, end, plain(4), enough, min_score=0.5) == pytest.approx(2 / 3)
    assert math.isnan(metrics.redundancy(start, start, plain(4), enough, min_score=0.5))
    assert metrics.single_undos(start, end, plain(4)).tolist() == [
        [0, 1, 5, 0],
        [2, 0, 5, 0],
        [2, 1, 0, 0],
    ]


def test_diversity_of_several_proposals() -> None:
    start = np.zeros(3)
    ends = [np.array([3.0, 0, 0]), np.array([0, 4.0, 0]), np.array([3.0, 4.0, 0])]
    distance, jaccard = metrics.diversity(start, ends, plain(3))
    assert distance == pytest.approx((5 + 4 + 3) / 3)
    assert jaccard == pytest.approx((1 + 0.5 + 0.5) / 3)
    assert metrics.diversity(start, [start, start], plain(3)) == (0.0, 0.0)
    assert all(map(math.isnan, metrics.diversity(start, ends[:1], plain(3))))


# constraints


def test_a_lawful_path_breaks_nothing_and_the_person_is_not_judged() -> None:
    odd = np.array(
        [39.5, -3.0, -4.0, 0.0, 1.0, 1.0]
    )  # outside, a fraction, a relation broken: theirs alone
    box = MIXED.box(PERSON)
    states = np.stack([odd, PERSON, [41, 3, 7, 1, 0, 3], [41, 3, 3, 1, 0, 0]])
    assert metrics.count_violations(states, FREE, box) == Violations()
    assert metrics.count_violations(odd[None, :], FREE, box).total == 0


@pytest.mark.parametrize(
    ("place", "value", "broken"),
    [
        (0, 39.0, Violations(box=1, one_way=1)),
        (0, 40.5, Violations(whole=1)),
        (1, 11.0, Violations(box=1, relations=1)),
        (1, -0.1, Violations(box=1)),
        (2, 1.0, Violations(relations=1)),
        (3, 2.0, Violations(categories=1)),
        (3, 3.0, Violations(nonexistent=1)),
        (3, 0.5, Violations(nonexistent=1)),
        (4, -1.0, Violations(nonexistent=1)),
        (5, 1.5, Violations(nonexistent=1)),
        (5, np.nan, Violations(nonexistent=1)),
        (2, np.inf, Violations(nonexistent=1)),
        (1, 10 + 1e-9, Violations(relations=1)),
    ],
)
def test_each_kind_of_constraint_is_told_apart(
    place: int, value: float, broken: Violations
) -> None:
    box = MIXED.box(PERSON, {"job": ["none", "part"]})
    state = PERSON.copy()
    state[place] = value
    assert metrics.count_violations(np.stack([PERSON, state]), FREE, box) == broken
    assert (
        metrics.count_violations(np.stack([PERSON, state, PERSON]), FREE, box).total >= broken.total
    )


def test_going_back_on_a_one_way_feature_is_seen_between_states() -> None:
    states = np.stack([PERSON, PERSON, PERSON, PERSON])
    states[:, 0] = [40, 45, 42, 43]
    assert metrics.count_violations(states, FREE, MIXED.box(PERSON)) == Violations(one_way=1)
    assert (
        metrics.count_violations(states, FREE, MIXED.with_("age", moves="freely").box(PERSON))
        == Violations()
    )


def test_every_state_counts() -> None:
    states = np.stack([PERSON, PERSON, PERSON])
    states[1:, 1] = -1.0
    assert metrics.count_violations(states, FREE, MIXED.box(PERSON)) == Violations(box=2)


# the way


def test_lengths_and_detours_worked_by_hand() -> None:
    points = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]])
    assert metrics.step_lengths(points).tolist() == [3.0, 4.0]
    assert metrics.path_length(points) == 7.0
    assert metrics.detour(points) == pytest.approx(7 / 5)
    assert metrics.path_length(points[:1]) == 0.0
    assert math.isnan(metrics.detour(points[:1]))
    assert metrics.over_optimum(7.0, 5.0) == pytest.approx(1.4)
    assert all(
        math.isnan(metrics.over_optimum(7.0, best)) for best in (None, 0.0, math.inf, math.nan)
    )


def test_sparsity_per_step() -> None:
    states = np.array([[0.0, 0, 0], [1, 0, 0], [1, 2, 2]])
    assert metrics.sparsity(states, plain(3)) == (1.5, 2.0)
    assert all(map(math.isnan, metrics.sparsity(states[:1], plain(3))))


def test_a_score_that_falls_is_not_monotone() -> None:
    assert metrics.monotone(np.array([0.1, 0.1, 0.4]))
    assert not metrics.monotone(np.array([0.1, 0.3, 0.2]))
    assert not metrics.monotone(np.array([0.1, np.nan]))
    assert not metrics.monotone(np.array([np.nan]))
    assert metrics.monotone(np.array([0.1]))
    assert metrics.deepest_fall(np.array([0.1, 0.5, 0.3, 0.6])) == pytest.approx(0.2)
    assert metrics.deepest_fall(np.array([0.1])) == 0.0


# the ground


def test_the_held_out_density_is_that_of_scipy() -> None:
    heldout = HeldOutDensity.fit(CLOUD, np.zeros(4, dtype=bool), bandwidth=0.7, matrix=np.eye(4))
    wanted = np.mean(
        [multivariate_normal(row, 0.49 * np.eye(4)).pdf(PLACES) for row in CLOUD], axis=0
    )
    np.testing.assert_allclose(heldout.log_densities(PLACES), np.log(wanted), rtol=1e-7)


def test_far_places_keep_their_log_density() -> None:
    heldout = HeldOutDensity.fit(
        np.array([[0.0], [1.0]]), np.zeros(1, dtype=bool), bandwidth=0.1, matrix=np.eye(1)
    )
    assert heldout.log_densities(np.array([[101.0]]))[0] == pytest.approx(
        -0.5 * 1000**2 - np.log(2) - 0.5 * np.log(2 * np.pi * 0.01)
    )


def test_levels_leave_each_row_out_and_shares_read_them() -> None:
    heldout = HeldOutDensity.fit(CLOUD, np.zeros(4, dtype=bool), bandwidth=0.7, matrix=np.eye(4))
    wanted = []
    for i in range(len(CLOUD)):
        squares = ((np.delete(CLOUD, i, axis=0) - CLOUD[i]) ** 2).sum(axis=1)
        wanted.append(
            np.log(np.exp(-squares / 0.98).sum() / len(CLOUD)) - 2 * np.log(2 * np.pi * 0.49)
        )
    np.testing.assert_allclose(heldout.row_log_densities, np.sort(wanted), rtol=1e-9)
    assert heldout.share(heldout.row_log_densities[30]) == pytest.approx(0.1)
    assert heldout.share(heldout.log_floor(0.25)) == pytest.approx(0.25, abs=1 / 300)
    assert heldout.share(np.array([-np.inf, np.inf])).tolist() == [0.0, 1.0]


def test_the_bandwidth_makes_the_others_likeliest() -> None:
    h = HeldOutDensity.fit(CLOUD, np.zeros(4, dtype=bool)).bandwidth

    def likelihood(bandwidth: float) -> float:
        return float(
            HeldOutDensity.fit(
                CLOUD, np.zeros(4, dtype=bool), bandwidth=bandwidth
            ).row_log_densities.mean()
        )

    assert likelihood(h) > max(likelihood(h * 1.3), likelihood(h / 1.3))


def test_the_bandwidth_does_not_depend_on_row_order_and_follows_the_scale() -> None:
    smooth = np.zeros(4, dtype=bool)
    h = HeldOutDensity.fit(CLOUD, smooth).bandwidth
    assert HeldOutDensity.fit(CLOUD[::-1], smooth).bandwidth == pytest.approx(h)
    round_kernels = [
        HeldOutDensity.fit(times * CLOUD, smooth, matrix=np.eye(4)).bandwidth for times in (1, 3)
    ]
    assert round_kernels[1] == pytest.approx(3 * round_kernels[0])
    assert (
        HeldOutDensity.fit(np.concatenate([CLOUD, CLOUD]), smooth).bandwidth == h
    )  # equal rows count once


def test_a_density_of_one_row_is_refused() -> None:
    for fit in (
        lambda p: HeldOutDensity.fit(p, np.zeros(1, dtype=bool)),
        lambda p: TraversalRule.fit(p, np.zeros(1), bandwidth=1.0),
    ):
        with pytest.raises(DataError, match="at least two different rows"):
            fit(np.ones((5, 1)))


def test_a_step_is_looked_at_closely_and_in_full() -> None:
    heldout = HeldOutDensity.fit(CLOUD, np.zeros(4, dtype=bool), bandwidth=0.5)
    t = np.linspace(0, 1, 20_001)[:, None]
    places = PLACES[0] + t * (PLACES[1] - PLACES[0])
    log_densities = heldout.log_densities(places)
    along = heldout.along(PLACES[:1], PLACES[1:2])
    assert along.lowest_logs[0] == pytest.approx(log_densities.min(), abs=1e-3)
    assert along.mean_logs[0] == pytest.approx(
        np.log(trapezoid(np.exp(log_densities), t[:, 0])), abs=1e-3
    )


def test_categories_flip_in_the_middle() -> None:
    start = np.array([0.0, 0.0])
    end = np.array([4.0, 1.0])
    discrete = np.array([False, True])
    (a, b, first), (c, d, second) = straight_parts(start, end, discrete)
    assert [a.tolist(), b.tolist(), c.tolist(), d.tolist()] == [[0, 0], [2, 0], [2, 1], [4, 1]]
    assert first == second == 0.5
    heldout = HeldOutDensity.fit(
        np.array([[0.0, 0.0], [4.0, 1.0]]), discrete, bandwidth=0.5, matrix=np.eye(2)
    )
    along = heldout.along(start[None, :], end[None, :])
    assert along.lowest_logs[0] == pytest.approx(
        heldout.log_densities(np.array([[2.0, 0.0]]))[0], abs=1e-9
    )


def test_places_cover_a_line_and_their_parts_sum_to_one() -> None:
    places, parts = points_along(np.zeros(2), np.array([3.0, 4.0]), apart=0.3)
    assert places[0].tolist() == [0, 0]
    assert places[-1].tolist() == [3, 4]
    assert metrics.step_lengths(places).max() <= 0.3
    assert parts.sum() == pytest.approx(1)
    assert len(points_along(np.zeros(2), np.zeros(2), apart=0.3)[0]) == 1
    assert len(points_along(np.zeros(2), np.ones(2), apart=0.0)[0]) == 401


def test_a_path_is_as_low_as_its_lowest_step_and_its_mean_goes_by_length() -> None:
    along = metrics.StepDensities(np.array([-1.0, -5.0]), np.log([0.2, 0.8]))
    lowest, mean = metrics.path_log_densities(along, np.array([3.0, 1.0]))
    assert lowest == -5.0
    assert mean == pytest.approx(np.log(0.35))
    assert metrics.path_log_densities(along, np.zeros(2))[1] == pytest.approx(np.log(0.5))


def test_traversable_by_held_out_people() -> None:
    rows = np.concatenate([np.linspace(0, 1, 50), np.linspace(5, 6, 50)])[:, None]
    heldout = HeldOutDensity.fit(rows, np.zeros(1, dtype=bool), bandwidth=0.1, matrix=np.eye(1))
    starts = np.array([[0.1], [0.5]])
    ends = np.array([[0.9], [5.5]])
    assert heldout.traversable(starts, ends).tolist() == [True, False]


def test_the_held_out_density_follows_the_shape_of_the_crowd() -> None:
    rng = np.random.default_rng(0)
    along = rng.normal(size=(400, 1))
    rows = np.hstack([along, along + 0.3 * rng.normal(size=(400, 1))])
    heldout = HeldOutDensity.fit(rows, np.zeros(2, dtype=bool))
    shape = np.cov((rows @ heldout.matrix).T)
    np.testing.assert_allclose(shape, np.eye(2), atol=0.3)
    beside, further = heldout.log_densities(np.array([[0.8, -0.8], [1.0, 1.0]]))
    assert heldout.share(beside) == 0.0 < heldout.share(further)
    fine = np.linspace(-4, 4, 401)
    grid = np.stack(np.meshgrid(fine, fine), axis=-1).reshape(-1, 2)
    total = np.exp(heldout.log_densities(grid)).sum() * (fine[1] - fine[0]) ** 2
    assert total == pytest.approx(1.0, abs=0.01)


def test_the_rule_of_round_kernels_is_that_of_an_isotropic_density() -> None:
    world = moons()
    explainer = LocalFACE(
        world.model, world.data, density="isotropic", search=Search(n_neighbors=15)
    )
    density = explainer.density
    points = metrics.points_of_records(np.unique(world.data, axis=0), explainer.engine.space)
    rule = TraversalRule.fit(points, np.zeros(2, dtype=bool), bandwidth=density.bandwidth)
    assert rule.log_floor == pytest.approx(density.scale.quantile(0.05), abs=1e-9)
    rng = np.random.default_rng(0)
    starts, ends = points[rng.integers(0, len(points), (2, 30))]
    along = rule.along(starts, ends)
    lowest = density.lowest_along(starts, ends, None).log_densities
    means = density.mean_along(starts, ends, None).log_densities
    np.testing.assert_allclose(along.lowest_logs, lowest, atol=1e-2)
    np.testing.assert_allclose(along.mean_logs, means, atol=1e-2)
    passes = density.lowest_along(starts, ends, rule.log_floor).passes
    assert rule.traversable(starts, ends).tolist() == passes.tolist()
    assert rule.traversable(starts, ends, log_floor=-np.inf).all()
    assert not passes.all()


def test_records_with_gaps_and_codes_become_the_same_points_as_in_the_search() -> None:
    schema = Schema(
        [
            Feature("income"),
            Feature("late", codes={-9: "no record"}),
            Feature("owner", kind="binary"),
            Feature("job", kind="categorical", categories=("office", "field", "none")),
        ]
    )
    rng = np.random.default_rng(0)
    records = np.column_stack(
        [rng.normal(size=60), rng.poisson(2, 60), rng.integers(0, 2, 60), rng.integers(0, 3, 60)]
    ).astype(float)
    records[::7, 0] = np.nan
    records[::5, 1] = -9
    records[::11, 2] = np.nan
    records[::6, 3] = np.nan
    space = Space.fit(schema, records)

    points = metrics.points_of_records(records, space)

    assert points.shape == (60, 3 + 3 + 4)  # numbers, categories, reasons why there is no value
    assert points == pytest.approx(space.points(records), abs=1e-9)
    assert (metrics.l2(records[:30], records[30:], space) >= 0).all()


def test_the_rows_at_the_ends_of_a_step_are_no_evidence_for_it() -> None:
    rows = np.array([[0.0], [1.0], [9.0], [9.1]])
    rule = TraversalRule.fit(rows, np.zeros(1, dtype=bool), bandwidth=0.5)
    wanted = (
        np.log(np.exp(-((9 - 0) ** 2) / 0.5) + np.exp(-((9.1 - 0) ** 2) / 0.5))
        - np.log(4)
        - 0.5 * np.log(2 * np.pi / 4)
    )
    assert rule.along(rows[:1], rows[1:2]).lowest_logs[0] == pytest.approx(wanted)


def test_people_within_worked_by_hand() -> None:
    rows = ReferenceRows(np.array([[0.0], [1.0], [2.0], [2.5], [6.0]]))
    smooth = np.zeros(1, dtype=bool)
    fewest, mean = metrics.people_within(
        np.array([[1.5], [0.0]]), np.array([[1.5], [6.0]]), smooth, rows, eps=1.0
    )
    assert fewest.tolist() == [3.0, 0.0]  # without the two at the ends of the second
    assert mean[0] == 3.0
    assert mean[1] == pytest.approx((2 + 2 + 2) / 6, abs=0.1)  # each covers two of the six units


def test_an_ordinary_eps_is_the_distance_to_the_tenth_other() -> None:
    wanted = np.median(np.sort(apart(CLOUD, CLOUD), axis=1)[:, 10])
    assert metrics.typical_eps(ReferenceRows(CLOUD)) == pytest.approx(wanted)


# answers that hold


def test_answers_are_stable_when_noise_moves_them_no_more_than_the_person() -> None:
    people = np.random.default_rng(0).normal(size=(5, 2))
    found = metrics.stability(lambda person: person + 3.0, people, plain(2), n=4)
    assert (found.people, found.found.n, found.found.of) == (5, 20, 20)
    assert found.relative == pytest.approx(1.0)
    assert found.distance == pytest.approx(0.05 * math.sqrt(math.pi / 2), rel=0.4)
    same = metrics.stability(lambda _: np.zeros(2), people, plain(2))
    assert (same.distance, same.relative) == (0.0, 0.0)


def test_stability_counts_answers_that_are_lost_and_leaves_out_who_had_none() -> None:
    people = np.array([[0.0], [5.0]])

    def exactly(person: Array) -> Array | None:
        return person if person[0] == 0.0 else None

    found = metrics.stability(exactly, people, plain(1), n=6)
    assert (found.people, found.found.n, found.found.of) == (1, 0, 6)
    assert math.isnan(found.distance)
    nobody = metrics.stability(lambda _: None, people, plain(1))
    assert nobody.people == 0
    assert math.isnan(nobody.found.share)


def test_noise_is_as_large_in_standard_deviations_wherever_someone_is() -> None:
    income = np.exp(np.random.default_rng(0).normal(10, 1, size=(2001, 1)))
    space = Space.fit(Schema([Feature("income")]), income)
    for share in (0.1, 0.5, 0.9):
        person = np.quantile(income, [share])
        rng = np.random.default_rng(1)
        copies = metrics.noisy_copies(person, space, noise=0.1, n=300, rng=rng)
        moved = metrics.l1(np.broadcast_to(person, copies.shape), copies, space)
        assert moved.mean() == pytest.approx(0.1 * math.sqrt(2 / math.pi), rel=0.15)


def test_noise_keeps_records_possible() -> None:
    copies = metrics.noisy_copies(PERSON, FREE, noise=1.0, n=200, rng=np.random.default_rng(0))
    assert (copies[:, 3:5] == PERSON[3:5]).all()
    assert (copies[:, [0, 5]] == np.rint(copies[:, [0, 5]])).all()
    assert copies[:, 5].min() >= 0
    assert copies[:, 5].max() <= 3
    assert not MIXED.breaks_relation(copies).any()
    assert copies[:, 1].std() > 0.5
    still = Space(MIXED.with_("low", moves="never"), FREE.centres.copy(), FREE.scales.copy())
    assert (
        metrics.noisy_copies(PERSON, still, noise=1.0, n=9, rng=np.random.default_rng(0))[:, 1]
        == 2.0
    ).all()


def test_validity_under_retrained_models_keeps_failures_in_the_denominator() -> None:
    models = [lambda r: r[:, 0], lambda r: r[:, 0] - 1, lambda r: np.full(len(r), np.nan)]
    found = metrics.valid_under_models(
        [np.array([1.5]), None, np.array([0.5])], models, min_score=0.5
    )
    assert found.tolist() == [[True, True, False], [False, False, False], [True, False, False]]
    assert metrics.valid_under_models([None], models, min_score=0.5).tolist() == [[False] * 3]


# people and intervals


def test_success_is_over_everybody_asked() -> None:
    share = metrics.success_share([True, True, False], asked=4)
    assert (share.n, share.of, share.share) == (2, 4, 0.5)
    assert share.low == pytest.approx(0.150, abs=1e-3)
    assert share.high == pytest.approx(0.850, abs=1e-3)
    assert math.isnan(metrics.success_share([]).share)
    with pytest.raises(DataError, match="count everybody asked"):
        metrics.success_share([True, True], asked=1)


def test_a_difference_of_shares_has_newcombes_interval() -> None:
    first = metrics.success_share([True] * 56 + [False] * 14)
    second = metrics.success_share([True] * 48 + [False] * 32)
    gap = metrics.share_difference(first, second)
    assert gap.mean == pytest.approx(0.2)
    assert (gap.low, gap.high) == (
        pytest.approx(0.0524, abs=2e-4),
        pytest.approx(0.3339, abs=2e-4),
    )  # Newcombe 1998, (a)
    assert math.isnan(metrics.share_difference(first, metrics.success_share([])).mean)


def test_the_interval_over_seeds_is_students() -> None:
    values = [0.8, 0.9, 0.85, 0.95, 0.7]
    found = metrics.over_seeds([*values, math.nan])
    low, high = student.interval(
        0.95, 4, loc=np.mean(values), scale=np.std(values, ddof=1) / math.sqrt(5)
    )
    assert found == pytest.approx((np.mean(values), low, high))
    assert metrics.over_seeds([0.99, 1.0, 0.8], within=(0, 1)).high == 1.0
    assert metrics.over_seeds([0.5]).mean == 0.5
    assert math.isnan(metrics.over_seeds([0.5]).low)
    assert math.isnan(metrics.over_seeds([]).mean)


def test_the_bootstrap_covers_the_median() -> None:
    values = np.random.default_rng(1).exponential(size=400)
    found = metrics.bootstrap_interval(values)
    assert found.mean == np.median(values)
    assert found.low < math.log(2) < found.high
    assert found.high - found.low < 0.4
    assert metrics.bootstrap_interval(values) == found
    assert metrics.bootstrap_interval([2.0]).mean == 2.0
    assert math.isnan(metrics.bootstrap_interval([]).mean)


def test_seconds_are_told_by_median_and_95th_percentile() -> None:
    assert metrics.time_quantiles(range(101)) == (50.0, 95.0)
    assert math.isnan(metrics.time_quantiles([]).p95)


def test_groups_are_counted_with_their_failures() -> None:
    found = [True, False, True, True]
    costs = [1.0, math.nan, 3.0, 5.0]
    first, second = metrics.by_group(found, costs, ["b", "b", "a", "a"])
    assert (first.group, first.asked, first.found, first.share, first.cost) == ("a", 2, 2, 1.0, 4.0)
    assert (second.group, second.asked, second.found, second.share, second.cost) == (
        "b",
        2,
        1,
        0.5,
        1.0,
    )
    assert 0 < second.low < 0.5 < second.high < 1
    with pytest.raises(DataError, match="one of each"):
        metrics.by_group(found, costs[:2], ["a"] * 4)


def test_density_deciles_and_the_gap_of_the_loneliest() -> None:
    shares = np.array([0.0, 0.05, 0.099, 0.1, 0.45, 0.55, 0.5, 0.41, 0.999, 1.0])
    assert metrics.deciles(shares).tolist() == [1, 1, 1, 2, 5, 6, 6, 5, 10, 10]
    found = np.array([False, True, True, True, True, True, True, True, True, False])
    lines = metrics.by_decile(found, np.arange(10.0), shares)
    assert [line.asked for line in lines] == [3, 1, 0, 0, 2, 2, 0, 0, 0, 2]
    assert lines[0].cost == 1.5
    assert math.isnan(lines[2].share)
    assert math.isnan(lines[2].cost)
    gap = metrics.lowest_decile_gap(found, shares)
    assert (gap.lowest.n, gap.lowest.of, gap.middle.n, gap.middle.of) == (2, 3, 4, 4)
    assert gap.gap.mean == pytest.approx(1 / 3)
    assert gap.gap.low < 1 / 3 < gap.gap.high


# everything at once


def test_a_path_is_measured() -> None:
    states = np.array([[2.0], [4.0], [6.0]])
    found = metrics.measure(judged(), states, box_of(plain(1), states[0]), optimum=2.0)
    assert found.found
    assert found.valid
    assert found.sound
    assert (found.score, found.steps, found.l0, found.l1, found.l2) == (6.0, 2.0, 1.0, 4.0, 4.0)
    assert (found.sparsity, found.sparsity_most, found.redundancy) == (1.0, 1.0, 0.0)
    assert (found.ynn, found.length, found.detour, found.over_optimum) == (1.0, 4.0, 1.0, 2.0)
    assert found.knn_distance == pytest.approx(0.3)
    assert found.l1_range == pytest.approx(0.4)
    assert found.l1_mad == pytest.approx(4 / 2.5)
    assert 0.9 < found.lof < 1.1
    assert (found.monotone, found.deepest_fall) == (1.0, 0.0)
    assert (found.traversable, found.traversable_heldout) == (1.0, 1.0)
    assert found.fewest_people == 10.0
    assert found.lowest_log <= found.mean_log
    assert 0.2 < found.lowest_density <= found.mean_density <= 1.0
    assert found.violations == Violations()


def test_nothing_found_measures_nothing() -> None:
    found = metrics.measure(judged(), None, box_of(plain(1), np.zeros(1)))
    assert not (found.found)
    assert not (found.valid)
    assert not (found.sound)
    plain_values = found.to_dict()
    assert (plain_values["found"], plain_values["sound"], plain_values["violations"]) == (
        0.0,
        0.0,
        0.0,
    )
    assert math.isnan(plain_values["l1"])
    assert math.isnan(plain_values["traversable"])


def test_whoever_is_there_already_takes_no_steps() -> None:
    found = metrics.measure(judged(), np.array([[7.0]]), box_of(plain(1), np.array([7.0])))
    assert found.sound
    assert found.valid
    assert (found.steps, found.l0, found.length) == (0.0, 0.0, 0.0)
    assert math.isnan(found.redundancy)
    assert math.isnan(found.detour)
    assert math.isnan(found.traversable)
    assert found.density == found.lowest_density == found.mean_density


def test_a_jump_over_empty_ground_is_not_sound() -> None:
    rows = np.concatenate([np.linspace(0, 2, 50), np.linspace(8, 10, 50)])[:, None]
    judge = Judge.of(
        plain(1),
        rows,
        lambda r: r[:, 0],
        min_score=5.0,
        heldout=rows + 0.01,
        bandwidth=0.2,
        eps=0.5,
    )
    found = metrics.measure(judge, np.array([[1.0], [9.0]]), box_of(plain(1), np.ones(1)))
    assert found.valid
    assert not found.sound
    assert (found.traversable, found.traversable_heldout, found.fewest_people) == (0.0, 0.0, 0.0)
    assert found.lowest_density == 0.0 < found.density
    relaxed = metrics.measure(
        judge, np.array([[1.0], [9.0]]), box_of(plain(1), np.ones(1)), log_floor=-1e9
    )
    assert relaxed.sound


def test_what_is_no_record_has_no_measures_but_what_it_breaks() -> None:
    found = metrics.measure(judged(), np.array([[2.0], [np.nan]]), box_of(plain(1), np.zeros(1)))
    assert found.found
    assert not found.valid
    assert not found.sound
    assert found.violations.nonexistent == 1
    assert math.isnan(found.l1)


def test_a_category_that_does_not_exist_is_not_scored() -> None:
    rows = np.array([[40.0, 2, 6, 0, 1, 1], [50, 3, 7, 1, 0, 2], [60, 4, 8, 2, 1, 3]])

    def score(records: Array) -> Array:
        return np.array(
            [["none", "part", "full"].index(MIXED["job"].value(code)) for code in records[:, 3]],
            dtype=float,
        )

    judge = Judge.of(FREE, rows, score, min_score=1.0)
    end = PERSON.copy()
    end[3] = 7.0
    found = metrics.measure(judge, np.stack([PERSON, end]), MIXED.box(PERSON))
    assert math.isnan(found.score)
    assert not found.valid
    assert found.violations == Violations(nonexistent=1)
    assert found.monotone == 0.0
    assert math.isfinite(found.knn_distance)
    assert math.isnan(found.density)
    assert math.isnan(found.traversable)
    assert repr(judge) == "<Judge: 3 rows, nobody held out, no rule>"


def test_many_at_once_are_measured_as_one_by_one_with_two_model_calls() -> None:
    calls = []

    def score(records: Array) -> Array:
        calls.append(len(records))
        return np.asarray(records[:, 0] + records[:, 1])

    space = plain(4)
    judge = Judge.of(space, CLOUD[:200], score, min_score=1.0, heldout=CLOUD[200:], bandwidth=0.5)
    paths = [None, CLOUD[[0]], CLOUD[[1, 2]], CLOUD[[3, 4, 5]], None, CLOUD[[6, 250, 7, 8]]]
    boxes = [box_of(space, CLOUD[0])] * 6
    optima = [1.0, None, 2.0, 3.0, None, 0.0]
    floors = [None] * 5 + [-50.0]
    calls.clear()
    many = metrics.measure_many(judge, paths, boxes, optima=optima, log_floors=floors)
    assert len(calls) <= 2
    for i, one in enumerate(many):
        alone = metrics.measure(
            judge, paths[i], boxes[i], optimum=optima[i], log_floor=floors[i]
        ).to_dict()
        assert one.to_dict() == pytest.approx(alone, nan_ok=True, rel=1e-9)
    assert sum(one.found for one in many) == 4


def test_averages_keep_failures_in_the_denominator() -> None:
    judge = judged()
    box = box_of(plain(1), np.zeros(1))
    paths = [np.array([[2.0], [6.0]]), None, np.array([[2.0], [3.0]]), None]
    means = metrics.averages(metrics.measure_many(judge, paths, [box] * 4))
    assert (means["found"], means["valid"], means["sound"]) == (0.5, 0.25, 0.25)
    assert means["l1"] == pytest.approx(2.5)
    assert math.isnan(means["over_optimum"])
    assert metrics.averages([]) == {}


def test_what_does_not_go_together_is_refused() -> None:
    judge = judged()
    box = box_of(plain(1), np.zeros(1))
    with pytest.raises(DataError, match="2 proposals, 1 boxes"):
        metrics.measure_many(judge, [None, None], [box])
    with pytest.raises(DataError, match="is no path"):
        metrics.measure(judge, np.zeros((2, 3)), box)
    with pytest.raises(DataError, match="is no path"):
        metrics.measure(judge, np.zeros((0, 1)), box)
    assert metrics.measure_many(judge, [], []) == []


def test_whoever_stands_below_the_floor_may_leave_but_not_go_lower() -> None:
    rows = np.concatenate([np.linspace(0, 2, 50), np.linspace(8, 10, 50)])[:, None]
    judge = Judge.of(plain(1), rows, lambda r: r[:, 0], min_score=8.0, bandwidth=0.2)
    box = box_of(plain(1), np.ones(1))
    away, back = (
        metrics.measure(judge, np.array(way), box) for way in ([[6.0], [9.0]], [[3.0], [9.0]])
    )
    assert (away.traversable, away.traversable_personal) == (0.0, 1.0)
    assert away.sound_personal
    assert not away.sound
    assert back.traversable_personal == 0.0  # there is a lonelier place in between
    assert not back.sound_personal


def test_localface_is_judged_sound_where_it_says_found() -> None:
    world = moons()
    (heldout, _) = make_moons(400, noise=0.12, random_state=2)
    explainer = LocalFACE(world.model, world.data, search=Search(n_neighbors=15))
    answers = list(explainer.explain_many(world.people[:6], progress=False))
    space = Space.fit(explainer.schema, np.unique(world.data, axis=0))
    judge = Judge.of(
        space,
        world.data,
        lambda records: world.model.predict_proba(records)[:, 1],
        min_score=0.5,
        heldout=heldout,
        density=explainer.density,
    )
    paths = [np.asarray(one.records) if one.found else None for one in answers]
    found = metrics.measure_many(
        judge, paths, [space.schema.box(one.records[0]) for one in answers]
    )
    assert any(one.entry for one in answers)
    for answer, one in zip(answers, found, strict=True):
        assert one.sound_personal
        assert one.sound is not answer.entry


def test_the_density_matches_scipys_own_kde_up_to_shape() -> None:
    theirs = gaussian_kde(CLOUD[:, :1].T)
    h = float(np.sqrt(theirs.covariance[0, 0]))
    ours = HeldOutDensity.fit(CLOUD[:, :1], np.zeros(1, dtype=bool), bandwidth=h, matrix=np.eye(1))
    np.testing.assert_allclose(
        np.exp(ours.log_densities(PLACES[:, :1])), theirs(PLACES[:, 0]), rtol=1e-7
    )


def test_frames_with_constant_columns_are_measured() -> None:
    frame = pd.DataFrame({"a": np.linspace(0, 1, 30), "same": np.ones(30)})
    schema = Schema.infer(frame).with_("same", moves="never")
    records = frame.to_numpy(float)
    space = Space.fit(schema, records)
    judge = Judge.of(
        space, records, lambda r: r[:, 0], min_score=0.5, heldout=records, bandwidth=0.3
    )
    found = metrics.measure(judge, records[[5, 25]], schema.box(records[5]))
    assert found.valid
    assert found.l0 == 1.0
    assert math.isfinite(found.l1_mad)
    assert math.isfinite(found.lof)
    assert math.isfinite(found.lowest_log)
