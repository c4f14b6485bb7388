"""What one search asked and was answered, read stage by stage."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from localface.analyses.completing import complete_answers
from localface.answers.recourse import Recourse
from localface.engine.asking_stage import asking_stage
from localface.engine.engine import Engine
from localface.engine.job import Result
from localface.engine.requests import Request
from localface.search.plan import Plan
from localface.search.questions import (
    ComposeStates,
    DensityAlong,
    NearestToEach,
    OutOfTime,
    Question,
    Questions,
    ScorePoints,
    ScoreRows,
)
from localface.sources.protocol import Nearest
from localface.types import Array, Mask

PointKey = tuple[float, ...]
"""The coordinates of a point, as a key."""
_FOR_ACTIONS = ("donors", "straight")  # the stages that look for values to take over


class Asked(NamedTuple):
    """A question, its answer, and the stage that asked."""

    stage: str
    question: Question
    answer: Any


Log = list[Asked]


@dataclass(frozen=True, slots=True, eq=False)
class JudgedSteps:
    """Steps that were judged: from where, to where, and whether a person could take them."""

    starts: Array
    ends: Array
    passes: Mask


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """One search, stage by stage, in points of the explainer's space.

    Every row that was revealed is in one of ``explored``, ``for_actions`` and ``exploited``: that
    of the stage that saw it first.
    """

    recourse: Recourse
    explored: Array  # rows seen on the way to a target
    tried: JudgedSteps  # steps that explore tried, in order
    trail: Array  # the way that explore found; empty if none
    for_actions: Array  # rows whose values actions might take over
    exploited: Array  # rows around the way that was found
    balls: tuple[tuple[Array, float], ...]  # where exploit looked: centre and radius
    checked: JudgedSteps  # steps that enhance wanted


def log_questions(asks: Questions[Result], log: Log) -> Questions[Result]:
    """Ask the same questions, and keep each with its answer."""
    question = next(asks)
    while True:
        stage = asking_stage(asks)
        try:
            try:
                answer = yield question
            except OutOfTime as late:
                question = asks.throw(late)
                continue
            log.append(Asked(stage, question, answer))
            question = asks.send(answer)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


def trace_search(engine: Engine, request: Request, plan: Plan) -> Trace:
    """Search on behalf of a request, and read how the search went.

    Searches that only tell why there is no path are no part of the trace.
    """
    log: Log = []
    ((_, answer),) = engine.answer([request], plan, wrap=lambda job: log_questions(job.asks, log))
    (answer,) = complete_answers(engine, plan, [(request, answer)])
    return _trace_from_log(answer, log, min_score=engine.score.min_score)


@dataclass(slots=True, eq=False)
class _Explored:
    """What explore has done so far."""

    reached: set[PointKey] = field(default_factory=set)
    parents: dict[PointKey, PointKey] = field(default_factory=dict)
    steps: list[tuple[Array, Array, bool]] = field(default_factory=list)
    goal: PointKey | None = None

    def note_step(self, start: Array, end: Array, passes: bool) -> PointKey:
        """Note a step, which starts where explore has been already; return where it leads.

        A step leads on only to where it has not been yet, so that no way runs in a circle. Who is
        around a vertex is asked once: where explore has been is told by its steps as well.
        """
        if _point_key(start) not in self.reached and _point_key(end) in self.reached:
            start, end = end, start
        self.steps.append((start, end, passes))
        before, after = _point_key(start), _point_key(end)
        self.reached.add(before)
        if passes and after not in self.reached:
            self.parents[after] = before
            self.reached.add(after)
        return after

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
    """Read a log, stage by stage."""
    first_question = log[0].question
    assert isinstance(first_question, ScorePoints)  # a search begins by scoring the person
    factual = np.asarray(first_question.points[0])
    width = len(factual)
    explored = _read_explore_stage(log, min_score)
    rows = points_by_purpose(log)
    return Trace(
        recourse=recourse,
        explored=_stack_points(rows["explore"], width),
        tried=_as_judged_steps(explored.steps, width),
        trail=explored.path_to_goal(factual),
        for_actions=_stack_points(rows["actions"], width),
        exploited=_stack_points(rows["exploit"], width),
        balls=tuple(
            (one.question.point, one.question.radius)
            for one in log
            if one.stage == "exploit" and isinstance(one.question, Nearest)
        ),
        checked=_as_judged_steps(
            [step for one in log if one.stage == "enhance" for step in _judged_segments(one)],
            width,
        ),
    )


def _read_explore_stage(log: Log, min_score: float) -> _Explored:
    """Read what explore did, up to the first step that passes onto a target."""
    explored = _Explored()
    scores = _score_by_point(log)
    for one in log:
        if one.stage != "explore":
            continue
        explored.reached.update(_point_key(point) for point in _looked_around(one))
        for start, end, passes in _judged_segments(one):
            reached = explored.note_step(start, end, passes)
            if passes and scores.get(reached, -np.inf) >= min_score:
                explored.goal = reached
                return explored
    return explored


def _judged_segments(one: Asked) -> list[tuple[Array, Array, bool]]:
    """The steps of a question that asked for verdicts; single points are no steps."""
    question = one.question
    if not isinstance(question, DensityAlong) or question.log_floor is None:
        return []
    steps = zip(question.starts, question.ends, one.answer.passes.tolist(), strict=True)
    return [(start, end, passes) for start, end, passes in steps if not np.array_equal(start, end)]


def _score_by_point(log: Log) -> dict[PointKey, float]:
    """The score of every point."""
    points = {row: point for one in log for row, point in _revealed_rows(one)}
    scores: dict[PointKey, float] = {}
    for _, question, answer in log:
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


def points_by_purpose(log: Log) -> dict[str, list[Array]]:
    """The rows that were revealed, each once, by what they were revealed for."""
    found: dict[str, list[Array]] = {"explore": [], "actions": [], "exploit": []}
    known: set[int] = set()
    for one in log:
        purpose = "actions" if one.stage in _FOR_ACTIONS else one.stage
        points = found.get(purpose, found["explore"])  # a lower floor is explored as well
        for row, point in _revealed_rows(one):
            if row not in known:
                known.add(row)
                points.append(point)
    return found


def _revealed_rows(one: Asked) -> list[tuple[int, Array]]:
    """The rows that an answer revealed, each with its point or that of the state it comes to."""
    if not isinstance(one.question, Nearest | NearestToEach | ComposeStates):
        return []
    answers = one.answer if isinstance(one.question, NearestToEach) else [one.answer]
    return [pair for each in answers for pair in zip(each.ids.tolist(), each.points, strict=True)]


def _looked_around(one: Asked) -> list[Array]:
    """The points around which a question looks for rows."""
    if isinstance(one.question, NearestToEach):
        return [each.point for each in one.question.questions]
    return [one.question.point] if isinstance(one.question, Nearest) else []


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
