"""Runs trials: searches that tell whether something would open a way for someone refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic

from localface.answers.disclosure import Disclosure
from localface.answers.recourse import Recourse
from localface.engine.engine import Engine
from localface.engine.job import Result, SearchJob
from localface.engine.requests import Request
from localface.errors import InputError
from localface.search.questions import Questions


@dataclass(frozen=True, slots=True, eq=False)
class Trial(Generic[Result]):
    """A search on behalf of the person with a number, with some features free of limits."""

    number: int
    request: Request
    start: Callable[[], Questions[Result]]
    freed: tuple[int, ...] = ()


def run_trials(
    engine: Engine, trials: Sequence[Trial[Result]], answers: Sequence[Recourse]
) -> list[tuple[Trial[Result], Result, Disclosure]]:
    """Run trials in lock-step, in order; those that fail, or have no time left, are not there.

    A row budget is shared among one person's trials, after what their answer has spent.
    """
    budget = engine.options.max_rows
    if budget is None:
        return _run_together(engine, trials, max_rows=None)
    found = []
    for number in dict.fromkeys(trial.number for trial in trials):
        own = [trial for trial in trials if trial.number == number]
        share = (budget - answers[number].disclosure.rows) // len(own)
        if share >= 1:
            found += _run_together(engine, own, max_rows=share)
    return found


def _run_together(
    engine: Engine, trials: Sequence[Trial[Result]], *, max_rows: int | None
) -> list[tuple[Trial[Result], Result, Disclosure]]:
    started: list[Trial[Result]] = []

    def jobs() -> Iterator[SearchJob[Result]]:
        for trial in trials:
            if not trial.request.clock.is_up:
                started.append(trial)
                decode = engine.make_decoder([trial.request.record])
                yield engine.make_job(trial.request, trial.start(), decode)

    run = engine.driver.run_or_error(jobs(), max_rows=max_rows, apart=True)
    done = [one for one in run if not isinstance(one[1], InputError)]
    return [
        (started[number], result, seen)
        for number, result, seen in sorted(done, key=lambda one: one[0])
        if not isinstance(result, InputError)
    ]
