"""Runs one search or thousands in lock-step: the only holder of source, density and score.

Each round gathers what all active searches ask and answers each kind of question in
one vectorised call. Every row revealed passes through here, where it is metered and
held to the budget; scores are kept by row id, to the last digit, so that searches for
different target scores share them.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from localface.answers.disclosure import Disclosure
from localface.density.protocol import Density, SegmentDensities
from localface.errors import InputError
from localface.geometry.segments import norms
from localface.search.questions import (
    Asks,
    Census,
    ComposedStates,
    ComposeStates,
    CountNear,
    DensityAlong,
    Question,
    RowDensities,
    ScorePoints,
    ScoreRows,
    TargetCounts,
    Widening,
)
from localface.sources.holder import RowHolder, list_all_rows
from localface.sources.protocol import Nearest, Neighbors, Source
from localface.types import NO_ROWS, Array, Ids, Mask

_MEMORY = 256 * 2**20  # bytes for the distances of one round
_SCORED = 2**16  # rows scored at a time where a whole table is
_WIDTH = 256  # searches that advance together: more would not make a round cheaper
_MAX_COMPOSED = (
    1024  # states, made of what others have, that the model is asked about for one person
)
_TARGETS = 16  # target scores for which it is remembered who reaches them
Asked = Sequence[tuple["Meter", Any]]
T = TypeVar("T")
Decode = Callable[[Array, Array], Array]
"""From points to records, given records whose values the points may have taken over."""


class ScoreFunction(Protocol):
    """What the driver asks of a model: scores to the last digit, and how they read under a threshold."""

    def exact(self, records: Array) -> Array:
        """Return one score a record, higher is nearer to the target."""
        ...

    def rounded(self, scores: Array, min_score: float) -> Array:
        """Round scores, but never across a threshold."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class SearchJob(Generic[T]):
    """One search to run: its questions, the exact records behind its own points, and the score it is after."""

    asks: Asks[T]
    decode: Decode
    min_score: float
    wanted: Callable[[], bool] | None = (
        None  # asked every round: a search that nobody wants any more ends
    )


@dataclass(slots=True, eq=False)
class Meter:
    """What one search was shown: the one deliberate memory of the driver."""

    decode: Decode
    min_score: float
    max_rows: int | None
    rows: set[int] = field(default_factory=set)
    questions: int = 0
    model_calls: int = 0
    rows_scored: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    def admit(self, found: Neighbors) -> Neighbors:
        """Count the rows of an answer, and withhold what the budget does not cover, furthest first."""
        fresh = [row not in self.rows for row in found.ids.tolist()]
        left = len(fresh) if self.max_rows is None else self.max_rows - len(self.rows)
        keep = np.cumsum(fresh) <= left if fresh else np.zeros(0, dtype=bool)
        self.rows.update(found.ids[keep].tolist())
        if keep.all():
            return found
        return Neighbors(found.ids[keep], found.points[keep], found.distances[keep], cut=True)

    def disclosure(self, of: int) -> Disclosure:
        """The account, closed."""
        return Disclosure(
            rows=len(self.rows),
            of=of,
            questions=self.questions,
            model_calls=self.model_calls,
            rows_scored=self.rows_scored,
            seconds=dict(self.seconds),
        )


