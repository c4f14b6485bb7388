"""What one search asked and was told, in order, read as the story of its stages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard, TypeVar

import numpy as np

from localface.answers.disclosure import Disclosure
from localface.answers.recourse import Recourse
from localface.engine.driver import Driver, SearchJob
from localface.errors import InputError
from localface.explainer import LocalFACE
from localface.search.outcome import Outcome
from localface.search.questions import Asks, DensityAlong, Question, ScorePoints, ScoreRows
from localface.sources.protocol import Nearest
from localface.types import Array, Mask

T = TypeVar("T")
Log = list[tuple[Question, Any]]
Spot = tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class JudgedSteps:
    """Steps that were judged: from where, to where, and whether a person could take them."""

    starts: Array
    ends: Array
    passes: Mask


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """One search, stage by stage, in points of the explainer's space."""

    recourse: Recourse
    explored: Array  # rows that explore saw
    tried: JudgedSteps  # steps that explore tried, in order
    trail: Array  # the way that explore found; empty if none
    exploited: Array  # rows that only exploit saw
    balls: tuple[tuple[Array, float], ...]  # where exploit looked: centre and radius
    checked: JudgedSteps  # steps that enhance wanted


def traced(asks: Asks[T], log: Log) -> Asks[T]:
    """Ask the same questions, and keep each with its answer."""
    question = next(asks)
    while True:
        answer = yield question
        log.append((question, answer))
        try:
            question = asks.send(answer)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


def told(explainer: LocalFACE, person: Any, *, where: Mapping[str, Any] | None = None) -> Trace:
    """Explain a person with the explainer's own driver, and tell how the search went."""
    log: Log = []
    watched = copy(explainer)
    driver: Any = _Watched(explainer.engine.driver, log)
    watched._engine = replace(explainer.engine, driver=driver)
    recourse = watched.explain(person, where=where, actions=False)
    return _story(recourse, log, min_score=explainer.engine.score.min_score)


@dataclass(frozen=True, slots=True, eq=False)
class _Watched:
    """A driver whose searches are traced."""

    driver: Driver
    log: Log

    def run(
        self, jobs: Iterable[SearchJob[Outcome]], *, max_rows: int | None = None
    ) -> Iterator[tuple[int, Outcome, Disclosure]]:
        watched = (replace(job, asks=traced(job.asks, self.log)) for job in jobs)
        return self.driver.run(watched, max_rows=max_rows)

    def tried(
        self, jobs: Iterable[SearchJob[Outcome]], **options: Any
    ) -> Iterator[tuple[int, Outcome | InputError, Disclosure]]:
        """Searches that only tell why there is none are no part of the story."""
        return self.driver.tried(jobs, **options)


@dataclass(slots=True, eq=False)
class _Explored:
    """What explore has done so far."""

    looked: set[Spot] = field(default_factory=set)
    parents: dict[Spot, Spot] = field(default_factory=dict)
    steps: list[tuple[Array, Array, bool]] = field(default_factory=list)
    goal: Spot | None = None

    def tried(self, start: Array, end: Array, passes: bool) -> Spot:
        """Note a step, which starts where explore has looked around already; return where it leads."""
        if _spot(start) not in self.looked:
            start, end = end, start
        self.steps.append((start, end, passes))
        if passes:
            self.parents[_spot(end)] = _spot(start)
        return _spot(end)

    def trail(self, factual: Array) -> Array:
        """The way to the goal, the person first, be it by an entry step."""
        if self.goal is None:
            return np.zeros((0, len(factual)))
        way = [self.goal]
        while way[-1] in self.parents:
            way.append(self.parents[way[-1]])
        if way[-1] != _spot(factual):
            way.append(_spot(factual))
        return np.array(way[::-1])


def _story(recourse: Recourse, log: Log, *, min_score: float) -> Trace:
    """Read a log: first explore, then enhance and exploit in turns."""
    factual = np.asarray(log[0][0].points[0])  # type: ignore[union-attr]  # a search begins by scoring the person
    width = len(factual)
    explored, first = _read_explore(log, min_score)
    seen, later = _revealed(log[:first]), _revealed(log[first:])
    return Trace(
        recourse=recourse,
        explored=_stacked(list(seen.values()), width),
        tried=_steps(explored.steps, width),
        trail=explored.trail(factual),
        exploited=_stacked([point for row, point in later.items() if row not in seen], width),
        balls=tuple(
            (question.point, question.radius) for question, _ in log if _exploits(question)
        ),
        checked=_steps([step for pair in log[first:] for step in _judged(*pair)], width),
    )


def _read_explore(log: Log, min_score: float) -> tuple[_Explored, int]:
    """Read up to the first step that passes onto a target, with which explore ends; and where that is."""
    explored, scores = _Explored(), _scores(log)
    for i, (question, answer) in enumerate(log):
        if _exploits(question):
            return explored, i
        if isinstance(question, Nearest):
            explored.looked.add(_spot(question.point))
        for start, end, passes in _judged(question, answer):
            reached = explored.tried(start, end, passes)
            if passes and scores.get(reached, -np.inf) >= min_score:
                explored.goal = reached
                return explored, i + 1
    return explored, len(log)


def _exploits(question: Question) -> TypeGuard[Nearest]:
    """Only exploit looks no further than some radius."""
    return isinstance(question, Nearest) and bool(np.isfinite(question.radius))


def _judged(question: Question, answer: Any) -> list[tuple[Array, Array, bool]]:
    """The steps of a question that asked for verdicts; places are no steps."""
    if not isinstance(question, DensityAlong) or question.log_floor is None:
        return []
    steps = zip(question.starts, question.ends, answer.passes.tolist(), strict=True)
    return [(start, end, passes) for start, end, passes in steps if not np.array_equal(start, end)]


def _scores(log: Log) -> dict[Spot, float]:
    """What the model said of every place."""
    points, scores = _revealed(log), dict[Spot, float]()
    for question, answer in log:
        if isinstance(question, ScoreRows):
            scores.update(
                (_spot(points[row]), score)
                for row, score in zip(question.ids.tolist(), answer, strict=True)
            )
        elif isinstance(question, ScorePoints):
            scores.update(
                (_spot(point), score) for point, score in zip(question.points, answer, strict=True)
            )
    return scores


def _revealed(log: Log) -> dict[int, Array]:
    """The rows that were shown, by id."""
    shown = [answer for question, answer in log if isinstance(question, Nearest)]
    return {
        row: point
        for found in shown
        for row, point in zip(found.ids.tolist(), found.points, strict=True)
    }


def _steps(steps: list[tuple[Array, Array, bool]], width: int) -> JudgedSteps:
    starts, ends = ([step[i] for step in steps] for i in (0, 1))
    return JudgedSteps(
        _stacked(starts, width),
        _stacked(ends, width),
        np.array([step[2] for step in steps], dtype=bool),
    )


def _stacked(points: list[Any], width: int) -> Array:
    return np.stack(points) if points else np.zeros((0, width))


def _spot(point: Array) -> Spot:
    return tuple(point.tolist())
