"""Robustness of an answer: whether it still holds when it is not followed to the letter, or under other models."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from localface.answers.disclosure import Disclosure
from localface.answers.intervals import wilson_interval
from localface.answers.page import ROBUSTNESS_DRAWS
from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.answers.target import Target
from localface.answers.wording import (
    format_distinct_percents,
    format_number,
    format_percent,
    one_line,
)
from localface.data.box import ends
from localface.data.read import TableFormat
from localface.data.schema import Feature, Schema
from localface.engine.driver import Decode, SearchJob
from localface.engine.engine import Engine, Request
from localface.errors import InputError, ModelError
from localface.models.scorer import Scorer, fed, read_model
from localface.search.outcome import Outcome
from localface.search.person import Person
from localface.search.pipeline import find_recourse
from localface.search.plan import Plan
from localface.search.questions import Asks, ask_point_scores
from localface.types import Array

UNDECLARED = 0.01
"""How far a feature without a resolution is missed: this share of an ordinary difference between people."""

_TRIES = 8  # searches that a wish for more robustness may take, beside the first


class Verdict(NamedTuple):
    """What another model says of the end: its name or number, its score, and whether that is enough."""

    name: str | int
    score: float
    valid: bool


@dataclass(frozen=True, slots=True)
class Noise:
    """By how much one feature may be missed, either way; ``declared`` when the schema has a resolution for it."""

    feature: Feature
    amount: float
    declared: bool

    def __str__(self) -> str:
        unit = f" {self.feature.unit}" if self.feature.unit else ""
        return f"{one_line(self.feature.name)} ± {format_number(self.amount)}{unit}"


@dataclass(frozen=True, slots=True)
class Robustness:
    """How well an answer stands up to noise, and to retrained models.

    ``success`` is the share of ``n`` small deviations from the followed actions that still
    reach the target, ``interval`` its 95 % Wilson interval; ``noise`` says by how much each
    changed feature was missed. ``score`` is that of the end itself; ``models`` has a
    ``(name, score, valid)`` for each other model.
    """

    success: float
    interval: tuple[float, float]
    n: int
    seed: int
    noise: tuple[Noise, ...]
    score: float
    target: Target
    models: tuple[Verdict, ...] = ()

    @property
    def survives(self) -> float | None:
        """The share of the other models that the end is valid under; None where none were given."""
        return sum(one.valid for one in self.models) / len(self.models) if self.models else None

    def __repr__(self) -> str:
        low, high = format_distinct_percents(*self.interval)
        parts = [
            f"{format_percent(self.success)} of {self.n:,} small deviations still reach the target"
        ]
        parts[0] += f" (95 % interval: {low} to {high})" if self.noise else ""
        if self.models:
            n = len(self.models)
            parts.append(
                f"valid under {sum(one.valid for one in self.models)} of {n} other model{'s' * (n > 1)}"
            )
        return f"<Robustness: {', '.join(parts)}>"

    def __str__(self) -> str:
        lines = [
            f"  wanted: {self.target.sentence}; score of the end: {self.target.show(self.score)}"
        ]
        declared, guessed = (
            [one for one in self.noise if one.declared is said] for said in (True, False)
        )
        if declared:
            lines.append(f"  missed by up to one resolution: {', '.join(map(str, declared))}")
        if guessed:
            share = f"{format_percent(UNDECLARED)} of an ordinary difference, as no resolution is declared"
            lines.append(f"  missed by up to {share}: {', '.join(map(str, guessed))}")
        if not self.noise:
            lines.append("  nothing that changes can be missed by a little")
        for name, score, valid in self.models:
            shown = self.target.show(score)
            lines.append(
                f"  model {one_line(str(name))}: score {shown}, {'valid' if valid else 'not valid'}"
            )
        return "\n".join([repr(self), *lines])


@dataclass(frozen=True, slots=True, eq=False)
class Shaker:
    """Draws where people end up who follow actions almost to the letter."""

    schema: Schema
    scales: Sequence[float]
    n: int = ROBUSTNESS_DRAWS
    seed: int = 0

    def noise(self, start: Array, end: Array) -> tuple[Noise, ...]:
        """By how much each feature that changes may be missed; what has nothing in between is met exactly."""
        changed = [
            j for j, one in enumerate(self.schema) if start[j] != end[j] and not one.discrete
        ]
        some = [(self.schema.features[j], self.scales[j]) for j in changed]
        return tuple(
            Noise(f, float(f.resolution or UNDECLARED * scale), bool(f.resolution))
            for f, scale in some
        )

    def __call__(self, start: Array, end: Array) -> Array:
        """Return ``n`` records around ``end``: whole where numbers are, within the bounds of the schema.

        Nobody is in a state that breaks a declared relation, so such draws are passed over.
        """
        amounts = np.zeros(len(self.schema))
        for one in self.noise(start, end):
            amounts[self.schema.index(one.feature.name)] = one.amount
        drawn = self.n * (4 if self.schema.relations else 1)
        landed = end + amounts * np.random.default_rng(self.seed).uniform(
            -1, 1, (drawn, len(self.schema))
        )
        for j, feature in enumerate(self.schema):
            low, high = _limits(feature)
            whole = np.rint(landed[:, j]) + 0.0 if feature.whole else landed[:, j]
            landed[:, j] = np.clip(whole, min(low, end[j]), max(high, end[j]))
        broken = self.schema.broken(landed)
        first = np.argsort(broken, kind="stable")[: self.n]
        return np.where(broken[first, None], end, landed[first])


def _limits(feature: Feature) -> tuple[float, float]:
    if feature.categories is not None:
        return 0.0, len(feature.categories) - 1.0
    return (-np.inf, np.inf) if feature.bounds is None else ends(feature, feature.bounds)


def robustness_of(
    engine: Engine,
    recourse: Recourse,
    *,
    models: Sequence[tuple[str | int, Scorer]] = (),
    n: int = ROBUSTNESS_DRAWS,
    seed: int = 0,
) -> Robustness:
    """Follow an answer with noise, one model call for all draws, and ask the other models for the end."""
    _check(engine, recourse, n, seed)
    shaker = Shaker(engine.schema, engine.answers.scales, int(n), int(seed))
    start, end = recourse.records[0], end_of(recourse)
    scores = engine.score(np.concatenate([end[None, :], shaker(start, end)]))
    success, noise = float((scores[1:] >= engine.score.min_score).mean()), shaker.noise(start, end)
    verdicts = [(name, scorer, float(scorer(end[None, :])[0])) for name, scorer in models]
    return Robustness(
        success=success,
        interval=wilson_interval(success, int(n)) if noise else (success, success),
        n=int(n),
        seed=int(seed),
        noise=noise,
        score=engine.score.shown(float(scores[0])),
        target=engine.answers.target,
        models=tuple(
            Verdict(name, one.shown(score), score >= one.min_score) for name, one, score in verdicts
        ),
    )


def end_of(recourse: Recourse) -> Array:
    """The record that the actions lead to; without actions, the end of the path."""
    if not recourse.actions:
        return np.array(recourse.records[-1])
    record, schema = np.array(recourse.records[0]), recourse.schema
    for name, value in [change for action in recourse.actions for change in action.changes.items()]:
        record[schema.index(name)] = schema[name].code(value)
    return record


def read_models(
    engine: Engine, models: Any, *, target: object, form: TableFormat
) -> list[tuple[str | int, Scorer]]:
    """Read other models just as the explainer's own: for the same target, to be held to the same score."""
    if models is None:
        return []
    if hasattr(models, "predict") or callable(models) or not isinstance(models, Iterable):
        raise InputError(
            f"models= is a {type(models).__name__}: give a list, or a dict from name to model"
        )
    named: Iterable[tuple[str | int, Any]] = enumerate(models, 1)
    if isinstance(models, Mapping):
        named = [(str(name), model) for name, model in models.items()]
    return [(name, _scorer(engine, name, model, (target, form))) for name, model in named]


