"""Runs trials: searches that tell whether something would open a way for someone refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from localface.engine.engine import Engine
from localface.engine.job import Result, SearchJob
from localface.engine.requests import Request
from localface.errors import InputError
from localface.search.questions import Questions


@dataclass(frozen=True, slots=True, eq=False)
class Trial(Generic[Result]):
    """A search on behalf of the person with a number; ``tried`` is what of it is tried out."""

    number: int
    request: Request
    start: Callable[[], Questions[Result]]
    tried: Any = None


def run_trials(
    engine: Engine, trials: Sequence[Trial[Result]]
) -> list[tuple[Trial[Result], Result]]:
    """Run trials in lock-step, in order; those that fail, or have no time left, are not there.

    One person's trials share what their answer has left of the row budget, and rows that it has
    revealed. Where there is a budget they advance with one another only: who else is asked about
    must not change which of them gets a row.
    """
    if engine.options.max_rows is None:
        return _run_together(engine, trials)
    found = []
    for number in dict.fromkeys(trial.number for trial in trials):
        found += _run_together(engine, [trial for trial in trials if trial.number == number])
    return found


def _run_together(
    engine: Engine, trials: Sequence[Trial[Result]]
) -> list[tuple[Trial[Result], Result]]:
    started: list[Trial[Result]] = []

    def jobs() -> Iterator[SearchJob[Result]]:
        for trial in trials:
            if not trial.request.clock.is_up:
                started.append(trial)
                decode = engine.make_decoder([trial.request.record])
                yield engine.make_job(trial.request, trial.start(), decode)

    run = engine.driver.run_or_error(jobs(), apart=True)
    done = [one for one in run if not isinstance(one[1], InputError)]
    return [
        (started[number], result)
        for number, result, _ in sorted(done, key=lambda one: one[0])
        if not isinstance(result, InputError)
    ]
