"""Runs parts of one search side by side, so that what they ask is asked together."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

import numpy as np

from localface.search.questions import DensityAlong, Question, Questions, ScorePoints

_T = TypeVar("_T")


@dataclass(slots=True, eq=False)
class _Part(Generic[_T]):
    """One part, and the question that it waits with; none once it has returned a value."""

    asks: Questions[_T]
    question: Question | None = None
    value: _T | None = None

    def go_on(self, answer: Any) -> None:
        """Hand over an answer, None to begin with; take the next question or the value."""
        try:
            self.question = self.asks.send(answer)
        except StopIteration as end:
            self.question = None
            self.value = end.value


def side_by_side(parts: Sequence[Questions[_T]]) -> Questions[list[_T]]:
    """Run parts of a search side by side, and return what each of them returns.

    In every round the scores that they ask for are one question, and so are the densities: a
    question costs more than one state more in it. No answer depends on what else was asked, so
    that each part returns what it would return alone.
    """
    if len(parts) == 1:
        return [(yield from parts[0])]
    running = [_Part(one) for one in parts]
    for one in running:
        one.go_on(None)
    while waiting := [one for one in running if one.question is not None]:
        together: dict[Hashable, list[_Part[_T]]] = {}
        for one in waiting:
            together.setdefault(_kind_of(one), []).append(one)
        for some in together.values():
            answers = yield from _ask_together([cast(Question, one.question) for one in some])
            for one, answer in zip(some, answers, strict=True):
                one.go_on(answer)
    return [cast(_T, one.value) for one in running]


def _kind_of(part: _Part[Any]) -> Hashable:
    """What the questions that can be asked together have in common."""
    question = part.question
    if isinstance(question, ScorePoints):
        return "scores", question.donors.tobytes()
    if isinstance(question, DensityAlong):
        # states and steps are judged in different ways: together they would be parted again
        are_states = bool((question.starts == question.ends).all())
        return "densities", question.rule, question.log_floor is None, are_states
    return id(part)


def _ask_together(questions: list[Question]) -> Questions[list[Any]]:
    """Ask questions of one kind as one, and return the answer to each."""
    if len(questions) == 1:
        return [(yield questions[0])]
    if isinstance(questions[0], ScorePoints):
        asked = cast(list[ScorePoints], questions)
        points = [one.points for one in asked]
        scores = yield ScorePoints(np.concatenate(points), asked[0].donors)
        return np.split(scores, np.cumsum([len(some) for some in points])[:-1])
    return (yield from _ask_densities_together(cast(list[DensityAlong], questions)))


def _ask_densities_together(questions: list[DensityAlong]) -> Questions[list[Any]]:
    """Ask about the segments of several questions, each against its own floor or in full."""
    starts = np.concatenate([one.starts for one in questions])
    ends = np.concatenate([one.ends for one in questions])
    floors = None
    if questions[0].log_floor is not None:
        given = [np.full(len(one.starts), one.log_floor, dtype=np.float64) for one in questions]
        floors = np.concatenate(given)
    found = yield DensityAlong(starts, ends, floors, questions[0].rule)
    lasts = np.cumsum([len(one.starts) for one in questions]).tolist()
    firsts = [0, *lasts[:-1]]
    return [found.for_segments(first, last) for first, last in zip(firsts, lasts, strict=True)]
