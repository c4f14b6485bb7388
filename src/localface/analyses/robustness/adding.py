"""Adds to answers what other models and retraining say of their ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from localface.analyses.end_record import end_record
from localface.analyses.lasting import add_lasting
from localface.answers.recourse import Recourse
from localface.answers.robustness import ModelVerdict, Robustness
from localface.engine.account import Account
from localface.engine.engine import Engine
from localface.engine.requests import Request
from localface.models.agreeing import AgreeingScorer
from localface.types import Array


def add_robustness(engine: Engine, asked: Sequence[tuple[Request, Recourse]]) -> list[Recourse]:
    """Add to answers how many of several models agree, and how likely a retrained one does.

    Each model is called once for all ends.
    """
    answers = add_lasting(engine, [answer for _, answer in asked])
    found = [number for number, answer in enumerate(answers) if answer.found]
    if not found or not isinstance(engine.score, AgreeingScorer):
        return answers
    ends = np.stack([end_record(answers[number]) for number in found])
    for number, verdicts in zip(found, verdicts_on(engine.score, ends), strict=True):
        known = answers[number].robustness or Robustness()
        told = replace(known, models=verdicts)
        asked[number][0].account.add(Account(model_calls=1, rows_scored=1))
        answers[number] = replace(answers[number], robustness=told)
    return answers


def verdicts_on(score: AgreeingScorer, ends: Array) -> list[tuple[ModelVerdict, ...]]:
    """Return for each end what every model says of it but the one that is explained."""
    each: list[list[ModelVerdict]] = [[] for _ in ends]
    for name, one in enumerate(score.scorers[1:], 1):
        scores = one(ends)
        shown = one.display_scores(scores.tolist(), ends)
        valid = scores >= one.min_score
        for i, verdicts in enumerate(each):
            verdicts.append(ModelVerdict(name, shown[i], bool(valid[i])))
    return [tuple(verdicts) for verdicts in each]
