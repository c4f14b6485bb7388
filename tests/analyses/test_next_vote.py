"""The probability that one more refit agrees, learnt by leaving refits out in turn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from localface import LocalFACE, Search
from localface.analyses.lasting import learnt_lasting
from localface.analyses.lasting.agreement import fit_agreement_map
from localface.analyses.lasting.next_vote import can_learn, learn_next_vote
from localface.analyses.lasting.opinions import Opinions
from localface.types import Array

N_REFITS = 20


def some_ends(seed: int, n: int, n_refits: int = N_REFITS) -> tuple[Opinions, Array]:
    """Ends whose refits are spread about a margin of their own, and the truth about each."""
    rng = np.random.default_rng(seed)
    margins = rng.uniform(0, 2, n)
    middle = margins + rng.normal(-0.5, 0.5, n)  # what is found by a model is too good for others
    spread = rng.uniform(0.3, 1.2, n)
    by_refit = middle + spread * rng.normal(size=(n_refits, n))
    known = Opinions(by_refit, by_refit >= 0, margins, rng.uniform(0, 1, n))
    return known, norm.cdf(middle / spread)


def ends_at(known: Opinions, some: Array) -> Opinions:
    """Some of the ends."""
    return Opinions(
        known.by_refit[:, some],
        known.agrees[:, some],
        known.margins[some],
        known.densities[some],
    )


def error_of(told: Array, truth: Array) -> float:
    return float(np.sqrt(np.mean((told - truth) ** 2)))


@pytest.mark.parametrize("seed", [0, 20, 21])
def test_it_is_nearer_to_the_truth_than_the_votes_with_or_without_the_map(seed: int) -> None:
    learnt_from, _ = some_ends(seed, 80)
    known, truth = some_ends(seed + 1_000, 2_000)
    of_map = fit_agreement_map(
        learnt_from.margins, learnt_from.densities, learnt_from.n_agree, N_REFITS
    )

    told, _ = learn_next_vote(learnt_from).probability(known)

    expected = of_map.expected(known.margins, known.densities)
    by_map, _ = of_map.given_votes(expected, known.n_agree, N_REFITS)
    assert error_of(told, truth) < 0.95 * error_of(by_map, truth)
    assert error_of(told, truth) < 0.9 * error_of(known.n_agree / N_REFITS, truth)


def test_ends_that_are_taken_for_what_is_said_of_them_hold_as_often_as_that() -> None:
    learnt = learn_next_vote(some_ends(2, 200)[0])
    known, truth = some_ends(3, 4_000)

    told, _ = learnt.probability(known)
    shares = known.n_agree / N_REFITS

    for low, high in ((0.3, 0.6), (0.6, 0.8), (0.8, 0.9), (0.9, 1.0)):
        picked = (told >= low) & (told < high)
        assert told[picked].mean() == pytest.approx(truth[picked].mean(), abs=0.03)
    best = shares >= 0.95  # what all agree with is picked by luck too
    assert shares[best].mean() > truth[best].mean() + 0.02
    assert told[best].mean() == pytest.approx(truth[best].mean(), abs=0.02)


@pytest.mark.parametrize("seed", [4, 5, 6])
def test_nine_of_ten_intervals_have_the_truth(seed: int) -> None:
    learnt = learn_next_vote(some_ends(seed, 80)[0])
    known, truth = some_ends(seed + 10, 2_000)

    told, (low, high) = learnt.probability(known)

    assert 0.85 < np.mean((low <= truth) & (truth <= high)) < 0.99
    assert np.all(low <= told)
    assert np.all(told <= high)
    assert np.mean(high - low) < 0.35


def test_the_more_speaks_for_an_end_the_likelier_it_is() -> None:
    known, _ = some_ends(7, 60)
    learnt = learn_next_vote(replace(known, margins=-known.margins))  # as if it spoke against
    further = replace(known, by_refit=known.by_refit + 0.5, agrees=known.by_refit + 0.5 >= 0)

    assert all(weight >= 0 for weight in learnt.weights[1:])
    assert learnt.weights[3] == 0
    assert np.all(learnt.probability(further)[0] >= learnt.probability(known)[0])


def test_refits_that_are_of_one_mind_are_never_quite_believed() -> None:
    yes = np.ones((N_REFITS, 30))
    known = Opinions(yes, yes > 0, np.ones(30), np.ones(30))

    told, (low, high) = learn_next_vote(known).probability(known)

    assert np.all(told > 0.95)
    assert np.all(told <= (N_REFITS + 0.1) / (N_REFITS + 0.2))
    assert np.all((low < 1) & (high <= 1))


def test_an_end_is_told_alone_what_it_is_told_among_many() -> None:
    learnt = learn_next_vote(some_ends(8, 80)[0])
    known, _ = some_ends(9, 37)

    together, (low, high) = learnt.probability(known)

    for number in range(37):
        alone = learnt.probability(ends_at(known, np.array([number])))
        assert alone[0][0] == together[number]
        assert (alone[1][0][0], alone[1][1][0]) == (low[number], high[number])


def test_the_fewer_refits_were_heard_the_wider_intervals_are() -> None:
    def width(n_refits: int) -> float:
        learnt = learn_next_vote(some_ends(12, 200, n_refits)[0])
        _, (low, high) = learnt.probability(some_ends(13, 500, n_refits)[0])
        return float(np.mean(high - low))

    assert width(8) > 1.2 * width(20)
    assert width(20) > 1.2 * width(60)


def test_of_few_ends_or_few_refits_nothing_is_learnt() -> None:
    assert can_learn(some_ends(0, 20)[0])
    assert not can_learn(some_ends(0, 19)[0])
    assert can_learn(some_ends(0, 40, n_refits=8)[0])
    assert not can_learn(some_ends(0, 40, n_refits=7)[0])


def test_with_few_refits_the_map_and_the_votes_tell() -> None:
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(160, 3)), columns=["east", "north", "up"])
    y = (data["east"] + data["north"] + rng.normal(scale=2, size=160) > 0).astype(int)
    model = LogisticRegression().fit(data, y)

    learnt = {
        n: learnt_lasting(
            LocalFACE(
                model, data, y=y, n_refits=n, search=Search(n_neighbors=15), min_density=0.02
            ).engine
        )
        for n in (4, 8)
    }

    few, enough = learnt[4], learnt[8]
    assert few is not None
    assert few.next_vote is None
    known, _ = some_ends(1, 5, n_refits=4)
    expected = few.map.expected(known.margins, known.densities)
    assert np.array_equal(few.likely(known)[0], few.map.given_votes(expected, known.n_agree, 4)[0])
    assert enough is not None
    assert enough.next_vote is not None
    known, _ = some_ends(1, 5, n_refits=8)
    assert np.array_equal(enough.likely(known)[0], enough.next_vote.probability(known)[0])