class Driver:
    """Answers searches from a source, a density and a score."""

    def __init__(
        self,
        rows: RowHolder,
        density: Density,
        score: ScoreFunction,
        *,
        share: float | None = None,
    ) -> None:
        self._source: Source = rows  # answers what searches ask
        self._holder = rows  # counts for searches, which get numbers only
        self._density = density
        self._score = score
        self._share = share  # people that each row stands for that the density was learnt from; None: it knows all rows
        self._scores = Scores(score.exact, rows)
        self._reach: OrderedDict[float, Mask] = (
            OrderedDict()
        )  # by target score, who reaches it: the latest last

    def run(
        self, jobs: Iterable[SearchJob[T]], *, max_rows: int | None = None
    ) -> Iterator[tuple[int, T, Disclosure]]:
        """Run searches in lock-step; yields the number of each case as it is answered, with what it was shown."""
        for number, outcome, disclosure in self.tried(jobs, max_rows=max_rows):
            if isinstance(outcome, InputError):
                raise outcome
            yield number, outcome, disclosure

    def tried(
        self, jobs: Iterable[SearchJob[T]], *, max_rows: int | None = None, apart: bool = False
    ) -> Iterator[tuple[int, T | InputError, Disclosure]]:
        """Run searches in lock-step; where a question cannot be answered, that search ends with the error.

        ``apart`` asks again, search by search, where a round fails, so that only those end
        whose own question it was. ``jobs`` may run dry and have more later: it is asked
        again every round, and new searches join those that are under way.
        """
        waiting = enumerate(jobs)
        width = (
            max(1, min(_WIDTH, _MEMORY // (8 * self._source.n_rows)))
            if self._source.exact
            else _WIDTH
        )
        active: list[tuple[int, SearchJob[T], Meter, Question]] = []
        while True:
            for number, job in _first(waiting, width - len(active)):
                meter = Meter(job.decode, job.min_score, max_rows)
                active.append((number, job, meter, next(job.asks)))
            if not active:
                return
            answers = self._answers(
                [(meter, question) for _, _, meter, question in active], apart=apart
            )
            still = []
            for (number, job, meter, _), answer in zip(active, answers, strict=True):
                if job.wanted is not None and not job.wanted():
                    answer = InputError("nobody waits for this answer any more")
                if isinstance(answer, InputError):
                    job.asks.close()
                    yield number, answer, meter.disclosure(self._source.n_rows)
                    continue
                try:
                    still.append((number, job, meter, job.asks.send(answer)))
                except StopIteration as end:
                    yield number, end.value, meter.disclosure(self._source.n_rows)
            active = still

    def prescore(self) -> None:
        """Score the whole table once, where the holder of the data allows it."""
        self._scores.of(list_all_rows(self._holder))

    def _answers(self, asked: Asked, *, apart: bool) -> list[Any]:
        """Answer a round: each kind of question in one call. An error takes the place of an answer."""
        answers: list[Any] = [None] * len(asked)
        for kind, answer in (
            (Nearest, self._nearest),
            ((ScoreRows, ScorePoints, Census), self._scored),
            (DensityAlong, self._density_along),
            (RowDensities, self._levels),
            (CountNear, self._count_near),
            (Widening, self._widening),
            (ComposeStates, self._composed),
        ):
            places = [i for i, (_, question) in enumerate(asked) if isinstance(question, kind)]
            if not places:
                continue
            some = [asked[i] for i in places]
            started = time.perf_counter()
            for i, one in zip(places, _answered(answer, some, apart=apart), strict=True):
                answers[i] = one
            spent = (time.perf_counter() - started) / len(some)
            for meter, question in some:
                meter.questions += 1
                name = type(question).__name__
                meter.seconds[name] = meter.seconds.get(name, 0.0) + spent
        return answers

    def _nearest(self, asked: Asked) -> list[Neighbors]:
        found = self._source.nearest([question for _, question in asked])
        return [meter.admit(one) for (meter, _), one in zip(asked, found, strict=True)]

    def _scored(self, asked: Asked) -> list[Array | TargetCounts]:
        """Score all unseen rows and all off-data states of a round, and everyone who is to be counted, in one call."""
        wanted = [q.ids for _, q in asked if isinstance(q, ScoreRows)]
        if any(isinstance(q, Census) and meter.min_score not in self._reach for meter, q in asked):
            wanted.append(list_all_rows(self._holder))
        states = [
            meter.decode(q.points, self._source.records(q.donors))
            for meter, q in asked
            if isinstance(q, ScorePoints)
        ]
        fresh = self._scores.unknown(np.concatenate(wanted)) if wanted else NO_ROWS
        rest, answers = self._scores.learn(fresh, states), list[Array | TargetCounts]()
        for meter, question in asked:
            if isinstance(question, Census):
                answers.append(self._counted(question, self._reaching(meter.min_score)))
                continue
            if isinstance(question, ScorePoints):
                unseen = len(question.points)
                answers.append(self._score.rounded(rest[:unseen], meter.min_score))
                rest = rest[unseen:]
            else:
                unseen = int(np.isin(question.ids, fresh).sum()) if len(fresh) else 0
                answers.append(self._score.rounded(self._scores.of(question.ids), meter.min_score))
            meter.rows_scored += unseen
            meter.model_calls += unseen > 0
        return answers

    def _density_along(self, asked: Asked) -> list[SegmentDensities]:
        """Judge the segments of all searches together: one call for verdicts and one for values, under each rule."""
        answers: dict[int, SegmentDensities] = {}
        groups: dict[tuple[str, bool], list[int]] = {}
        for i, (_, question) in enumerate(asked):
            groups.setdefault((question.rule, question.log_floor is None), []).append(i)
        for (rule, in_full), members in groups.items():
            judge = self._density.lowest_along if rule == "lowest" else self._density.mean_along
            questions = [asked[i][1] for i in members]
            counts = [len(question.starts) for question in questions]
            floors = (
                None
                if in_full
                else np.repeat([question.log_floor for question in questions], counts)
            )
            starts = np.concatenate([question.starts for question in questions])
            ground = judge(
                starts, np.concatenate([question.ends for question in questions]), floors
            )
            lasts = np.cumsum(counts).tolist()
            for i, first, last in zip(members, [0, *lasts], lasts, strict=False):
                answers[i] = ground.part(first, last)
        return [answers[i] for i in range(len(asked))]

    def _levels(self, asked: Asked) -> list[Array]:
        if self._share is None:  # the density knows these rows, by the same ids
            return [self._density.row_log_densities(question.ids) for _, question in asked]
        places = np.concatenate([question.points for _, question in asked])
        found = self._density.lowest_along(places, places, None).log_densities
        return np.split(found, np.cumsum([len(question.points) for _, question in asked])[:-1])

    def _count_near(self, asked: Asked) -> list[Ids]:
        counts = self._density.count_near(
            np.concatenate([question.points for _, question in asked])
        )
        people = np.rint(counts * (self._share or 1.0)).astype(np.int64)
        return np.split(people, np.cumsum([len(question.points) for _, question in asked])[:-1])

    def _widening(self, asked: Asked) -> list[float]:
        return [
            self._least_factor(question, self._reaching(meter.min_score))
            for meter, question in asked
        ]

    def _composed(self, asked: Asked) -> list[ComposedStates]:
        return [self._compose(meter, question) for meter, question in asked]

    def _compose(self, meter: Meter, question: ComposeStates) -> ComposedStates:
        """The nearest states that have the score, among those made of the nearest people who reach the target."""
        ids, points = self._nearest_projections(
            question, np.flatnonzero(self._reaching(meter.min_score)).astype(np.int64)
        )
        records = meter.decode(points, self._source.records(NO_ROWS))
        scores = (
            self._score.rounded(self._scores.learn(NO_ROWS, [records]), meter.min_score)
            if len(ids)
            else points[:, 0]
        )
        meter.model_calls += len(ids) > 0
        meter.rows_scored += len(ids)
        fine = np.flatnonzero(scores >= question.min_score)[: question.k]
        seen = meter.admit(Neighbors(ids[fine], points[fine], scores[fine]))
        return ComposedStates(seen.points, seen.distances, seen.cut)

    def _nearest_projections(self, question: ComposeStates, targets: Ids) -> tuple[Ids, Array]:
        """The nearest different states that can be taken over from people who reach the target, and whose they are."""
        ids, kept = NO_ROWS, np.zeros((0, len(question.point)))
        for first in range(0, len(targets), _SCORED):
            some = targets[first : first + _SCORED]
            ids, kept = (
                np.concatenate([ids, some]),
                np.concatenate([kept, question.project(self._holder.records(some))]),
            )
            order = np.lexsort((ids, norms(kept - question.point)))
            ids, kept = ids[order], kept[order]
            _, places = np.unique(kept, axis=0, return_index=True)
            places = np.sort(places)[:_MAX_COMPOSED]
            ids, kept = ids[places], kept[places]
        return ids, kept

    def _least_factor(self, question: Widening, reach: Mask) -> float:
        allowed = self._holder.list_rows(question.bounds)
        targets, least = allowed[reach[allowed]], np.inf
        for first in range(0, len(targets), _SCORED):
            apart = np.abs(self._holder.records(targets[first : first + _SCORED]) - question.record)
            least = min(least, float((apart / question.reaches).max(axis=1).min()))
        return least

    def _reaching(self, min_score: float) -> Mask:
        """Who reaches a target score, by id; takes everyone's score."""
        if min_score not in self._reach:
            everyone = list_all_rows(self._holder)
            reach = np.zeros(1 + int(everyone.max()), dtype=bool)
            reach[everyone] = self._score.rounded(self._scores.of(everyone), min_score) >= min_score
            self._reach[min_score] = reach
            if len(self._reach) > _TARGETS:
                self._reach.popitem(last=False)
        self._reach.move_to_end(min_score)
        return self._reach[min_score]

    def _counted(self, question: Census, reach: Mask) -> TargetCounts:
        """Count; what each column rules out is worked out only where nobody is left to become."""
        bounds = question.bounds
        allowed, anywhere = self._holder.list_rows(bounds), int(reach.sum())
        targets, excluded = int(reach[allowed].sum()), np.zeros(len(bounds.lower), dtype=np.int64)
        limited = np.flatnonzero((bounds.lower > -np.inf) | (bounds.upper < np.inf))
        for column in limited if question.why and not targets else ():
            excluded[column] = anywhere - int(
                reach[self._holder.list_rows(bounds.only(int(column)))].sum()
            )
        return TargetCounts(len(allowed), targets, anywhere, excluded)


class Scores:
    """What the model says of rows, kept by id; whatever is unknown is asked in one call."""

    def __init__(self, score: Callable[[Array], Array], source: Source) -> None:
        self._score = score
        self._source = source
        self._known = np.zeros(0)
        self._seen = np.zeros(0, dtype=bool)

    def unknown(self, ids: Ids) -> Ids:
        """Which of some rows have not been scored, each once."""
        self._make_room(ids)
        return np.unique(ids[~self._seen[ids]])

    def learn(self, rows: Ids, states: Sequence[Array] = ()) -> Array:
        """Score rows that are unknown, and states that are no rows, in one call; returns the scores of the states.

        Only where there are very many rows are they scored some at a time.
        """
        while len(rows) > _SCORED:
            self.learn(rows[:_SCORED])
            rows = rows[_SCORED:]
        batch = [self._source.records(rows), *states] if len(rows) else list(states)
        scores = self._score(np.concatenate(batch)) if batch else np.zeros(0)
        if not self._seen.flags.writeable:  # as it came from another process, which keeps its own
            self._known, self._seen = self._known.copy(), self._seen.copy()
        self._known[rows], self._seen[rows] = scores[: len(rows)], True
        return scores[len(rows) :]

    def of(self, ids: Ids) -> Array:
        """The scores of rows."""
        fresh = self.unknown(ids)
        if len(fresh):
            self.learn(fresh)
        return np.asarray(self._known[ids])

    def _make_room(self, ids: Ids) -> None:
        size = 1 + int(ids.max(initial=-1))
        if size > len(self._seen):
            more = max(size, 2 * len(self._seen)) - len(self._seen)
            self._known = np.concatenate([self._known, np.zeros(more)])
            self._seen = np.concatenate([self._seen, np.zeros(more, dtype=bool)])


def _answered(
    answer: Callable[[Asked], Sequence[Any]], asked: Asked, *, apart: bool
) -> Sequence[Any]:
    """Answer questions of one kind; where they cannot be answered together, one by one if that is wanted."""
    try:
        return answer(asked)
    except InputError as error:
        if len(asked) == 1 or not apart:
            return [error] * len(asked)
    return [one for question in asked for one in _answered(answer, [question], apart=apart)]


def _first(items: Iterator[T], n: int) -> Iterator[T]:
    for _ in range(n):
        try:
            yield next(items)
        except StopIteration:
            return
