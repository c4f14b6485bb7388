"""The bins of benchmarks/lasting.py: what chance makes of as many people and models is right."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.special import betaincinv

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from lasting_bins import BINS, Bin, bins_of, share_within, typical_error
from localface.types import Array

ANSWERS_EACH = 3
PEOPLE = 100
MODELS = 30


def drawn(seed: int) -> tuple[Array, Array, Array]:
    """People with three answers that share their luck, and models that are stricter or less so."""
    rng = np.random.default_rng(seed)
    stated = np.full(PEOPLE * ANSWERS_EACH, 0.6)
    people = np.repeat(np.arange(PEOPLE), ANSWERS_EACH)
    luck = rng.normal(0, 0.2, PEOPLE)[people]
    strictness = rng.normal(0, 0.2, MODELS)
    likely = np.clip(stated[:, None] + luck[:, None] + strictness, 0, 1)
    return stated, (rng.uniform(size=likely.shape) < likely).astype(float), people


def test_the_standard_error_is_by_how_much_draws_differ() -> None:
    found = [bins_of(*drawn(seed)) for seed in range(200)]

    apart = np.array([[one.apart for one in bins] for bins in found])
    errors = np.array([[one.error for one in bins] for bins in found])

    assert np.sqrt((errors**2).mean()) == pytest.approx(np.sqrt((apart**2).mean()), rel=0.12)


def test_answers_of_one_person_count_as_one_draw() -> None:
    stated, votes, people = drawn(0)

    together = bins_of(stated, votes, people)[0].error
    as_if_apart = bins_of(stated, votes, np.arange(len(people)))[0].error

    assert together > 1.1 * as_if_apart
    assert bins_of(stated, votes, people)[0].n_people < len(people) // BINS


def test_few_refits_to_learn_from_are_chance_as_well() -> None:
    few = bins_of(*drawn(1), n_refits=5)[0]
    many = bins_of(*drawn(1), n_refits=500)[0]

    assert few.error == many.error
    assert few.error < many.error_with_learnt < few.error_with_learnt


def test_bins_have_as_many_answers_each_in_the_order_of_what_is_stated() -> None:
    rng = np.random.default_rng(2)
    stated = rng.permutation(np.linspace(0, 1, 100))

    bins = bins_of(stated, np.ones((100, 4)), np.arange(100))

    assert [one.n_answers for one in bins] == [20] * BINS
    assert [one.stated for one in bins] == sorted(one.stated for one in bins)
    assert bins[0].apart == pytest.approx(1 - stated[stated < 0.2].mean())


@pytest.mark.parametrize(("held", "is_off"), [(0.54, False), (0.58, False), (0.7, True)])
def test_a_bin_is_off_where_neither_what_is_allowed_nor_chance_explains_it(
    held: float, is_off: bool
) -> None:
    one = Bin(0.5, held, error=0.01, error_with_learnt=0.03, n_answers=20, n_people=10)

    assert one.is_off is is_off


def answers_off_by(points: float, n_judges: int) -> tuple[Array, Array]:
    """What 2,000 answers state, all as far from the truth, and votes of those who judge."""
    rng = np.random.default_rng(3)
    truth = rng.uniform(0.3, 0.7, 2_000)
    stated = truth + rng.choice([-points, points], 2_000)
    return stated, (rng.uniform(size=(n_judges, 2_000)) < truth).T.astype(float)


@pytest.mark.parametrize("n_judges", [10, 100])
def test_an_error_of_one_answer_has_no_part_of_those_who_judge(n_judges: int) -> None:
    stated, votes = answers_off_by(0.1, n_judges)

    assert typical_error(stated, votes) == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize(("strength", "is_right"), [(20, True), (80, False), (5, False)])
def test_intervals_that_are_right_have_as_many_as_are_due(strength: int, is_right: bool) -> None:
    rng = np.random.default_rng(4)
    stated = rng.uniform(0.3, 0.9, 2_000)
    truth = rng.beta(20 * stated, 20 * (1 - stated))
    votes = (rng.uniform(size=(60, 2_000)) < truth).T.astype(float)
    ends = (0.05, 0.95)
    intervals = np.column_stack(
        [betaincinv(strength * stated, strength * (1 - stated), end) for end in ends]
    )

    seen, due = share_within(stated, intervals, votes, n_refits=strength)

    assert (abs(seen - due) < 0.03) is is_right
