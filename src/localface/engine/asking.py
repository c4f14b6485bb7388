"""Holds what a call asks against the schema, and writes the requests that it comes to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from localface.data.codes import finite_number
from localface.data.constraints import check_where
from localface.data.one_person import open_person
from localface.data.read import read_record
from localface.data.row_words import RowWords
from localface.data.schema import Schema
from localface.data.table_format import TableFormat, person_format
from localface.data.where import read_where
from localface.engine.clock import Clock
from localface.engine.engine import Engine
from localface.engine.requests import Request
from localface.engine.targeting import (
    engine_for_person,
    engine_for_target,
    means_any_other,
    refuse_score_of_no_probability,
)
from localface.errors import ConstraintError, InputError, ModelError, did_you_mean, list_names
from localface.models.wanted import read_range
from localface.options import Ask, AskMany
from localface.search.plan import Plan
from localface.types import Array


@dataclass(frozen=True, slots=True, eq=False)
class CheckedAsk:
    """An ask that fits the schema: the engine that answers it, the plan, and what may change."""

    engine: Engine
    plan: Plan
    where: Mapping[str, Any] | None
    weights: Mapping[str, float]
    relax: bool
    counterfactual: Array | None
    max_seconds: float | None = None
    best_effort: bool = False
    options_of: Mapping[str, str] = field(default_factory=dict)
    lasting: float | None = None
    limits: Mapping[str, Any] | None = None

    def for_person(self, person: Any) -> CheckedAsk:
        """Return the ask for one person: their own class matters where any other is wanted."""
        engine = self.engine
        if not means_any_other(engine.model, engine.target):
            return self
        return self.for_record(read_record(person, engine.schema, extra=engine.extra_columns))

    def for_record(self, record: Array) -> CheckedAsk:
        """Return the ask for the person with this record."""
        engine = engine_for_person(self.engine, record)
        return self if engine is self.engine else replace(self, engine=engine)

    def make_request(self, person: Any) -> Request:
        """Write down what one person asks; they are read in whatever form they come."""
        clock = Clock(self.max_seconds)
        clock.start()
        opened = open_person(person)
        record = read_record(opened, self.engine.schema, extra=self.engine.extra_columns)
        form = person_format(opened, self.engine.form)
        return self.make_request_from_record(record, form, clock=clock)

    def make_request_from_record(
        self,
        record: Array,
        form: TableFormat,
        *,
        clock: Clock | None = None,
        person: int | None = None,
    ) -> Request:
        """Write down what one person asks, given their record.

        Without a ``clock`` their time has not begun yet; ``person`` is their number among many.
        """
        return self.engine.make_request(
            record,
            form,
            self.where,
            goal=self.counterfactual,
            relax=self.relax,
            weights=self.weights,
            clock=clock or Clock(self.max_seconds),
            person=person,
            best_effort=self.best_effort,
            options_of=self.options_of,
            lasting=self.lasting,
            limits=self.limits,
        )


def check_ask(engine: Engine, ask: Ask) -> CheckedAsk:
    """Refuse what names no feature or contradicts the schema, before anyone is looked at."""
    schema = engine.schema
    goal = ask.counterfactual
    if goal is not None:
        goal = read_record(goal, schema, "the counterfactual", extra=engine.extra_columns)
        engine.space.absence_columns.refuse_unknown(goal, "the counterfactual")
    at = _engine_for_asked_target(engine, ask.target)
    _refuse_what_target_rules_out(at, ask)
    at = at.with_thresholds(min_score=ask.min_score, min_density=ask.min_density)
    return CheckedAsk(
        engine=at,
        plan=replace(
            at.plan,
            actions=ask.actions,
            max_changes=ask.max_changes,
            max_features=ask.max_features,
            least_effort=ask.prefer == "effort",
        ),
        where=limits_with_kept(schema, ask),
        weights=_read_weights(schema, ask.weights),
        relax=ask.relax,
        counterfactual=goal,
        max_seconds=ask.max_seconds,
        best_effort=ask.best_effort,
        options_of=_features_let_change(schema, ask),
        lasting=_read_lasting(at, ask),
        limits=ask.where,
    )


def _refuse_what_target_rules_out(engine: Engine, ask: Ask) -> None:
    """Refuse a score to reach, or a wish for the highest, that makes no sense for the target."""
    if ask.min_score is not None:
        if read_range(engine.target) is not None:
            raise ConstraintError(
                f"min_score={ask.min_score!r} and a range as target contradict each other: give "
                "the range alone, as target=(low, high)",
                option="min_score",
            )
        refuse_score_of_no_probability(engine.model, ask.min_score, engine.score.output.kind)
    if ask.best_effort and engine.score.output.is_folded:
        raise InputError(
            "best_effort= looks for the highest score, and a range has none: widen the range",
            option="best_effort",
        )


def _read_lasting(engine: Engine, ask: Ask) -> float | None:
    """Return how likely a retrained model is to agree; refuse what cannot be learnt."""
    if ask.lasting is None:
        return engine.options.lasting
    refuse_lasting_without_outcomes(engine, ask.lasting)
    return ask.lasting


def refuse_lasting_without_outcomes(engine: Engine, lasting: float) -> None:
    """Refuse a wish for lasting answers where no model can be fitted again, or none is higher."""
    if engine.outcomes is None:
        raise InputError(
            f"lasting={lasting:g} needs to know what became of people, to fit the model again: "
            "make the explainer with y=, the outcomes that the model was fitted on",
            option="lasting",
        )
    if engine.score.output.is_folded:
        raise InputError(
            "lasting= looks for a higher score, and a range has none: narrow the range",
            option="lasting",
        )


def _engine_for_asked_target(engine: Engine, target: object) -> Engine:
    """Return the engine for the target of a call; one that makes no sense is not the model's."""
    try:
        return engine_for_target(engine, target)
    except ModelError as error:
        if error.option != "target":
            raise
        raise InputError(str(error), option="target") from None


