"""The same person again: left out as a whole, and never what chooses the bandwidth."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from made_tables import fit_on, numbers_schema, phone_bills, phone_schema, shares

from localface import LocalFACE, Search
from localface.density.common_states.copies import (
    Copies,
    _dimension,
    _nearer_than_at_random,
    _nearest_stands_out,
    _ranked_distances,
    copy_distance,
    reach_of_copies,
)
from localface.density.common_states.device_sums import log_sums_on_device
from localface.density.common_states.joint_density import leave_one_out_log_sums, sums_row_by_row
from localface.geometry.device.numpy_scan import NumpyScan
from worlds import mixed_table

RECORDS = phone_bills(700, seed=7)
PEOPLE = np.arange(len(RECORDS))
SCHEMA = phone_schema()


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

    found = leave_one_out_log_sums(
        rows, np.arange(30), 0.5, Copies(groups), np.zeros(2, dtype=bool)
    )

    for i in range(30):
        squares = ((rows - rows[i]) ** 2).sum(axis=1)
        others = np.exp(-squares[groups != groups[i]] / 0.5).sum()
        but_itself = np.exp(-np.delete(squares, i) / 0.5).sum()
        assert found.fair[i] == pytest.approx(np.log(others))
        assert found.plain[i] == pytest.approx(np.log(but_itself))


def test_who_is_near_to_oneself_alone_is_as_rare_as_the_others_make_them():
    """Kernels of everybody else are too small to be summed plainly; one's own other row is not."""
    chance = np.random.default_rng(0)
    rows = np.vstack([chance.normal(size=(30, 2)), [[50.0, 0.0], [50.1, 0.0]]])
    groups = np.array([*range(30), 30, 30])

    found = leave_one_out_log_sums(
        rows, np.arange(32), 1.0, Copies(groups), np.zeros(2, dtype=bool)
    )

    for i in (30, 31):
        logs = -((rows[:30] - rows[i]) ** 2).sum(axis=1) / 2
        assert found.fair[i] == pytest.approx(logs.max() + np.log(np.exp(logs - logs.max()).sum()))
        assert found.plain[i] == pytest.approx(-0.005)


def test_near_copies_are_left_out_where_nobody_named_people():
    rows = np.array([[0.0], [0.01], [1.0], [2.0]])

    found = leave_one_out_log_sums(
        rows, np.arange(4), 0.5, Copies(None, 0.1), np.zeros(1, dtype=bool)
    )

    assert found.fair[0] == pytest.approx(np.log(np.exp(-1 / 0.5) + np.exp(-4 / 0.5)))


def test_whoever_is_just_as_far_off_as_copies_reach_is_somebody_else():
    rows = np.arange(9.0)[:, None]
    every = np.arange(9)
    copies = Copies(None, 1.0)

    pair_by_pair = leave_one_out_log_sums(rows, every, 1.0, copies, np.zeros(1, dtype=bool))
    row_by_row = sums_row_by_row(rows, every, 1.0, copies)
    on_device = log_sums_on_device(NumpyScan(rows, None), rows, every, 1.0, copies)[1]

    for found in (pair_by_pair, row_by_row, on_device):
        assert found.fair == pytest.approx(found.plain)


def test_every_person_counts_once_whatever_their_number_of_rows():
    named = Copies(np.array([0, 1, 0, 0])).row_weights(np.zeros((4, 1)))
    found = Copies(None, 0.1).row_weights(np.array([[0.0], [0.05], [3.0]]))

    assert named == pytest.approx([1 / 3, 1, 1 / 3, 1 / 3])
    assert found == pytest.approx([1 / 2, 1 / 2, 1])


def test_a_person_is_in_one_half_with_all_rows():
    halves = Copies(PERSON).halves(len(PERSON))

    assert all(len(set(halves[person == PERSON])) == 1 for person in range(50))
    assert set(halves.tolist()) == {0, 1}


@pytest.mark.slow
@pytest.mark.parametrize("groups", [PERSON, None], ids=["named", "found"])
def test_repeats_do_not_drive_the_bandwidth_towards_nothing(groups):
    once = fit_on(RECORDS, SCHEMA)
    repeated = fit_on(REPEATED, SCHEMA, groups)
    naive = fit_on(REPEATED, SCHEMA, np.arange(len(REPEATED)))

    assert repeated.bandwidth > 0.7 * once.bandwidth
    assert naive.bandwidth < 0.7 * once.bandwidth
    assert (repeated.copies.distance > 0) == (groups is None)


