"""Many people at once: read, searched in lock-step, and shown as they are done."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from localface.analyses.whynot import opened
from localface.answers.many import Recourses
from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.data.read import read_each, read_people
from localface.engine.asking import CheckedAsk
from localface.engine.engine import Engine, Request
from localface.errors import InputError, ModelError
from localface.search.plan import Plan
from localface.types import Array

T = TypeVar("T", bound="Recourse | InputError")


def requests_of(asked: CheckedAsk, people: Any) -> list[Request]:
    """Write down what each of many people asks; the first who cannot ask is refused by number."""
    requests = []
    for number, record in enumerate(read_people(people, asked.engine.schema)):
        try:
            requests.append(asked.request_of(record, asked.engine.form))
        except InputError as error:
            raise type(error)(f"person {number}: {error}") from None
    return requests


def requests_or_errors(asked: CheckedAsk, people: Any) -> list[Request | InputError]:
    """Write down what each of many people asks; those who cannot ask get the error instead."""

    def request_or_error(record: Array | InputError) -> Request | InputError:
        if isinstance(record, InputError):
            return record
        try:
            return asked.request_of(record, asked.engine.form)
        except InputError as error:
            return error

    return [request_or_error(record) for record in read_each(people, asked.engine.schema)]


def explained(
    engine: Engine,
    plan: Plan,
    asked: Sequence[Request | InputError],
    *,
    progress: bool,
    record: bool,
) -> Recourses:
    """Answer everyone; Ctrl-C stops the work and keeps what is done."""
    requests = {
        number: request for number, request in enumerate(asked) if isinstance(request, Request)
    }
    errors = {number: error for number, error in enumerate(asked) if isinstance(error, InputError)}
    numbers, answers = list(requests), dict[int, Recourse]()
    try:
        run = (
            engine.tried(requests.values(), plan)
            if record
            else engine.answered(requests.values(), plan)
        )
        for place, answer in shown(run, len(numbers), progress=progress):
            if isinstance(answer, Recourse):
                answers[numbers[place]] = answer
            else:
                errors[numbers[place]] = answer
        done = sorted(answers)
        final = opened(engine, plan, [(requests[number], answers[number]) for number in done])
    except KeyboardInterrupt:
        closed = {
            n: one for n, one in answers.items() if one.status is not Status.NO_TARGET
        }  # their reasons come last
        return _stopped(closed, errors, len(asked))
    _check_not_all(errors, len(asked))
    return Recourses(final, numbers=done, errors=dict(sorted(errors.items())))


def _stopped(
    answers: Mapping[int, Recourse], errors: Mapping[int, InputError], total: int
) -> Recourses:
    done, left = sorted(answers), total - len(answers) - len(errors)
    warnings.warn(
        f"stopped after {total - left:,} of {total:,} people: the answers are theirs, and .numbers says whose",
        stacklevel=4,
    )
    return Recourses(
        [answers[number] for number in done], numbers=done, errors=errors, unfinished=left
    )


def _check_not_all(errors: Mapping[int, InputError], total: int) -> None:
    """A model that fails on everyone says nothing about anyone."""
    failed = [error for error in errors.values() if isinstance(error, ModelError)]
    if len(failed) == total > 1:
        raise failed[0]


def shown(found: Iterator[tuple[int, T]], total: int, *, progress: bool) -> Iterator[tuple[int, T]]:
    """Pass answers on, with a bar that counts people done and found, and tells how long it will take."""
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
