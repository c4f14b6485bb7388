"""Measures how robust an answer is."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral

import numpy as np

from localface.analyses.end_record import end_record
from localface.analyses.robustness.noise import NoiseSampler
from localface.answers.intervals import wilson_interval
from localface.answers.recourse import Recourse
from localface.answers.robustness import ROBUSTNESS_DRAWS, ModelVerdict, Robustness
from localface.answers.status import Status
from localface.engine.account import Account
from localface.engine.driver import Driver
from localface.engine.engine import Engine
from localface.engine.job import SearchJob, take_points_as_records
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
    account: Account | None = None,
) -> Robustness:
    """Follow an answer with noise, one model call for all draws; other models judge the end.

    ``account`` is that of the call which this is part of, if it is part of one.
    """
    account = Account() if account is None else account
    _check_measurable(engine, recourse, n, seed)
    sampler = NoiseSampler(engine.schema, engine.answers.scales, int(n), int(seed))
    start = recourse.records[0]
    end = end_record(recourse)
    states = np.concatenate([end[None, :], sampler(start, end)])
    scores = _scores_of_records(engine.driver, engine.score, states, account)
    success = float((scores[1:] >= engine.score.min_score).mean())
    noise = sampler.noise_per_feature(start, end)
    verdicts = []
    for name, scorer in models:
        other = Driver(engine.source, engine.density, scorer)
        (score,) = _scores_of_records(other, scorer, end[None, :], account)
        valid = bool(score >= scorer.min_score)
        (shown,) = scorer.display_scores([float(score)], end[None, :])
        verdicts.append(ModelVerdict(name, shown, valid))
    return Robustness(
        success=success,
        interval=wilson_interval(success, int(n)) if noise else (success, success),
        n=int(n),
        seed=int(seed),
        noise=noise,
        score=engine.score.display_scores([float(scores[0])], end[None, :])[0],
        target=engine.answers.target,
        models=tuple(verdicts),
        disclosure=account.make_disclosure(engine.source.n_rows),
    )


def _scores_of_records(driver: Driver, score: Scorer, records: Array, account: Account) -> Array:
    """Score records that are no rows; the meter counts them."""
    asks = ask_point_scores(records)
    job = SearchJob(asks, take_points_as_records, score.min_score, account=account)
    ((_, scores, _),) = driver.run([job])
    return scores


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
