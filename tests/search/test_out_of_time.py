"""Time may be up in any round: an outcome always comes back, marked, and claims what is true."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from localface.search.outcome import Outcome
from localface.search.person import Person
from localface.search.pipeline import find_recourse, measure_path
from localface.search.plan import Plan, Price, WalkOptions
from scripted import ALONG, Script, box, someone, taking_over

_MOST_AFTERWARDS = (
    8  # questions that closing may take, with a way that is known but not yet broken up
)
_ROUNDS = 30  # rounds of a long search in which time is up


def rows_all_over(n: int = 40) -> np.ndarray[Any, Any]:
    return np.random.default_rng(3).normal(0.0, 2.0, (n, 3)).round(2)


def total(points):
    return points.sum(axis=1) / 7


def hollow(points):
    """Less common further out, and rare in a ball on the way."""
    away = 1.5 - np.linalg.norm(points, axis=1) / 5
    hole = np.linalg.norm(points - np.array([1.2, 1.0, 1.0]), axis=1)
    return np.where(hole < 0.5, -2.0, away)


def rare_start(points):
    return np.where(np.abs(points).max(axis=1) < 0.4, -1.0, hollow(points))


@dataclass
class Search:
    """A search in a small world."""

    rows: Any = field(default_factory=rows_all_over)
    log_density: Any = hollow
    plan: Plan = field(default_factory=lambda: Plan(WalkOptions(6)))
    composed: Any = ()
    person: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    def run(self, late: int | None = None) -> tuple[Script, Person, Outcome]:
        script = Script(
            self.rows,
            score=total,
            log_density=self.log_density,
            composed=self.composed,
            late=late,
        )
        person = someone(np.zeros(3), **self.person)
        return script, person, script.run(find_recourse(person, self.plan, **self.options))


WALK = Plan(WalkOptions(6))
EVERYTHING = taking_over(box(3), np.zeros(3))
SOME = box(3, lower=[-1.0, 0.0, -9.0], upper=[9.0, 0.0, 9.0])
SEARCHES = {
    "a walk": Search(),
    "a walk without actions": Search(plan=replace(WALK, actions=False)),
    "states of the person": Search(
        person={"projection": taking_over(SOME, np.zeros(3)), "bounds": SOME}
    ),
    "an entry step": Search(log_density=rare_start),
    "the straight way": Search(
        rows=rows_all_over(4) - 9.0,
        composed=[[2.5, 2.5, 2.5]],
        person={"projection": EVERYTHING},
    ),
    "the straight way from below": Search(
        rows=rows_all_over(4) - 9.0,
        log_density=rare_start,
        composed=[[2.5, 2.5, 2.5]],
        person={"projection": EVERYTHING},
    ),
    "the straight way in small steps": Search(
        rows=rows_all_over(4) - 9.0,
        composed=[[2.5, 2.5, 2.5]],
        person={"projection": EVERYTHING, "max_step": 0.9},
    ),
    "the safest path": Search(plan=replace(WALK, cost="safest")),
    "the safest path with an entry step": Search(
        plan=replace(WALK, cost="safest"), log_density=rare_start
    ),
    "the most common path": Search(
        plan=replace(WALK, cost="density", price=Price(1.0, 0.5)),
    ),
    "averages": Search(person={"rule": "mean"}),
    "a lower floor": Search(person={"log_floor": 1.4}, options={"relax": True}),
    "a lower floor in small steps": Search(
        person={"log_floor": 0.9, "max_step": 1.8}, options={"relax": True}
    ),
    "no path": Search(person={"log_floor": 1.4}),
    "nobody": Search(person={"bounds": box(3, upper=0.5)}),
    "a goal": Search(options={"goal": np.array([2.5, 2.5, 2.5])}),
    "a wish": Search(options={"goal": np.array([0.5, 1.0, 0.7]), "wished": True}),
    "a goal out of bounds": Search(
        options={"goal": np.array([2.5, 2.5, 2.5])}, person={"bounds": box(3, upper=2.0)}
    ),
    "already there": Search(person={"min_score": -1.0}),
    "existence": Search(plan=replace(WALK, existence_only=True)),
    "the published search": Search(plan=replace(WALK, strategy="paper")),
    "the published search with momentum": Search(plan=Plan(WalkOptions(6, 2), strategy="paper")),
}


def lowest(log_density: Any, start: Any, end: Any, rule: str) -> float:
    logs = log_density(start + ALONG * (end - start))
    return float(logs.min() if rule == "lowest" else np.log(np.exp(logs).mean()))


def check_claims(search: Search, person: Person, found: Outcome) -> None:
    """Work out again what an outcome with a path says of it."""
    if not len(found.scores):
        return
    points = found.points
    assert points[0].tolist() == person.factual.tolist()
    assert found.scores == pytest.approx(total(points).tolist())
    assert found.log_densities == pytest.approx(search.log_density(points))
    steps = [lowest(search.log_density, a, b, person.rule) for a, b in pairwise(points)]
    assert found.step_log_densities == pytest.approx(steps)
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    assert lengths.max(initial=0.0) <= person.max_step
    if found.status == "FOUND":
        assert found.scores[-1] >= person.min_score or search.options.get("wished")
        assert person.bounds.contain(points[1:]).all()
        sound = steps[1:] if found.entry else steps
        assert np.array(sound).min(initial=9.0) >= found.log_floor - 1e-6
    else:
        assert len(points) == 1
    if found.actions is not None:
        check_actions(search, person, found)


def check_actions(search: Search, person: Person, found: Outcome) -> None:
    actions = found.actions
    assert actions is not None
    states = np.stack([person.factual, *(move.point for move in actions.moves)])
    steps = [lowest(search.log_density, a, b, person.rule) for a, b in pairwise(states)]
    assert [move.score for move in actions.moves] == pytest.approx(total(states[1:]).tolist())
    assert actions.step_log_densities == pytest.approx(steps)
    assert actions.log_densities == pytest.approx(search.log_density(states[1:]))
    assert min(steps) >= min(actions.log_floor, found.log_floor) - 1e-6
    assert actions.moves[-1].score >= person.min_score or search.options.get("wished")


def is_as_good(found: Outcome, whole: Outcome) -> bool:
    """Whether an outcome says all that the search says that was not cut short."""
    if (found.status, found.scores, found.proven) != (whole.status, whole.scores, whole.proven):
        return False
    if (found.actions is None) != (whole.actions is None):
        return False
    if found.actions is None or whole.actions is None:
        return True
    return [move.point.tolist() for move in found.actions.moves] == [
        move.point.tolist() for move in whole.actions.moves
    ]


def some_rounds(n: int) -> list[int]:
    """All rounds but the first; of many, some and the last ones."""
    spread = np.linspace(1, n - 1, _ROUNDS).astype(int).tolist()
    return sorted({*spread, *range(max(1, n - 5), n)} - {0})


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_what_is_found_in_time_is_true(search: Search) -> None:
    _, person, found = search.run()

    check_claims(search, person, found)


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_whenever_time_is_up_an_outcome_comes_back_marked_and_true(search: Search) -> None:
    script, _, whole = search.run()
    rounds = len(script.asked)

    for late in some_rounds(rounds):
        other, person, found = search.run(late)

        check_claims(search, person, found)
        assert found.cut_short or is_as_good(found, whole)
        assert found.status in ("FOUND", "OUT_OF_TIME", whole.status)
        assert len(other.asked) - late - 1 <= _MOST_AFTERWARDS


@pytest.mark.parametrize("name", ["a walk", "an entry step", "the safest path", "averages"])
def test_once_a_path_is_found_it_is_never_lost(name: str) -> None:
    """Whatever is found by one round is found by every later one too."""
    search = SEARCHES[name]
    script, _, whole = search.run()

    statuses = [search.run(late)[2].status for late in some_rounds(len(script.asked))]

    assert whole.status == "FOUND"
    first = statuses.index("FOUND")
    assert set(statuses[:first]) == {"OUT_OF_TIME"}
    assert set(statuses[first:]) == {"FOUND"}


def test_the_searches_end_in_every_way() -> None:
    found = [search.run()[2] for search in SEARCHES.values()]

    statuses = {one.status for one in found}
    assert statuses == {"FOUND", "ALREADY_THERE", "NO_TARGET", "UNREACHABLE"}
    assert any(one.entry for one in found)
    assert any(one.relaxed for one in found)
    assert any(one.composed for one in found)
    assert any(one.proven for one in found)


def test_a_path_that_is_only_measured_is_measured_whenever_time_is_up() -> None:
    states = np.array([[1.0, 0.0, 0.0], [1.0, 2.0, 0.0]])
    script = Script(rows_all_over(), score=total, log_density=hollow)
    whole = script.run(measure_path(someone(np.zeros(3)), states))

    for late in range(1, len(script.asked)):
        other = Script(rows_all_over(), score=total, log_density=hollow, late=late)
        found = other.run(measure_path(someone(np.zeros(3)), states))
        assert found.step_log_densities.tolist() == whole.step_log_densities.tolist()