@pytest.mark.slow
def test_new_people_are_refused_as_often_as_said_where_everybody_came_four_times():
    density = fit_on(REPEATED, SCHEMA, PERSON)

    refused = np.mean(shares(density, phone_bills(1500, seed=8)) < 0.05)

    assert 0.025 <= refused <= 0.075


@pytest.mark.parametrize("seed", range(3))
def test_no_copies_are_found_where_everybody_is_somebody_else(seed):
    assert fit_on(phone_bills(700, seed), SCHEMA).copies.distance == 0
    chance = np.random.default_rng(seed)
    no_categories = np.zeros((500, 0))
    for width in (1, 2, 5, 20):
        assert copy_distance(chance.normal(size=(500, width)), no_categories) == 0
    assert copy_distance(chance.standard_cauchy(size=(500, 3)), no_categories) == 0


@pytest.mark.parametrize("n", [130, 300, 900])
@pytest.mark.parametrize("seed", range(5))
def test_sharing_every_category_does_not_make_a_copy(n, seed):
    """Few people do in a small table, and those who do are much nearer than the others."""
    data = mixed_table(n, seed)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LocalFACE(lambda frame: np.zeros(len(frame)), data, search=Search(n_neighbors=5))


@pytest.mark.parametrize("width", [2, 5, 20])
def test_copies_are_found_in_any_number_of_columns(width):
    chance = np.random.default_rng(width)
    people = chance.normal(size=(300, width))
    again = np.vstack([people, people + 1e-3 * chance.normal(size=people.shape)])

    reach = copy_distance(again, np.zeros((len(again), 0)))

    apart = np.linalg.norm(again[:300] - again[300:], axis=1)
    assert reach > apart.max()


def test_rows_of_one_person_only_have_nobody_to_be_compared_with():
    density = fit_on(RECORDS[:20], SCHEMA, np.zeros(20))

    assert np.isfinite(density.scale.log_densities).all()
    assert np.isfinite(shares(density, RECORDS[20:30])).all()


def test_everybody_a_copy_of_somebody_is_survived():
    rows = np.repeat(np.arange(30.0), 2)[:, None] + np.tile([0.0, 1e-9], 30)[:, None]

    density = fit_on(rows, numbers_schema(1))

    assert np.isfinite(density.scale.log_densities).all()


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_the_dimension_of_a_crowd_is_told_by_those_who_stand_apart(dimension):
    """Twice as many neighbours are so much further off; rows at one point say nothing of it."""
    nearer = np.array([0.0, 0.0, 1.0, 2.0, 3.0])
    further = np.array([0.0, 5.0, *(nearer[2:] * 2 ** (1 / dimension))])

    assert _dimension(nearer, further) == pytest.approx(dimension)
    assert _dimension(np.zeros(3), np.ones(3)) == np.inf


@pytest.mark.parametrize("n", [8, 200])
def test_copies_are_nearer_than_half_of_what_the_twentieth_neighbour_is_off(n):
    rows = np.random.default_rng(n).normal(size=(n, 3))
    distances = np.sort(np.linalg.norm(rows[:, None] - rows, axis=2), axis=1)

    assert reach_of_copies(rows) == pytest.approx(np.median(distances[:, min(20, n - 1)]) / 2)


