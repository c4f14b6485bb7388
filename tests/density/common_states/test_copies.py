"""The same person again: left out as a whole, and never what chooses the bandwidth."""

from __future__ import annotations

import numpy as np
import pytest
from made_tables import phone_bills

from localface.density.common_states.copies import Copies, group_codes
from localface.density.common_states.joint_density import leave_one_out_log_sums
from localface.density.common_states.model import CommonStates

RECORDS, SIZES = phone_bills(700, seed=7)
PEOPLE = np.arange(len(RECORDS))


def a_month_later(records, months):
    """The same customers, so many months on."""
    later = records.copy()
    later[:, 0] += months
    later[:, 3] += months * later[:, 2]
    return later


REPEATED = np.vstack([a_month_later(RECORDS, months) for months in range(4)])
PERSON = np.tile(PEOPLE, 4)


def test_whole_persons_are_left_out():
    rows = np.random.default_rng(0).normal(size=(30, 2))
    groups = np.arange(30) % 7

    found = leave_one_out_log_sums(rows, 0.5, Copies(groups), np.zeros(2, dtype=bool))

    centred = rows - rows.mean(axis=0)
    for i in range(30):
        others = centred[groups != groups[i]]
        squares = ((others - centred[i]) ** 2).sum(axis=1)
        assert found[i] == pytest.approx(np.log(np.exp(-squares / 0.5).sum()))


def test_every_person_counts_once_whatever_their_number_of_rows():
    codes = group_codes(["anna", "ben", "anna", "anna"])
    weights = Copies(codes).row_weights(np.zeros((4, 1)))
    assert weights == pytest.approx([1 / 3, 1, 1 / 3, 1 / 3])


def test_a_person_is_in_one_half_with_all_rows():
    codes = group_codes(PERSON)
    halves = Copies(codes).halves(len(codes))
    assert all(len(set(halves[codes == person])) == 1 for person in range(50))


@pytest.mark.parametrize("groups", [PERSON, None], ids=["named", "found"])
def test_repeats_do_not_drive_the_bandwidth_towards_nothing(groups):
    once = CommonStates.fit(RECORDS, SIZES).shape
    repeated = CommonStates.fit(REPEATED, SIZES, groups=groups).shape
    naive = CommonStates.fit(REPEATED, SIZES, groups=np.arange(len(REPEATED))).shape

    assert repeated.bandwidth > 0.7 * once.bandwidth
    assert naive.bandwidth < 0.7 * once.bandwidth
    assert (repeated.copies.distance > 0) == (groups is None)


def test_no_copies_are_found_where_everybody_is_somebody_else():
    assert CommonStates.fit(RECORDS, SIZES).shape.copies.distance == 0


def test_rows_of_one_person_only_have_nobody_to_be_compared_with():
    model = CommonStates.fit(RECORDS[:20], SIZES, groups=np.zeros(20))
    assert np.isfinite(model.row_values).all()
    assert np.isfinite(model.shares(RECORDS[20:30])).all()
