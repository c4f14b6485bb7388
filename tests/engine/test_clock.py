"""One clock for all searches on behalf of one person, read from a clock that the test sets."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from localface import Feature, LocalFACE, Schema, Search, Status
from localface.engine.clock import Clock


class FakeTime:
    """The time, which passes only as the test says: by so much with every reading."""

    def __init__(self) -> None:
        self.now = 100.0
        self.step = 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now


@pytest.fixture
def clock_time(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    fake = FakeTime()
    for module in ("clock", "driver"):
        monkeypatch.setattr(f"localface.engine.{module}.time.perf_counter", fake)
    return fake


def test_a_clock_starts_once_and_keeps_a_little_for_closing(clock_time: FakeTime) -> None:
    clock = Clock(10.0)

    first = clock.start()
    clock_time.now += 3.0

    assert first == clock.start() == pytest.approx(109.95)
    assert Clock(0.2).start() == pytest.approx(103.18)
    assert not clock.is_up
    clock_time.now += 7.0
    assert clock.is_up


def test_a_clock_that_is_paused_keeps_what_is_left(clock_time: FakeTime) -> None:
    clock = Clock(1.0)
    clock.start()
    clock_time.now += 0.25
    clock.pause()
    clock_time.now += 50.0

    assert not clock.is_up
    assert clock.start() == pytest.approx(150.25 + 0.70)


def test_without_a_limit_time_is_never_up() -> None:
    clock = Clock()
    assert clock.start() == np.inf
    clock.pause()
    assert not clock.is_up


@cache
def crowd() -> tuple[pd.DataFrame, Schema]:
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.uniform(0, 10, (120, 3)).round(2), columns=["east", "north", "up"])
    within = [Feature("east", within=1.0), Feature("north", within=2.0), Feature("up", within=3.0)]
    return data, Schema(within)


class SlowModel:
    """A model whose every call takes a while, by the clock of the test."""

    def __init__(self, clock_time: FakeTime, takes: float) -> None:
        self.clock_time = clock_time
        self.takes = takes
        self.calls = 0

    def __call__(self, people: pd.DataFrame) -> Any:
        self.clock_time.now += self.takes
        self.calls += 1
        return np.clip(np.asarray(people["east"], dtype=float) / 10, 0, 1)


PERSON = {"east": 3.0, "north": 5.0, "up": 5.0}


def slow_explainer(clock_time: FakeTime, takes: float) -> LocalFACE:
    data, schema = crowd()
    model = SlowModel(clock_time, takes)
    made = LocalFACE(model, data, schema=schema, min_score=0.7, search=Search(n_neighbors=10))
    return made.prescore()


@pytest.mark.parametrize("relax", [False, True])
def test_trials_for_a_refusal_share_the_time_of_the_call(clock_time: FakeTime, relax: bool) -> None:
    made = slow_explainer(clock_time, takes=0.2)
    assert made.explain(PERSON, relax=relax).status in (Status.NO_TARGET, Status.FOUND)

    for seconds in (0.1, 0.5, 2.0):
        began = clock_time.now
        made.explain(PERSON, relax=relax, max_seconds=seconds)
        assert clock_time.now - began <= seconds + 2 * 0.2  # one call under way, one for closing


def test_alternatives_and_checks_share_one_time_too(clock_time: FakeTime) -> None:
    made = slow_explainer(clock_time, takes=0.2)
    person = {**PERSON, "east": 6.5}

    for seconds in (0.1, 0.5, 2.0):
        began = clock_time.now
        made.alternatives(person, max_seconds=seconds)
        assert clock_time.now - began <= seconds + 2 * 0.2
        began = clock_time.now
        check = made.check(person, {"east": 7.4, "north": 6.5}, max_seconds=seconds)
        assert clock_time.now - began <= seconds + 3 * 0.2  # the straight step is always measured
        assert check.relaxation is None or "however low" not in check.relaxation.sentence


def test_those_who_are_asked_for_later_have_their_time_still(clock_time: FakeTime) -> None:
    made = slow_explainer(clock_time, takes=0.2)
    people = pd.DataFrame([{**PERSON, "north": 1.0 + i / 2} for i in range(6)])

    one_by_one = [made.explain(person, max_seconds=600) for _, person in people.iterrows()]
    together = made.explain_many(people, max_seconds=600, progress=False)

    assert [one.opens for one in one_by_one] == [one.opens for one in together]
    assert any(one.opens for one in together)
