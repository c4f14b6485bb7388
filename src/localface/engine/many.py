"""Answers many people at once, in lock-step."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from localface.answers.many import Recourses
from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.data.read import read_each_person, read_people
from localface.engine.asking import CheckedAsk
from localface.engine.engine import Engine
from localface.engine.requests import Request
from localface.errors import InputError, ModelError
from localface.search.plan import Plan
from localface.types import Array

Answered = TypeVar("Answered", bound="Recourse | InputError")
AddReasons = Callable[[Engine, Plan, Sequence[tuple[Request, Recourse]]], list[Recourse]]
"""Says more to those who have no recourse: takes all answers at once, with their requests."""


def make_requests(asked: CheckedAsk, people: Any) -> list[Request]:
    """Write down what each of many people asks; the first who cannot ask is refused by number."""
    requests = []
    engine = asked.engine
    records = read_people(people, engine.schema, extra=engine.extra_columns)
    for number, record in enumerate(records):
        try:
            request = asked.make_request_from_record(record, engine.form)
        except InputError as error:
            message = f"person {number}: {error}"
            raise type(error)(
                message, feature=error.feature, person=number, option=error.option
            ) from None
        requests.append(replace(request, person=number))
    return requests


def make_requests_or_errors(asked: CheckedAsk, people: Any) -> list[Request | InputError]:
    """Write down what each of many people asks; those who cannot ask get the error instead."""

    def make_request_or_error(number: int, record: Array | InputError) -> Request | InputError:
        try:
            if isinstance(record, InputError):
                raise record
            return replace(asked.make_request_from_record(record, asked.engine.form), person=number)
        except InputError as error:
            error.person = number
            return error

    schema = asked.engine.schema
    records = read_each_person(people, schema, extra=asked.engine.extra_columns)
    return [make_request_or_error(*one) for one in enumerate(records)]


def answer_many(
    engine: Engine,
    plan: Plan,
    asked: Sequence[Request | InputError],
    *,
    add_reasons: AddReasons,
    progress: bool,
    keep_errors: bool,
) -> Recourses:
    """Answer everyone; Ctrl-C stops the work and keeps what is done.

    ``keep_errors`` goes on past those who cannot be answered; without, the first is raised.
    """
    requests = {
        number: request for number, request in enumerate(asked) if isinstance(request, Request)
    }
    errors = {number: error for number, error in enumerate(asked) if isinstance(error, InputError)}
    answers: dict[int, Recourse] = {}
    run = engine.answer_or_error if keep_errors else engine.answer
    try:
        found = run(requests.values(), plan)
        numbers = list(requests)
        for index, answer in with_progress(found, len(numbers), progress=progress):
            if isinstance(answer, Recourse):
                answers[numbers[index]] = answer
            else:
                errors[numbers[index]] = answer
        done = sorted(answers)
        final = add_reasons(engine, plan, [(requests[number], answers[number]) for number in done])
    except KeyboardInterrupt:
        closed = {  # the reasons of the others come last
            n: one for n, one in answers.items() if one.status is not Status.NO_TARGET
        }
        return _warn_stopped_and_collect(closed, errors, len(asked))
    _check_model_answered_someone(errors, len(asked))
    return Recourses(final, numbers=done, errors=dict(sorted(errors.items())))


def _warn_stopped_and_collect(
    answers: Mapping[int, Recourse], errors: Mapping[int, InputError], total: int
) -> Recourses:
    done = sorted(answers)
    left = total - len(answers) - len(errors)
    warnings.warn(
        f"stopped after {total - left:,} of {total:,} people: the answers are theirs, "
        "and .numbers says whose",
        stacklevel=5,  # the caller of explain_many
    )
    return Recourses(
        [answers[number] for number in done], numbers=done, errors=errors, unfinished=left
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
