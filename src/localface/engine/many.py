"""Answers many people at once, in lock-step."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from localface.answers.many import Recourses
from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.data.read import read_each_person, read_people
from localface.engine.asking import CheckedAsk, check_each_ask, naming_person
from localface.engine.engine import Engine, PlannedRequest
from localface.engine.sharing import AddReasons, SharedWork, WorkerDied
from localface.errors import InputError, ModelError
from localface.options import AskMany
from localface.types import Array

Answered = TypeVar("Answered", bound="Recourse | InputError")


def plan_requests(engine: Engine, ask: AskMany, people: Any) -> list[PlannedRequest | InputError]:
    """Write down what each of many people asks, with the engine that answers it.

    The first who cannot ask is refused by number, or gets the error in place of a request where
    ``ask`` says that errors are to be recorded.
    """
    keep_errors = ask.on_error == "record"
    extra = engine.extra_columns
    records: Sequence[Array | InputError]
    if keep_errors:
        records = read_each_person(people, engine.schema, extra=extra)
    else:
        records = list(read_people(people, engine.schema, extra=extra))
    asked = check_each_ask(engine, ask, len(records))
    planned: list[PlannedRequest | InputError] = []
    for number, (one, record) in enumerate(zip(asked, records, strict=True)):
        if not keep_errors:
            with naming_person(number, engine.schema.each_row):
                planned.append(_plan_request(number, one, record))
            continue
        try:
            planned.append(_plan_request(number, one, record))
        except InputError as error:
            error.person = number
            planned.append(error)
    return planned


def _plan_request(number: int, asked: CheckedAsk, record: Array | InputError) -> PlannedRequest:
    if isinstance(record, InputError):
        raise record
    asked = asked.for_record(record)
    request = asked.make_request_from_record(record, asked.engine.form, person=number)
    return asked.engine, request, asked.plan


def answer_many(
    asked: Sequence[PlannedRequest | InputError],
    *,
    add_reasons: AddReasons,
    progress: bool,
    keep_errors: bool,
    n_jobs: int = 1,
    labels: Sequence[Any] | None = None,
) -> Recourses:
    """Answer everyone; Ctrl-C stops the work and keeps what is done.

    ``keep_errors`` goes on past those who cannot be answered; without, the first is raised.
    """
    planned = {number: one for number, one in enumerate(asked) if not isinstance(one, InputError)}
    errors = {number: error for number, error in enumerate(asked) if isinstance(error, InputError)}
    answers: dict[int, Recourse] = {}
    work = SharedWork(planned, add_reasons, keep_errors=keep_errors)
    why = ""
    try:
        found = work.answer(list(planned)) if n_jobs == 1 else work.answer_in_processes(n_jobs)
        for number, answer in with_progress(found, len(planned), progress=progress):
            if isinstance(answer, Recourse):
                answers[number] = answer
                planned[number][1].clock.pause()  # what is left is for the reasons
            else:
                errors[number] = answer
        if n_jobs == 1:
            answers = work.completed(answers)
    except KeyboardInterrupt:
        why = "stopped"
    except WorkerDied:
        why = "a worker process died, and the work was stopped"
    if why:
        if n_jobs == 1:
            answers = _answers_that_stand(planned, answers)
        return _warn_stopped_and_collect(why, answers, errors, len(asked), labels)
    _check_model_answered_someone(errors, len(asked))
    done = sorted(answers)
    return Recourses(
        [answers[number] for number in done],
        numbers=done,
        errors=dict(sorted(errors.items())),
        labels=labels,
    )


def _answers_that_stand(
    planned: Mapping[int, PlannedRequest], answers: Mapping[int, Recourse]
) -> dict[int, Recourse]:
    """Return the answers that are done when the work is stopped.

    The reasons of those without a target come last, and are not there yet. What was revealed on
    the way to reasons is told of the others.
    """
    return {
        number: planned[number][0].with_all_revealed(planned[number][1], one)
        for number, one in answers.items()
        if one.status is not Status.NO_TARGET
    }


def _warn_stopped_and_collect(
    why: str,
    answers: Mapping[int, Recourse],
    errors: Mapping[int, InputError],
    total: int,
    labels: Sequence[Any] | None,
) -> Recourses:
    done = sorted(answers)
    left = total - len(answers) - len(errors)
    warnings.warn(
        f"{why} after {total - left:,} of {total:,} people: the answers are theirs, "
        "and .numbers says whose",
        stacklevel=5,  # the caller of explain_many
    )
    return Recourses(
        [answers[number] for number in done],
        numbers=done,
        errors=errors,
        unfinished=left,
        labels=labels,
    )


def _check_model_answered_someone(errors: Mapping[int, InputError], total: int) -> None:
    """A model that fails on everyone says nothing about anyone."""
    failed = [error for error in errors.values() if isinstance(error, ModelError)]
    if len(failed) == total > 1:
        raise failed[0]


def with_progress(
    found: Iterator[tuple[int, Answered]], total: int, *, progress: bool
) -> Iterator[tuple[int, Answered]]:
    """Pass answers on; ``progress`` shows a bar that counts people done and found."""
    if not progress:
        yield from found
        return
    from tqdm.auto import tqdm

    with tqdm(total=total, unit=" people", disable=None) as bar:
        reached = 0
        for number, answer in found:
            reached += isinstance(answer, Recourse) and answer.found
            bar.set_postfix(found=reached, refresh=False)
            bar.update()
            yield number, answer
