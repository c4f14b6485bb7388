"""Rechecks promises under another model or other data, and looks for repairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from localface.analyses.completing import complete_answers
from localface.analyses.promises.fingerprint import Fingerprint
from localface.analyses.promises.ledger import Promises, each_active
from localface.analyses.promises.measuring import (
    PromisedGround,
    engine_for_promise,
    measure_standings,
)
from localface.analyses.promises.progress import PERSON, read_progress
from localface.analyses.promises.promise import Promise
from localface.analyses.promises.report import Recheck
from localface.analyses.promises.standing import Standing, stand_of
from localface.analyses.promises.verdict import Measured, PromiseStatus, RecheckedPromise
from localface.analyses.robustness import explain_robustly
from localface.answers.changes import changes_between
from localface.engine.asking import check_ask
from localface.engine.engine import Engine, PlannedRequest
from localface.engine.many import answer_many
from localface.errors import DamagedFile, InputError
from localface.options.checks import (
    choice_mistakes,
    positive_number_mistakes,
    raise_on_mistakes,
)

REPAIRS = ("broken", "all", "none")
"""For which promises that have not arrived a new plan is looked for."""


@dataclass(frozen=True, slots=True, eq=False)
class _Placed:
    """A promise that this engine can judge, and where its person stands."""

    promise: Promise
    engine: Engine
    standing: Standing
    has_progress: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairOptions:
    """For whom new plans are looked for, how long each may take, and in how many processes."""

    repairs: str = "broken"
    max_seconds: float | None = None
    n_jobs: int = 1
    show_progress: bool = True

    def __post_init__(self) -> None:
        raise_on_mistakes(choice_mistakes("repairs", self.repairs, REPAIRS))
        raise_on_mistakes(positive_number_mistakes("max_seconds", self.max_seconds))

    def concern(self, status: PromiseStatus) -> bool:
        """Tell whether a new plan is looked for where a promise has a status."""
        broken = status in (PromiseStatus.BROKEN, PromiseStatus.OFF_GROUND)
        wanted = {"none": False, "broken": broken}
        return wanted.get(self.repairs, broken or status is PromiseStatus.HOLDS)


def recheck_promises(
    engine: Engine,
    promises: Promises | Iterable[Promise] | str | Path,
    progress: Any = None,
    *,
    id_column: str = PERSON,
    fingerprint: Fingerprint,
    options: RepairOptions,
) -> Recheck:
    """Recheck every promise that stands: one model call for all ends, and one batch of repairs."""
    every = list(each_active(promises))
    known = {one.person for one in every if one.person is not None}
    news = read_progress(progress, known, id_column=id_column) if every else {}
    places = [_place(engine, one, news.get(one.person or "")) for one in every]
    placed = {n: one for n, one in enumerate(places) if isinstance(one, _Placed)}
    measured = _measure_all(placed)
    found = [
        _verdict(one, measured[n]) if isinstance(one, _Placed) else one
        for n, one in enumerate(places)
    ]
    for n, one in enumerate(found):
        found[n] = replace(one, changed=fingerprint.changed_since(one.promise.fingerprint))
    unfinished = _add_repairs(found, placed, options)
    return Recheck(
        found,
        kind=engine.form.kind,
        fingerprint=fingerprint,
        unfinished=unfinished,
        strangers=len(set(news) - known),
    )


def _measure_all(placed: Mapping[int, _Placed]) -> dict[int, Measured]:
    pairs = [(one.engine, one.standing) for one in placed.values()]
    grounds = [PromisedGround.of(one.promise.recourse) for one in placed.values()]
    return dict(zip(placed, measure_standings(pairs, grounds), strict=True))


def _place(
    engine: Engine, promise: Promise, news: Mapping[str, Any] | None
) -> _Placed | RecheckedPromise:
    """Find the engine that judges a promise and where its person stands, or say why it cannot."""
    try:
        standing = stand_of(promise, engine.schema, news)
        at = engine_for_promise(engine, promise, standing.factual)
        return _Placed(promise, at, standing, news is not None)
    except (InputError, DamagedFile) as error:
        return RecheckedPromise(
            promise=promise, status=PromiseStatus.NOT_RECHECKED, reason=str(error)
        )


def _verdict(placed: _Placed, measured: Measured) -> RecheckedPromise:
    now, _, finish = measured.reached
    if now:
        status = PromiseStatus.ARRIVED
    elif not finish:
        status = PromiseStatus.BROKEN
    elif not measured.on_ground:
        status = PromiseStatus.OFF_GROUND
    else:
        status = PromiseStatus.HOLDS
    standing = placed.standing
    engine = placed.engine
    return RecheckedPromise(
        promise=placed.promise,
        status=status,
        measured=measured,
        progress=standing.progress,
        left=changes_between(
            engine.schema, engine.answers.scales, standing.current, standing.finish
        ),
        has_progress=placed.has_progress,
    )


def _add_repairs(
    found: list[RecheckedPromise], placed: Mapping[int, _Placed], options: RepairOptions
) -> int:
    """Add to each promise what the person would be answered today; how many are not done."""
    wanted = [n for n in placed if options.concern(found[n].status)]
    robustly = [n for n in wanted if found[n].promise.ask.min_robustness is not None]
    together = [n for n in wanted if n not in robustly]
    asked = [_plan_or_error(n, placed[n], options) for n in together]
    if not wanted:
        return 0
    answers = answer_many(
        asked,
        add_reasons=complete_answers,
        progress=options.show_progress,
        keep_errors=True,
        n_jobs=options.n_jobs,
    )
    for position, answer in zip(answers.numbers, answers, strict=True):
        found[together[position]] = replace(found[together[position]], fresh=answer)
    for position, error in answers.errors.items():
        number = together[position]
        found[number] = replace(found[number], reason=f"no new plan was looked for: {error}")
    if answers.unfinished:
        return answers.unfinished + len(robustly)
    for done, n in enumerate(robustly):
        try:
            found[n] = _repaired_robustly(found[n], placed[n], options)
        except KeyboardInterrupt:
            return len(robustly) - done
    return 0


def _plan_or_error(
    number: int, placed: _Placed, options: RepairOptions
) -> PlannedRequest | InputError:
    """Write down what a person would ask today, or what keeps them from it."""
    try:
        ask = replace(placed.promise.ask, max_seconds=options.max_seconds)
        asked = check_ask(placed.engine, ask)
        request = asked.make_request_from_record(placed.standing.current, placed.engine.form)
        return asked.engine, replace(request, person=number), asked.plan
    except InputError as error:
        return error


def _repaired_robustly(
    found: RecheckedPromise, placed: _Placed, options: RepairOptions
) -> RecheckedPromise:
    """Look for the repair of one promise that was asked to be robust."""
    planned = _plan_or_error(found.promise.number, placed, options)
    if isinstance(planned, InputError):
        return replace(found, reason=f"no new plan was looked for: {planned}")
    engine, request, plan = planned
    share = float(found.promise.ask.min_robustness or 0.0)
    return replace(found, fresh=explain_robustly(engine, request, plan, share))
