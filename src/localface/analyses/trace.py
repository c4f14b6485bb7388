"""What one search asked and was answered, read stage by stage."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

import numpy as np

from localface.analyses.whynot import explain_refusals
from localface.answers.recourse import Recourse
from localface.engine.engine import Engine
from localface.engine.job import Result
from localface.engine.requests import Request
from localface.search.questions import DensityAlong, Question, Questions, ScorePoints, ScoreRows
from localface.sources.protocol import Nearest
from localface.types import Array, Mask

Log = list[tuple[Question, Any]]
PointKey = tuple[float, ...]
"""The coordinates of a point, as a key."""


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


def log_questions(asks: Questions[Result], log: Log) -> Questions[Result]:
    """Ask the same questions, and keep each with its answer."""
    question = next(asks)
    while True:
        answer = yield question
        log.append((question, answer))
        try:
            question = asks.send(answer)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


def trace_search(engine: Engine, request: Request) -> Trace:
    """Search on behalf of a request, without actions, and read how the search went.

    Searches that only tell why there is no path are no part of the trace.
    """
    log: Log = []
    plan = replace(engine.plan, actions=False, max_changes=1)
    ((_, answer),) = engine.answer([request], plan, wrap=lambda job: log_questions(job.asks, log))
    (answer,) = explain_refusals(engine, plan, [(request, answer)])
    return _trace_from_log(answer, log, min_score=engine.score.min_score)


@dataclass(slots=True, eq=False)
class _Explored:
    """What explore has done so far."""

    looked: set[PointKey] = field(default_factory=set)
    parents: dict[PointKey, PointKey] = field(default_factory=dict)
    steps: list[tuple[Array, Array, bool]] = field(default_factory=list)
    goal: PointKey | None = None

    def note_step(self, start: Array, end: Array, passes: bool) -> PointKey:
        """Note a step, which starts where explore has looked already; return where it leads."""
        if _point_key(start) not in self.looked:
            start, end = end, start
        self.steps.append((start, end, passes))
        if passes:
            self.parents[_point_key(end)] = _point_key(start)
        return _point_key(end)

    def path_to_goal(self, factual: Array) -> Array:
        """The way to the goal, the person first, be it by an entry step."""
        if self.goal is None:
            return np.zeros((0, len(factual)))
        way = [self.goal]
        while way[-1] in self.parents:
            way.append(self.parents[way[-1]])
        if way[-1] != _point_key(factual):
            way.append(_point_key(factual))
        return np.array(way[::-1])


def _trace_from_log(recourse: Recourse, log: Log, *, min_score: float) -> Trace:
    """Read a log: first explore, then enhance and exploit in turns."""
    first_question = log[0][0]
    assert isinstance(first_question, ScorePoints)  # a search begins by scoring the person
    factual = np.asarray(first_question.points[0])
    width = len(factual)
    explored, first = _read_explore_stage(log, min_score)
    seen = _revealed_points_by_row(log[:first])
    later = _revealed_points_by_row(log[first:])
    return Trace(
        recourse=recourse,
        explored=_stack_points(list(seen.values()), width),
        tried=_as_judged_steps(explored.steps, width),
        trail=explored.path_to_goal(factual),
        exploited=_stack_points([point for row, point in later.items() if row not in seen], width),
        balls=tuple(
            (question.point, question.radius)
            for question, _ in log
            if _is_exploit_question(question)
        ),
        checked=_as_judged_steps(
            [step for pair in log[first:] for step in _judged_segments(*pair)], width
        ),
    )


def _read_explore_stage(log: Log, min_score: float) -> tuple[_Explored, int]:
    """Read up to the first step that passes onto a target, with which explore ends.

    Returns what explore did, and where in the log the next stage begins.
    """
    explored = _Explored()
    scores = _score_by_point(log)
    for i, (question, answer) in enumerate(log):
        if _is_exploit_question(question):
            return explored, i
        if isinstance(question, Nearest):
            explored.looked.add(_point_key(question.point))
        for start, end, passes in _judged_segments(question, answer):
            reached = explored.note_step(start, end, passes)
            if passes and scores.get(reached, -np.inf) >= min_score:
                explored.goal = reached
                return explored, i + 1
    return explored, len(log)


def _is_exploit_question(question: Question) -> TypeGuard[Nearest]:
    """Only exploit looks no further than some radius."""
    return isinstance(question, Nearest) and bool(np.isfinite(question.radius))


def _judged_segments(question: Question, answer: Any) -> list[tuple[Array, Array, bool]]:
    """The steps of a question that asked for verdicts; single points are no steps."""
    if not isinstance(question, DensityAlong) or question.log_floor is None:
        return []
    steps = zip(question.starts, question.ends, answer.passes.tolist(), strict=True)
    return [(start, end, passes) for start, end, passes in steps if not np.array_equal(start, end)]


def _score_by_point(log: Log) -> dict[PointKey, float]:
    """The score of every point."""
    points = _revealed_points_by_row(log)
    scores: dict[PointKey, float] = {}
    for question, answer in log:
        if isinstance(question, ScoreRows):
            scores.update(
                (_point_key(points[row]), score)
                for row, score in zip(question.ids.tolist(), answer, strict=True)
            )
        elif isinstance(question, ScorePoints):
            scores.update(
                (_point_key(point), score)
                for point, score in zip(question.points, answer, strict=True)
            )
    return scores


def _revealed_points_by_row(log: Log) -> dict[int, Array]:
    """The rows that were revealed, by id."""
    answers = [answer for question, answer in log if isinstance(question, Nearest)]
    return {
        row: point
        for found in answers
        for row, point in zip(found.ids.tolist(), found.points, strict=True)
    }


def _as_judged_steps(steps: list[tuple[Array, Array, bool]], width: int) -> JudgedSteps:
    return JudgedSteps(
        starts=_stack_points([start for start, _, _ in steps], width),
        ends=_stack_points([end for _, end, _ in steps], width),
        passes=np.array([passes for _, _, passes in steps], dtype=bool),
    )


def _stack_points(points: list[Any], width: int) -> Array:
    return np.stack(points) if points else np.zeros((0, width))


def _point_key(point: Array) -> PointKey:
    return tuple(point.tolist())