def _scorer(
    engine: Engine, name: str | int, model: Any, like: tuple[object, TableFormat]
) -> Scorer:
    own = engine.score.reading
    try:
        reading = read_model(model, target=like[0])
        scorer = Scorer(
            reading, fed(model, like[1], engine.schema), min_score=engine.options.min_score
        )
    except ModelError as error:
        raise ModelError(f"model {name}: {error}") from None
    if (reading.kind, reading.sign) != (own.kind, own.sign):
        raise ModelError(
            f"model {name} gives a {reading.kind} and the explainer's own a {own.kind}: no score of the one can be "
            f"held to min_score={engine.options.min_score:g} of the other"
        )
    return scorer


def _check(engine: Engine, recourse: Recourse, n: object, seed: object) -> None:
    """Refuse what cannot be measured."""
    for name, value, least in (("n", n, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
            raise InputError(f"{name}={value!r}: a whole number of at least {least} is wanted")
    if recourse.status is not Status.ALREADY_THERE:
        recourse.require()
    if recourse.schema != engine.schema or recourse.target != engine.answers.target:
        raise InputError(
            f"this recourse is for {len(recourse.schema)} features and {recourse.target.sentence}, and the explainer "
            f"for {len(engine.schema)} and {engine.answers.target.sentence}: ask the explainer that gave it"
        )


def check_share(min_robustness: object) -> float:
    """Refuse a wish that is no share."""
    if (
        isinstance(min_robustness, bool)
        or not isinstance(min_robustness, Real)
        or not 0 < float(min_robustness) <= 1
    ):
        raise InputError(
            f"min_robustness={min_robustness!r}: a share above 0, up to 1, is wanted (0.9 means 90 %)"
        )
    return float(min_robustness)


def pushed(engine: Engine, request: Request, plan: Plan, min_robustness: float) -> Recourse:
    """Answer so that enough of those who miss the end by a little still reach the target.

    The target stays what it is; the search is asked for more than that, by as little as
    it takes. Where that cannot be done, the most robust answer is given, and says so.
    """
    driver: Any = _Pushed(engine, request, plan, min_robustness)
    ((_, answer),) = replace(engine, driver=driver).answered([request], plan)
    if not answer.found:
        return answer
    success = robustness_of(engine, answer).success
    missed = "" if success >= min_robustness else _missed(success, min_robustness)
    seen = answer.disclosure
    return replace(
        answer,
        robustness=success,
        reason="; ".join(part for part in (answer.reason, missed) if part),
        disclosure=replace(
            seen,
            model_calls=seen.model_calls + 1,
            rows_scored=seen.rows_scored + ROBUSTNESS_DRAWS + 1,
        ),
    )


def _missed(success: float, wanted: float) -> str:
    most, share = format_distinct_percents(success, wanted)
    return (
        f"no answer was found in which {share} of small deviations still reach the target (min_robustness={wanted:g}); "
        f"this is the most robust one, with {most}"
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Pushed:
    """A driver whose search goes on until its end is robust: one meter, one budget for all of it."""

    engine: Engine
    request: Request
    plan: Plan
    share: float

    def run(
        self, jobs: Iterable[SearchJob[Outcome]], *, max_rows: int | None = None
    ) -> Iterator[tuple[int, Outcome, Disclosure]]:
        further = (replace(job, asks=self._further(job.asks, job.decode)) for job in jobs)
        return self.engine.driver.run(further, max_rows=max_rows)

    def _further(self, first: Asks[Outcome], decode: Decode) -> Asks[Outcome]:
        """Ask for a higher score, by what the noise costs, until enough draws arrive; halve where that is too much."""
        best = yield from first
        if best.status != "FOUND":
            return best
        person = self._person(best)
        most, lacking = yield from self._shaken(best, decode)
        low, high = max(person.min_score, _end_score(best)), np.inf
        for _ in range(_TRIES):
            if lacking <= 0 or high - low <= 1e-3 * max(1.0, abs(low)):
                break
            level = low + lacking if low + lacking < high else (low + high) / 2
            trial = yield from self._search(replace(person, min_score=level))
            if trial.status != "FOUND":
                high = level
                continue
            success, lacking = yield from self._shaken(trial, decode)
            low = max(level, _end_score(trial))
            if success > most:
                best, most = replace(trial, relaxed=best.relaxed), success
        return best

    def _person(self, best: Outcome) -> Person:
        """Who asks; a floor that had to be lowered stays where it is: it is not traded for robustness."""
        one, engine = self.request, self.engine
        person = engine.person(one.record, one.box, weights=one.weights, fixed=one.fixed)
        return (
            replace(person, log_floor=min(person.log_floor, best.log_floor))
            if best.relaxed
            else person
        )

    def _search(self, person: Person) -> Asks[Outcome]:
        goal = self.request.goal
        return find_recourse(
            person,
            self.plan,
            goal=None if goal is None else self.engine.space.points(goal[None, :])[0],
        )

    def _shaken(self, outcome: Outcome, decode: Decode) -> Asks[tuple[float, float]]:
        """The share of draws that arrive, and how much of the score enough of them lack."""
        engine, start = self.engine, self.request.record
        end = decode(_end(outcome)[None, :], np.zeros((0, len(engine.schema))))[0]
        states = Shaker(engine.schema, engine.answers.scales)(start, end)
        scores = np.sort((yield from ask_point_scores(engine.space.points(states))))
        needed = math.ceil(self.share * len(scores) - 1e-9)
        success = float((scores >= engine.score.min_score).mean())
        return success, float(engine.score.min_score - scores[len(scores) - needed])


def _end(outcome: Outcome) -> Array:
    return outcome.points[-1] if outcome.actions is None else outcome.actions.moves[-1].point


def _end_score(outcome: Outcome) -> float:
    return outcome.scores[-1] if outcome.actions is None else outcome.actions.moves[-1].score
