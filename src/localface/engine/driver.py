"""Runs one search or thousands in lock-step, round by round.

Each round gathers what all active searches ask; every kind of question is answered in
one vectorised call. Every row revealed passes through here, where it is metered and held
to the budget.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from localface.answers.disclosure import Disclosure
from localface.density.protocol import Density
from localface.engine.answering import Metered, QuestionAnswerer
from localface.engine.asking_stage import asking_stage
from localface.engine.job import Result, SearchJob
from localface.engine.meter import Meter
from localface.engine.score_cache import ScoreFunction
from localface.errors import InputError, ModelError
from localface.search.questions import OutOfTime, Question
from localface.sources.device_table import DeviceTable
from localface.sources.holder import RowHolder
from localface.sources.protocol import Source

_MEMORY = 256 * 2**20  # bytes for the distances of one round
_WIDTH = 256  # searches that advance together: more would not make a round cheaper
_WIDTH_ON_DEVICE = 4096  # there it does: what a round waits for takes as long for few
_Item = TypeVar("_Item")
_AnswerAll = Callable[[Metered], Sequence[Any]]


@dataclass(slots=True, eq=False)
class _Active(Generic[Result]):
    """A search that waits for the answer to a question."""

    number: int
    job: SearchJob[Result]
    meter: Meter
    question: Question
    warned: bool = False  # it was told that its time is up

    def with_next_question(self, answer: Any) -> _Active[Result]:
        """Hand over an answer; ``StopIteration`` is the end.

        Once its time is up, a search that has more to ask is told so instead of being answered.
        """
        question = self.job.asks.send(answer)
        late = not self.warned and time.perf_counter() > self.job.deadline
        if late:
            question = self.job.asks.throw(OutOfTime())
        self.question = question
        self.warned = self.warned or late
        return self


class Driver:
    """Answers searches from a source, a density and a score."""

    def __init__(
        self,
        rows: RowHolder,
        density: Density,
        score: ScoreFunction,
        *,
        fitted_on_sample: bool = False,
    ) -> None:
        self._rows = rows
        self._source: Source = rows
        self._density = density
        self._fitted_on_sample = fitted_on_sample
        self._answerer = QuestionAnswerer(rows, density, score, fitted_on_sample=fitted_on_sample)
        kinds = self._answerer.answer_kinds
        self._answer_kinds = [answer for _, answer in kinds]
        self._place_of_kind = {one: i for i, (some, _) in enumerate(kinds) for one in some}

    def with_score(self, score: ScoreFunction) -> Driver:
        """Return a driver of the same rows for another score; what was scored is not shared."""
        fitted_on_sample = self._fitted_on_sample
        return Driver(self._rows, self._density, score, fitted_on_sample=fitted_on_sample)

    def run(self, jobs: Iterable[SearchJob[Result]]) -> Iterator[tuple[int, Result, Disclosure]]:
        """Run searches in lock-step.

        Yields the number of each as it is done, with what it returned and what it was shown.
        """
        for number, result, disclosure in self.run_or_error(jobs):
            if isinstance(result, InputError):
                raise result
            yield number, result, disclosure

    def run_or_error(
        self, jobs: Iterable[SearchJob[Result]], *, apart: bool = False
    ) -> Iterator[tuple[int, Result | InputError, Disclosure]]:
        """Run searches in lock-step; one whose question cannot be answered ends with the error.

        ``apart`` asks again, search by search, where a round fails, so that only those end
        whose own question it was. ``jobs`` may run dry and have more later: it is asked
        again every round, and new searches join those that are under way.
        """
        waiting = enumerate(jobs)
        width = self._n_advancing_together()
        active: list[_Active[Result]] = []
        while True:
            for number, job in _take_at_most(waiting, width - len(active)):
                meter = Meter(job.decode, job.min_score, job.max_rows, job.account, asker=job.asker)
                active.append(_Active(number, job, meter, next(job.asks)))
            if not active:
                return
            still: list[_Active[Result]] = []
            for one, answer in zip(active, self._answer_round(active, apart=apart), strict=True):
                if one.job.wanted is not None and not one.job.wanted():
                    answer = InputError("nobody waits for this answer any more")
                if isinstance(answer, InputError):
                    one.job.asks.close()
                    yield one.number, answer, one.meter.close(self._source.n_rows)
                    continue
                try:
                    still.append(one.with_next_question(answer))
                except StopIteration as end:
                    yield one.number, end.value, one.meter.close(self._source.n_rows)
                except OutOfTime:
                    late = InputError(
                        "time was up: allow more with max_seconds=", option="max_seconds"
                    )
                    yield one.number, late, one.meter.close(self._source.n_rows)
            active = still

    def prescore(self) -> None:
        """Score the whole table once, where the holder of the data allows it."""
        self._answerer.prescore()

    def _n_advancing_together(self) -> int:
        """How many searches advance together; a source that scans takes memory for each."""
        if isinstance(self._source, DeviceTable):
            return _WIDTH_ON_DEVICE
        if not self._source.exact:
            return _WIDTH
        return max(1, min(_WIDTH, _MEMORY // (8 * self._source.n_rows)))

    def _answer_round(self, active: Sequence[_Active[Any]], *, apart: bool) -> list[Any]:
        """Answer a round, each kind of question in one call; an error may be the answer."""
        answers: list[Any] = [None] * len(active)
        asked: dict[int, list[int]] = {}  # who asks, by the place of the kind in the order
        for i, one in enumerate(active):
            asked.setdefault(self._place_of_kind[type(one.question)], []).append(i)
        for place in sorted(asked):
            members = asked[place]
            some = [active[i] for i in members]
            answer = self._answer_kinds[place]
            started = time.perf_counter()
            for i, one in zip(members, _answer_one_kind(answer, some, apart=apart), strict=True):
                answers[i] = one
            spent = (time.perf_counter() - started) / len(some)
            for search in some:
                search.meter.count_question(type(search.question).__name__, spent)
        return answers


def _answer_one_kind(
    answer: _AnswerAll, some: Sequence[_Active[Any]], *, apart: bool
) -> Sequence[Any]:
    """Answer questions of one kind; where that fails, one by one if that is wanted."""
    try:
        return answer([(one.meter, one.question) for one in some])
    except InputError as error:
        if len(some) == 1:
            return [_error_naming_asker(error, some[0])]
        if not apart:
            return [_error_naming_asker(error, _find_failing_search(answer, some))] * len(some)
    return [one for search in some for one in _answer_one_kind(answer, [search], apart=True)]


def _find_failing_search(answer: _AnswerAll, some: Sequence[_Active[Any]]) -> _Active[Any] | None:
    """Find the search whose own question fails; None where each alone can be answered."""
    for one in some:
        try:
            answer([(one.meter, one.question)])
        except InputError:
            return one
    return None


def _error_naming_asker(error: InputError, search: _Active[Any] | None) -> InputError:
    """Note on an error whose question it was, and which stage asked it."""
    if search is not None:
        error.person = search.job.person
        if isinstance(error, ModelError):
            error.stage = asking_stage(search.job.asks)
    return error


def _take_at_most(items: Iterator[_Item], n: int) -> Iterator[_Item]:
    for _ in range(n):
        try:
            yield next(items)
        except StopIteration:
            return