def check_each_ask(engine: Engine, ask: AskMany, n: int) -> list[CheckedAsk]:
    """Check what each of ``n`` people asks, where some options are given person by person."""
    lists = ask.lists()
    rows = engine.schema.each_row
    for name, values in lists.items():
        if len(values) != n:
            raise ConstraintError(
                f"{name}= has {len(values):,} entries, and {n:,} {rows.many} came: give one a "
                f"{rows.one}, or one for all",
                option=name,
            )
    if not lists:
        return [check_ask(engine, ask)] * n
    engines: dict[float, Engine] = {}  # one for each score to reach
    found = []
    for number in range(n):
        with naming_person(number, rows):
            one = check_ask(engine, ask.of_person(number))
        shared = engines.setdefault(one.engine.options.min_score, one.engine)
        found.append(replace(one, engine=shared))
    return found


@contextmanager
def naming_person(number: int, rows: RowWords) -> Iterator[None]:
    """Say in an error from within which of many people it is about."""
    try:
        yield
    except InputError as error:
        refusal = type(error)(
            f"{rows.one} {number}: {error}",
            feature=error.feature,
            person=number,
            option=error.option,
        )
        refusal.suggestion = error.suggestion
        raise refusal from None


def limits_with_kept(schema: Schema, ask: Ask) -> Mapping[str, Any] | None:
    """What may change, narrowed by what is to stay as it is altogether."""
    lists = {"avoid": ask.avoid, "fixed": ask.fixed, "only": ask.only}
    for option, names in lists.items():
        if isinstance(names, str) or not _is_instance(names, Collection):
            raise ConstraintError(
                f"{option}= is {names!r}: give a list of features, as in {option}=['income']",
                option=option,
            )
        _check_feature_names(option, names, schema)
    check_where(schema.features, ask.where)
    _refuse_only_what_is_kept(ask)
    kept = [*ask.avoid, *ask.fixed]
    if ask.only:
        kept += [name for name in schema.names if name not in ask.only]
    if not kept:
        return ask.where
    return {**(ask.where or {}), **dict.fromkeys(kept, "never")}


def _refuse_only_what_is_kept(ask: Ask) -> None:
    """Refuse to keep every feature that only= lets change."""
    kept = {*ask.avoid, *ask.fixed}
    if ask.only and kept.issuperset(ask.only):
        option = "fixed" if kept == {*ask.fixed} else "avoid"
        raise ConstraintError(
            f"only= lets nothing but {list_names(ask.only)} change, and {option}= keeps it as it "
            "is: name another feature in only=, or leave it out of the other",
            feature=ask.only[0],
            option=option,
        )


def _features_let_change(schema: Schema, ask: Ask) -> dict[str, str]:
    """Name the features that a call lets change, each with the option that says so."""
    asked = read_where(schema.features, ask.where)
    moving = [name for name, limit in asked.items() if limit.moves != "never"]
    return {**dict.fromkeys(moving, "where"), **dict.fromkeys(ask.only, "only")}


def _read_weights(schema: Schema, weights: Mapping[str, float] | None) -> dict[str, float]:
    """Read what changes cost: positive numbers by feature."""
    if weights is None:
        return {}
    if not _is_instance(weights, Mapping):
        raise ConstraintError(
            f"weights= is {weights!r}: give a dict from feature to number, as in {{'income': 3}}",
            option="weights",
        )
    _check_feature_names("weights", weights, schema)
    for name, weight in weights.items():
        if (finite_number(weight) or 0.0) <= 0:
            raise ConstraintError(
                f"the weight of {name!r} is {weight!r}: give a positive number, above 1 for what "
                f"should rather not change; for what must not, avoid=[{name!r}]",
                feature=name,
                option="weights",
            )
    return {name: float(weight) for name, weight in weights.items()}


def _check_feature_names(option: str, names: Iterable[str], schema: Schema) -> None:
    for name in names:
        if name not in schema.names:
            raise ConstraintError(
                f"{option}= names {name!r}, which is no feature{did_you_mean(name, schema.names)}: "
                f"there are {list_names(schema.names)}",
                feature=name,
                option=option,
            )


def _is_instance(value: object, kind: type) -> bool:
    return isinstance(value, kind)
