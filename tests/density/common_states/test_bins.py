"""Bins of features, and the cells that a step passes through."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_tables import (
    composed_records,
    numbers_schema,
    phone_bills,
    phone_schema,
    space_and_points,
)

from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.data.space import Space
from localface.density.common_states.bins import FeatureBins, bin_edges
from localface.density.common_states.segment_cells import cells_along

RECORDS = phone_bills(1500, seed=0)
SPACE, POINTS = space_and_points(RECORDS, phone_schema())
BINS = FeatureBins.fit(POINTS, SPACE)
BINNED = BINS.of(POINTS)


def test_each_value_is_in_the_bin_that_says_so():
    for j, first in enumerate(SPACE.first_columns):
        column = POINTS[:, first]
        if j == 1:  # three categories
            column = POINTS[:, first : first + 3].argmax(axis=1)
        for number in range(BINS.n_bins[j]):
            inside = (column >= BINS.lowest[j][number]) & (column <= BINS.highest[j][number])
            assert (inside == (BINNED[:, j] == number)).all()


def test_what_is_missing_has_a_bin_of_its_own_after_the_others():
    schema = Schema([Feature("lactate", codes={-9: "not known"}), Feature("age")])
    records = np.column_stack([np.linspace(1, 9, 60), np.linspace(20, 80, 60)])
    records[:8, 0] = np.nan
    records[8:20, 0] = -9.0
    space = Space.fit(schema, records)
    points = space.points(records)

    bins = FeatureBins.fit(points, space)
    binned = bins.of(points)

    told = binned[20:, 0]
    assert bins.n_bins[0] == told.max() + 3
    assert set(binned[:8, 0].tolist()) | set(binned[8:20, 0].tolist()) == {
        told.max() + 1,
        told.max() + 2,
    }
    assert len(set(binned[:8, 0].tolist())) == len(set(binned[8:20, 0].tolist())) == 1
    assert (np.diff(told) >= 0).all()
    assert np.isnan(bins.lowest[0]).tolist() == [False] * (told.max() + 1) + [True, True]
    assert (np.diff(binned[:, 1]) >= 0).all()


def test_bins_hold_about_as_many_rows_and_a_frequent_value_has_its_own():
    column = np.concatenate([np.zeros(400), np.arange(1.0, 601.0)])

    edges = bin_edges(column, 10)

    counts = np.bincount(np.searchsorted(edges, column, "right"))
    assert counts[0] == 400
    assert counts[1:-1].min() >= 100
    assert counts[1:].max() <= 110


def test_a_frequent_value_has_its_own_bin_also_beside_a_few_lower_ones():
    column = np.concatenate([np.zeros(5), np.ones(400), np.arange(2.0, 597.0)])

    edges = bin_edges(column, 10)

    assert np.bincount(np.searchsorted(edges, column, "right"))[:2].tolist() == [5, 400]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=80), st.integers(1, 16))
def test_no_row_is_on_an_edge_and_every_bin_holds_a_row(values, most):
    column = np.array(values, dtype=float)

    edges = bin_edges(column, most)

    assert (np.diff(edges) > 0).all()
    assert not np.isin(edges, column).any()
    assert set(np.searchsorted(edges, column, "right").tolist()) == set(range(len(edges) + 1))


def test_a_gap_between_two_crowds_is_in_no_bin():
    chance = np.random.default_rng(0)
    column = np.concatenate([chance.normal(0, 0.2, 130), chance.normal(2, 0.2, 170)])

    edges = bin_edges(column, 4)

    assert len(edges) <= 5
    assert ((edges > column[:130].max()) & (edges < column[130:].min())).any()


@pytest.mark.parametrize(("gap", "is_gap"), [(4.75, False), (5.0, False), (5.25, True)])
@pytest.mark.parametrize("unit", [1.0, 0.0625])
def test_a_gap_is_more_than_five_times_as_wide_as_is_usual_and_than_half_a_deviation(
    gap, is_gap, unit
):
    """A bin that is a quarter full ends at it; of 0.0625 a gap of half a deviation is eight."""
    gap = gap * unit if unit == 1.0 else 0.5 + (gap - 5.0)
    column = np.concatenate([np.arange(4.0) * unit, 3 * unit + gap + np.arange(36.0) * unit])

    edges = bin_edges(column, 4)

    assert (edges[0] == 3 * unit + gap / 2) == is_gap


@pytest.mark.parametrize(("before", "ends"), [(1, False), (2, False), (3, True), (9, True)])
def test_a_bin_ends_at_a_gap_where_it_is_a_quarter_full(before, ends):
    """Of forty rows ten fill one of four bins."""
    column = np.concatenate([np.arange(float(before)), 100.0 + np.arange(40.0 - before)])

    edges = bin_edges(column, 4)

    assert (edges[0] == (before - 1 + 100.0) / 2) == ends


def test_more_rows_have_finer_bins():
    few = FeatureBins.fit(POINTS[:200], SPACE)

    assert few.n_bins[3] == 4
    assert BINS.n_bins[3] == 7
    assert few.n_bins[[1, 4]].tolist() == BINS.n_bins[[1, 4]].tolist() == [3, 2]


@pytest.mark.parametrize(
    ("n", "n_bins"), [(20, 4), (607, 4), (608, 5), (7000, 15), (7210, 16), (20_000, 16)]
)
def test_a_cell_of_two_numbers_is_for_thirty_rows(n, n_bins):
    space, points = space_and_points(np.arange(float(n))[:, None], numbers_schema(1))

    assert FeatureBins.fit(points, space).n_bins.tolist() == [n_bins]


def steps(n, seed):
    """Steps between rows, some of them in one feature only, one that stays where it is."""
    chance = np.random.default_rng(seed)
    starts = POINTS[chance.integers(0, len(POINTS), n)]
    ends = SPACE.points(composed_records(RECORDS, seed)[:n])
    starts[0] = ends[0]
    for i in range(1, n // 3):
        same = SPACE.feature_of != i % 6
        ends[i, same] = starts[i, same]
    return starts, ends


def cells_of_grid(start, end, n):
    """The cells that many places along a step are in, by plain comparisons."""
    t = ((np.arange(n) + 0.5) / n)[:, None]
    places = start + t * (end - start)
    places = np.where(SPACE.discrete, np.where(t < 0.5, start, end), places)
    found = []
    for j, first in enumerate(SPACE.first_columns):
        edges = BINS.edges[j][~np.isnan(BINS.edges[j])]
        if j == 1:
            found.append(places[:, first : first + 3].argmax(axis=1))
        else:
            found.append(sum((places[:, first] >= edge).astype(int) for edge in edges))
    return set(zip(*(np.asarray(one).tolist() for one in found), strict=True))


@pytest.mark.parametrize("seed", [1, 2])
def test_the_cells_of_a_step_are_those_of_a_fine_grid(seed):
    starts, ends = steps(40, seed)

    step, binned = cells_along(starts, ends, BINS, SPACE.discrete)

    n_missed = 0
    for i in range(40):
        exact = {tuple(one) for one in binned[step == i].tolist()}
        sampled = cells_of_grid(starts[i], ends[i], 20_000)
        assert sampled <= exact
        n_missed += len(exact - sampled)
    assert n_missed <= 8  # cells of which a step cuts off a corner that no grid meets


def test_a_step_passes_its_cells_in_any_company_and_in_both_directions():
    starts, ends = steps(30, seed=3)

    step, binned = cells_along(starts, ends, BINS, SPACE.discrete)
    back_step, back = cells_along(ends, starts, BINS, SPACE.discrete)

    for i in range(30):
        together = sorted(binned[step == i].tolist())
        _, alone = cells_along(starts[i : i + 1], ends[i : i + 1], BINS, SPACE.discrete)
        assert sorted(alone.tolist()) == together
        assert {tuple(one) for one in together} == {tuple(o) for o in back[back_step == i].tolist()}


def test_a_category_changes_half_way():
    start = SPACE.points(np.array([[2.0, 0, 20, 40, 0, 1.0]]))
    end = SPACE.points(np.array([[70.0, 2, 20, 40, 0, 1.0]]))

    _, binned = cells_along(start, end, BINS, SPACE.discrete)

    months, plans = binned[:, 0], binned[:, 1]
    middle = BINS.of((start + end) / 2)[0, 0]
    assert set(plans.tolist()) == {0, 2}
    assert months[plans == 0].max() == middle
    assert months[plans == 2].min() == middle
    assert set(months.tolist()) == set(range(months.min(), months.max() + 1))


def test_the_only_category_changes_half_way_as_well():
    """At 180, which is in the second of the bins that end at 100, 200 and 300."""
    schema = Schema([Feature("member", kind="binary"), Feature("age", scale=1.0)])
    records = np.column_stack([np.arange(400) % 2, np.arange(400.0)])
    space = Space.fit(schema, records)
    bins = FeatureBins.fit(space.points(records), space)
    start, end = space.points(np.array([[0.0, 10.0], [1.0, 350.0]]))[:, None]

    _, binned = cells_along(start, end, bins, space.discrete)

    passed = {tuple(one) for one in binned.tolist()}
    assert passed == {(0, 0), (0, 1), (1, 1), (1, 2), (1, 3)}


def test_without_a_step_there_are_no_cells():
    step, binned = cells_along(POINTS[:0], POINTS[:0], BINS, SPACE.discrete)

    assert len(step) == len(binned) == 0


@given(
    st.lists(st.integers(0, 60), min_size=1, max_size=120),
    st.integers(1, 12),
    st.sampled_from([1.0, 0.01]),
)
def test_bins_end_where_going_through_the_values_ends_them(values, most, unit):
    column = np.array(values) ** 2 * unit
    distinct, counts = np.unique(column, return_counts=True)
    gaps = np.diff(distinct)
    full = len(column) / most

    found = bin_edges(column, most).tolist()

    expected = []
    inside = 0
    for i, gap in enumerate(gaps):
        inside += counts[i]
        at_gap = gap > max(0.5, 5 * np.median(gaps)) and inside >= full / 4
        if len(distinct) <= most or inside >= full or counts[i + 1] >= full or at_gap:
            expected.append(distinct[i] + gap / 2)
            inside = 0
    assert found == expected
