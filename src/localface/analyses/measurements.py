"""Tries what measuring a missing value could show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from localface.analyses.whynot.trials import Trial, run_trials
from localface.answers.measurement import Measurement, values_in_words
from localface.answers.recourse import Recourse
from localface.data.box import Box
from localface.data.schema import Schema
from localface.engine.engine import Engine
from localface.engine.requests import Request
from localface.search.questions import Questions, TargetCounts, ask_target_counts
from localface.types import Array, Ids


def add_measurements(engine: Engine, asked: Sequence[tuple[Request, Recourse]]) -> list[Recourse]:
    """Add to answers what measuring could show, for each feature that may be measured.

    States are counted in which only this feature is as somebody else has it; no row is revealed.
    """
    answers = [answer for _, answer in asked]
    trials = [
        Trial(number, request, partial(_count_values, engine, request, j), tried=(j,))
        for number, (request, _) in enumerate(asked)
        for j in (request.box.absent or {})
        if engine.schema.features[j].missing == "may be measured"
    ]
    for trial, counts in run_trials(engine, trials):
        answer = answers[trial.number]
        told = answer.measurements
        if counts.allowed:
            (j,) = trial.tried
            told += (_measurement(engine, trial.request, j, counts),)
        answers[trial.number] = replace(answer, measurements=told)
    return answers


def _count_values(engine: Engine, request: Request, measured: int) -> Questions[TargetCounts]:
    """Count the states that differ in one value, and those of them that reach the target."""
    box = _box_to_measure(engine.schema, request, measured)
    person = engine.make_person(request.record, box)
    return (
        yield from ask_target_counts(
            person.bounds,
            why=False,
            projection=person.projection,
            keeps_relations=person.keeps_relations,
            which=True,
        )
    )


def _measurement(engine: Engine, request: Request, j: int, counts: TargetCounts) -> Measurement:
    """Say how many values of a feature are enough, and which."""
    assert counts.states is not None
    points, reached = counts.states
    nobody = np.empty((0, len(engine.schema)))
    codes = engine.make_decoder(request.known_records)(points, nobody)[:, j]
    feature = engine.schema.features[j]
    which = values_in_words(feature, codes, reached)
    return Measurement(feature.name, counts.allowed, counts.targets, which)


def _box_to_measure(schema: Schema, request: Request, measured: int) -> Box:
    """Everything stays as it is, but for one value that is missing: it is there."""
    record = request.record
    absent = {j: code for j, code in (request.box.absent or {}).items() if j != measured}
    free = np.isin(np.arange(len(record)), [*absent, measured])
    discrete = np.array([feature.discrete for feature in schema])
    fixed = ~(free | discrete)
    one_way = np.zeros(len(record), dtype=bool)
    return Box(
        np.where(fixed, record, -np.inf),
        np.where(fixed, record, np.inf),
        _own_categories(record, np.flatnonzero(discrete & ~free)),
        one_way,
        one_way,
        {},
        absent=absent,
        no_values=request.box.no_values,
    )


def _own_categories(record: Array, features: Ids) -> dict[int, frozenset[int]]:
    return {j: frozenset({int(record[j])}) for j in features.tolist()}
