"""How fast answers are, one at a time or in lock-step, with where the time goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bench_cohort import World, say
from bench_tables import Report
from localface import LocalFACE, Recourse
from timing import Spent, Unit, timed

KINDS = {
    "Nearest": "neighbours",
    "ScoreRows": "model",
    "ScorePoints": "model",
    "DensityAlong": "density",
    "RowDensities": "density",
    "Census": "counting",
    "Widening": "counting",
}
SHARED = (
    "Trees that are read directly make one at a time fast, so that lock-step has less left to "
    "share: a model that is merely called costs about as much for one record as for hundreds. "
    "alike: the same status, people, actions and scores as one at a time, bit for bit."
)


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """The same people one at a time and in lock-step, and what a query took in the meantime."""

    alone: list[Spent]
    together: Spent
    unit: Spent
    shares_alone: dict[str, float]
    shares: dict[str, float]
    alike: bool

    @property
    def single(self) -> list[float]:
        """Median in ms, in queries by the clock, in queries; p95 and its ratio; mean in queries."""
        worked = np.array([spent.worked for spent in self.alone])
        one = self.unit.worked
        median, p95, mean = (
            float(each) for each in (np.median(worked), np.quantile(worked, 0.95), worked.mean())
        )
        clock = float(np.median([spent.wall for spent in self.alone]))
        return [
            1e3 * clock,
            clock / self.unit.wall,
            median / one,
            p95 / one,
            p95 / median,
            mean / one,
        ]

    @property
    def crowd(self) -> list[Any]:
        """A person in ms and queries, people a second, times one at a time, answers alike."""
        many = len(self.alone)
        worked = sum(spent.worked for spent in self.alone)
        each = self.together.wall / many
        times = worked / self.together.worked
        queries = self.together.worked / many / self.unit.worked
        return [1e3 * each, queries, 1 / each, times, "yes" if self.alike else "NO"]


def speed(at: World, unit: Unit) -> tuple[list[Report], dict[str, float]]:
    """One at a time, in lock-step, where the time goes: trees read, or the model called."""
    columns = [
        "",
        "median ms",
        "queries by the clock",
        "queries",
        "p95 queries",
        "p95 / median",
        "mean queries",
    ]
    single = Report("One at a time", columns)
    crowd = Report(
        "In lock-step",
        ["", "ms a person", "queries", "people a second", "times one at a time", "alike"],
    )
    split = Report("Where the time goes, %", ["", *dict.fromkeys(KINDS.values()), "the rest"])
    figures: dict[str, float] = {}
    for called in (False, True):
        explainer = at.explainer(called=called)
        for actions in (False, True):
            model = "model called" if called else "trees read"
            name = f"{model}, {'with actions' if actions else 'path only'}"
            say(name)
            runs = both(explainer, at.people, unit, actions=actions)
            single.rows.append([name, *runs.single])
            crowd.rows.append([name, *runs.crowd])
            split.rows.append([f"one at a time, {name}", *_percent(runs.shares_alone)])
            split.rows.append([f"in lock-step, {name}", *_percent(runs.shares)])
            figures |= {f"{name}: queries": runs.single[2], f"{name}: tail": runs.single[4]}
            figures |= {f"{name}: times": runs.crowd[3], f"{name}: rest": _percent(runs.shares)[-1]}
    single.notes.append(f"{len(at.people)} people; a query takes {1e3 * runs.unit.wall:.2f} ms.")
    crowd.notes.append(SHARED)
    split.notes.append("counting: who in the box could be become. By the clock.")
    return [single, crowd, split], figures


def both(explainer: LocalFACE, people: pd.DataFrame, unit: Unit, **options: Any) -> Runs:
    """Measure one at a time in two halves, with lock-step before, between and after."""
    records = people.to_dict("records")
    explainer.explain_many(
        people[:64], progress=False, **options
    )  # what is worked out once is not counted
    alone: list[tuple[Recourse, Spent]] = []
    crowds: list[tuple[Sequence[Recourse], Spent]] = []
    for part in (records[::2], records[1::2], records[:0]):
        unit.again(30)
        crowds.append(timed(explainer.explain_many, people, progress=False, **options))
        for one in part:
            unit.again()
            alone.append(timed(explainer.explain, one, **options))
    singles = [answer for answer, _ in alone]
    spent = [each for _, each in alone]
    answers, together = sorted(crowds, key=lambda run: run[1].worked)[1]
    return Runs(
        alone=spent,
        together=together,
        unit=unit.taken(),
        shares_alone=shares(singles, sum(each.wall for each in spent)),
        shares=shares(answers, together.wall),
        alike=all(
            _gist(a) == _gist(b)
            for a, b in zip(singles, [*answers[::2], *answers[1::2]], strict=True)
        ),
    )


def shares(answers: Sequence[Recourse], total: float) -> dict[str, float]:
    """How much of the time went where, by the answers' own accounts."""
    spent = dict.fromkeys(KINDS.values(), 0.0)
    for answer in answers:
        for kind, seconds in answer.disclosure.seconds.items():
            spent[KINDS[kind]] += seconds
    return {kind: seconds / total for kind, seconds in spent.items()}


def _percent(part: dict[str, float]) -> list[float]:
    return [100 * share for share in (*part.values(), 1 - sum(part.values()))]


def _gist(answer: Recourse) -> tuple[Any, ...]:
    """What must not depend on who else is asked about."""
    actions = [(sorted(one.changes.items()), one.score) for one in answer.actions]
    return answer.status, answer.rows, answer.records.tobytes(), answer.scores, actions
