"""Measures how robust an answer is."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral

import numpy as np

from localface.analyses.end_record import end_record
from localface.analyses.robustness.noise import NoiseSampler
from localface.analyses.robustness.value import ModelVerdict, Robustness
from localface.answers.disclosure import Disclosure
from localface.answers.intervals import wilson_interval
from localface.answers.page import ROBUSTNESS_DRAWS
from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.engine.driver import Driver
from localface.engine.engine import Engine
from localface.engine.job import SearchJob, take_points_as_records
from localface.engine.meter import sum_disclosures
from localface.errors import InputError
from localface.models.scorer import Scorer
from localface.search.questions import ask_point_scores
from localface.types import Array


def measure_robustness(
    engine: Engine,
    recourse: Recourse,
    *,
    models: Sequence[tuple[str | int, Scorer]] = (),
    n: int = ROBUSTNESS_DRAWS,
    seed: int = 0,
) -> Robustness:
    """Follow an answer with noise, one model call for all draws; other models judge the end."""
    _check_measurable(engine, recourse, n, seed)
    sampler = NoiseSampler(engine.schema, engine.answers.scales, int(n), int(seed))
    start = recourse.records[0]
    end = end_record(recourse)
    states = np.concatenate([end[None, :], sampler(start, end)])
    scores, seen = _scores_and_disclosure(engine.driver, engine.score, states)
    success = float((scores[1:] >= engine.score.min_score).mean())
    noise = sampler.noise_per_feature(start, end)
    verdicts = []
    for name, scorer in models:
        other = Driver(engine.source, engine.density, scorer)
        (score,), spent = _scores_and_disclosure(other, scorer, end[None, :])
        valid = bool(score >= scorer.min_score)
        (shown,) = scorer.display_scores([float(score)], end[None, :])
        verdicts.append(ModelVerdict(name, shown, valid))
        seen = sum_disclosures([seen, spent])
    return Robustness(
        success=success,
        interval=wilson_interval(success, int(n)) if noise else (success, success),
        n=int(n),
        seed=int(seed),
        noise=noise,
        score=engine.score.display_scores([float(scores[0])], end[None, :])[0],
        target=engine.answers.target,
        models=tuple(verdicts),
        disclosure=seen,
    )


def _scores_and_disclosure(
    driver: Driver, score: Scorer, records: Array
) -> tuple[Array, Disclosure]:
    """Score records that are no rows; the meter counts them."""
    job = SearchJob(ask_point_scores(records), take_points_as_records, score.min_score)
    ((_, scores, disclosure),) = driver.run([job])
    return scores, disclosure


def _check_measurable(engine: Engine, recourse: Recourse, n: object, seed: object) -> None:
    """Refuse what cannot be measured."""
    for name, value, least in (("n", n, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
            raise InputError(f"{name}={value!r}: a whole number of at least {least} is wanted")
    if recourse.status is not Status.ALREADY_THERE:
        recourse.require()
    if recourse.schema != engine.schema or recourse.target != engine.answers.target:
        raise InputError(
            f"this recourse is for {len(recourse.schema)} features and {recourse.target.sentence}, "
            f"and the explainer for {len(engine.schema)} and {engine.answers.target.sentence}: "
            "ask the explainer that gave it"
        )
