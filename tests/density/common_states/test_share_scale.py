"""Shares and thresholds: the same floor said in two ways."""

from __future__ import annotations

import numpy as np
import pytest

from localface.density.common_states.shares import ShareScale


def plain_shares(own: np.ndarray, weights: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The same shares by loops over people."""
    total = weights.sum()

    def lowest(values, extra):
        ranks = []
        for question, factor in enumerate((2, 2, 1)):
            below = weights[own[:, question] <= values[question]].sum() / total
            ranks.append(factor * (below + extra) if below > 0 else 0.0)
        return min(ranks)

    everybody = np.array([lowest(one, 0.0) for one in own])
    found = []
    for one in new:
        mine = lowest(one, 1 / len(own))
        found.append(weights[everybody <= mine + 1e-12].sum() / total)
    return np.array(found)


def made(seed, n=200, tied=False, weighted=False):
    chance = np.random.default_rng(seed)
    values = chance.normal(size=(n, 3)) @ (np.eye(3) + 0.5)
    if tied:
        values = np.round(values)
    weights = chance.exponential(size=n) if weighted else np.ones(n)
    new = chance.normal(size=(150, 3)) * 1.5
    return values, weights, np.round(new) if tied else new


CASES = [(0, False, False), (1, True, False), (2, False, True), (3, True, True)]


@pytest.mark.parametrize(("seed", "tied", "weighted"), CASES)
def test_shares_are_those_of_plain_loops(seed, tied, weighted):
    values, weights, new = made(seed, tied=tied, weighted=weighted)
    scale = ShareScale.fit(values, weights, 200.0)
    assert scale.shares(new) == pytest.approx(plain_shares(values, weights, new))


@pytest.mark.parametrize(("seed", "tied", "weighted"), CASES)
def test_a_share_keeps_a_floor_exactly_where_all_thresholds_are_reached(seed, tied, weighted):
    values, weights, new = made(seed, tied=tied, weighted=weighted)
    scale = ShareScale.fit(values, weights, 200.0)
    new = np.vstack([new, values])
    shares = scale.shares(new)

    for floor in np.concatenate([np.linspace(0.001, 0.999, 97), [0.05, 0.5, 1.0]]):
        reached = (new >= scale.thresholds(floor)).all(axis=1)
        assert (reached == (shares >= floor - 1e-12)).all()


def test_someone_below_everybody_in_one_question_has_no_share():
    values, weights, _ = made(4)
    low = values.max(axis=0).copy()
    low[1] = values[:, 1].min() - 1

    scale = ShareScale.fit(values, weights, 200.0)

    assert scale.shares(low[None, :]).tolist() == [0.0]
    assert scale.shares(values.max(axis=0)[None, :]).tolist() == [1.0]


def test_a_floor_refuses_its_own_share_of_the_people_it_was_made_of():
    values, weights, _ = made(5, n=2000)
    shares = ShareScale.fit(values, weights, 2000.0).row_shares(values)
    for floor in (0.01, 0.05, 0.2, 0.5):
        assert np.mean(shares < floor) == pytest.approx(floor, abs=0.002)
