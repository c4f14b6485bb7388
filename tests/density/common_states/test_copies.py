"""The same person again: left out as a whole, and never what chooses the bandwidth."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from made_tables import fit_on, numbers_schema, phone_bills, phone_schema, shares

from localface import LocalFACE, Search
from localface.density.common_states.copies import Copies, _dimension, copy_distance
from localface.density.common_states.joint_density import leave_one_out_log_sums
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


def test_near_copies_are_left_out_where_nobody_named_people():
    rows = np.array([[0.0], [0.01], [1.0], [2.0]])

    found = leave_one_out_log_sums(
        rows, np.arange(4), 0.5, Copies(None, 0.1), np.zeros(1, dtype=bool)
    )

    assert found.fair[0] == pytest.approx(np.log(np.exp(-1 / 0.5) + np.exp(-4 / 0.5)))


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
