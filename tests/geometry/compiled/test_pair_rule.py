"""What pairs say along steps, compiled: NumPy's to the last bit."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from by_numpy import common_states_by_numpy, needs_compiled
from localface.density.common_states.model import CommonStates, Segments
from localface.geometry.compiled.pair_rule import ASKER_LEFT_OUT, PairRule
from localface.geometry.device.shared import SharedPairs
from made_crowds import Crowd, make_crowd

pytestmark = needs_compiled

Array = np.ndarray
TABLES = [(2, 200), (3, 40), (6, 300), (9, 120), (14, 400), (24, 150)]  # width, rows


def steps_of(crowd: Crowd, seed: int, n: int = 60) -> tuple[Array, Array]:
    """Steps between rows, and to states composed of two rows; some stay where they are."""
    chance = np.random.default_rng(seed)
    points = crowd.density.rows.points
    starts, ends, others = (points[chance.integers(0, len(points), n)] for _ in range(3))
    feature = crowd.density.space.feature_of
    taken = (chance.random((n, len(crowd.schema))) < 0.5)[:, feature]
    ends = np.where((chance.random(n) < 0.6)[:, None], np.where(taken, others, starts), ends)
    return starts, ends


def near_by(crowd: Crowd, points: Array) -> Array:
    """The nearest row to each point that is not at it: evidence that may well be the asker's."""
    rows = crowd.density.rows.points
    away = ((points[:, None] - rows) ** 2).sum(axis=2)
    return rows[np.where(away > 0, away, np.inf).argmin(axis=1)]


def pairs_along(
    density: CommonStates,
    starts: Array,
    ends: Array,
    mean: Array,
    spread: Array,
    *,
    askers: Array | None = None,
    **more: Any,
) -> Array:
    without = density.rows.rows_left_out(starts, ends, askers)
    return density._pairs_along(Segments(starts, ends, askers, *without, mean, spread), **more)


@pytest.mark.parametrize(("width", "n"), TABLES)
@pytest.mark.parametrize("gaps", [0.0, 0.15])
@pytest.mark.parametrize("own", [0, 1])
def test_pairs_are_those_of_numpy_to_the_last_bit(
    width: int, n: int, gaps: float, own: int
) -> None:
    crowd = make_crowd(width + n, width, n, own=own, gaps=gaps)
    density = crowd.density
    by_numpy = common_states_by_numpy(density)
    starts, ends = steps_of(crowd, seed=n)
    mean, spread = density._expected(starts)

    for only_ends, askers in itertools.product((False, True), (None, near_by(crowd, ends))):
        asked = {"only_ends": only_ends, "askers": askers}
        found = pairs_along(density, starts, ends, mean, spread, **asked)
        wanted = pairs_along(by_numpy, starts, ends, mean, spread, **asked)
        np.testing.assert_array_equal(found, wanted)
    lowest = pairs_along(by_numpy, starts, ends, mean, spread)
    for by in (-1.0, -1e-8, 0.0, 1e-8, 1.0):
        floors = lowest + by
        found = pairs_along(density, starts, ends, mean, spread, log_floors=floors)
        above = lowest >= floors - 1e-9
        np.testing.assert_array_equal(found >= floors - 1e-9, above)
        np.testing.assert_array_equal(found[above], lowest[above])
        assert (found >= lowest).all()


