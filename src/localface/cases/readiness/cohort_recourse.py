"""Recourse for every patient that a forest was tested on."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from localface.answers.many import Recourses
from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.cases.readiness.codebook import CRITERIA, schema
from localface.cases.readiness.training import Fitted
from localface.data.codes import range_codes
from localface.data.schema import Schema
from localface.errors import DataError
from localface.explainer import LocalFACE
from localface.options import Search
from localface.types import Array, Ids

Group = Literal["true negative", "false negative", "false positive", "true positive"]
Direction = Literal["ready", "not ready"]
GROUPS: tuple[Group, ...] = ("true negative", "false negative", "false positive", "true positive")
DIRECTIONS: tuple[Direction, ...] = ("ready", "not ready")

READY_SCORE = 0.5
"""The score from which the forest calls someone ready, and so positive."""

CERTAIN_SCORE = 0.75
"""The score that recourse towards readiness has to reach: the paper's, "a high certainty"."""

SEARCH_NEIGHBORS = 50
"""Neighbours that a search looks at around each state."""

_ALONE = 20  # people explained one at a time, to measure the time


@dataclass(frozen=True, slots=True, eq=False)
class PatientRecourse:
    """One tested patient: their group, the direction they were asked to go, the answer.

    ``answer`` may have been relaxed; ``plain`` is the answer before anything was. ``before``
    and ``after`` count the discharge criteria that are met.
    """

    row: int
    group: Group
    direction: Direction
    answer: Recourse
    plain: Recourse
    before: int
    after: int

    @property
    def end_state(self) -> Array:
        """The state that the actions lead to; the patient as they are, if there is no path."""
        end: Array = self.answer.with_actions_as_path().records[-1]
        return end

    @property
    def was_asked(self) -> bool:
        """Whether there was anything to search for: someone who is there already is not asked."""
        return self.answer.status is not Status.ALREADY_THERE

    @property
    def was_relaxed(self) -> bool:
        """Whether a path was found only by lowering the floor or widening a constraint."""
        return self.answer.found and not self.plain.found

    @property
    def widened_constraints(self) -> Mapping[str, float]:
        """Which constraints were widened, and to what reach."""
        return self.answer.widened

    @property
    def changed_features(self) -> tuple[str, ...]:
        """The features that the actions change."""
        return tuple(
            dict.fromkeys(name for action in self.answer.actions for name in action.changes)
        )

    @property
    def lowest_density(self) -> float:
        """The share of people whose density is below the lowest on the path."""
        certificates = self.answer.with_actions_as_path().certificates
        return min((one.lowest for one in certificates), default=float("nan"))


@dataclass(frozen=True, slots=True, eq=False)
class CohortRecourse:
    """The answer of each patient, the explainers that gave them, seconds on this machine.

    ``tested`` counts all patients in the test set. ``seconds`` is the mean for a person when
    all are asked together, ``alone`` those of some people, one at a time.
    """

    people: tuple[PatientRecourse, ...]
    tested: int
    explainers: Mapping[Direction, LocalFACE]
    seconds: Mapping[Direction, float]
    alone: tuple[float, ...]

    def __repr__(self) -> str:
        asked = [one for one in self.people if one.was_asked]
        found = sum(one.answer.found for one in asked)
        return (
            f"<CohortRecourse: {len(self.people):,} people, {len(asked):,} asked, {found:,} found>"
        )

    def select_people(
        self, group: Group | None = None, direction: Direction | None = None
    ) -> tuple[PatientRecourse, ...]:
        """The people of one group, or asked in one direction."""
        return tuple(
            one
            for one in self.people
            if group in (None, one.group) and direction in (None, one.direction)
        )

    def to_frame(self) -> Any:
        """One line a person, as a pandas frame."""
        import pandas

        return pandas.DataFrame([_frame_row(one) for one in self.people])


def explain_tested_patients(
    fitted: Fitted,
    *,
    people: int | None = None,
    max_seconds: float | None = None,
    seed: int = 0,
    progress: bool = True,
) -> CohortRecourse:
    """Explain all patients that the forest was tested on, or ``people`` of them drawn by ``seed``.

    A false positive, called ready (score 0.5) without having been so, is asked what would
    make the forest call them not ready. Everyone else is asked for a path to a score of 0.75;
    those who have it are there already. So everyone is asked once.
    """
    rows = _choose_people(len(fitted.test), people, seed)
    groups = confusion_groups(fitted.ready, fitted.scores)
    plan = _with_bounds_as_charted(schema(), fitted.test)
    found: dict[int, PatientRecourse] = {}
    explainers: dict[Direction, LocalFACE] = {}
    seconds: dict[Direction, float] = {}
    for direction in DIRECTIONS:
        mine = [row for row in rows.tolist() if _direction_to_explain(groups[row]) == direction]
        if mine:
            explainers[direction] = _build_explainer(fitted, plan, direction)
            started = time.perf_counter()
            answers = _explain_with_and_without_relaxing(
                explainers[direction],
                fitted.test.iloc[mine],
                max_seconds=max_seconds,
                progress=progress,
            )
            seconds[direction] = (time.perf_counter() - started) / len(mine)
            found |= {
                row: _make_patient_recourse(row, groups[row], *pair)
                for row, pair in zip(mine, answers, strict=True)
            }
    ordered = tuple(found[row] for row in rows.tolist())
    return CohortRecourse(
        ordered,
        len(fitted.test),
        explainers,
        seconds,
        _seconds_one_at_a_time(explainers, ordered, fitted),
    )


