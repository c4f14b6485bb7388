"""How fast our answers are on one shape: one at a time, in lock-step, by the form of a person."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from localface import LocalFACE, Recourse
from shapes import Shape
from timing import Spent, Unit, timed

KINDS = {
    "Nearest": "neighbours",
    "NearestToEach": "neighbours",
    "ScoreRows": "model",
    "ScorePoints": "model",
    "HelpOthers": "model",
    "DensityAlong": "density",
    "RowDensities": "density",
    "Census": "counting",
    "ComposeStates": "composing",
    "Widening": "counting",
}
FORMS: dict[str, Callable[[pd.DataFrame, int], Any]] = {
    "one-row frame": lambda people, i: people.iloc[[i]],
    "dict": lambda people, i: people.iloc[i].to_dict(),
    "Series": lambda people, i: people.iloc[i],
    "numpy row": lambda people, i: people.iloc[i].to_numpy(),
}
HEADLINE = "one-row frame"
BY_FORM = 24  # people who are asked about in every form
FEWEST = 3  # answers that a median is taken of, however long they take
HIGH_FLOOR = 0.3  # of relax=True, so that it has to be lowered
CROWD = 256  # people in lock-step: as many as advance together


@dataclass(frozen=True, slots=True, eq=False)
class Singles:
    """Answers one at a time, and what each took."""

    answers: list[Recourse]
    spent: list[Spent]
    unit: Spent

    @property
    def found(self) -> float:
        """The share of people who were given a way."""
        return float(np.mean([answer.found for answer in self.answers]))

    @property
    def figures(self) -> dict[str, float]:
        """Milliseconds of the processor, and queries."""
        worked = np.array([one.worked for one in self.spent])
        median, p95, p99, most = (float(np.quantile(worked, q)) for q in (0.5, 0.95, 0.99, 1))
        return {
            "people": len(worked),
            "found": self.found,
            "median ms": 1e3 * median,
            "p95 ms": 1e3 * p95,
            "max ms": 1e3 * most,
            "p99 / median": p99 / median,
            "median queries": median / self.unit.worked,
            "p95 queries": p95 / self.unit.worked,
            "max queries": most / self.unit.worked,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """Answers in lock-step, and what all of them took."""

    answers: Sequence[Recourse]
    spent: Spent
    unit: Spent
    alike: bool

    @property
    def figures(self) -> dict[str, float]:
        """A person in milliseconds of the processor and in queries."""
        each = self.spent.worked / len(self.answers)
        return {
            "people": len(self.answers),
            "found": float(np.mean([answer.found for answer in self.answers])),
            "ms a person": 1e3 * each,
            "queries a person": each / self.unit.worked,
            "people a second": 1 / each,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """How many people are asked about, and how many seconds one way of asking may take."""

    people: int
    crowd: int
    peer_people: int
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class Ours:
    """All that was measured of us on one shape, by the name of a way of asking."""

    alone: dict[str, Singles]
    together: dict[str, Crowd]
    forms: dict[str, float]  # median milliseconds


WAYS: dict[str, dict[str, Any]] = {"path only": {"actions": False}, "with actions": {}}


def measure_ours(at: Shape, limits: Limits) -> Ours:
    """Measure every way of asking on one shape, rows scored before."""
    explainer = at.explainer().prescore()
    unit = at.unit(explainer)
    alone = dict[str, Singles]()
    together = dict[str, Crowd]()
    for way, options in WAYS.items():
        warmed(explainer, at, **options)
        alone[way] = one_at_a_time(explainer, at.people[: limits.people], unit, limits, **options)
        together[way] = in_lock_step(explainer, at.people, unit, limits, alone[way], **options)
    if at.name == "planes":
        alone |= asked_for_more(at, unit, limits)
    return Ours(alone, together, by_form(explainer, at.people[:BY_FORM], limits))


def asked_for_more(at: Shape, unit: Unit, limits: Limits) -> dict[str, Singles]:
    """Asks that look further: the floor lowered where it must be, and the safest way."""
    people = at.people[: limits.people]
    found = dict[str, Singles]()
    for way, search, options in (
        ("relax=True", {}, {"relax": True, "min_density": HIGH_FLOOR}),
        ('cost="safest"', {"cost": "safest"}, {}),
    ):
        explainer = at.explainer(**search).prescore()
        explainer.explain(at.warm.iloc[[0]], **options)
        found[way] = one_at_a_time(explainer, people, unit, limits, **options)
    return found


def warmed(explainer: LocalFACE, at: Shape, **options: Any) -> None:
    """Answer others first: what is worked out once is told as the first answer, in set-up."""
    explainer.explain_many(at.warm, progress=False, **options)


def one_at_a_time(
    explainer: LocalFACE, people: pd.DataFrame, unit: Unit, limits: Limits, **options: Any
) -> Singles:
    """Answer people one after the other, with queries in between."""
    answers = list[Recourse]()
    spent = list[Spent]()
    ends = time.process_time() + limits.seconds
    for i in range(len(people)):
        if len(spent) >= FEWEST and time.process_time() > ends:
            break
        person = FORMS[HEADLINE](people, i)
        unit.again()
        answer, took = timed(explainer.explain, person, **options)
        answers.append(answer)
        spent.append(took)
    return Singles(answers, spent, unit.taken())


def in_lock_step(
    explainer: LocalFACE,
    people: pd.DataFrame,
    unit: Unit,
    limits: Limits,
    alone: Singles,
    **options: Any,
) -> Crowd:
    """Answer many at once: as many as would be done in time if nothing were gained by it."""
    mean = float(np.mean([one.worked for one in alone.spent]))
    many = min(limits.crowd, max(len(alone.spent), int(limits.seconds / mean)))
    unit.again(20)
    answers, spent = timed(explainer.explain_many, people[:many], progress=False, **options)
    unit.again(20)
    same = all(gist(a) == gist(b) for a, b in zip(alone.answers, answers, strict=False))
    return Crowd(answers, spent, unit.taken(), same)


def by_form(explainer: LocalFACE, people: pd.DataFrame, limits: Limits) -> dict[str, float]:
    """Median milliseconds, path only, by the form that people come in; forms take turns."""
    spent: dict[str, list[float]] = {form: [] for form in FORMS}
    ends = time.process_time() + limits.seconds
    for i in range(len(people)):
        if i >= FEWEST and time.process_time() > ends:
            break
        for form, make in FORMS.items():
            person = make(people, i)
            spent[form].append(timed(explainer.explain, person, actions=False)[1].worked)
    return {form: 1e3 * float(np.median(times)) for form, times in spent.items()}


def shares(answers: Sequence[Recourse], total: float) -> dict[str, float]:
    """How much of the time went where, by the answers' own accounts."""
    spent = dict.fromkeys(KINDS.values(), 0.0)
    for answer in answers:
        for kind, seconds in answer.disclosure.seconds.items():
            spent[KINDS[kind]] += seconds
    return {kind: seconds / total for kind, seconds in spent.items()}


def gist(answer: Recourse) -> tuple[Any, ...]:
    """What must not depend on who else is asked about."""
    actions = [(sorted(one.changes.items()), one.score) for one in answer.actions]
    return answer.status, answer.rows, answer.records.tobytes(), answer.scores, actions