@pytest.mark.parametrize(("width", "n"), TABLES)
def test_all_questions_together_decide_as_with_numpy(width: int, n: int) -> None:
    crowd = make_crowd(7 * width, width, n, own=1, gaps=0.1, people=True)
    density = crowd.density
    by_numpy = common_states_by_numpy(density)
    starts, ends = steps_of(crowd, seed=width)

    starts = np.concatenate([starts, ends])
    ends = np.concatenate([ends, ends])
    alone = density.lowest_along(starts, ends, None).log_densities
    for askers in (None, near_by(crowd, ends)):
        found = density.lowest_along(starts, ends, None, askers=askers).log_densities
        wanted = by_numpy.lowest_along(starts, ends, None, askers=askers).log_densities

        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
        assert (found <= alone + 1e-9).all(), "who is left out can only take evidence away"
        assert askers is None or (found < alone - 1e-6).any()
        for quantile in (0.05, 0.5, 0.9):
            floor = float(np.quantile(wanted, quantile))
            compiled = density.lowest_along(starts, ends, floor, askers=askers)
            slow = by_numpy.lowest_along(starts, ends, floor, askers=askers)
            np.testing.assert_array_equal(compiled.passes, slow.passes)


def test_what_is_no_number_never_passes() -> None:
    crowd = make_crowd(1, 5, 200)
    density = crowd.density
    starts, ends = steps_of(crowd, seed=1, n=4)
    mean, spread = density._expected(starts)
    low = np.full(4, -1e6)

    for where in ((slice(None), 1), (slice(None), 2)):
        strange = mean.copy()
        strange[where] = np.nan
        assert np.isnan(pairs_along(density, starts, ends, strange, spread)).all()
        found = pairs_along(density, starts, ends, strange, spread, log_floors=low)
        assert np.isnan(found).all()


def test_no_steps_are_no_trouble() -> None:
    density = make_crowd(1, 5, 200).density
    nothing = np.zeros((0, density.space.width))
    assert (
        len(
            pairs_along(
                density,
                nothing,
                nothing,
                np.zeros((0, 3)),
                np.ones((0, 3)),
            )
        )
        == 0
    )


def test_edges_of_bins_are_where_numpy_has_them() -> None:
    crowd = make_crowd(11, 4, 500)
    density = crowd.density
    rule = density._pair_rule
    assert isinstance(rule, PairRule)
    bins = density.pairs.tables.bins
    on_edges = np.repeat(density.rows.points[:1], 40, axis=0)
    for i in range(len(on_edges)):  # as many columns as possible exactly on an edge
        for j, column in enumerate(bins.columns):
            edges = bins.edges[j][~np.isnan(bins.edges[j])]
            if len(edges):
                on_edges[i, column] = edges[i % len(edges)]
    others = density.rows.points[:40]
    mean, spread = density._expected(on_edges)
    by_numpy = common_states_by_numpy(density)
    for starts, ends in ((on_edges, on_edges[::-1]), (on_edges, others), (others, on_edges)):
        np.testing.assert_array_equal(
            pairs_along(density, starts, ends, mean, spread),
            pairs_along(by_numpy, starts, ends, mean, spread),
        )


def test_a_device_is_asked_about_all_but_those_whose_own_row_is_left_out() -> None:
    """The device here is the processor, which is not told who asks."""
    crowd = make_crowd(3, 6, 300)
    density = crowd.density
    rule = density._pair_rule
    asked = []

    class Device:
        layout = rule._layout

        def lowest_along(self, starts: Array, ends: Array, **named: Any) -> Array:
            asked.append(len(starts))
            assert "askers" not in named
            return rule.lowest_along(starts, ends, **named)

    starts, ends = steps_of(crowd, seed=2, n=200)
    starts = np.concatenate([starts, ends])
    ends = np.concatenate([ends, ends])
    askers = near_by(crowd, ends)
    rows, left_out = density.rows.rows_left_out(starts, ends, askers)
    mean, spread = density._expected(starts)
    named = {"left_out": left_out, "mean": mean[:, 1:], "spread": spread[:, 1:], "askers": askers}

    found = SharedPairs(Device()).lowest_along(starts, ends, **named)

    np.testing.assert_array_equal(found, rule.lowest_along(starts, ends, **named))
    n_here = int((left_out & ASKER_LEFT_OUT > 0).sum())
    assert n_here > 20
    assert asked == [len(starts) - n_here]
    assert (rows[left_out & ASKER_LEFT_OUT > 0, 0] >= 0).all()
