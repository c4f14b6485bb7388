"""The floor that would open a way, as it is told to those whom the floor refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from localface import LocalFACE, Search, Status
from localface.analyses.whynot import floors
from localface.answers.wording import round_share_down
from localface.cases.moons import two_moons
from localface.search import lower_floor
from localface.search.lower_floor import LowerFloor
from localface.search.person import Person
from localface.search.questions import ask_point_scores

RNG = np.random.default_rng(0)
TWO_TOWNS = pd.DataFrame(RNG.normal(size=(300, 2)), columns=["east", "north"])
TWO_TOWNS.loc[150:, "east"] += 5.0
WESTERNER = {"east": 0.0, "north": 0.0}


def in_the_east(people: Any) -> Any:
    return 0.0 + (np.asarray(people["east"], dtype=float) > 4)


def explainer(**options: Any) -> LocalFACE:
    return LocalFACE(in_the_east, TWO_TOWNS, search=Search(n_neighbors=20), **options)


def test_the_floor_that_is_told_is_lower_and_opens_a_way() -> None:
    answer = explainer().explain(WESTERNER, actions=False, min_density=0.3)
    assert answer.status is Status.UNREACHABLE

    told = float(answer.reason.partition("(min_density=")[2].rstrip(")"))

    assert 0 < told < answer.min_density
    assert explainer().explain(WESTERNER, actions=False, min_density=told).found


def test_a_floor_is_never_told_to_come_down_to_a_higher_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def far_above(person: Person, **_: Any) -> Any:
        yield from ask_point_scores(person.factual[None, :])
        return LowerFloor(100.0, is_highest=True)

    monkeypatch.setattr(floors, "find_lower_floor", far_above)

    answer = explainer().explain(WESTERNER, actions=False, min_density=0.3)

    told = answer.reason.partition("(min_density=")[2].rstrip(")")
    assert not told or float(told) < answer.min_density
    assert told or "a longer search finds a way: ask with relax=True" in answer.reason


def test_the_floor_that_is_told_is_the_one_that_relaxing_finds() -> None:
    moons = two_moons(1000, noise=0.12, seed=3)
    made = LocalFACE(moons.model, moons.data, min_density=0.15, search=Search(n_neighbors=15))
    people = moons.data[moons.model(moons.data) < 0.5][[0, 40, 90]]

    for answer in made.explain_many(people, actions=False, progress=False):
        assert answer.status is Status.UNREACHABLE
        relaxed = made.explain(answer.records[0], actions=False, relax=True)
        told = float(answer.reason.partition("(min_density=")[2].rstrip(")"))
        assert relaxed.relaxed_to is not None
        assert told == round_share_down(relaxed.relaxed_to)


def test_where_a_higher_floor_may_do_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lower_floor, "_MOST_ROWS", 120)

    answer = explainer().explain(WESTERNER, actions=False, min_density=0.3)

    assert answer.reason.endswith("; relax=True may find one for which it comes down less")