def confusion_groups(ready: Array, scores: Array) -> list[Group]:
    """The group of each patient, by the forest's verdict and by what happened."""
    called = np.asarray(scores) >= READY_SCORE
    names: dict[tuple[bool, bool], Group] = {
        (False, False): "true negative",
        (False, True): "false negative",
        (True, False): "false positive",
        (True, True): "true positive",
    }
    return [names[bool(verdict), bool(truth)] for verdict, truth in zip(called, ready, strict=True)]


def _direction_to_explain(group: Group) -> Direction:
    return "not ready" if group == "false positive" else "ready"


def _choose_people(n: int, people: int | None, seed: int) -> Ids:
    if people is None or people >= n:
        return np.arange(n)
    if people < 1:
        raise DataError(
            f"people is how many of the tested are explained, 1 or more; got {people!r}"
        )
    return np.sort(np.random.default_rng(seed).choice(n, people, replace=False))


def _with_bounds_as_charted(plan: Schema, patients: Any) -> Schema:
    """Widen bounds that a charted value oversteps, so that every patient can be asked about.

    The original decisions about MIMIC-III keep an FiO2 of less than room air.
    """
    for feature in plan:
        if feature.bounds is not None:
            low, high = range_codes(feature, feature.bounds)
            charted = patients[feature.name]
            bounds = (min(low, charted.min()), max(high, charted.max()))
            plan = plan.with_(feature.name, bounds=bounds) if bounds != (low, high) else plan
    return plan


def _build_explainer(fitted: Fitted, plan: Schema, direction: Direction) -> LocalFACE:
    target = 1 if direction == "ready" else 0
    min_score = CERTAIN_SCORE if direction == "ready" else READY_SCORE
    near = min(SEARCH_NEIGHBORS, len(fitted.train))
    explainer = LocalFACE(
        fitted.model,
        fitted.train,
        schema=plan,
        target=target,
        min_score=min_score,
        search=Search(n_neighbors=near),
    )
    return explainer.prescore()


def _explain_with_and_without_relaxing(
    explainer: LocalFACE, people: Any, *, max_seconds: float | None, progress: bool
) -> list[tuple[Recourse, Recourse]]:
    """Each person's answer, and the answer before anything was relaxed.

    Only those without a path are asked again.
    """

    def explain_all(some: Any, **options: Any) -> Recourses:
        found = explainer.explain_many(some, max_seconds=max_seconds, progress=progress, **options)
        if found.unfinished:
            raise KeyboardInterrupt("stopped: a study of some of the patients would mislead")
        return found

    plain = explain_all(people)
    again = [
        i for i, one in enumerate(plain) if not one.found and one.status is not Status.ALREADY_THERE
    ]
    final = list(plain)
    if again:
        relaxed = explain_all(people.iloc[again], relax=True)
        for i, one in zip(again, relaxed, strict=True):
            final[i] = one
    return list(zip(final, plain, strict=True))


def _make_patient_recourse(
    row: int, group: Group, answer: Recourse, plain: Recourse
) -> PatientRecourse:
    ends = answer.with_actions_as_path().records[[0, -1]]
    columns = {name: ends[:, i] for i, name in enumerate(answer.schema.names)}
    before, after = np.sum([one.holds(columns[one.feature]) for one in CRITERIA], axis=0).tolist()
    return PatientRecourse(row, group, _direction_to_explain(group), answer, plain, before, after)


def _seconds_one_at_a_time(
    explainers: Mapping[Direction, LocalFACE], people: Sequence[PatientRecourse], fitted: Fitted
) -> tuple[float, ...]:
    """Seconds for each of a few people, explained one at a time as a clinician would."""
    spent = []
    for one in [one for one in people if one.was_asked][:_ALONE]:
        started = time.perf_counter()
        explainers[one.direction].explain(fitted.test.iloc[one.row], relax=True)
        spent.append(time.perf_counter() - started)
    return tuple(spent)


def _readiness_score(one: PatientRecourse, score: float) -> float:
    """The score for being ready, in whichever direction the person was asked to go."""
    return score if one.direction == "ready" else 1 - score


def _frame_row(one: PatientRecourse) -> dict[str, Any]:
    answer = one.answer
    return {
        "row": one.row,
        "group": one.group,
        "direction": one.direction,
        "status": answer.status.name,
        "reason": answer.reason,
        "cautions": "; ".join(answer.cautions),
        "status_unrelaxed": one.plain.status.name,
        "reason_unrelaxed": one.plain.reason,
        "relaxed_to": answer.relaxed_to,
        "widened": ", ".join(
            f"{name} {reach:g}" for name, reach in one.widened_constraints.items()
        ),
        "ready_before": _readiness_score(one, answer.scores[0]),
        "ready_after": _readiness_score(one, answer.with_actions_as_path().scores[-1]),
        "actions": len(answer.actions),
        "features": len(one.changed_features),
        "path_steps": len(answer.certificates),
        "lowest_density": one.lowest_density,
        "entry": any(action.certificate.entry for action in answer.actions),
        "rows_seen": answer.disclosure.rows,
        "share_seen": answer.disclosure.fraction,
        "criteria_before": one.before,
        "criteria_after": one.after,
    }
