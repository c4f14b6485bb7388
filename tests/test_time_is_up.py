"""Every search ends soon after its time is up, whatever the call: time passes with questions.

``LOCALFACE_TIMED`` says on how many tables; 24 unless told otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from localface import LocalFACE
from localface.engine import clock as clock_module
from localface.engine.driver import Driver
from localface.search.questions import OutOfTime, Questions
from random_tables import Case, make_case, make_wish

TABLES = int(os.environ.get("LOCALFACE_TIMED", "24"))
BLOCKS = 6
CLOSING = 8  # questions that a search may still ask to measure what it has
BEGUN = 3  # searches that may still begin: a check measures the straight step in any case


@dataclass
class Ticks:
    """A clock that moves by one with every question that is answered."""

    now: float = 0.0
    ends: float = np.inf
    late: dict[int, int] = field(default_factory=dict)  # by search
    begun_late: int = 0
    searches: int = 0

    def __call__(self) -> float:
        return self.now

    def restart(self, seconds: float) -> None:
        """Let a call begin that may take so long."""
        self.ends = self.now + seconds
        self.late = {}
        self.begun_late = 0

    def follow(self, asks: Questions[Any]) -> Questions[Any]:
        """Ask the same questions, and let time pass with each."""
        number = self.searches
        self.searches += 1
        self.begun_late += self.now > self.ends
        question = next(asks)
        while True:
            try:
                try:
                    answer = yield question
                except OutOfTime as late:
                    question = asks.throw(late)
                    continue
                self.now += 1
                self.late[number] = self.late.get(number, 0) + (self.now > self.ends)
                question = asks.send(answer)
            except StopIteration as end:
                return end.value


@contextmanager
def ticking() -> Iterator[Ticks]:
    """Let time pass by questions in every search that any driver runs."""
    ticks = Ticks()
    plain = Driver.run_or_error

    def run_or_error(self: Driver, jobs: Any, **options: Any) -> Any:
        timed = (replace(job, asks=ticks.follow(job.asks)) for job in jobs)
        return plain(self, timed, **options)

    with (
        patch.object(Driver, "run_or_error", run_or_error),
        patch.object(clock_module.time, "perf_counter", ticks),
    ):
        yield ticks


def calls_of(
    made: LocalFACE, case: Case, seed: int, seconds: float
) -> dict[str, Callable[[], Any]]:
    """The calls that take a while, each with so much time."""
    kept = {name for name, one in case.features.items() if one.own or one.protected}
    row = case.data.iloc[seed % len(case.data)].to_dict()
    end = {name: case.person[name] if name in kept else row[name] for name in case.features}
    free = [name for name in ("income", "debt") if case.features[name].moves == "freely"]
    common: dict[str, Any] = {"where": case.where, "max_seconds": seconds}
    narrow: dict[str, Any] = {"where": dict.fromkeys(free, 0.2), "max_seconds": seconds}
    person = case.person
    return {
        "explain": lambda: made.explain(person, **common),
        "relax": lambda: made.explain(person, relax=True, **common),
        "ruled out": lambda: made.explain(person, **narrow),
        "ruled out, relaxed": lambda: made.explain(person, relax=True, **narrow),
        "best effort": lambda: made.explain(person, best_effort=True, min_score=0.97, **common),
        "robust": lambda: made.explain(person, min_robustness=0.9, **common),
        "known end": lambda: made.explain(person, counterfactual=end, relax=True, **common),
        "check": lambda: made.check(person, make_wish(case, seed), **common),
        "other features": lambda: made.alternatives(person, **common),
        "other values": lambda: made.alternatives(person, differ="values", **common),
        "audit": lambda: made.audit([person], [end], max_seconds=seconds, progress=False),
        "many": lambda: made.explain_many([person], progress=False, relax=True, **common),
    }


def near_copies(seed: int) -> Case:
    """A table of near-duplicates: many rows around a few, almost the same."""
    case = make_case(seed)
    rng = np.random.default_rng(seed)
    data = case.data.sample(12, random_state=seed).loc[lambda rows: rows.index.repeat(25)]
    for name in ("income", "debt"):
        data[name] += rng.normal(0, 1e-9, len(data))
    return replace(case, data=data.reset_index(drop=True))


@pytest.mark.parametrize("block", range(BLOCKS))
@pytest.mark.parametrize("make", [make_case, near_copies], ids=["tables", "near-duplicates"])
def test_when_time_is_up_every_search_closes_and_hardly_any_begins(
    block: int, make: Callable[[int], Case]
) -> None:
    cut_short = 0
    for seed in range(block, TABLES, BLOCKS):
        case = make(seed)
        through = "rows" if seed % 4 == 1 else "states"
        cost = "safest" if seed % 5 == 2 else None
        search = replace(case.search, through=through, cost=cost)
        seconds = float(np.random.default_rng(seed).integers(1, 30))
        with ticking() as ticks:
            made = case.explainer(search=search).prescore()
            for name, call in calls_of(made, case, seed, seconds).items():
                ticks.restart(seconds)
                call()
                cut_short += ticks.now >= ticks.ends
                where = (name, seed, seconds)
                assert max(ticks.late.values(), default=0) <= CLOSING, where
                assert ticks.begun_late <= BEGUN, where
    assert cut_short