def test_the_nearest_of_those_alike_is_held_against_as_many_at_random():
    """Of 1,000 others k are nearer: that the best of n at random is as near is 1 - (1 - k/N)^n."""
    chance = np.random.default_rng(2)
    squares = chance.permuted(np.tile(np.arange(1.0, 1001.0), (40, 1)), axis=1)
    alike = np.zeros((40, 1000), dtype=bool)
    for line in range(40):
        squares[line, line] = np.inf  # itself, which is alike
        alike[line, line] = True
        for rank in (line // 2, 700, 900)[: 1 + line % 3]:
            alike[line, np.argsort(squares[line])[rank]] = True

    found = _nearer_than_at_random(squares, alike)

    for line in range(40):
        by_chance = 1 - (1 - (line // 2) / 1000) ** (1 + line % 3)
        assert found[line] == (by_chance < 0.02)
    assert 10 < found.sum() < 30


def test_a_crowd_is_told_by_the_nearest_the_fifth_the_tenth_and_the_twentieth():
    distances = np.random.default_rng(4).permuted(np.tile(np.arange(1.0, 301.0), (3, 1)), axis=1)

    assert _ranked_distances(distances**2).tolist() == [[1.0, 5.0, 10.0, 20.0]] * 3


def test_a_nearest_stands_out_that_is_rare_in_a_crowd_of_that_dimension():
    """In a plane the k-th neighbour is as far off as the root of k says."""
    nearest = np.array([0.01, 0.03, 0.05, 1.0])
    ranked = np.column_stack([nearest, *(np.full(4, np.sqrt(k)) for k in (5, 10, 20))])
    edge = np.sqrt(0.02 / 20) * np.sqrt(20)  # of different people's one in fifty is as near

    assert _nearest_stands_out(ranked).tolist() == (nearest < edge).tolist()
    assert (nearest < edge).tolist() == [True, True, True, False]
    ranked[:, 0] = edge * np.array([0.9, 0.99, 1.01, 1.1])
    assert _nearest_stands_out(ranked).tolist() == [True, True, False, False]
    many = np.column_stack([np.array([0.19, 0.21]), *(np.full(2, k**0.01) for k in (5, 10, 20))])
    many[:, 0] *= many[:, 3]
    assert _nearest_stands_out(many).tolist() == [True, False]  # a fifth, however many columns
    assert _nearest_stands_out(ranked[:0]).tolist() == []


def test_few_rows_or_few_copies_are_no_copies():
    chance = np.random.default_rng(3)
    rows = chance.normal(size=(400, 4))
    no_categories = np.zeros((400, 0))
    some = rows.copy()
    some[1:60:2] = some[:60:2] + 1e-4  # 60 of 400 have a copy: less than a fifth
    more = rows.copy()
    more[1:120:2] = more[:120:2] + 1e-4

    assert copy_distance(some, no_categories) == 0
    assert copy_distance(more, no_categories) > 0
    assert copy_distance(np.repeat(rows[:19], 2, axis=0), no_categories[:38]) == 0
    assert copy_distance(np.repeat(rows[:20], 2, axis=0), no_categories[:40]) > 0


def test_copies_share_every_category():
    chance = np.random.default_rng(4)
    rows = np.repeat(chance.normal(size=(200, 3)), 2, axis=0)
    rows[1::2] += 1e-4
    same = np.repeat(chance.integers(0, 2, 200), 2)[:, None].astype(float)
    other = np.tile([0.0, 1.0], 200)[:, None]

    assert copy_distance(rows, same) > 0
    assert copy_distance(rows, other) == 0


def test_distances_between_rows_of_one_person_are_left_out():
    squares = np.array([[0.0, 0.2, 0.01, 9.0], [0.2, 0.0, 0.5, 4.0]])

    for copies, left in [
        (Copies(None), [[1, 2, 3], [0, 2, 3]]),
        (Copies(None, 0.5), [[3], [2, 3]]),
        (Copies(np.array([0, 1, 0, 1])), [[1, 3], [0, 2]]),
        (Copies(np.array([0, 1, 2, 1]), 0.5), [[3], [2]]),
    ]:
        found = squares.copy()
        copies.exclude(found, np.array([0, 1]))
        assert [np.flatnonzero(np.isfinite(line)).tolist() for line in found] == left


def test_whoever_shares_their_categories_with_nobody_is_nobodys_copy():
    numbers = np.random.default_rng(5).normal(size=(60, 2))
    everybody_else = np.eye(60)

    assert copy_distance(numbers, everybody_else) == 0


@pytest.mark.parametrize(("size", "n_crowds", "found"), [(5, 8, True), (6, 7, False)])
def test_few_share_all_categories_where_they_are_no_more_than_a_tenth_of_the_others(
    size, n_crowds, found
):
    """Five of forty share them: four others are a tenth. Of six in forty-two, five are more."""
    crowd = np.repeat(np.arange(n_crowds), size)
    rows = np.random.default_rng(6).normal(size=(len(crowd), 3))
    rows[1::size] = rows[::size] + 1e-6
    rows[3::size] = rows[2::size] + 1e-6

    assert (copy_distance(rows, np.eye(n_crowds)[crowd]) > 0) == found


@pytest.mark.parametrize(("n_pairs", "found"), [(10, False), (11, True)])
def test_there_are_copies_where_more_than_a_fifth_of_the_rows_look_like_one(n_pairs, found):
    rows = np.random.default_rng(9).normal(size=(100, 4))
    rows[1 : 2 * n_pairs : 2] = rows[: 2 * n_pairs : 2] + 1e-6

    assert (copy_distance(rows, np.zeros((100, 0))) > 0) == found
