"""The kernel's shape: covariance, leave-one-out sums and marginals by independent code."""

from __future__ import annotations

import numpy as np
import pytest
from made_tables import phone_bills

from localface.density.common_states.copies import Copies
from localface.density.common_states.joint_density import (
    kernel_log_sums,
    leave_one_out_log_sums,
)
from localface.density.common_states.kernel_shape import KernelShape, shrunken_covariance
from localface.density.common_states.normal_scores import ScoreSpace

RECORDS, SIZES = phone_bills(600, seed=3)
SPACE = ScoreSpace.fit(RECORDS, SIZES)
POINTS = SPACE.points(RECORDS)
SHAPE = KernelShape.fit(POINTS, SPACE, None)


def plain_log_sum(point, rows, h, left_out=()):
    squares = ((rows - point) ** 2).sum(axis=1)
    squares = np.delete(squares, left_out)
    return float(np.log(np.exp(-squares / (2 * h * h)).sum()))


def test_the_covariance_is_the_one_of_ledoit_and_wolf():
    covariance = pytest.importorskip("sklearn.covariance")
    rows = np.random.default_rng(0).normal(size=(40, 6)) @ np.diag([1, 2, 3, 1, 1, 0.1])
    expected, _ = covariance.ledoit_wolf(rows)
    assert np.allclose(shrunken_covariance(rows), expected)


def test_numbers_are_uncorrelated_after_the_map_and_categories_equally_far():
    white = POINTS @ SHAPE.matrix
    numeric = SPACE.numeric
    covariance = np.cov(white[:, numeric].T)
    assert np.abs(covariance - np.diag(np.diag(covariance))).max() < 0.05
    unit = np.linalg.norm(SHAPE.matrix[~numeric][:, ~numeric][0])
    assert np.allclose(SHAPE.matrix[np.ix_(~numeric, ~numeric)], unit * np.eye((~numeric).sum()))


def test_log_sums_are_those_of_plain_loops_with_and_without_oneself():
    rows = POINTS @ SHAPE.matrix
    h = SHAPE.bandwidth
    many = np.zeros(rows.shape[1], dtype=bool)  # no column was whitened: nothing to undo

    new = kernel_log_sums(rows[:20] + 0.1, rows, h)
    own = leave_one_out_log_sums(rows, h, Copies(None), many)

    for i in range(20):
        assert new[i] == pytest.approx(plain_log_sum(rows[i] + 0.1, rows, h))
        assert own[i] == pytest.approx(plain_log_sum(rows[i], rows, h, [i]))


def test_where_rows_are_few_the_covariance_is_that_of_the_others():
    chance = np.random.default_rng(1)
    rows = chance.normal(size=(60, 4))
    rows -= rows.mean(axis=0)
    values, vectors = np.linalg.eigh(rows.T @ rows / len(rows))
    white = rows @ (vectors / np.sqrt(values))

    found = leave_one_out_log_sums(white, 0.7, Copies(None), np.ones(4, dtype=bool))

    for i in (0, 7, 31):
        others = np.delete(rows, i, axis=0)
        precision = np.linalg.inv(others.T @ others / len(rows))
        away = others - rows[i]
        squares = np.einsum("ij,jk,ik->i", away, precision, away)
        expected = np.log(np.exp(-squares / (2 * 0.7**2)).sum())
        assert found[i] == pytest.approx(expected)


def test_the_marginal_kernel_is_the_integral_of_the_joint_one():
    chance = np.random.default_rng(2)
    matrix = chance.normal(size=(3, 3))
    shape = KernelShape(matrix, 0.8, Copies(None))
    mine = np.array([True, True, False])
    marginal = shape.marginal_matrix(mine)

    def integrated(own):
        rest = np.linspace(-60, 60, 40_001)
        points = np.column_stack([np.tile(own, (len(rest), 1)), rest]) @ matrix
        return np.exp(-(points**2).sum(axis=1) / (2 * 0.8**2)).sum()

    def direct(own):
        point = own @ marginal
        return np.exp(-(point**2).sum() / (2 * 0.8**2))

    here = np.array([0.3, -0.2])
    there = np.array([-0.4, 0.5])
    ratio = integrated(here) / integrated(there)
    assert direct(here) / direct(there) == pytest.approx(ratio, rel=1e-6)


def test_the_bandwidth_is_likelier_than_others():
    rng = np.random.default_rng(6)
    records = rng.normal(size=(250, 3))
    space = ScoreSpace.fit(records, [0, 0, 0])
    shape = KernelShape.fit(space.points(records), space, None)
    rows = space.points(records) @ shape.matrix

    def likelihood(h):
        squares = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
        np.fill_diagonal(squares, np.inf)
        return np.log(np.exp(-squares / (2 * h * h)).sum(axis=1)).mean() - 3 * np.log(h)

    best = likelihood(shape.bandwidth)
    assert best >= max(likelihood(shape.bandwidth * 1.25), likelihood(shape.bandwidth / 1.25))
