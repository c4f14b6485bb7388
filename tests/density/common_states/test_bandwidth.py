"""The widths of kernels: the distances they are tuned on, and the likelihood that chooses them."""

from __future__ import annotations

import numpy as np
import pytest

from localface.density.common_states.bandwidth import (
    _minus_likelihood,
    _tuning_distances,
    _widths,
    tune_bandwidths,
)
from localface.density.common_states.copies import Copies

RNG = np.random.default_rng(0)
WHITE = RNG.normal(size=(90, 2))
CODES = np.eye(3)[RNG.integers(0, 3, 90)] / np.sqrt(2)  # two categories are one apart
NO_CODES = np.zeros((90, 0))
EVERY = {
    "nobody twice": Copies(None),
    "named": Copies(np.arange(90) // 2),
    "found": Copies(None, 0.4),
}


def apart(points):
    return ((points[:, None] - points[None]) ** 2).sum(axis=2)


def counted(copies, squares, differ):
    """Which rows count for which others."""
    same = np.eye(90, dtype=bool)
    if copies.groups is not None:
        same = copies.groups[:, None] == copies.groups
    return ~same & (squares + differ >= copies.distance**2)


@pytest.mark.parametrize("codes", [CODES, NO_CODES], ids=["categories", "numbers alone"])
@pytest.mark.parametrize("copies", EVERY.values(), ids=EVERY)
def test_everybody_is_held_against_everybody_else_who_is_another_person(copies, codes):
    squares, differ = _tuning_distances(WHITE, codes, copies)

    others = counted(copies, apart(WHITE), apart(codes).round())
    assert (np.isfinite(squares) == others).all()
    assert squares[others] == pytest.approx(apart(WHITE)[others])
    assert differ == pytest.approx(apart(codes))


def test_whoever_has_nobody_near_does_not_widen_the_kernels():
    odd = WHITE.copy()
    odd[7] = [9.0, 0.0]  # within reach of the others, if far
    assert len(_tuning_distances(odd, NO_CODES, Copies(None))[0]) == 90

    odd[7] = [400.0, 0.0]
    squares, _ = _tuning_distances(odd, NO_CODES, Copies(None))

    assert len(squares) == 89
    tuned = tune_bandwidths(odd, NO_CODES, n_numbers=2, n_categories=[], copies=Copies(None))
    plain = tune_bandwidths(WHITE, NO_CODES, n_numbers=2, n_categories=[], copies=Copies(None))
    assert tuned[0] == pytest.approx(plain[0], rel=0.2)


@pytest.mark.parametrize(
    ("spacing", "reach"), [(0.01, 10.0), (0.4, 10.0), (1.0, 20.0), (2.0, 40.0)]
)
def test_nobody_is_near_within_ten_standard_deviations_or_twenty_times_what_is_usual(
    spacing, reach
):
    line = spacing * np.arange(80.0)[:, None]

    def n_usable(off):
        rows = np.vstack([line, [[line.max() + off]]])
        return len(_tuning_distances(rows, np.zeros((81, 0)), Copies(None))[0])

    assert n_usable(0.99 * reach) == 81
    assert n_usable(1.01 * reach) == 80


def test_whoever_is_just_as_far_off_as_copies_reach_is_somebody_else():
    line = np.arange(90.0)[:, None]

    here, _ = _tuning_distances(line, NO_CODES, Copies(None, 1.0))
    nearer, _ = _tuning_distances(line, NO_CODES, Copies(None, 1.0 + 1e-6))

    assert (np.isfinite(here) == ~np.eye(90, dtype=bool)).all()
    assert (np.isfinite(nearer) == (apart(line) > 1)).all()


def test_of_a_large_table_some_rows_are_held_against_more():
    large = RNG.normal(size=(5000, 1))

    squares, differ = _tuning_distances(large, np.zeros((5000, 0)), Copies(None))

    assert squares.shape == differ.shape == (256, 4096)
    assert np.isinf(squares).sum() <= 256  # themselves, where they are among the others
    assert np.isinf(squares).sum() > 100


def plain_likelihood(width, cost, copies):
    squares = apart(WHITE)
    differ = apart(CODES).round()
    kernels = np.exp(-squares / (2 * width**2) - cost * differ)
    sums = np.where(counted(copies, squares, differ), kernels, 0.0).sum(axis=1)
    spent = 2 * np.log(width) + np.log(1 + 2 * np.exp(-cost))
    return np.log(sums).mean() - spent


@pytest.mark.parametrize("copies", EVERY.values(), ids=EVERY)
def test_the_widths_are_the_likeliest_and_it_is_told_how_likely(copies):
    width, far, likelihood = tune_bandwidths(
        WHITE, CODES, n_numbers=2, n_categories=[3], copies=copies
    )
    cost = far**2 / (2 * width**2)

    assert likelihood == pytest.approx(plain_likelihood(width, cost, copies))
    for other in (0.8, 1.25):
        # as near to the best as it is looked for
        assert plain_likelihood(width * other, cost, copies) < likelihood + 0.02
        assert plain_likelihood(width, cost * other, copies) < likelihood + 0.02
    distances = _tuning_distances(WHITE, CODES, copies)
    for one in (0.3, 0.5), (0.9, 2.0):
        minus = _minus_likelihood(*distances, 2, [3])(np.log(one))
        assert minus == pytest.approx(-plain_likelihood(*one, copies))


def test_without_numbers_only_the_cost_of_another_category_is_chosen():
    nothing = np.zeros((90, 0))

    width, far, _ = tune_bandwidths(
        nothing, CODES, n_numbers=0, n_categories=[3], copies=Copies(None)
    )

    assert width == 1.0
    assert 0 < far < 10


def test_where_everybody_is_one_person_the_usual_widths_are_taken():
    alone = tune_bandwidths(
        WHITE, CODES, n_numbers=2, n_categories=[3], copies=Copies(np.zeros(90, dtype=int))
    )

    assert alone == (1.0, pytest.approx(np.sqrt(3.0)), -np.inf)


def test_widths_that_are_not_possible_are_brought_in():
    assert _widths(np.log([1e-9, 1e-12])) == pytest.approx((1e-3, 1e-6))
    assert _widths(np.log([1e9, 1e9])) == pytest.approx((10.0, 50.0))
    assert _widths(np.log([0.5, 2.0])) == pytest.approx((0.5, 2.0))
