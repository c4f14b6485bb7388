"""Whole numbers: kernels span the way from one to the next."""

from __future__ import annotations

import numpy as np
import pytest

from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.data.space import Space
from localface.density.common_states import fit_common_states
from localface.density.common_states.ties import spread_ties
from localface.geometry.point_set import PointSet

SCHEMA = Schema([Feature("kids", kind="integer"), Feature("x")])


def counts_and_numbers(n: int, seed: int) -> np.ndarray:
    chance = np.random.default_rng(seed)
    return np.column_stack([chance.integers(0, 5, n), chance.normal(size=n).round(2)]).astype(float)


@pytest.mark.parametrize("n", [300, 600, 2000])
@pytest.mark.parametrize("seed", range(3))
def test_between_two_whole_numbers_it_is_as_common_as_at_them(n: int, seed: int) -> None:
    records = np.unique(counts_and_numbers(n, seed), axis=0)
    space = Space.fit(SCHEMA, records)
    density = fit_common_states(PointSet(space.points(records)), space)
    starts = space.points(np.array([[kids, 0.0] for kids in range(4)]))
    ends = space.points(np.array([[kids + 1, 0.0] for kids in range(4)]))

    assert density.lowest_along(starts, ends, density.scale.quantile(0.05)).passes.all()


def test_values_are_spread_half_way_to_their_neighbours_and_no_further() -> None:
    records = counts_and_numbers(500, 0)
    space = Space.fit(SCHEMA, records)
    points = space.points(records)
    spread = spread_ties(points, space)

    values = np.unique(points[:, 0])
    off = np.abs(spread[:, 0] - points[:, 0])
    assert 0.4 * np.diff(values).min() < off.max() <= np.diff(values).max() / 2 + 1e-12
    nearest = np.abs(spread[:, [0]] - values).argmin(axis=1)
    np.testing.assert_array_equal(values[nearest], points[:, 0])
    np.testing.assert_array_equal(spread[:, 1], points[:, 1])


def test_each_value_is_spread_half_way_to_the_next_on_either_side() -> None:
    """The first and the last go as far outwards as inwards, and none further than is usual."""
    values = np.array([0.0, 1.0, 3.0, 5.0, 7.0, 7.5])
    column = np.repeat(values, 400)[:, None]
    space = Space.fit(Schema([Feature("x", scale=1.0)]), column)
    points = space.points(column)

    off = (spread_ties(points, space) - points).reshape(len(values), 400)

    assert off.min(axis=1) == pytest.approx([-0.5, -0.5, -1.0, -1.0, -1.0, -0.25], rel=0.03)
    assert off.max(axis=1) == pytest.approx([0.5, 1.0, 1.0, 1.0, 0.25, 0.25], rel=0.03)


def test_a_gap_between_crowds_is_not_filled() -> None:
    schema = Schema([Feature("x", scale=1.0)])
    column = np.repeat([0.0, 1.0, 2.0, 50.0, 51.0], 20)[:, None]
    space = Space.fit(schema, column)
    spread = spread_ties(space.points(column), space)

    assert np.abs(spread - space.points(column)).max() <= 0.5


@pytest.mark.parametrize(("n_values", "spreads"), [(2, False), (3, True), (64, True), (65, False)])
@pytest.mark.parametrize("seen_early", [True, False])
def test_a_column_of_three_to_sixty_four_values_is_one_of_counts(
    n_values: int, spreads: bool, seen_early: bool
) -> None:
    column = np.tile(np.arange(float(n_values)), 12)[:, None]
    if not seen_early:  # the first rows show fewer values than there are
        column = np.sort(column, axis=0)
    space = Space.fit(Schema([Feature("x", scale=1.0)]), column)
    points = space.points(column)

    assert (spread_ties(points, space) != points).any() == spreads
