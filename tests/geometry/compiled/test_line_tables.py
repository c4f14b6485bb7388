"""From points to codes and back, compiled: NumPy's to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from by_numpy import lines_by_numpy, needs_compiled, plain_columns_by_numpy
from localface.data.feature import Feature
from localface.data.lines import PiecewiseLines
from localface.data.schema import Schema
from localface.data.space import Space
from made_crowds import make_crowd

pytestmark = needs_compiled

Array = np.ndarray


def increasing(chance: np.random.Generator, n: int, size: float) -> Array:
    return np.unique(np.round(size * np.cumsum(chance.exponential(size=n + 2)), 9))


def some_lines(seed: int, n_columns: int) -> PiecewiseLines:
    """Functions with from two to many knots, some of them very steep."""
    chance = np.random.default_rng([seed, n_columns])
    knots = []
    heights = []
    for _ in range(n_columns):
        x = increasing(chance, int(chance.integers(0, 80)), float(10.0 ** chance.uniform(-6, 9)))
        y = increasing(chance, len(x) + 5, float(10.0 ** chance.uniform(-3, 3)))
        shared = min(len(x), len(y))
        knots.append(x[:shared])
        heights.append(y[:shared])
    return PiecewiseLines.through(knots, heights)


@pytest.mark.parametrize("n_columns", [0, 1, 3, 40])
@pytest.mark.parametrize("n_points", [0, 1, 7, 3000, 9000])
def test_lines_are_those_of_numpy_to_the_last_bit(n_columns: int, n_points: int) -> None:
    lines = some_lines(n_points, n_columns)
    chance = np.random.default_rng(n_points)
    values = (
        chance.normal(size=(n_points, n_columns))
        * 10.0 ** chance.integers(-8, 9, n_points)[:, None]
    )
    for j in range(n_columns):  # exactly on knots, and just beside them
        known = lines.knots[j][~np.isnan(lines.knots[j])]
        on_knots = np.repeat(known, 3)[: n_points // 2]
        beside = np.nextafter(on_knots, np.tile([-np.inf, np.inf], len(on_knots))[: len(on_knots)])
        values[: len(on_knots), j] = np.where(chance.random(len(on_knots)) < 0.5, on_knots, beside)

    found = lines(values)

    np.testing.assert_array_equal(found, lines_by_numpy(lines)(values))
    np.testing.assert_array_equal(lines(np.asfortranarray(values)), found)
    np.testing.assert_array_equal(lines(np.repeat(values, 2, axis=0)[::2]), found)


def test_lines_take_what_is_no_number_and_what_is_infinite() -> None:
    lines = some_lines(1, 4)
    values = np.array([[np.nan] * 4, [np.inf] * 4, [-np.inf] * 4])
    np.testing.assert_array_equal(lines(values), lines_by_numpy(lines)(values))


@pytest.mark.parametrize("seed", range(12))
def test_codes_are_those_of_numpy_to_the_last_bit(seed: int) -> None:
    crowd = make_crowd(seed, 8, 250, gaps=0.1 if seed % 2 else 0.0)
    space = crowd.density.space
    plain = space._plain_codes
    chance = np.random.default_rng(seed)
    columns = np.concatenate(
        [
            plain.to_columns(plain.nearest(chance.normal(size=(200, len(plain.whole))))),
            3 * chance.normal(size=(200, len(plain.whole))),
        ]
    )

    found = plain.nearest(columns)

    np.testing.assert_array_equal(found, plain_columns_by_numpy(plain).nearest(columns))
    np.testing.assert_array_equal(plain.nearest(np.asfortranarray(columns)), found)


@pytest.mark.parametrize("size", [1e-9, 1e-3, 1.0, 1e5, 1e11, 1e14])
def test_numbers_of_any_size_are_written_with_the_same_digits(size: float) -> None:
    chance = np.random.default_rng(0)
    records = np.round(chance.lognormal(size=(300, 2)), 2) * size
    space = Space.fit(Schema([Feature("a"), Feature("b", scale=3.0 * size)]), records)
    plain = space._plain_codes
    points = np.concatenate([space.points(records), chance.normal(size=(300, 2))])
    np.testing.assert_array_equal(
        plain.nearest(points), plain_columns_by_numpy(plain).nearest(points)
    )
