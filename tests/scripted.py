"""Scripted answers for searches: a stage is a generator, so send it what it asks for.

``Script`` answers every question from small arrays and functions, and keeps what was asked.
``replies`` sends answers that are written down one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from localface.density.protocol import FLOOR_TOLERANCE, Hole, SegmentDensities
from localface.geometry.bounds import Bounds
from localface.geometry.projection import Projection
from localface.geometry.segments import norms
from localface.search.graph import LocalGraph
from localface.search.person import Person
from localface.search.questions import (
    Census,
    ComposedStates,
    ComposeStates,
    DensityAlong,
    HelpOthers,
    Nearest,
    NearestToEach,
    OthersHelped,
    OutOfTime,
    Question,
    Questions,
    RowDensities,
    ScorePoints,
    ScoreRows,
    TargetCounts,
    Widening,
)
from localface.sources.nearest_states import merge_states, no_states
from localface.sources.protocol import Neighbors
from localface.types import Array

ALONG = np.linspace(0, 1, 41)[:, None]


def someone(factual: Any, **options: Any) -> Person:
    """A person whose columns are all free, each a group of its own, unless told otherwise."""
    point = np.asarray(factual, dtype=float)
    n = len(point)
    given = {
        "bounds": box(n),
        "min_score": 0.5,
        "log_floor": 0.0,
        "discrete": np.zeros(n, dtype=bool),
        "group_of": np.arange(n),
        "just_noticeable": (point, point),
    }
    return Person(point, **(given | options))


def box(
    n: int, *, lower: Any = -np.inf, upper: Any = np.inf, up: Any = (), down: Any = ()
) -> Bounds:
    """Bounds on ``n`` columns; ``up`` and ``down`` name the one-way columns."""
    columns = np.arange(n)
    return Bounds(
        np.broadcast_to(np.asarray(lower, dtype=float), n),
        np.broadcast_to(np.asarray(upper, dtype=float), n),
        np.isin(columns, up),
        np.isin(columns, down),
    )


def taking_over(bounds: Bounds, kept: Any) -> Projection:
    """What someone may take over from rows within bounds, each column by itself."""
    own = np.asarray(kept, dtype=float)
    return Projection(bounds, own, np.arange(len(own)))


def counts(targets: int) -> TargetCounts:
    """A census that found some targets."""
    return TargetCounts(9, targets, 9, np.zeros(2, dtype=np.int64))


def verdicts(*passes: bool, holes: tuple[tuple[int, Hole], ...] = ()) -> SegmentDensities:
    """An answer to a question with a floor."""
    return SegmentDensities(np.where(passes, 1.0, -1.0), np.array(passes, dtype=bool), holes)


def values(*log_densities: float) -> SegmentDensities:
    """An answer to a question without a floor."""
    return SegmentDensities(np.array(log_densities), np.ones(len(log_densities), dtype=bool))


def replies(asks: Questions[Any], *answers: Any) -> tuple[list[Question], Any]:
    """Send answers one by one; returns the questions that were asked and what came out.

    There must be an answer for each question, and a question for each answer.
    """
    questions: list[Question] = []
    rest = list(answers)
    try:
        question = next(asks)
        while True:
            questions.append(question)
            assert rest, f"nothing to answer {question} with"
            question = asks.send(rest.pop(0))
    except StopIteration as end:
        assert not rest, f"never asked for {rest}"
        return questions, end.value


@dataclass
class Script:
    """A small world: rows by number, and functions for the score and the log-density of points.

    ``holes`` come with every verdict that refuses a segment which passes through their centre.
    ``helps`` is the share of others that the changes to each end help.
    ``max_rows`` is the row budget of one search. ``composed`` are the states that can be made.
    Instead of an answer to question number ``late``, the search is told that its time is up.
    """

    rows: Any
    score: Callable[[Array], Array] = lambda points: points[:, 0]
    log_density: Callable[[Array], Array] = lambda points: np.ones(len(points))
    helps: Callable[[Array], Array] = lambda ends: np.ones(len(ends))
    composed: Any = ()
    composed_cut: bool = False
    factor: float = np.inf
    max_rows: int | None = None
    hole_radius: float | None = None
    late: int | None = None
    asked: list[Question] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.rows = np.asarray(self.rows, dtype=float)

    def run(self, asks: Questions[Any]) -> Any:
        """Answer everything that a search asks, and return what it returns."""
        try:
            question = next(asks)
            while True:
                self.asked.append(question)
                if len(self.asked) - 1 == self.late:
                    question = asks.throw(OutOfTime())
                else:
                    question = asks.send(self.answer(question))
        except StopIteration as end:
            return end.value

    def graph(self, person: Person) -> LocalGraph:
        """A graph that knows the person alone."""
        return LocalGraph(person, float(self.score(person.factual[None, :])[0]))

    def n_asked(self, kind: type) -> int:
        """How many questions of a kind were asked."""
        return sum(isinstance(question, kind) for question in self.asked)

    def answer(self, question: Question) -> Any:
        """The answer to any question."""
        match question:
            case Nearest():
                return self._nearest(question)
            case NearestToEach():
                return [self._nearest(one) for one in question.questions]
            case ScoreRows() | ScorePoints():
                return self._scores(question)
            case DensityAlong():
                return self._along(question)
            case RowDensities():
                return self.log_density(question.points)
            case Census():
                return self._census(question)
            case Widening():
                return self.factor
            case ComposeStates():
                return self._composed(question)
            case HelpOthers():
                return self._help_of_others(question)
        raise AssertionError(f"no such question: {question}")

    def _scores(self, question: ScoreRows | ScorePoints) -> Array:
        if isinstance(question, ScoreRows):
            return self.score(self.rows[question.ids])
        return self.score(question.points)

    def _nearest(self, question: Nearest) -> Neighbors:
        if question.projection is not None:
            return self._nearest_states(question)
        distances = norms(self.rows - question.point)
        allowed = question.bounds.contain(self.rows) & (distances <= question.radius)
        allowed[question.exclude] = False
        order = [i for i in np.lexsort((np.arange(len(self.rows)), distances)) if allowed[i]]
        kept = [i for i in order[: question.k] if self._admit(int(i))]
        ids = np.array(kept, dtype=np.int64)
        cut = len(kept) < len(order[: question.k])
        return Neighbors(ids, self.rows[ids], distances[ids], cut=cut)

    def _nearest_states(self, question: Nearest) -> Neighbors:
        rows = np.setdiff1d(np.arange(len(self.rows)), question.exclude)
        found = merge_states(question, no_states(question), rows, self.rows[rows])
        kept = [i for i, row in enumerate(found.ids) if self._admit(int(row))]
        cut = len(kept) < len(found.ids)
        assert found.moved is not None
        return Neighbors(
            found.ids[kept], found.points[kept], found.distances[kept], cut, found.moved[kept]
        )

    def _admit(self, row: int) -> bool:
        if row not in self.seen and self.max_rows is not None and len(self.seen) >= self.max_rows:
            return False
        self.seen.add(row)
        return True

    def _along(self, question: DensityAlong) -> SegmentDensities:
        steps = list(zip(question.starts, question.ends, strict=True))
        logs = [self.log_density(a + ALONG * (b - a)) for a, b in steps]
        if question.rule == "lowest":
            found = np.array([one.min() for one in logs])
        else:
            found = np.array([np.log(np.exp(one).mean()) for one in logs])
        if question.log_floor is None:
            return SegmentDensities(found, np.ones(len(found), dtype=bool))
        passes = found >= question.log_floor - FLOOR_TOLERANCE
        holes = []
        if self.hole_radius is not None and question.rule == "lowest":
            for i in np.flatnonzero(~passes):
                a, b = steps[i]
                centre = a + ALONG[int(logs[i].argmin())] * (b - a)
                holes.append((int(i), Hole(centre, self.hole_radius)))
        return SegmentDensities(found, passes, tuple(holes))

    def _census(self, question: Census) -> TargetCounts:
        if question.projection is not None:
            return self._census_of_states(question, question.projection)
        allowed = question.bounds.contain(self.rows)
        reach = self.score(self.rows) >= 0.5
        none = np.zeros(self.rows.shape[1], dtype=np.int64)
        return TargetCounts(
            int(allowed.sum()), int((allowed & reach).sum()), int(reach.sum()), none
        )

    def _census_of_states(self, question: Census, projection: Projection) -> TargetCounts:
        states = np.unique(projection.states_of(self.rows), axis=0)
        states = states[question.bounds.contain(states)]
        scores = self.score(states)
        n = int((scores >= 0.5).sum())
        none = np.zeros(self.rows.shape[1], dtype=np.int64)
        return TargetCounts(len(states), n, n, none, of_states=True)

    def _help_of_others(self, question: HelpOthers) -> list[OthersHelped]:
        changes = [(end != question.point)[None, :] for end in question.ends]
        return [
            OthersHelped(one, np.array([share]), np.array([99]), float(share), 99)
            for one, share in zip(changes, self.helps(question.ends), strict=True)
        ]

    def _composed(self, question: ComposeStates) -> ComposedStates:
        states = np.asarray(self.composed, dtype=float).reshape(-1, len(question.point))
        scores = self.score(states)
        fine = np.flatnonzero(scores >= question.min_score)[: question.k]
        return ComposedStates(states[fine], scores[fine], fine, cut=self.composed_cut)
