"""Shares the work of answering many people, among processes where that is wanted."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from localface.answers.recourse import Recourse
from localface.engine.engine import Engine, PlannedRequest
from localface.engine.requests import Request
from localface.errors import InputError
from localface.geometry.device.shared import DeviceLines, any_shared
from localface.search.plan import Plan

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

AddReasons = Callable[[Engine, Plan, Sequence[tuple[Request, Recourse]]], list[Recourse]]
"""Says more to those who have no recourse: takes all answers at once, with their requests."""
Numbered = tuple[int, "Recourse | InputError"]
_LARGEST_SHARE = 256  # people that one process takes at a time
_LARGEST_WITH_DEVICE = 1024  # the same where a device answers: it is quicker the more ask at once
_SHARES_PER_PROCESS = 2  # at least, so that none waits long for the last


class WorkerDied(Exception):
    """A worker process ended before its work was done."""


@dataclass(frozen=True, slots=True, eq=False)
class SharedWork:
    """What is asked, by the number of each person, and how the answers are completed."""

    planned: Mapping[int, PlannedRequest]
    add_reasons: AddReasons
    keep_errors: bool

    def answer(self, numbers: Sequence[int]) -> Iterator[Numbered]:
        """Answer some people, in lock-step those for whom the same model output is read."""
        for some in _grouped(numbers, lambda number: self.planned[number][0].driver):
            planned = [self.planned[number] for number in some]
            engine, _, plan = planned[0]
            alike = all(one[0] is engine for one in planned)
            if alike and not self.keep_errors:
                found: Iterable[Any] = engine.answer([request for _, request, _ in planned], plan)
            else:
                found = engine.answer_together(planned)
            for position, answer in found:
                if isinstance(answer, InputError) and not self.keep_errors:
                    raise answer
                yield some[position], answer

    def completed(self, answers: Mapping[int, Recourse]) -> dict[int, Recourse]:
        """Complete answers, all of one engine at once."""
        done: dict[int, Recourse] = {}
        for some in _grouped(sorted(answers), lambda number: self.planned[number][0]):
            engine, _, plan = self.planned[some[0]]
            asked = [(self.planned[number][1], answers[number]) for number in some]
            done.update(zip(some, self.add_reasons(engine, plan, asked), strict=True))
        return done

    def answer_and_complete(self, numbers: Sequence[int]) -> list[Numbered]:
        """Answer some people to the last word; this is what a worker process does."""
        found = dict(self.answer(numbers))
        answers = {n: one for n, one in found.items() if isinstance(one, Recourse)}
        return list({**found, **self.completed(answers)}.items())

    def answer_in_processes(self, n_jobs: int) -> Iterator[Numbered]:
        """Answer everyone in several processes; each share of the people comes as it is done."""
        from concurrent.futures import Future, as_completed
        from concurrent.futures.process import BrokenProcessPool

        n_jobs = (os.cpu_count() or 1) if n_jobs == -1 else n_jobs
        executor, lines = self._make_executor(n_jobs)
        largest = _LARGEST_SHARE if lines is None else _LARGEST_WITH_DEVICE
        shares = _shares_of(list(self.planned), n_jobs, largest)
        died = False
        gc.freeze()  # forked processes need not go through what is here already
        try:
            running: list[Future[list[Numbered]]] = [
                executor.submit(_answer_share, share) for share in shares
            ]
            if lines is not None:
                lines.serve()  # once all processes are there: none is forked beside a thread
            for one in as_completed(running):
                if isinstance(one.exception(), BrokenProcessPool):
                    died = True  # shares that are done may still come
                else:
                    yield from one.result()
        except BrokenProcessPool:
            died = True
        finally:
            gc.unfreeze()
            executor.shutdown(wait=False, cancel_futures=True)
        if died:
            raise WorkerDied

    def _make_executor(self, n_jobs: int) -> tuple[ProcessPoolExecutor, DeviceLines | None]:
        """Make the processes, and the lines by which they share a device, where there is one."""
        import multiprocessing  # seldom wanted, and a tenth of what importing localface takes
        from concurrent.futures import ProcessPoolExecutor

        forks = "fork" in multiprocessing.get_all_start_methods()
        context = multiprocessing.get_context("fork" if forks else "spawn")
        lines = DeviceLines(context, n_jobs) if forks and any_shared() else None
        executor = ProcessPoolExecutor(
            n_jobs,
            mp_context=context,
            initializer=_hold_work,  # forked processes have it already: nothing is sent
            initargs=(self, lines),
        )
        return executor, lines


_held: list[SharedWork] = []  # in a worker process: what it works on


def _hold_work(work: SharedWork, lines: DeviceLines | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that collects
    _held[:] = [work]
    if lines is not None:
        lines.take_one()


def _answer_share(numbers: Sequence[int]) -> list[Numbered]:
    return _held[0].answer_and_complete(numbers)


def _shares_of(numbers: Sequence[int], n_jobs: int, largest: int) -> list[Sequence[int]]:
    size = -(-len(numbers) // (n_jobs * _SHARES_PER_PROCESS)) or 1
    size = min(size, largest)
    return [numbers[first : first + size] for first in range(0, len(numbers), size)]


def _grouped(numbers: Sequence[int], owner: Callable[[int], object]) -> list[list[int]]:
    """Group numbers by whom they belong to, in the order in which they come."""
    groups: dict[int, list[int]] = {}
    for number in numbers:
        groups.setdefault(id(owner(number)), []).append(number)
    return list(groups.values())
