"""Sums of kernels of every two rows: the same as by plain loops, at a fraction of the work."""

from __future__ import annotations

import numpy as np
import pytest

from localface.density.common_states import kernel_tiles
from localface.density.common_states.copies import Copies
from localface.density.common_states.joint_density import leave_one_out_log_sums
from localface.density.common_states.kernel_tiles import KernelTable

NOT_WHITENED = np.zeros(4, dtype=bool)


def plain_log_sums(rows, chosen, bandwidth, groups=None, reach=0.0):
    """What the others' kernels add up to at each chosen row, one row after the other."""
    found = []
    for i in chosen:
        squares = ((rows - rows[i]) ** 2).sum(axis=1)
        others = np.arange(len(rows)) != i
        if groups is not None:
            others &= groups != groups[i]
        others &= squares >= reach**2
        logs = -0.5 * squares[others] / bandwidth**2
        top = logs.max()
        found.append(top + np.log(np.exp(logs - top).sum()))
    return found


@pytest.fixture
def small_tiles(monkeypatch):
    monkeypatch.setattr(kernel_tiles, "_LINES", 7)
    monkeypatch.setattr(kernel_tiles, "_ROWS", 20)


@pytest.mark.parametrize("step", [1, 3], ids=["all rows", "some rows"])
@pytest.mark.usefixtures("small_tiles")
def test_every_pair_of_rows_counts_once_whatever_the_tiles(step):
    rows = np.random.default_rng(0).normal(size=(93, 4))
    chosen = np.arange(0, 93, step)

    found = leave_one_out_log_sums(rows, chosen, 0.6, Copies(None), NOT_WHITENED)

    assert found.plain == pytest.approx(plain_log_sums(rows, chosen, 0.6), rel=1e-11)
    assert found.fair == pytest.approx(found.plain)


@pytest.mark.usefixtures("small_tiles")
def test_the_same_person_is_left_out_across_tiles():
    chance = np.random.default_rng(1)
    rows = chance.normal(size=(60, 4))
    groups = chance.integers(0, 15, 60)
    chosen = np.arange(1, 60, 2)

    named = leave_one_out_log_sums(rows, chosen, 0.6, Copies(groups), NOT_WHITENED)
    near = leave_one_out_log_sums(rows, chosen, 0.6, Copies(None, 1.2), NOT_WHITENED)

    assert named.plain == pytest.approx(plain_log_sums(rows, chosen, 0.6))
    assert named.fair == pytest.approx(plain_log_sums(rows, chosen, 0.6, groups))
    assert near.fair == pytest.approx(plain_log_sums(rows, chosen, 0.6, reach=1.2))


def test_a_row_far_from_all_others_has_its_exact_sum():
    rows = np.random.default_rng(2).normal(size=(40, 4))
    rows[3] += 200.0  # kernels of the others are below what a number can hold there

    found = leave_one_out_log_sums(rows, np.arange(40), 0.6, Copies(None), NOT_WHITENED)

    assert found.plain[3] < -1e5
    assert found.plain == pytest.approx(plain_log_sums(rows, range(40), 0.6))


def test_where_rows_are_does_not_matter_but_for_how_far_they_are_apart():
    """Products of large numbers have no digits left; the rows are laid out about their middle."""
    rows = np.random.default_rng(2).normal(size=(80, 4))

    here = KernelTable.of(rows, 0.6, ())
    there = KernelTable.of(rows + 1e6, 0.6, ())

    assert not there.is_rounded_away(1e-7).any()
    every = slice(0, 80)
    assert there.log_kernels(every, every) == pytest.approx(here.log_kernels(every, every))


def test_a_category_of_many_values_is_compared_by_code():
    chance = np.random.default_rng(3)
    categories = np.eye(30)[chance.integers(0, 30, 80)] * 1.3
    rows = np.hstack([chance.normal(size=(80, 2)), categories])
    chosen = np.arange(80)

    table = KernelTable.of(rows, 0.7, ((2, 32),))
    found = leave_one_out_log_sums(
        rows, chosen, 0.7, Copies(None), np.zeros(32, dtype=bool), ((2, 32),)
    )

    assert len(table.categories) == 1
    assert table.left.shape[1] == 2 + 2  # no column of the category is multiplied
    assert found.plain == pytest.approx(plain_log_sums(rows, chosen, 0.7), rel=1e-11)


def test_columns_that_tell_no_single_category_are_multiplied():
    chance = np.random.default_rng(4)
    rows = np.eye(30)[chance.integers(0, 30, 50)]
    rows[7] = 0.0  # nothing is told here

    table = KernelTable.of(rows, 0.7, ((0, 30),))

    assert not table.categories
