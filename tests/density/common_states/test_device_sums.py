"""What fitting takes from all rows at once is the same on a device as row by row."""

from __future__ import annotations

import numpy as np
import pytest

from localface.density.common_states.copies import Copies
from localface.density.common_states.device_sums import log_sums_on_device, row_weights_on_device
from localface.density.common_states.joint_density import sums_row_by_row
from localface.geometry.device.numpy_scan import NumpyScan

ROWS = np.random.default_rng(0).normal(size=(60, 3))
ROWS[30:50] = ROWS[:20] + 0.01  # twenty come twice
PEOPLE = np.concatenate([np.arange(30), np.arange(20), np.arange(50, 60)])
CHOSEN = np.arange(0, 60, 7)
EVERY = {"nobody twice": Copies(None), "named": Copies(PEOPLE), "found": Copies(None, 0.1)}
each_kind = pytest.mark.parametrize("copies", EVERY.values(), ids=EVERY)


@each_kind
def test_log_sums_are_those_of_going_through_the_rows(copies):
    plain, found = log_sums_on_device(NumpyScan(ROWS, PEOPLE), ROWS, CHOSEN, 0.6, copies)

    every = sums_row_by_row(ROWS, np.arange(60), 0.6, copies)
    assert plain == pytest.approx(every.plain)
    assert found.plain == pytest.approx(every.plain[CHOSEN])
    assert found.fair == pytest.approx(every.fair[CHOSEN])
    assert (found.fair < found.plain).any() == copies.any


@each_kind
def test_a_row_far_from_all_others_is_summed_exactly_where_it_is_chosen(copies):
    rows = np.concatenate([ROWS, [[40.0, 0.0, 0.0], [0.0, 45.0, 0.0]]])
    people = np.append(PEOPLE, [60, 61])
    copies = Copies(people) if copies.groups is not None else copies

    plain, found = log_sums_on_device(NumpyScan(rows, people), rows, np.array([3, 60]), 0.6, copies)

    every = sums_row_by_row(rows, np.arange(62), 0.6, copies)
    assert found.plain == pytest.approx(every.plain[[3, 60]])
    assert found.fair == pytest.approx(every.fair[[3, 60]])
    assert plain[60] == found.plain[1]
    assert np.isnan(plain[61])  # too small to be told without going through the rows


def test_whoever_has_nobody_else_gets_the_lowest_sum_of_all():
    alone = np.array([[0.0], [0.01], [0.5], [1e9]])
    copies = Copies(np.array([0, 0, 1, 2]))

    _, found = log_sums_on_device(
        NumpyScan(alone, copies.groups), alone, np.arange(4), 1e-3, copies
    )
    _, nobody = log_sums_on_device(
        NumpyScan(alone[:2], np.zeros(2)), alone[:2], np.arange(2), 1.0, Copies(np.zeros(2, int))
    )

    exact = sums_row_by_row(alone, np.arange(3), 1e-3, copies).fair
    assert found.fair[:3] == pytest.approx(exact)
    assert found.fair[3] <= exact.min()
    assert nobody.fair.tolist() == [0.0, 0.0]


@each_kind
def test_every_person_counts_once_on_a_device_too(copies):
    found = row_weights_on_device(NumpyScan(ROWS, PEOPLE), ROWS, copies)

    assert found == pytest.approx(copies.row_weights(ROWS))
    assert found.sum() == pytest.approx(40 if copies.any else 60)


def test_named_people_count_once_though_others_are_near_as_well():
    copies = Copies(PEOPLE, 5.0)

    found = row_weights_on_device(NumpyScan(ROWS, PEOPLE), ROWS, copies)

    assert found == pytest.approx(1 / np.bincount(PEOPLE)[PEOPLE])
