"""The case study end to end, as one value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from localface.analyses.observed_moves import MoveCounter, Trajectories
from localface.answers.recourse import Recourse
from localface.cases.readiness.cohort_recourse import (
    GROUPS,
    CohortRecourse,
    Group,
    PatientRecourse,
    explain_tested_patients,
)
from localface.cases.readiness.report_tables import format_share, found_share
from localface.cases.readiness.samples import Samples
from localface.cases.readiness.training import MEASURES, PAPER, Evaluation, evaluate_forest
from localface.errors import DataError

if TYPE_CHECKING:
    from localface.cases.mimic import Extraction

FEW_ROWS = 500
"""Rows below which a forest, and what is said of it, is a demonstration only."""

EXAMPLE_ACTIONS = 3
"""Actions of an example patient, if possible: enough to show an order, few enough to read."""


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """All results of the case study.

    ``row_split_evaluation`` is split by row, where that was asked for; ``notes`` says in
    sentences what this run could not do.
    """

    samples: Samples
    evaluation: Evaluation
    patients: CohortRecourse
    examples: dict[Group, PatientRecourse]
    notes: tuple[str, ...]
    seed: int
    row_split_evaluation: Evaluation | None = None
    extraction: Extraction | None = None
    page: Path | None = None

    @property
    def is_generated(self) -> bool:
        """Whether nobody in it is real."""
        return self.extraction is None

    def example_recourse(self, group: Group) -> Recourse:
        """The answer of an example patient."""
        return self.examples[group].answer

    def __str__(self) -> str:
        """The few lines that a terminal shows."""
        asked = [one for one in self.patients.people if one.was_asked]
        plain = format_share(found_share(self.patients, relaxed=False))
        relaxed = format_share(found_share(self.patients, relaxed=True))
        rows = f"{len(self.samples):,} rows of {self.samples.n_patients:,} patients"
        over = f"{self.evaluation.n_splits} split{'' if self.evaluation.n_splits == 1 else 's'}"
        found = f"{plain} found as asked, {relaxed} with the least relaxation that opens a way"
        people = len(self.patients.people)
        lines = [
            rows + (" (generated: nobody is real)" if self.is_generated else ""),
            f"forest over {over}: " + ", ".join(_measures_beside_paper(self.evaluation)),
            f"recourse for {len(asked):,} of {people:,} people who are not there already: {found}",
            *self.notes,
            "decision support, correlational, not advice",
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Study: {self.samples!r}, {self.evaluation!r}, {self.patients!r}>"


def run_study(
    samples: Samples,
    *,
    extraction: Extraction | None = None,
    splits: int = 100,
    grid: bool = False,
    row_split: bool = False,
    people: int | None = None,
    max_seconds: float | None = None,
    evidence: Trajectories | None = None,
    seed: int = 0,
    progress: bool = True,
) -> Study:
    """Run the study without writing it down; the parameters are those of ``run``."""
    measure = partial(
        evaluate_forest, samples, splits=splits, grid=grid, seed=seed, progress=progress
    )
    evaluation = measure()
    row_split_evaluation = measure(by="row") if row_split else None
    patients = explain_tested_patients(
        evaluation.first, people=people, max_seconds=max_seconds, seed=seed, progress=progress
    )
    examples = {
        group: one
        for group in GROUPS[:3]
        if (one := typical_patient(patients.select_people(group))) is not None
    }
    if evidence is not None:
        examples = {group: _with_observed_moves(one, evidence) for group, one in examples.items()}
    notes = _limitation_notes(samples, evaluation, examples)
    return Study(
        samples, evaluation, patients, examples, notes, seed, row_split_evaluation, extraction
    )


def check_counts(splits: int, people: int | None) -> None:
    """Refuse numbers that no study can be made with, before any work is done."""
    if splits < 1:
        raise DataError(f"splits is how often the forest is measured, 1 or more; got {splits!r}")
    if people is not None and people < 1:
        raise DataError(
            f"people is how many of the tested are explained, 1 or more; got {people!r}"
        )


def _with_observed_moves(person: PatientRecourse, evidence: Trajectories) -> PatientRecourse:
    """The patient, each action with how many people over time made such a move."""
    answer = person.answer
    move_counter = MoveCounter.of(evidence, answer.schema, list(answer.scales))
    return replace(person, answer=move_counter.attach_evidence(answer))


def _measures_beside_paper(evaluation: Evaluation) -> list[str]:
    return [
        f"{words} {evaluation.mean(name):.4f} (paper {PAPER[name][0]:.4f})"
        for name, words in MEASURES.items()
    ]


def typical_patient(people: tuple[PatientRecourse, ...]) -> PatientRecourse | None:
    """The patient to show, by a rule.

    Three actions if possible, no relaxation, the score nearest to the median.
    """
    found = [one for one in people if one.plain.found]
    if not found:
        return next((one for one in people if one.answer.found), None)
    middle = median(one.answer.scores[0] for one in people)
    return min(
        found,
        key=lambda one: (
            abs(len(one.answer.actions) - EXAMPLE_ACTIONS),
            abs(one.answer.scores[0] - middle),
            one.row,
        ),
    )


def _limitation_notes(
    samples: Samples, evaluation: Evaluation, examples: dict[Group, PatientRecourse]
) -> tuple[str, ...]:
    """What this run cannot say, in sentences."""
    notes = []
    if len(samples.sources) < 2:
        notes.append(
            "There is one source only: 40 % of it was tested on, and nothing can be said of how "
            "the forest carries over to another hospital. The paper had two."
        )
    if len(samples) < FEW_ROWS:
        notes.append(
            f"There are {len(samples):,} rows of {samples.n_patients:,} patients only: every "
            "figure below is a demonstration that the machinery runs, not a result."
        )
    if evaluation.n_splits < 20:
        splits = "one split" if evaluation.n_splits == 1 else f"{evaluation.n_splits} splits"
        notes.append(f"The forest was measured over {splits}; the paper's figures are over 100.")
    absent = [group for group in GROUPS[:3] if group not in examples]
    if absent:
        notes.append(
            f"Nobody who was tested is a {' or a '.join(absent)} with a way to show, "
            "so that is left out."
        )
    return tuple(notes)
